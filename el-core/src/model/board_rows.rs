use schemars::JsonSchema;
use serde::Serialize;

use super::{Cost, IssueType, Outcome, Priority, Status, Timestamp};

/// An atom in a line, without its texts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AtomRow {
    pub id: String,
    pub title: String,
    pub status: Status,
    pub issue_type: IssueType,
    pub priority: Priority,
    /// Sorted, without repetition.
    pub labels: Vec<String>,
    pub assignee: Option<String>,
    pub parent_id: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub closed_at: Option<Timestamp>,
    /// The live run, if any.
    pub run_id: Option<String>,
}

/// A run at work, in a line.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunRow {
    pub id: String,
    pub atom_id: String,
    pub title: String,
    pub agent: String,
    pub executor: String,
    pub attempt: i64,
    pub session: Option<String>,
    pub started_at: Timestamp,
    /// The agent's current action.
    pub action: Option<String>,
    pub percent: Option<i64>,
    pub turns: i64,
    pub tokens_in: i64,
    pub tokens_out: i64,
    #[serde(flatten)]
    pub cost: Cost,
    pub budget_micros: Option<i64>,
    /// The last output of the agent.
    pub active_at: Option<Timestamp>,
    /// The last sign of the supervisor.
    pub heartbeat_at: Timestamp,
    pub lease_until: Timestamp,
    /// The host that the supervisor runs on, in a project that several machines share; `null`
    /// before it has begun.
    pub host: Option<String>,
    /// A person asked for the end of the run.
    pub is_ending: bool,
}

impl RunRow {
    /// The last sign of life, of the agent or else of the run's beginning.
    pub fn last_sign(&self) -> Timestamp {
        self.active_at.unwrap_or(self.started_at)
    }
}

/// The last attempt at an atom, as far as a row tells of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LastRun {
    pub id: String,
    pub agent: String,
    pub attempt: i64,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub outcome: Option<Outcome>,
    pub detail: Option<String>,
    /// The tools and paths that the agent was denied.
    pub denied: Vec<String>,
    /// Sentences that say which accesses of the agent the sandbox denied.
    pub sandbox_notes: Vec<String>,
    /// The state of the run's check: `passed`, `failed` …
    pub check: Option<String>,
    #[serde(flatten)]
    pub cost: Cost,
}

/// An atom that is over, with its last attempt.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DoneRow {
    #[serde(flatten)]
    pub atom: AtomRow,
    pub close_reason: Option<String>,
    pub last_run: Option<LastRun>,
}
