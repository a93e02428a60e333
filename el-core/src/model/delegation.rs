use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Timestamp;
use super::text_enum::text_enum;

/// How a task delegated with `el run` is to be run. An unset field leaves the choice to the agent's
/// settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Delegation {
    /// The actor who delegated the task.
    pub by: String,
    /// The folder to work in; absolute.
    pub workdir: Option<String>,
    /// The time limit of a run, in milliseconds.
    pub timeout_ms: Option<i64>,
    /// The command that checks the work, as words; no shell reads the command.
    pub verify: Option<Vec<String>>,
    /// The agent cannot close the atom while the check fails.
    pub require_verify: bool,
}

text_enum! {
    /// The state of a check.
    pub enum VerifyStatus as "verify status" {
        /// Not run yet.
        Pending = "pending",
        Passed = "passed",
        Failed = "failed",
        TimedOut = "timed_out",
        /// Could not be started, or was ended from outside.
        NotRun = "not_run",
    }
}

/// The check of a run's work, with the last result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verify {
    /// The program and the arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// The agent cannot close the atom while the check fails.
    #[serde(default)]
    pub required: bool,
    /// The time limit, in milliseconds.
    #[serde(default)]
    pub timeout_ms: u64,
    pub status: VerifyStatus,
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// The last lines of the output, or why the check could not run.
    #[serde(default)]
    pub output: Option<String>,
    /// The duration, in milliseconds.
    #[serde(default)]
    pub took_ms: Option<u64>,
    /// The time of the end.
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

    /// Returns true if the agent may not close the atom before the check passes.
    pub fn is_owed(&self) -> bool {
        self.required && self.status != VerifyStatus::Passed
    }
}

text_enum! {
    /// The state of a delegated task, for the requester.
    pub enum TaskStatus as "task status" {
        /// Waiting: for the agent, for dependencies, or for the next attempt.
        Queued = "queued",
        Running = "running",
        /// Handed over for a look.
        Review = "review",
        Completed = "completed",
        /// Given up, reported as blocked, or closed with a reason that begins with fail, error or
        /// abort.
        Failed = "failed",
        /// Put off by the agent, or until a date.
        Deferred = "deferred",
        /// Given up, by the decision of the agent or a person.
        Declined = "declined",
        /// Cancelled, and held until `el reopen`.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Returns true if the task will go on without a person.
    pub const fn is_under_way(self) -> bool {
        matches!(self, TaskStatus::Queued | TaskStatus::Running)
    }
}

text_enum! {
    /// The ready atoms that a worker can be relied on to take.
    pub enum Takes as "takes" {
        /// Atoms assigned to the worker's agents, and unassigned atoms.
        All = "all",
        /// Atoms assigned to the worker's agents.
        Assigned = "assigned",
        /// Only some: the worker has filters or a limit of claims, or is about to leave.
        Some = "some",
    }
}
