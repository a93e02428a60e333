//! The shapes of what is handed over, handed back and reviewed, and of what is said.

use el_core::model::{
    ArtifactKind, ArtifactState, NotSent, Outcome, ReviewVerdict, SummaryStatus, TaskStatus, TestOutcome, VerifyStatus,
};
use serde_json::{Value, json};

use super::shapes::{atom_keys, statuses};
use super::{anything, array, boolean, integer, list, list_keys, nullable, object, shape, string, time, words};

/// The names of the shapes that [`shape_of`] knows.
pub(super) const NAMES: [&str; 10] =
    ["delegation", "verify", "summary", "artifact", "task", "executing", "queued_task", "message", "inbox_message", "review"];

pub(super) fn shape_of(name: &str) -> Option<Value> {
    Some(match name {
        "delegation" => object(&[
            ("by", string()),
            ("workdir", nullable(string())),
            ("timeout_ms", nullable(integer())),
            ("verify", nullable(array(string()))),
            ("require_verify", boolean()),
        ]),
        "verify" => object(&[
            ("command", array(string())),
            ("required", boolean()),
            ("timeout_ms", integer()),
            ("status", words(VerifyStatus::ALL.iter().map(|status| status.as_str()))),
            ("exit_code", nullable(integer())),
            ("output", nullable(string())),
            ("took_ms", nullable(integer())),
            ("at", nullable(time())),
        ]),
        "summary" => {
            let tests = object(&[
                ("outcome", nullable(words(TestOutcome::ALL.iter().map(|outcome| outcome.as_str())))),
                ("text", string()),
            ]);
            object(&[
                ("objective", nullable(string())),
                ("accomplishments", array(string())),
                ("deliverables", array(object(&[("path", string()), ("description", nullable(string()))]))),
                ("tests", nullable(tests)),
                ("notes", array(string())),
                ("status", nullable(words(SummaryStatus::ALL.iter().map(|status| status.as_str())))),
                ("is_fallback", boolean()),
                ("warnings", array(string())),
            ])
        }
        "artifact" => object(&artifact_keys()),
        "task" => object(&task_keys()),
        "executing" => object(&[
            ("task_id", string()),
            ("run_id", string()),
            ("title", string()),
            ("started_at", time()),
            ("action", nullable(string())),
        ]),
        "queued_task" => object(&[
            ("position", nullable(integer())),
            ("task_id", string()),
            ("title", string()),
            ("priority", priority()),
            ("created_at", time()),
            ("assignee", nullable(string())),
            ("retry_at", nullable(time())),
        ]),
        "message" => object(&message_keys()),
        "inbox_message" => {
            let mut keys = message_keys();
            keys.push(("read_at", nullable(time())));
            object(&keys)
        }
        "review" => object(&[
            ("_type", json!({ "const": "review" })),
            ("id", string()),
            ("atom_id", string()),
            ("run_id", nullable(string())),
            ("author", string()),
            // As it was given: an object by the protocol, `null` where someone set the status by hand.
            ("report", nullable(anything())),
            ("created_at", time()),
            ("verdict", nullable(words(ReviewVerdict::ALL.iter().map(|verdict| verdict.as_str())))),
            ("decided_by", nullable(string())),
            ("reason", nullable(string())),
            ("decided_at", nullable(time())),
        ]),
        _ => return None,
    })
}

fn priority() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": 5 })
}

fn outcome() -> Value {
    nullable(words(Outcome::ALL.iter().map(|outcome| outcome.as_str())))
}

fn task_statuses() -> Value {
    words(TaskStatus::ALL.iter().map(|status| status.as_str()))
}

fn artifact_keys() -> Vec<(&'static str, Value)> {
    vec![
        ("_type", json!({ "const": "artifact" })),
        ("run_id", string()),
        ("n", integer()),
        ("kind", words(ArtifactKind::ALL.iter().map(|kind| kind.as_str()))),
        ("name", string()),
        ("path", string()),
        ("description", nullable(string())),
        ("state", words(ArtifactState::ALL.iter().map(|state| state.as_str()))),
        ("size", nullable(integer())),
        ("sha256", nullable(string())),
        ("file", nullable(string())),
        ("reason", nullable(words(NotSent::ALL.iter().map(|reason| reason.as_str())))),
        ("note", nullable(string())),
    ]
}

