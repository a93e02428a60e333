use schemars::JsonSchema;
use serde::Serialize;

use super::Timestamp;
use super::text_enum::text_enum;

text_enum! {
    /// Why claims are paused.
    pub enum PauseKind as "pause kind" {
        /// The account's usage limit was reached.
        UsageLimit = "usage_limit",
        /// The account is refused (log-in, credit, model) until a person acts.
        Account = "account",
        /// The service fails or does not answer.
        Outage = "outage",
        /// The daily budget is spent; waiting a while does not help.
        Budget = "budget",
        /// Runs in a row failed without having done anything.
        EmptyRuns = "empty_runs",
    }
}

/// A pause of claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Pause {
    /// When claiming goes on without a person; `null`: not before `el work --resume`.
    pub until: Option<Timestamp>,
    pub reason: String,
    pub kind: PauseKind,
}
