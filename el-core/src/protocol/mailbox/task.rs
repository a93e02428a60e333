//! The messages and states of the protocol.

use serde_json::{Map, Value, json};

use super::document::message_digest;
use crate::model::{Atom, Status, Timestamp, limits};
use crate::protocol::report::{FieldProblem, PLATFORMS};

/// The states of a task in the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskStatus {
    Pending,
    InProgress,
    AwaitingReview,
    Completed,
    Rejected,
}

impl TaskStatus {
    const ALL: [TaskStatus; 5] = [
        TaskStatus::Pending,
        TaskStatus::InProgress,
        TaskStatus::AwaitingReview,
        TaskStatus::Completed,
        TaskStatus::Rejected,
    ];

    /// The protocol's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            TaskStatus::Pending => "pending",
            TaskStatus::InProgress => "in_progress",
            TaskStatus::AwaitingReview => "awaiting_review",
            TaskStatus::Completed => "completed",
            TaskStatus::Rejected => "rejected",
        }
    }

    /// The state of that name.
    pub fn parse(word: &str) -> Option<TaskStatus> {
        TaskStatus::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Returns true if the task is over: the messages are cleared.
    pub const fn is_over(self) -> bool {
        matches!(self, TaskStatus::Completed | TaskStatus::Rejected)
    }
}

impl From<Status> for TaskStatus {
    fn from(status: Status) -> TaskStatus {
        match status {
            Status::Open | Status::Deferred | Status::Blocked => TaskStatus::Pending,
            Status::InProgress | Status::Testing => TaskStatus::InProgress,
            Status::Review => TaskStatus::AwaitingReview,
            Status::Closed => TaskStatus::Completed,
            Status::WontDo | Status::Discard => TaskStatus::Rejected,
        }
    }
}

/// The store's state of a task, for the files.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskState {
    pub task_id: String,
    pub atom: Atom,
    pub status: TaskStatus,
    /// The state last written to the queue file.
    pub told: Option<TaskStatus>,
    /// The report that waits.
    pub report: Option<Value>,
    /// The digest of the last report that was decided.
    pub decided: Option<String>,
    /// The reason of the last rejection, if no hand-over followed.
    pub rejection: Option<String>,
}

/// A parsed assignment. Tolerant: a missing field is a reported problem, and stops only work that
/// needs the field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub task_id: String,
    pub title: String,
    pub platform: String,
    /// `None` if missing: then the only possible answer is a report about the missing instructions.
    pub instructions: Option<String>,
    pub files_to_create: Vec<String>,
    pub architecture: Option<String>,
    pub api_endpoints: Vec<String>,
    /// Missing fields that the protocol demands.
    pub problems: Vec<FieldProblem>,
}

/// Another program's decision in the queue file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    Approve {
        task_id: String,
    },
    Reject {
        task_id: String,
        reason: String,
    },
    /// Another program began the work.
    Begin {
        task_id: String,
    },
}

/// The `type` of a message.
pub fn type_of(message: &Value) -> &str {
    message.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// The task that a message is about.
pub fn task_of(message: &Value) -> Option<&str> {
    message.get("taskId").and_then(Value::as_str).map(str::trim).filter(|id| !id.is_empty())
}

/// Reads an assignment.
///
/// # Errors
///
/// If the task id, the platform or the time is missing or not the protocol's.
pub fn read_assignment(message: &Value) -> Result<Assignment, FieldProblem> {
    let problem = |field: &str, message: &str| FieldProblem {
        field: field.to_owned(),
        message: message.to_owned(),
    };
    let task_id = task_of(message).ok_or_else(|| problem("taskId", "it is missing"))?.to_owned();
    if task_id.chars().count() > limits::WORD || task_id.chars().any(char::is_control) {
        return Err(problem("taskId", "it is too long, or has control characters"));
    }
    let text = |field: &str| {
        let text: String =
            message.get(field).and_then(Value::as_str)?.chars().filter(|c| *c != '\0').collect();
        (!text.trim().is_empty()).then_some(text)
    };
    let list = |field: &str| -> Vec<String> {
        let items = message.get(field).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).map(|item| item.replace('\0', "")).collect()
    };
    let required = |field: &str| {
        let given = message.get(field).filter(|given| !given.is_null());
        given.ok_or_else(|| problem(field, "it is missing"))
    };
    let given = required("platform")?;
    let Some(platform) = given.as_str().filter(|word| PLATFORMS.contains(word)) else {
        let known = PLATFORMS.join(", ");
        return Err(problem("platform", &format!("it is one of {known}, not {given}")));
    };
    let given = required("timestamp")?;
    if given.as_str().is_none_or(|text| Timestamp::parse(text).is_err()) {
        let wanted = "an ISO 8601 time, such as 2024-01-01T00:00:00.000Z";
        return Err(problem("timestamp", &format!("{given} is not {wanted}")));
    }
    let mut problems = Vec::new();
    for field in ["title", "instructions", "architecture"] {
        if text(field).is_none() {
            problems.push(problem(field, "it is missing"));
        }
    }
    if !message.get("filesToCreate").is_some_and(Value::is_array) {
        problems.push(problem("filesToCreate", "it is missing"));
    }
    let instructions = text("instructions");
    let first_line = || {
        instructions
            .as_deref()
            .and_then(|t| t.lines().find(|line| !line.trim().is_empty()))
            .map(str::to_owned)
    };
    let title = text("title").or_else(first_line).unwrap_or_else(|| task_id.clone());
    let title: String = title
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(limits::TITLE)
        .collect();
    Ok(Assignment {
        task_id,
        title,
        platform: platform.to_owned(),
        instructions,
        files_to_create: list("filesToCreate"),
        architecture: text("architecture"),
        api_endpoints: list("apiEndpoints"),
        problems,
    })
}

