//! The five phases, field by field as in the protocol. Unknown fields are kept.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::check::{Check, Field, FieldFault, Kind, Need};
use super::proposed::TaskList;
use super::tasks;
use crate::model::{Completion, CompletionStatus, Complexity, Phase, ProgressStatus};

type Extra = Map<String, Value>;

/// The analysis of the work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    pub summary: String,
    /// The number of tasks that the model would make.
    pub recommended_splits: u64,
    #[serde(default)]
    pub key_files: Vec<String>,
    pub estimated_complexity: Option<Complexity>,
    pub notes: Option<String>,
    #[serde(default)]
    pub warnings: Vec<String>,
    #[serde(default)]
    pub components: Vec<Component>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// A part of the analysed work. The protocol gives examples of fields and fixes none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Component(pub Map<String, Value>);

/// How far a task is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub task_id: String,
    pub status: ProgressStatus,
    /// From 0 to 100.
    pub progress_percent: Option<f64>,
    pub current_action: Option<String>,
    pub files_processed: Option<u64>,
    pub files_total: Option<u64>,
    pub output_preview: Option<String>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// The combined result of all tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Aggregation {
    /// The protocol names no values; `success` and the like come from completions.
    pub status: String,
    pub summary: Option<String>,
    #[serde(default)]
    pub conflicts: Vec<Conflict>,
    pub merged_output: Option<String>,
    #[serde(default)]
    pub output_files: Vec<String>,
    #[serde(flatten)]
    pub extra: Extra,
}

impl Aggregation {
    /// Returns the status if the word is a status of completions.
    pub fn completion_status(&self) -> Option<CompletionStatus> {
        self.status.parse().ok()
    }
}

/// Where the results of two tasks do not go together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    /// For example `duplicate`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub description: Option<String>,
    pub resolution: Option<String>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// The legal data of a phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "phase", content = "data", rename_all = "snake_case")]
pub enum Payload {
    Analysis(Analysis),
    TaskList(TaskList),
    Progress(Progress),
    Completion(Completion),
    Aggregation(Aggregation),
}

impl Payload {
    /// Returns the phase.
    pub fn phase(&self) -> Phase {
        match self {
            Payload::Analysis(_) => Phase::Analysis,
            Payload::TaskList(_) => Phase::TaskList,
            Payload::Progress(_) => Phase::Progress,
            Payload::Completion(_) => Phase::Completion,
            Payload::Aggregation(_) => Phase::Aggregation,
        }
    }

    /// Returns the task of a phase with a task.
    pub fn task_id(&self) -> Option<&str> {
        match self {
            Payload::Progress(progress) => Some(&progress.task_id),
            Payload::Completion(completion) => Some(&completion.task_id),
            _ => None,
        }
    }
}

const ANALYSIS: [Field; 7] = [
    ("summary", Kind::Text, Need::Required),
    ("recommended_splits", Kind::Whole(0, u64::MAX), Need::Required),
    ("key_files", Kind::Texts, Need::Optional),
    ("estimated_complexity", Kind::Words(&["low", "medium", "high"]), Need::Optional),
    ("notes", Kind::Text, Need::Optional),
    ("warnings", Kind::Texts, Need::Optional),
    ("components", Kind::Objects, Need::Optional),
];

const TASK_LIST: [Field; 4] = [
    ("tasks", Kind::Objects, Need::Required),
    ("total_tasks", Kind::Whole(0, u64::MAX), Need::Binding),
    ("parallelizable_groups", Kind::Groups, Need::Binding),
    ("execution_order", Kind::Texts, Need::Binding),
];

/// The fields of a task. A field about order or place has to be legal if present.
const TASK: [Field; 7] = [
    ("id", Kind::Text, Need::Required),
    ("title", Kind::Text, Need::Required),
    ("description", Kind::Text, Need::Required),
    ("scope", Kind::Texts, Need::Binding),
    ("priority", Kind::Whole(1, 10), Need::Binding),
    ("dependencies", Kind::Texts, Need::Binding),
    ("estimated_tokens", Kind::Whole(0, u64::MAX), Need::Optional),
];

