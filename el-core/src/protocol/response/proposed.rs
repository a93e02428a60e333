//! Tasks proposed by a model.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::Priority;

type Extra = Map<String, Value>;

/// The work, cut into tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskList {
    pub tasks: Vec<ProposedTask>,
    pub total_tasks: Option<u64>,
    #[serde(default)]
    pub parallelizable_groups: Vec<Vec<String>>,
    #[serde(default)]
    pub execution_order: Vec<String>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// A task proposed by a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposedTask {
    /// The model's own name of the task.
    pub id: String,
    pub title: String,
    pub description: String,
    /// Files and paths of the task.
    #[serde(default)]
    pub scope: Vec<String>,
    /// From 1 to 10, 10 the most important; see [`map_priority`].
    pub priority: Option<u64>,
    /// Ids of tasks that must be over before.
    #[serde(default)]
    pub dependencies: Vec<String>,
    pub estimated_tokens: Option<u64>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// Maps the protocol's priority (1 to 10, 10 is highest) to ours: 9 and 10 are critical, 1 and 2
/// backlog. No proposed task becomes `someday`.
pub fn map_priority(theirs: Option<u64>) -> Priority {
    theirs
        .and_then(|n| i64::try_from(10_u64.saturating_sub(n.max(1)) / 2).ok())
        .and_then(|ours| Priority::new(ours).ok())
        .unwrap_or(Priority::DEFAULT)
}
