use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text_enum::text_enum;
use super::{Completion, Cost, Summary, Timestamp, Verify};

text_enum! {
    /// The outcome of a run. A run ends once, with one outcome.
    pub enum Outcome as "outcome" {
        Closed = "closed",
        Deferred = "deferred",
        WontDo = "wont_do",
        Discard = "discard",
        /// Handed over for review.
        Review = "review",
        /// The agent reported `blocked` and exited.
        Blocked = "blocked",
        /// The agent left the atom in `testing` and exited.
        Testing = "testing",
        /// A person changed the atom's status; that stands.
        Superseded = "superseded",
        /// A person, or `el work --stop`, ended the run.
        Cancelled = "cancelled",
        TimedOut = "timed_out",
        Stalled = "stalled",
        /// The agent ended without a terminal status.
        Violation = "violation",
        /// The agent crashed, was killed, or reported an error.
        Failed = "failed",
        /// The account's usage limit; no fault of the atom's.
        UsageLimit = "usage_limit",
        /// The account was refused (log-in, credit, model); no fault of the atom's.
        AccountError = "account_error",
        /// The service failed or did not answer; no fault of the atom's.
        Outage = "outage",
        /// The session or the supervisor was ended from outside. The atom is not to blame.
        Interrupted = "interrupted",
        /// The supervisor vanished.
        Lost = "lost",
        /// The agent never started.
        LaunchFailed = "launch_failed",
        /// The atom is gone.
        Deleted = "deleted",
    }
}

impl Outcome {
    /// Returns true if the agent itself set the outcome.
    pub const fn is_said_by_agent(self) -> bool {
        matches!(
            self,
            Outcome::Closed
                | Outcome::Deferred
                | Outcome::WontDo
                | Outcome::Discard
                | Outcome::Review
                | Outcome::Blocked
                | Outcome::Testing
        )
    }

    /// Returns true if the account, the service or the machine ended the run: the atom is charged
    /// nothing.
    pub const fn is_external(self) -> bool {
        matches!(
            self,
            Outcome::UsageLimit | Outcome::AccountError | Outcome::Outage | Outcome::Interrupted
        )
    }

    /// An attempt that counts against the atom's number of attempts.
    pub const fn is_failure(self) -> bool {
        matches!(
            self,
            Outcome::TimedOut
                | Outcome::Stalled
                | Outcome::Violation
                | Outcome::Failed
                | Outcome::Lost
                | Outcome::LaunchFailed
        )
    }
}

text_enum! {
    /// The fate of an atom whose run is cancelled.
    pub enum CancelMode as "cancel mode" {
        /// Held back (`deferred`, without a date) until a person says `el reopen`.
        Hold = "hold",
        /// Open again, for the next worker.
        Requeue = "requeue",
    }
}

/// A process on a boot of a machine. Enough to tell *alive* from *absent* even if a pid is used
/// again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stamp {
    pub pid: i64,
    /// The kernel's start time of the process, in the kernel's unit (clock ticks since boot on
    /// Linux).
    pub start: i64,
    /// Identifies the boot of the machine, and the pid namespace. With a tracker on a server, the
    /// host's name and `|` come first.
    pub boot: String,
}

impl Stamp {
    /// Separates the host's name from the rest of `boot`.
    pub const HOST_END: char = '|';

    /// The host of the process, in a project that several machines share.
    pub fn host(&self) -> Option<&str> {
        Stamp::host_in(&self.boot)
    }

    /// The host in a `boot`.
    pub(crate) fn host_in(boot: &str) -> Option<&str> {
        boot.split_once(Stamp::HOST_END).map(|(host, _)| host)
    }
}

/// An agent's progress, from the event stream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    pub turns: i64,
    pub tokens_in: i64,
    pub tokens_out: i64,
    /// As reported by the agent, with an estimate of what has not been reported yet.
    #[serde(flatten)]
    pub cost: Cost,
    /// The model that answers, as the agent's stream names it.
    pub model: Option<String>,
    /// The agent's current action, as a single line.
    pub action: Option<String>,
    /// Progress of the task from 0 to 100, if the agent was asked for reports.
    pub percent: Option<i64>,
    pub files_processed: Option<i64>,
    pub files_total: Option<i64>,
}

/// An attempt at an atom by an agent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Run {
    #[serde(rename = "_type")]
    #[schemars(extend("const" = Self::RECORD_TYPE))]
    pub record_type: &'static str,
    pub id: String,
    pub atom_id: String,
    /// Counts from 1 for each atom.
    pub attempt: i64,
    pub agent: String,
    pub executor: String,
    /// The fencing token. Never printed.
    #[serde(skip)]
    pub token: String,
    pub worker_id: Option<String>,
    /// The tmux session's name.
    pub session: Option<String>,
    /// The session id that Claude Code was started with.
    pub conversation: Option<String>,
    pub workdir: String,
    pub started_at: Timestamp,
    pub heartbeat_at: Timestamp,
    pub lease_until: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// `null` while the run lives.
    pub outcome: Option<Outcome>,
    /// The cause of the end, in words.
    pub detail: Option<String>,
    pub exit_code: Option<i64>,
    pub exit_signal: Option<i64>,
    /// The calls of tools that its permissions denied, such as `Bash(git push)`.
    pub denied_tools: Vec<String>,
    pub supervisor: Option<Stamp>,
    pub agent_pid: Option<i64>,
    #[serde(flatten)]
    pub progress: Progress,
    /// The time of the last output in the agent's stream.
    pub active_at: Option<Timestamp>,
    /// How often the Stop hook sent the agent back.
    pub stop_blocks: i64,
    /// How often the supervisor resumed the conversation.
    pub resumes: i64,
    pub cancel_requested: Option<CancelMode>,
    /// The agent's summary of the work, or a fallback. `null` until the run ends.
    pub summary: Option<Summary>,
    /// The agent's completion report for a task of a plan. Shown, but never believed.
    pub completion: Option<Completion>,
    /// The number of files handed back, the summary included.
    pub artifacts: i64,
    /// The work needs a review. Fixed at the start of the run, whatever changes later.
    #[serde(skip)]
    pub review: bool,
    /// The check of the work, if any.
    pub verify: Option<Verify>,
    /// The last lines of the agent's output, after the end. The full output is in the run's folder.
    pub output: Option<String>,
    /// The lines that tell of errors.
    pub error_lines: Option<String>,
    /// The accesses that the sandbox denied, each with the setting that allows it, or why there was
    /// no sandbox. Empty until the run ends.
    pub sandbox_notes: Vec<String>,
}

impl Run {
    /// The value of `_type` in every run's row.
    pub const RECORD_TYPE: &'static str = "run";

    /// Returns true if the agent handed its work in.
    pub fn has_handed_in(&self) -> bool {
        matches!(self.outcome, Some(Outcome::Closed | Outcome::Review))
    }

    /// Returns true if the run has not ended.
    pub const fn is_live(&self) -> bool {
        self.outcome.is_none()
    }
}

/// An attempt that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    pub started: Timestamp,
    pub ended: Timestamp,
    pub outcome: Outcome,
}
