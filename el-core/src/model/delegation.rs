use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Timestamp;
use super::text_enum::text_enum;

/// What a task that was handed over with `el run` says of how it is to be run. What it leaves open
/// is the agent's own setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Delegation {
    /// Who handed it over.
    pub by: String,
    /// The folder to work in; absolute.
    pub workdir: Option<String>,
    /// The longest that one run may take, in milliseconds.
    pub timeout_ms: Option<i64>,
    /// The command that checks the work, in words; no shell reads it.
    pub verify: Option<Vec<String>>,
    /// The agent cannot close its work while the check fails.
    pub require_verify: bool,
}

text_enum! {
    /// How a check stands.
    pub enum VerifyStatus as "verify status" {
        /// It was not run yet.
        Pending = "pending",
        Passed = "passed",
        Failed = "failed",
        TimedOut = "timed_out",
        /// It could not be started, or something ended it.
        NotRun = "not_run",
    }
}

/// The check of a run's work: what is run, and what came of it last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verify {
    /// The program and its arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// The agent cannot close its work while it fails.
    #[serde(default)]
    pub required: bool,
    /// How long it may take, in milliseconds.
    #[serde(default)]
    pub timeout_ms: u64,
    pub status: VerifyStatus,
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// The last lines of what it printed, or why it could not be run.
    #[serde(default)]
    pub output: Option<String>,
    /// How long it took, in milliseconds.
    #[serde(default)]
    pub took_ms: Option<u64>,
    /// When it ended.
    #[serde(default)]
    pub at: Option<Timestamp>,
}

impl Verify {
    /// A check that is still to be run.
    pub fn pending(command: Vec<String>, required: bool, timeout_ms: u64) -> Verify {
        Verify {
            command,
            required,
            timeout_ms,
            status: VerifyStatus::Pending,
            exit_code: None,
            output: None,
            took_ms: None,
            at: None,
        }
    }

    /// The agent may not close its work yet.
    pub fn is_owed(&self) -> bool {
        self.required && self.status != VerifyStatus::Passed
    }
}

text_enum! {
    /// Where a delegated task stands, for whoever handed it over.
    pub enum TaskStatus as "task status" {
        /// It waits: for its agent, for what it depends on, or for its next attempt.
        Queued = "queued",
        Running = "running",
        /// Handed over for a look.
        Review = "review",
        Completed = "completed",
        /// Given up, reported as blocked, or closed with a reason that begins with fail, error or
        /// abort.
        Failed = "failed",
        /// The agent put it off, or it has a date.
        Deferred = "deferred",
        /// The agent decided, or a person did, that it is not to be done.
        Declined = "declined",
        /// Somebody called it off; it is held until `el retry`.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Something will still happen to it without anybody's doing.
    pub const fn is_under_way(self) -> bool {
        matches!(self, TaskStatus::Queued | TaskStatus::Running)
    }
}

text_enum! {
    /// Which ready atoms of its agents a worker can be relied on to take.
    pub enum Takes as "takes" {
        /// Those that are assigned to them, and those that are assigned to nobody.
        All = "all",
        /// Those that are assigned to them.
        Assigned = "assigned",
        /// Only some, or no more: it has filters, a number of claims, or is about to leave.
        Some = "some",
    }
}
