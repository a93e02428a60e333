//! The state of an orchestration as people and programs see it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::model::{Atom, Cost, Outcome, Status, Timestamp, WholeCheck};
use crate::ops::orchestrate::PlanSettings;
use crate::rules::orchestrate::{Standing, Step};

/// Where an orchestration stands.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Overview {
    pub epic: Atom,
    /// How deep the orchestration is nested, counted from 1.
    pub depth: u32,
    pub settings: PlanSettings,
    pub started_at: Timestamp,
    /// When the result was reported.
    pub ended_at: Option<Timestamp>,
    /// Seconds in which a worker or a person drove the plan.
    pub worked_s: u64,
    /// Cost in millionths of a US dollar.
    pub spent_micros: u64,
    pub budget_micros: Option<i64>,
    /// The next step.
    pub next: Step,
    pub phases: Vec<PhaseView>,
    pub tasks: Vec<TaskView>,
    /// Discarded tasks of the lists: no atom waits for a discarded task, and the plan does not miss
    /// the task.
    pub dropped: Vec<DroppedView>,
    pub checks: Vec<WholeCheck>,
}

/// A question and the answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PhaseView {
    /// `analysis`, `task_list`, `aggregation`, `failures-0` …
    pub name: String,
    /// `waiting`, `asked`, `running`, `answered`, `in_words`, `stopped`; `not_needed`: a person
    /// supplied a later answer.
    pub state: &'static str,
    pub atom_id: Option<String>,
    /// The question's atom is over.
    pub is_over: bool,
    pub answered_by: Option<String>,
    pub answered_at: Option<Timestamp>,
    /// The run that answers now, or that gave the answer.
    pub run_id: Option<String>,
    /// Why the question stopped, or the fault of the last answer.
    pub fault: Option<String>,
    #[serde(flatten)]
    pub tries: Tries,
    pub data: Option<Value>,
}

/// A summary of the attempts at an atom.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tries {
    /// Runs so far.
    pub attempts: i64,
    /// The outcome of the last run; `null` while the run is live, or without a run.
    pub outcome: Option<Outcome>,
    /// Why, in words.
    pub detail: Option<String>,
    /// After a failure: how many runs failed in the same way since the atom last got a fresh start,
    /// the last run included.
    pub failures: u32,
    /// The earliest start of the next run.
    pub retry_at: Option<Timestamp>,
}

/// A task that was thrown away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DroppedView {
    pub atom_id: String,
    /// The model's name of the task.
    pub task_id: String,
    /// The list that contains the task.
    pub list: String,
    /// `null` if the atom is gone.
    pub title: Option<String>,
    pub reason: Option<String>,
    /// Atoms of the plan that waited for the task and now go on without.
    pub freed: Vec<String>,
}

/// An atom of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TaskView {
    pub atom_id: String,
    /// The model's name of the task; `null` if a person added the atom.
    pub task_id: Option<String>,
    /// The list that contains the task.
    pub list: Option<String>,
    pub title: String,
    pub status: Status,
    pub standing: Standing,
    /// Counts from 0; an atom waits only for atoms of lower layers.
    pub layer: usize,
    /// Dependencies that are not finished, or that have to be merged first.
    pub waits_for: Vec<String>,
    /// The reason for the state, unless the state is obvious.
    pub why: Option<String>,
    pub assignee: Option<String>,
    /// The end of the deferral.
    pub defer_until: Option<Timestamp>,
    #[serde(flatten)]
    pub tries: Tries,
    /// The live run, or the last.
    pub run_id: Option<String>,
    /// When the live run began.
    pub running_since: Option<Timestamp>,
    pub percent: Option<i64>,
    pub action: Option<String>,
    pub scope: Vec<String>,
    /// The priority that the model gave, from 1 to 10.
    pub priority: Option<u64>,
    pub estimated_tokens: Option<u64>,
    pub tokens: i64,
    #[serde(flatten)]
    pub cost: Cost,
}
