use schemars::JsonSchema;
use serde::Serialize;

use super::Timestamp;
use super::text_enum::text_enum;

text_enum! {
    /// Why nothing is claimed for now.
    pub enum PauseKind as "pause kind" {
        /// The account's usage limit was reached.
        UsageLimit = "usage_limit",
        /// The account is refused (log-in, credit, model) until a person has done something.
        Account = "account",
        /// The service fails or does not answer.
        Outage = "outage",
        /// The day's budget is spent, which nobody gets back by waiting a while.
        Budget = "budget",
    }
}

/// Nothing is claimed for now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Pause {
    /// When claiming goes on by itself; `null`: not before `el work --resume`.
    pub until: Option<Timestamp>,
    pub reason: String,
    pub kind: PauseKind,
}
