use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Timestamp;
use super::text_enum::text_enum;

text_enum! {
    /// The subject of a model's structured answer; an answer has exactly one phase.
    pub enum Phase as "phase" {
        /// The work ahead.
        Analysis = "analysis",
        /// The work, cut into tasks.
        TaskList = "task_list",
        /// How far a task is.
        Progress = "progress",
        /// The end of a task, as reported by the worker.
        Completion = "completion",
        /// The combined result of all tasks.
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
        /// Waits for another task.
        Blocked = "blocked",
        /// Tries again after an error.
        Retrying = "retrying",
    }
}

text_enum! {
    /// The completion of a task, as reported by the worker. Shown, but never believed: the atom's
    /// status counts.
    pub enum CompletionStatus as "completion status" {
        Success = "success",
        Partial = "partial",
        Failed = "failed",
        Timeout = "timeout",
    }
}

/// A worker's report about the end of a task.
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

/// The result of a check of the whole plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "CheckView")]
pub struct WholeCheck {
    pub round: usize,
    pub passed: bool,
    pub at: Timestamp,
    pub output: String,
}
