//! Orchestrations: an epic with a plan that an agent proposes. All questions and tasks are ordinary
//! atoms below the epic.
//!
//! [`crate::rules::orchestrate`] decides. The verbs read the store for the rules and write each
//! step together with the record of the step, in one transaction. An interrupted caller and the
//! next caller therefore find the same next step.

mod advance;
mod answers;
mod begin;
mod conclude;
mod file;
mod flow;
mod joining;
mod overview;
mod prompt;
mod supply;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rules::orchestrate::Settings;
use crate::store::orchestration::Orchestration;

pub use advance::{Advanced, advance, record_whole_check};
pub use answers::{AgentAnswer, AnswerFault, Reply, answer_faults, is_asked, record_answer};
pub use begin::{Begin, Goal, begin_orchestration, list_orchestrated, share_plan};
pub use joining::{BranchConflict, Joining, file_joining, is_joining};
pub(super) use overview::resting_step;
pub use overview::{
    DroppedView, Overview, PhaseView, TaskView, Tries, is_below_running, plan_overview,
};
pub(super) use prompt::{larger_work, question_text};
pub use supply::supply_answer;

/// The settings of an orchestration; stored with the epic, so that the plan goes on in the same
/// way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(default)]
pub struct PlanSettings {
    /// How often the same conversation is asked again, after an answer that cannot be used.
    pub asks_again: u32,
    /// The most tasks in a list.
    pub tasks_max: usize,
    /// How many orchestrations may be within each other.
    pub depth_max: u32,
    /// Seconds for the whole plan, counted while a worker or a person drives the plan.
    pub time_s: Option<u64>,
    /// The command that checks the whole: program and arguments. Empty: there is none.
    pub check: Vec<String>,
    /// How often the check may fail and be worked on.
    pub check_rounds: u32,
    /// Bytes of the tasks' results in the prompt of the aggregation.
    pub aggregation_bytes: usize,
    /// Workers are asked for progress.
    pub progress: bool,
}

impl Default for PlanSettings {
    fn default() -> PlanSettings {
        PlanSettings {
            asks_again: 2,
            tasks_max: 100,
            depth_max: 2,
            time_s: None,
            check: Vec::new(),
            check_rounds: 2,
            aggregation_bytes: 100_000,
            progress: true,
        }
    }
}

impl PlanSettings {
    /// The settings with which a plan began. Unreadable ones are the defaults.
    fn of_plan(own: &Orchestration) -> PlanSettings {
        serde_json::from_str(&own.settings).unwrap_or_default()
    }

    fn to_rules(&self, plan_only: bool, budget: Option<i64>) -> Settings {
        Settings {
            plan_only,
            depth_max: self.depth_max,
            budget: budget.and_then(|micros| u64::try_from(micros).ok()),
            time: self.time_s.map(Duration::from_secs),
            check_rounds: (!self.check.is_empty()).then_some(self.check_rounds),
        }
    }
}
