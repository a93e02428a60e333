//! The words that the views of a plan share.

use el_core::count_noun;
use el_core::ops::{Overview, PhaseView};
use el_core::rules::orchestrate::{Question, Standing};
use serde_json::Value;

use super::layers;
use super::place::TaskStage;

/// A phase's name for people.
pub(in crate::commands) fn phase_name(name: &str) -> String {
    match Question::from_name(name) {
        Some(Question::TaskList) => "list of tasks".to_owned(),
        Some(Question::Failures { round }) => format!("tasks of check {round}"),
        _ => name.to_owned(),
    }
}

/// The command by which a person answers a question.
pub(in crate::commands) fn command_of(epic: &str, question: Question) -> String {
    match question {
        Question::Failures { round } => {
            format!("el phase set {epic} --phase task_list --round {round} --file FILE")
        }
        other => format!("el phase set {epic} --phase {} --file FILE", other.phase()),
    }
}

/// The result of a phase in a line of any length.
pub(super) fn phase_result(phase: &PhaseView, overview: &Overview) -> String {
    let Some(data) = &phase.data else { return String::new() };
    let text = |key: &str| data.get(key).and_then(Value::as_str).map(str::to_owned);
    match Question::from_name(&phase.name) {
        Some(Question::TaskList | Question::Failures { .. }) => {
            tasks_in_layers(&phase.name, data, overview)
        }
        Some(Question::Aggregation) => {
            text("summary").or_else(|| text("status")).unwrap_or_default()
        }
        _ => text("summary").or_else(|| text("words")).unwrap_or_default(),
    }
}

/// `5 tasks in 3 layers`.
fn tasks_in_layers(list: &str, data: &Value, overview: &Overview) -> String {
    let filed: Vec<usize> = overview
        .tasks
        .iter()
        .filter(|task| task.list.as_deref() == Some(list))
        .map(|task| task.layer)
        .collect();
    if filed.is_empty() {
        return count_noun(data.get("tasks").and_then(Value::as_array).map_or(0, Vec::len), "task");
    }
    let mut layers = filed.clone();
    layers.sort_unstable();
    layers.dedup();
    format!("{} in {}", count_noun(filed.len(), "task"), count_noun(layers.len(), "layer"))
}

/// The number of tasks with a result.
pub(super) fn count_done(overview: &Overview) -> usize {
    overview.tasks.iter().filter(|task| task.standing == Standing::Done).count()
}

/// The number of tasks at each place, as `2 of 5 done, 1 running`.
pub(super) fn tally_tasks(overview: &Overview) -> String {
    let mut counts = layers::count_places(&overview.tasks);
    counts.retain(|(place, _)| *place != TaskStage::Done);
    let done = format!("{} of {} done", count_done(overview), overview.tasks.len());
    if counts.is_empty() { done } else { format!("{done}, {}", layers::list_counts(&counts)) }
}
