//! What each command answers under `data`.

use el_core::model::CancelMode;
use serde_json::{Value, json};

use super::handing_over;
use super::shapes::{atom_keys, list_of, run_keys, shown};
use super::{anything, array, boolean, integer, list, nullable, object, shape, string, words};

/// Commands whose output is a stream, or not ours to promise.
pub(crate) const NOT_DESCRIBED: &[&str] = &["attach", "logs", "mcp", "work"];

/// What makes the schema of what a command answers.
type Data = fn() -> Value;

const COMMANDS: &[(&str, Data)] = &[
    ("init", || object(&[("path", string()), ("db", string()), ("repo_name", string())])),
    ("create", one_or_many),
    ("list", || list(shape("atom"))),
    ("ready", || list(shape("atom"))),
    ("search", || list(shape("atom"))),
    ("show", shown),
    ("next", || nullable(shape("atom"))),
    ("update", updated),
    ("close", one_or_many),
    ("reopen", one_or_many),
    ("discard", one_or_many),
    ("discard list", || list(shape("atom"))),
    ("discard restore", || shape("atom")),
    ("discard prune", || object(&[("pruned_count", integer()), ("pruned_ids", array(string())), ("dry_run", boolean())])),
    ("comment add", || shape("comment")),
    ("comment list", || list_of(&[("atom_id", string())], shape("comment"))),
    ("dep add", || shape("bond")),
    ("dep remove", || list(shape("bond"))),
    ("dep list", || object(&[("atom_id", string()), ("outgoing", array(shape("bond"))), ("incoming", array(shape("bond")))])),
    ("dep tree", || {
        object(&[
            ("atom_id", string()),
            ("direction", words(["up", "down"])),
            ("tree", shape("tree")),
            ("format", words(["tree", "mermaid", "dot"])),
            ("content", nullable(string())),
        ])
    }),
    ("dep check", || object(&[("issues_count", integer()), ("issues", array(anything()))])),
    ("claim", || shape("atom")),
    ("release", || shape("atom")),
    ("retry", || shape("atom")),
    ("cancel", || {
        object(&[("run_id", string()), ("atom_id", string()), ("mode", words(CancelMode::ALL.iter().map(|mode| mode.as_str())))])
    }),
    ("history", || list_of(&[("atom_id", nullable(string()))], shape("event"))),
    ("stats", stats),
    ("why", || {
        object(&[
            ("atom", shape("atom")),
            ("ready", boolean()),
            ("holds", array(shape("hold"))),
            ("attempts", array(shape("run"))),
            ("last_comment", nullable(shape("comment"))),
            ("pause", nullable(shape("pause"))),
        ])
    }),
    ("runs", || list(shape("run"))),
    ("runs list", || list(shape("run"))),
    ("runs show", || {
        let mut keys = run_keys();
        keys.push(("folder", string()));
        object(&keys)
    }),
    ("config show", || {
        object(&[
            ("path", nullable(string())),
            ("user_path", nullable(string())),
            ("agent", nullable(string())),
            ("config", anything()),
            ("origins", anything()),
            ("agents", array(string())),
            ("problems", array(string())),
        ])
    }),
    ("config get", || object(&[("key", string()), ("value", json!({})), ("origin", json!({}))])),
    ("config set", || object(&[("key", string()), ("value", json!({})), ("path", string())])),
    ("config unset", || object(&[("key", string()), ("removed", boolean()), ("path", string())])),
    ("doctor", || {
        object(&[("count", integer()), ("serious", integer()), ("fixed", array(string())), ("findings", array(shape("finding")))])
    }),
    ("completions", || object(&[("shell", string()), ("script", string())])),
    ("import", || {
        object(&[
            ("file", string()),
            ("format", words(["el", "bd", "eluent", "github", "markdown"])),
            ("dry_run", boolean()),
            ("source", string()),
            ("created", integer()),
            ("updated", integer()),
            ("unchanged", integer()),
            ("bonds_added", integer()),
            ("bonds_removed", integer()),
            ("comments_added", integer()),
            ("notes", array(shape("note"))),
            ("bad", array(shape("bad_line"))),
        ])
    }),
    ("export", || {
        object(&[
            ("format", words(["jsonl", "markdown", "csv", "dot", "mermaid"])),
            ("path", nullable(string())),
            ("atoms", integer()),
            ("bonds", integer()),
            ("comments", integer()),
            ("content", nullable(string())),
        ])
    }),
    ("merge-driver", merge_driver),
    ("prime", || {
        nullable(object(&[
            ("own", nullable(shape("atom"))),
            ("in_progress", array(shape("atom"))),
            ("in_progress_total", integer()),
            ("ready", array(shape("atom"))),
            ("ready_total", integer()),
        ]))
    }),
    ("run", handing_over::run),
    ("tasks", handing_over::tasks),
    ("tasks cancel", handing_over::tasks_cancel),
    ("queue", handing_over::queue),
    ("artifacts", handing_over::artifacts),
    ("artifacts get", handing_over::artifacts_get),
    ("chat list", handing_over::channels),
    ("chat view", || list_of(&[("channel", string())], shape("message"))),
    ("chat post", || shape("message")),
    ("inbox", || list_of(&[("reader", string())], shape("inbox_message"))),
    ("submit", handing_over::submit),
    ("review", handing_over::reviews),
    ("approve", one_or_many),
    ("reject", || shape("atom")),
    ("mailbox sync", handing_over::mailbox_sync),
    ("mailbox post", || object(&[("file", string())])),
    ("setup claude", setup),
    ("setup agents", setup),
    ("schema", anything),
    ("man", || {
        json!({ "oneOf": [
            object(&[("name", string()), ("page", string())]),
            object(&[("count", integer()), ("pages", array(string()))]),
        ]})
    }),
    ("help", || {
        json!({ "oneOf": [
            object(&[("topic", string()), ("text", string())]),
            object(&[("command", string()), ("text", string())]),
            object(&[("topics", array(object(&[("topic", string()), ("about", string())])))]),
        ]})
    }),
];

