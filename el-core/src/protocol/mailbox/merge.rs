//! Merges the state of the store into the files. Each function returns true if the document
//! changed. A correct document is not touched.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::document::{Document, message_digest};
use super::task::{
    Decision, TaskState, TaskStatus, assignment_of, is_own, mark_as_own, task_of, type_of,
};
use crate::model::Timestamp;

/// Merges assignments: clears tasks that are over, adds missing tasks, and gives the reason of a
/// rejection.
pub fn merge_assignments(document: &mut Document, tasks: &[TaskState], now: Timestamp) -> bool {
    let mut changed = clear_messages(document, tasks, now, |_, _| false);
    let mut last: HashMap<String, usize> = HashMap::new();
    for (at, message) in document.items.iter().enumerate() {
        if let Some(task) = task_of(message).filter(|_| type_of(message) == "task_assignment") {
            last.insert(task.to_owned(), at);
        }
    }
    for task in tasks.iter().filter(|task| !task.status.is_over()) {
        let at = *last.entry(task.task_id.clone()).or_insert_with(|| {
            changed = true;
            document.items.push(assignment_of(&task.task_id, &task.atom, now));
            document.items.len() - 1
        });
        if let (Some(reason), Some(Value::Object(message))) =
            (&task.rejection, document.items.get_mut(at))
            && message.get("rejectionReason").and_then(Value::as_str) != Some(reason)
        {
            changed = true;
            let was_own = is_own(message);
            message.insert("rejectionReason".to_owned(), json!(reason));
            message.insert("timestamp".to_owned(), json!(now.to_millis_text()));
            if was_own {
                mark_as_own(message);
            }
        }
    }
    changed
}

/// Merges reports: clears tasks that are over or decided, and adds missing reports that wait.
pub fn merge_reports(document: &mut Document, tasks: &[TaskState], now: Timestamp) -> bool {
    let mut changed = clear_messages(document, tasks, now, |task, message| {
        task.decided.as_ref().is_some_and(|decided| *decided == message_digest(message))
            && task.report.as_ref() != Some(message)
    });
    let waiting: Vec<&Value> = tasks
        .iter()
        .filter(|t| t.status == TaskStatus::AwaitingReview)
        .filter_map(|t| t.report.as_ref())
        .collect();
    if waiting.is_empty() {
        return changed;
    }
    let there: HashSet<String> = document.items.iter().map(message_digest).collect();
    for report in waiting {
        if !there.contains(&message_digest(report)) {
            document.items.push(report.clone());
            changed = true;
        }
    }
    changed
}

/// Clears the messages of tasks that are over, and messages that `also` selects. A cleared message
/// counts as read.
fn clear_messages(
    document: &mut Document,
    tasks: &[TaskState],
    now: Timestamp,
    also: impl Fn(&TaskState, &Value) -> bool,
) -> bool {
    let by_id: HashMap<&str, &TaskState> =
        tasks.iter().map(|task| (task.task_id.as_str(), task)).collect();
    let before = document.items.len();
    document.items.retain(|message| {
        let is_ours = matches!(type_of(message), "task_assignment" | "completion_report");
        match task_of(message).filter(|_| is_ours).and_then(|id| by_id.get(id)) {
            Some(task) => !task.status.is_over() && !also(task, message),
            None => true,
        }
    });
    let changed = document.items.len() != before;
    if changed {
        document.set_field("lastRead", json!(now.to_millis_text()));
    }
    changed
}

/// Merges the queue: every task with the state.
pub fn merge_queue(document: &mut Document, tasks: &[TaskState], now: Timestamp) -> bool {
    let mut at: HashMap<String, usize> = HashMap::new();
    for (index, entry) in document.items.iter().enumerate() {
        if let Some(id) = entry.get("id").and_then(Value::as_str) {
            at.insert(id.to_owned(), index);
        }
    }
    let mut changed = false;
    for task in tasks {
        let index = *at.entry(task.task_id.clone()).or_insert_with(|| {
            document.items.push(json!({ "id": task.task_id }));
            document.items.len() - 1
        });
        if let Some(Value::Object(entry)) = document.items.get_mut(index) {
            changed |= update_entry(entry, task, now);
        }
    }
    if changed {
        document.set_field("lastUpdated", json!(now.to_millis_text()));
    }
    changed
}