fn task_keys() -> Vec<(&'static str, Value)> {
    vec![
        ("_type", json!({ "const": "task" })),
        ("id", string()),
        ("agent", nullable(string())),
        ("task_prompt", string()),
        ("workdir", nullable(string())),
        ("status", task_statuses()),
        ("pid", nullable(integer())),
        ("started_at", nullable(time())),
        ("completed_at", nullable(time())),
        ("exit_code", nullable(integer())),
        ("output", nullable(string())),
        ("result_summary", nullable(string())),
        ("error_lines", nullable(string())),
        ("title", string()),
        ("priority", priority()),
        ("atom_status", statuses()),
        ("outcome", outcome()),
        ("detail", nullable(string())),
        ("run_id", nullable(string())),
        ("attempts", integer()),
        ("action", nullable(string())),
        ("delegated_by", nullable(string())),
        ("created_at", time()),
        ("retry_at", nullable(time())),
        ("timeout_ms", nullable(integer())),
        ("verify", nullable(shape("verify"))),
        ("turns", integer()),
        ("cost_micros", integer()),
    ]
}

fn message_keys() -> Vec<(&'static str, Value)> {
    vec![
        ("_type", json!({ "const": "message" })),
        ("seq", integer()),
        ("id", string()),
        ("channel", string()),
        ("author", string()),
        ("content", string()),
        ("mentions", array(string())),
        ("atom_id", nullable(string())),
        ("run_id", nullable(string())),
        ("created_at", time()),
    ]
}

/// What `el run` answers: the task and its place; with `--wait`, the task as it ended.
pub(super) fn run() -> Value {
    let place = object(&[
        ("position", nullable(integer())),
        ("executing", array(shape("executing"))),
        ("ahead", array(shape("queued_task"))),
        ("holds", array(shape("hold"))),
        ("pause", nullable(shape("pause"))),
        ("is_served", boolean()),
    ]);
    let started = object(&[("pid", integer()), ("worker_id", nullable(string())), ("log", string())]);
    let mut keys = task_keys();
    keys.extend([("queue", place), ("running", integer()), ("started_worker", nullable(started)), ("warnings", array(string()))]);
    json!({ "oneOf": [object(&keys), shape("task")] })
}

/// All tasks, or one with its place in the queue.
pub(super) fn tasks() -> Value {
    let mut keys = task_keys();
    keys.push(("position", nullable(integer())));
    json!({ "oneOf": [list(shape("task")), object(&keys)] })
}

pub(super) fn tasks_cancel() -> Value {
    let mut keys = task_keys();
    keys.push(("was", task_statuses()));
    object(&keys)
}

pub(super) fn queue() -> Value {
    list(object(&[
        ("agent_name", string()),
        ("is_executing", boolean()),
        ("current_task_id", nullable(string())),
        ("queued_tasks", integer()),
        ("current", array(shape("executing"))),
        ("waiting", array(shape("queued_task"))),
        ("held", array(shape("queued_task"))),
        ("workers", array(string())),
        ("is_served", boolean()),
        ("max_parallel", nullable(integer())),
    ]))
}

pub(super) fn artifacts() -> Value {
    let mut keys = vec![
        ("run_id", string()),
        ("atom_id", string()),
        ("attempt", integer()),
        ("outcome", outcome()),
        ("summary", nullable(shape("summary"))),
        ("folder", string()),
    ];
    keys.extend(list_keys(shape("artifact")));
    keys.push(("not_sent", array(shape("artifact"))));
    object(&keys)
}

pub(super) fn artifacts_get() -> Value {
    let mut keys = artifact_keys();
    keys.extend([("source", string()), ("content", nullable(string())), ("written_to", nullable(string()))]);
    object(&keys)
}

pub(super) fn channels() -> Value {
    list(object(&[
        ("name", string()),
        ("messages", integer()),
        ("unread", integer()),
        ("last_author", string()),
        ("last_at", time()),
        ("last", string()),
    ]))
}

/// An atom that waits for review now; with `--template`, a report to be filled in.
pub(super) fn submit() -> Value {
    let mut keys = atom_keys();
    keys.push(("review", shape("review")));
    let build = object(&[("status", string()), ("command", string()), ("errors", integer()), ("output", string())]);
    let template = object(&[
        ("type", json!({ "const": "completion_report" })),
        ("taskId", string()),
        ("platform", string()),
        ("status", string()),
        ("summary", string()),
        ("filesCreated", array(string())),
        ("filesModified", array(string())),
        ("buildResult", build),
        ("timestamp", string()),
    ]);
    json!({ "oneOf": [object(&keys), template] })
}

pub(super) fn reviews() -> Value {
    let file = object(&[("path", string()), ("added", nullable(integer())), ("removed", nullable(integer()))]);
    let diff = object(&[("added", integer()), ("removed", integer()), ("files", array(file)), ("truncated", boolean())]);
    let mut keys = atom_keys();
    keys.extend([
        ("review", nullable(shape("review"))),
        ("run", nullable(shape("run"))),
        ("waiting_since", time()),
        ("diff", nullable(diff)),
        ("diff_note", nullable(string())),
    ]);
    list(object(&keys))
}

pub(super) fn mailbox_sync() -> Value {
    object(&[
        ("arrived", integer()),
        ("written", array(string())),
        ("notes", array(string())),
        ("problems", array(string())),
        ("errors", array(string())),
    ])
}
