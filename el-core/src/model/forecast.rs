use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::text_enum::text_enum;
use super::{IssueType, Timestamp};

text_enum! {
    /// A resource that can run out.
    pub enum Shortage as "shortage" {
        /// The budget of the day.
        Budget = "budget",
        /// Atoms that can begin.
        Work = "work",
    }
}

/// The resource that runs out first at the present rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunsOut {
    pub what: Shortage,
    /// To the minute.
    pub at: Timestamp,
    /// The same in words.
    pub says: String,
}

/// The time for which a person can leave the project alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Forecast {
    /// Something needs a person now.
    pub is_needed: bool,
    /// When a person will probably be needed next, to the minute; `null`: now, or that cannot be
    /// told.
    pub needed_at: Option<Timestamp>,
    /// The reason for `needed_at`, or for having none.
    pub needed_for: String,
    pub runs_out: Option<RunsOut>,
}

/// A past run, as far as the forecast looks at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastRun {
    pub issue_type: IssueType,
    pub took: Duration,
    pub cost_micros: i64,
    /// The run ended in a way that a person had to settle.
    pub asked: bool,
}

/// A run at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtWork {
    pub atom: String,
    pub agent: String,
    pub issue_type: IssueType,
    pub started: Timestamp,
    pub cost_micros: i64,
    /// Its work is to be reviewed.
    pub is_reviewed: bool,
}