fn update_entry(entry: &mut Map<String, Value>, task: &TaskState, now: Timestamp) -> bool {
    let platform = task.atom.metadata.get("platform").and_then(Value::as_str).unwrap_or("custom");
    let fields = [
        ("title", json!(task.atom.title)),
        ("platform", json!(platform)),
        ("status", json!(task.status.as_str())),
        ("priority", json!(task.atom.priority)),
        ("atomId", json!(task.atom.id)),
        ("createdAt", json!(task.atom.created_at.to_millis_text())),
    ];
    let mut changed = false;
    for (name, value) in fields {
        changed |= entry.get(name) != Some(&value);
        entry.insert(name.to_owned(), value);
    }
    let reason = match task.status {
        TaskStatus::Rejected => task.atom.close_reason.clone(),
        _ => task.rejection.clone(),
    };
    match reason {
        Some(reason) => {
            changed |=
                entry.insert("rejectionReason".to_owned(), json!(reason)) != Some(json!(reason))
        }
        None => changed |= entry.shift_remove("rejectionReason").is_some(),
    }
    if changed {
        entry.insert("updatedAt".to_owned(), json!(now.to_millis_text()));
    }
    changed
}

/// Reads other programs' changes from the queue: legal decisions, and a line for each illegal
/// change. Only a difference from the state last written counts as a change.
pub fn read_decisions(document: &Document, tasks: &[TaskState]) -> (Vec<Decision>, Vec<String>) {
    let by_id: HashMap<&str, &TaskState> =
        tasks.iter().map(|task| (task.task_id.as_str(), task)).collect();
    let (mut wanted, mut odd) = (Vec::new(), Vec::new());
    for entry in &document.items {
        let Some(task) = entry.get("id").and_then(Value::as_str).and_then(|id| by_id.get(id))
        else {
            continue;
        };
        let Some(word) = entry.get("status").and_then(Value::as_str) else { continue };
        let Some(told) = task.told.filter(|told| told.as_str() != word) else { continue };
        let task_id = task.task_id.clone();
        let reason = ["rejectionReason", "rejection_reason", "reason"].iter().find_map(|key| {
            entry.get(*key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
        });
        match (told, TaskStatus::parse(word)) {
            // The atom went on since the file was written: that is the newer word.
            _ if task.status != told => {}
            (TaskStatus::AwaitingReview, Some(TaskStatus::Completed)) => {
                wanted.push(Decision::Approve { task_id })
            }
            (TaskStatus::AwaitingReview, Some(TaskStatus::Rejected | TaskStatus::Pending)) => {
                let reason = reason
                    .unwrap_or("it was rejected in the queue, and no reason was given")
                    .to_owned();
                wanted.push(Decision::Reject { task_id, reason });
            }
            (TaskStatus::Pending, Some(TaskStatus::InProgress)) => {
                wanted.push(Decision::Begin { task_id })
            }
            _ => odd.push(format!(
                "{task_id}: from {} to '{}' is no step of the protocol; it stays {}",
                told.as_str(),
                word.escape_debug(),
                told.as_str()
            )),
        }
    }
    (wanted, odd)
}

/// The state of an agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentState {
    #[serde(skip)]
    pub name: String,
    /// `working` or `idle`.
    pub status: &'static str,
    pub current_task: Option<String>,
    pub run: Option<String>,
    pub since: Option<String>,
}

/// Merges the agents' status. Foreign agents stay; our agents that are gone become idle.
pub fn merge_agents(document: &mut Document, states: &[AgentState], now: Timestamp) -> bool {
    // Somebody else's form of that name is left alone.
    let key =
        if document.field("agents").is_none_or(Value::is_object) { "agents" } else { "elAgents" };
    let before = document.field(key).cloned();
    let mut map = match &before {
        Some(Value::Object(map)) => map.clone(),
        _ => Map::new(),
    };
    for (name, entry) in &mut map {
        if let Value::Object(entry) = entry
            && entry.contains_key("run")
            && !states.iter().any(|state| state.name == *name)
        {
            for (field, value) in [
                ("status", json!("idle")),
                ("currentTask", Value::Null),
                ("run", Value::Null),
                ("since", Value::Null),
            ] {
                entry.insert(field.to_owned(), value);
            }
        }
    }
    for state in states {
        let entry = map.entry(state.name.clone()).or_insert_with(|| json!({}));
        if !entry.is_object() {
            *entry = json!({});
        }
        if let (Value::Object(entry), Ok(Value::Object(fields))) =
            (entry, serde_json::to_value(state))
        {
            entry.extend(fields);
        }
    }
    let after = Value::Object(map);
    let changed = before.as_ref() != Some(&after);
    if changed {
        document.set_field(key, after);
        document.set_field("lastUpdated", json!(now.to_millis_text()));
    }
    changed
}