impl Assignment {
    /// Returns the work as an atom's description.
    pub fn description(&self) -> String {
        let mut parts: Vec<String> =
            self.instructions.iter().map(|text| text.trim_end().to_owned()).collect();
        let bullets = |items: &[String]| {
            items.iter().map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n")
        };
        if !self.files_to_create.is_empty() {
            parts.push(format!("Files to create:\n{}", bullets(&self.files_to_create)));
        }
        if let Some(architecture) = &self.architecture {
            parts.push(format!("Architecture: {architecture}"));
        }
        if !self.api_endpoints.is_empty() {
            parts.push(format!("API endpoints:\n{}", bullets(&self.api_endpoints)));
        }
        let whole = parts.join("\n\n");
        match whole.char_indices().nth(limits::TEXT / 4) {
            Some((end, _)) => whole[..end].to_owned(),
            None => whole,
        }
    }

    /// Returns all other fields as an atom's metadata.
    pub fn metadata(&self) -> Value {
        json!({
            "review": true,
            "taskId": self.task_id,
            "platform": self.platform,
            "filesToCreate": self.files_to_create,
            "architecture": self.architecture,
            "apiEndpoints": self.api_endpoints,
        })
    }
}

/// An atom as an assignment.
pub fn assignment_of(task_id: &str, atom: &Atom, now: Timestamp) -> Value {
    let kept = |key: &str| atom.metadata.get(key).cloned();
    let mut message = Map::new();
    message.insert("type".to_owned(), json!("task_assignment"));
    message.insert("taskId".to_owned(), json!(task_id));
    message.insert(
        "platform".to_owned(),
        kept("platform").filter(Value::is_string).unwrap_or_else(|| json!("custom")),
    );
    message.insert("title".to_owned(), json!(atom.title));
    let mut instructions = if atom.description.trim().is_empty() {
        atom.title.clone()
    } else {
        atom.description.clone()
    };
    if let Some(acceptance) = atom.acceptance.as_deref().filter(|text| !text.trim().is_empty()) {
        instructions.push_str(&format!("\n\nIt is done when:\n{acceptance}"));
    }
    message.insert("instructions".to_owned(), json!(instructions));
    message.insert(
        "filesToCreate".to_owned(),
        kept("filesToCreate").filter(Value::is_array).unwrap_or_else(|| json!([])),
    );
    let architecture = kept("architecture").filter(Value::is_string);
    message.insert(
        "architecture".to_owned(),
        architecture.unwrap_or_else(|| json!("As in the project")),
    );
    if let Some(endpoints) =
        kept("apiEndpoints").filter(|list| list.as_array().is_some_and(|items| !items.is_empty()))
    {
        message.insert("apiEndpoints".to_owned(), endpoints);
    }
    message.insert("timestamp".to_owned(), json!(now.to_millis_text()));
    mark_as_own(&mut message);
    Value::Object(message)
}

/// The field of messages that `el` wrote: the digest of the others. A message that somebody
/// changed has another digest.
const OWN_MARK: &str = "elDigest";

/// Marks a message as written by `el`.
pub(super) fn mark_as_own(message: &mut Map<String, Value>) {
    message.shift_remove(OWN_MARK);
    let digest = message_digest(&Value::Object(message.clone()));
    message.insert(OWN_MARK.to_owned(), json!(digest));
}

/// Returns true if `el` wrote the message, and nobody has changed it.
pub fn is_own(message: &Map<String, Value>) -> bool {
    let mut marked = message.clone();
    mark_as_own(&mut marked);
    message.get(OWN_MARK) == marked.get(OWN_MARK)
}