/// The commands that have a schema.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|(name, _)| *name)
}

pub(super) fn data(command: &str) -> Option<Value> {
    COMMANDS.iter().find(|(name, _)| *name == command).map(|(_, data)| data())
}

/// One atom where one was named, a list where several were.
fn one_or_many() -> Value {
    json!({ "oneOf": [shape("atom"), list(shape("atom"))] })
}

fn updated() -> Value {
    let mut keys = atom_keys();
    keys.push(("changes", anything()));
    let one = object(&keys);
    json!({ "oneOf": [one.clone(), list(one)] })
}

fn stats() -> Value {
    let runs = object(&[
        ("total", integer()),
        ("live", integer()),
        ("by_outcome", anything()),
        ("turns", integer()),
        ("tokens_in", integer()),
        ("tokens_out", integer()),
        ("cost_micros", integer()),
        ("seconds", integer()),
    ]);
    object(&[
        ("total", integer()),
        ("ready", integer()),
        ("by_status", anything()),
        ("by_type", anything()),
        ("by_priority", anything()),
        ("runs", runs),
    ])
}

fn merge_driver() -> Value {
    let conflict = object(&[("record", string()), ("field", nullable(string())), ("ours", json!({})), ("theirs", json!({}))]);
    json!({ "oneOf": [
        object(&[("path", string()), ("conflicts", array(conflict))]),
        object(&[
            ("installed", boolean()),
            ("commands", array(string())),
            ("attributes", string()),
            ("line", string()),
            ("had_line", boolean()),
        ]),
    ]})
}

fn setup() -> Value {
    let file = object(&[
        ("path", string()),
        ("change", words(["created", "changed", "unchanged", "removed", "kept"])),
        ("content", nullable(string())),
        ("backup", nullable(string())),
    ]);
    object(&[
        ("scope", words(["project", "user"])),
        ("removed", boolean()),
        ("printed", boolean()),
        ("files", array(file)),
        ("notes", array(string())),
    ])
}
