use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::text_enum::text_enum;

text_enum! {
    /// What a structured answer of a model is about; one answer carries one phase.
    pub enum Phase as "phase" {
        /// What there is to do.
        Analysis = "analysis",
        /// The work, cut into tasks.
        TaskList = "task_list",
        /// How far a task is.
        Progress = "progress",
        /// How a task ended, as its worker sees it.
        Completion = "completion",
        /// What became of all of them together.
        Aggregation = "aggregation",
    }
}

text_enum! {
    /// How hard the whole looks.
    pub enum Complexity as "estimated complexity" {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

text_enum! {
    /// How a running task goes.
    pub enum ProgressStatus as "progress status" {
        InProgress = "in_progress",
        /// It waits for something.
        Blocked = "blocked",
        /// It tries again after an error.
        Retrying = "retrying",
    }
}

text_enum! {
    /// How a worker says that its task ended. Told on, never believed: the atom's status is what
    /// counts.
    pub enum CompletionStatus as "completion status" {
        Success = "success",
        Partial = "partial",
        Failed = "failed",
        Timeout = "timeout",
    }
}

/// How a task ended, as its worker sees it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct Completion {
    pub task_id: String,
    pub status: CompletionStatus,
    pub summary: Option<String>,
    #[serde(default)]
    pub output_files: Vec<String>,
    pub output: Option<String>,
    pub error: Option<String>,
    #[serde(default)]
    pub warnings: Vec<String>,
    #[serde(default)]
    pub metrics: Map<String, Value>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
