//! A plan whose questions and tasks the real client answers.

mod breaks;
mod faulty;
mod layers;

use serde_json::{Value, json};

use crate::support::TestEnv;

/// A model's text with a block.
pub(crate) fn block(phase: &str, data: &Value) -> String {
    delimited(&format!("{:#}", json!({"phase": phase, "data": data})))
}

/// The same around a text that may be no JSON.
fn delimited(text: &str) -> String {
    format!(
        "I have looked.\n\n<<<ORCHESTRATOR_RESPONSE>>>\n{text}\n<<<END_ORCHESTRATOR_RESPONSE>>>\n"
    )
}

/// An entry of a list of tasks.
pub(crate) fn task(id: &str, waits_for: &[&str]) -> Value {
    json!({"id": id, "title": format!("Chapter {id}"),
        "description": format!("Write chapter {id}"), "dependencies": waits_for})
}

fn progress(id: &str, percent: u8) -> String {
    block(
        "progress",
        &json!({"task_id": id, "status": "in_progress", "progress_percent": percent,
            "current_action": "Writing"}),
    )
}

fn completion(id: &str) -> String {
    block(
        "completion",
        &json!({"task_id": id, "status": "success", "summary": format!("Chapter {id} is written")}),
    )
}

/// The answers for the agent of a question.
pub(crate) fn question(name: &str, steps: &Value) -> Value {
    let says = match name {
        "analysis" => "find out what the work below takes",
        "task_list" => "Cut the work below into tasks",
        "aggregation" => "Bring their results together",
        _ => panic!("there is no question {name}"),
    };
    json!({"match": says, "steps": steps})
}

pub(crate) fn analysis(splits: usize) -> Value {
    question(
        "analysis",
        &json!([{"text": block("analysis", &json!({"summary": "Chapters",
            "recommended_splits": splits}))}]),
    )
}

pub(crate) fn task_list(tasks: &[Value]) -> Value {
    question("task_list", &json!([{"text": block("task_list", &json!({"tasks": tasks}))}]))
}

/// The conversation about a task: a file written by the client's own tool, a commit, the close, and
/// a report.
pub(crate) fn worker(id: &str, write: Value) -> Value {
    json!({"match": format!("the task `{id}`"), "steps": [
        write,
        {"bash": format!("git add {id}.txt && git commit -q -m 'Write {id}'")},
        {"bash": format!("el close ${{ID}} --reason '{id}.txt is written'")},
        {"text": completion(id)},
    ]})
}

/// Returns the only plan, as in `el orchestrate show`.
#[track_caller]
fn plan(env: &TestEnv) -> Value {
    let plans = env.robot(&["orchestrate", "status"])["items"].take();
    env.robot(&["orchestrate", "status", plans[0]["epic_id"].as_str().expect("a plan is filed")])
}

/// Returns this text of each of a plan's `phases` or `tasks`.
#[track_caller]
fn each(plan: &Value, what: &str, key: &str) -> Vec<String> {
    plan[what]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|entry| Some(entry[key].as_str()?.to_owned()))
        .collect()
}