const PROGRESS: [Field; 7] = [
    ("task_id", Kind::Text, Need::Required),
    ("status", Kind::Words(&["in_progress", "blocked", "retrying"]), Need::Required),
    ("progress_percent", Kind::Number(0.0, 100.0), Need::Optional),
    ("current_action", Kind::Text, Need::Optional),
    ("files_processed", Kind::Whole(0, u64::MAX), Need::Optional),
    ("files_total", Kind::Whole(0, u64::MAX), Need::Optional),
    ("output_preview", Kind::Text, Need::Optional),
];

const COMPLETION: [Field; 8] = [
    ("task_id", Kind::Text, Need::Required),
    ("status", Kind::Words(&["success", "partial", "failed", "timeout"]), Need::Required),
    ("summary", Kind::Text, Need::Optional),
    ("output_files", Kind::Texts, Need::Optional),
    ("output", Kind::Text, Need::Optional),
    ("error", Kind::Text, Need::Optional),
    ("warnings", Kind::Texts, Need::Optional),
    ("metrics", Kind::Object, Need::Optional),
];

const AGGREGATION: [Field; 5] = [
    ("status", Kind::Text, Need::Required),
    ("summary", Kind::Text, Need::Optional),
    ("conflicts", Kind::Objects, Need::Optional),
    ("merged_output", Kind::Text, Need::Optional),
    ("output_files", Kind::Texts, Need::Optional),
];

const CONFLICT: [Field; 3] = [
    ("type", Kind::Text, Need::Optional),
    ("description", Kind::Text, Need::Optional),
    ("resolution", Kind::Text, Need::Optional),
];

/// Checks the data of a phase: the payload, unless a fault is grave; and every fault.
pub fn check_payload(phase: Phase, data: &Value) -> (Option<Payload>, Vec<FieldFault>) {
    let mut check = Check::default();
    let Value::Object(map) = data else {
        check.add_fault("data", "is to be an object", true);
        return (None, check.into_faults().1);
    };
    let mut map = map.clone();
    match phase {
        Phase::Analysis => check.check_fields("", &mut map, &ANALYSIS),
        Phase::Progress => check.check_fields("", &mut map, &PROGRESS),
        Phase::Completion => check.check_fields("", &mut map, &COMPLETION),
        Phase::Aggregation => {
            check.check_fields("", &mut map, &AGGREGATION);
            check_each(&mut check, &mut map, "conflicts", &CONFLICT);
        }
        Phase::TaskList => {
            check.check_fields("", &mut map, &TASK_LIST);
            check_each(&mut check, &mut map, "tasks", &TASK);
        }
    }
    if check.faults.iter().any(|fault| fault.is_grave) {
        return (None, check.into_faults().1);
    }
    let payload = parse_payload(phase, map);
    match &payload {
        Ok(Payload::TaskList(list)) => tasks::check_tasks(list, &mut check),
        Ok(_) => {}
        Err(error) => check.add_fault("data", format!("does not fit: {error}"), true),
    }
    let (is_usable, faults) = check.into_faults();
    (payload.ok().filter(|_| is_usable), faults)
}

fn check_each(check: &mut Check, map: &mut Map<String, Value>, name: &str, fields: &[Field]) {
    let Some(Value::Array(items)) = map.get_mut(name) else { return };
    for (n, item) in items.iter_mut().enumerate() {
        if let Value::Object(item) = item {
            check.check_fields(&format!("{name}[{n}]"), item, fields);
        }
    }
}

fn parse_payload(phase: Phase, map: Map<String, Value>) -> Result<Payload, serde_json::Error> {
    let data = Value::Object(map);
    Ok(match phase {
        Phase::Analysis => Payload::Analysis(serde_json::from_value(data)?),
        Phase::TaskList => {
            let mut list: TaskList = serde_json::from_value(data)?;
            tasks::tidy_names(&mut list);
            Payload::TaskList(list)
        }
        Phase::Progress => Payload::Progress(serde_json::from_value(data)?),
        Phase::Completion => Payload::Completion(serde_json::from_value(data)?),
        Phase::Aggregation => Payload::Aggregation(serde_json::from_value(data)?),
    })
}
