//! The shapes that several commands share.

use el_core::model::{BondKind, CancelMode, EventKind, IssueType, Outcome, Status};
use serde_json::{Map, Value, json};

use super::{anything, array, boolean, handing_over, integer, list_keys, nullable, object, shape, string, time, words};

/// What every failure has.
pub(super) fn error() -> Value {
    object(&[
        ("code", string()),
        ("message", string()),
        ("hint", nullable(string())),
        ("details", anything()),
        ("retryable", boolean()),
    ])
}

const NAMES: [&str; 13] =
    ["atom", "bond", "comment", "run", "stamp", "event", "tree", "name", "finding", "hold", "pause", "note", "bad_line"];

fn shape_of(name: &str) -> Value {
    match name {
        "atom" => object(&atom_keys()),
        "bond" => object(&[
            ("_type", json!({ "const": "bond" })),
            ("source_id", string()),
            ("target_id", string()),
            ("dependency_type", bond_kinds()),
            ("created_at", time()),
        ]),
        "comment" => object(&[
            ("_type", json!({ "const": "comment" })),
            ("id", string()),
            ("parent_id", string()),
            ("author", string()),
            ("content", string()),
            ("run_id", nullable(string())),
            ("created_at", time()),
        ]),
        "run" => object(&run_keys()),
        "stamp" => object(&[("pid", integer()), ("start", integer()), ("boot", string())]),
        "event" => object(&[
            ("seq", integer()),
            ("at", time()),
            ("actor", string()),
            ("kind", words(EventKind::ALL.iter().map(|kind| kind.as_str()))),
            ("atom_id", nullable(string())),
            ("run_id", nullable(string())),
            ("data", anything()),
        ]),
        "tree" => object(&[
            ("id", string()),
            ("title", string()),
            ("status", statuses()),
            ("bond", nullable(bond_kinds())),
            ("repeated", boolean()),
            ("children", array(shape("tree"))),
        ]),
        "name" => object(&[("source", string()), ("alias", string())]),
        "finding" => object(&[("code", string()), ("serious", boolean()), ("message", string()), ("hint", string())]),
        "hold" => {
            let hold = |name: &str, keys: &[(&'static str, Value)]| {
                let mut all = vec![("hold", json!({ "const": name }))];
                all.extend(keys.iter().cloned());
                object(&all)
            };
            json!({ "oneOf": [
                hold("status", &[("status", statuses())]),
                hold("abstract", &[("issue_type", types())]),
                hold("deferred", &[("until", nullable(time()))]),
                hold("back_off", &[("until", time())]),
                hold("running", &[("run", string())]),
                hold("blocked", &[("by", string()), ("bond", bond_kinds()), ("via", nullable(string()))]),
                hold("parent", &[("parent", string()), ("status", statuses())]),
            ]})
        }
        "pause" => object(&[("until", time()), ("reason", string())]),
        "note" => object(&[
            ("kind", words(["approximated", "kept", "left_out", "conflict", "remark"])),
            ("what", string()),
            ("count", integer()),
            ("places", array(string())),
        ]),
        "bad_line" => object(&[("line", integer()), ("message", string())]),
        _ => handing_over::shape_of(name).expect("every name in the lists is in one of the two matches"),
    }
}

/// The shapes that the schema names, and those that they name.
pub(super) fn named_in(schema: &Value) -> Value {
    let mut found = Map::new();
    let mut texts = vec![schema.to_string()];
    while let Some(text) = texts.pop() {
        for name in NAMES.iter().chain(&handing_over::NAMES).filter(|name| text.contains(&format!("\"#/$defs/{name}\""))) {
            if !found.contains_key(*name) {
                let shape = shape_of(name);
                texts.push(shape.to_string());
                found.insert((*name).to_owned(), shape);
            }
        }
    }
    Value::Object(found)
}

pub(super) fn statuses() -> Value {
    words(Status::ALL.iter().map(|status| status.as_str()))
}

fn types() -> Value {
    words(IssueType::ALL.iter().map(|kind| kind.as_str()))
}

fn bond_kinds() -> Value {
    words(BondKind::ALL.iter().map(|kind| kind.as_str()))
}

/// An atom's own row.
pub(super) fn atom_keys() -> Vec<(&'static str, Value)> {
    vec![
        ("_type", json!({ "const": "atom" })),
        ("id", string()),
        ("title", string()),
        ("description", string()),
        ("acceptance", nullable(string())),
        ("status", statuses()),
        ("issue_type", types()),
        ("priority", json!({ "type": "integer", "minimum": 0, "maximum": 5 })),
        ("labels", array(string())),
        ("assignee", nullable(string())),
        ("parent_id", nullable(string())),
        ("defer_until", nullable(time())),
        ("retry_at", nullable(time())),
        ("close_reason", nullable(string())),
        ("created_by", string()),
        ("created_at", time()),
        ("updated_at", time()),
        ("closed_at", nullable(time())),
        ("run_id", nullable(string())),
        ("delegation", nullable(shape("delegation"))),
        ("metadata", anything()),
    ]
}

/// A run's own row.
pub(super) fn run_keys() -> Vec<(&'static str, Value)> {
    vec![
        ("_type", json!({ "const": "run" })),
        ("id", string()),
        ("atom_id", string()),
        ("attempt", integer()),
        ("agent", string()),
        ("executor", string()),
        ("worker_id", nullable(string())),
        ("session", nullable(string())),
        ("conversation", nullable(string())),
        ("workdir", string()),
        ("started_at", time()),
        ("heartbeat_at", time()),
        ("lease_until", time()),
        ("ended_at", nullable(time())),
        ("outcome", nullable(words(Outcome::ALL.iter().map(|outcome| outcome.as_str())))),
        ("detail", nullable(string())),
        ("exit_code", nullable(integer())),
        ("exit_signal", nullable(integer())),
        ("supervisor", nullable(shape("stamp"))),
        ("agent_pid", nullable(integer())),
        ("turns", integer()),
        ("tokens_in", integer()),
        ("tokens_out", integer()),
        ("cost_micros", integer()),
        ("action", nullable(string())),
        ("active_at", nullable(time())),
        ("stop_blocks", integer()),
        ("resumes", integer()),
        ("cancel_requested", nullable(words(CancelMode::ALL.iter().map(|mode| mode.as_str())))),
        ("summary", nullable(shape("summary"))),
        ("artifacts", integer()),
        ("verify", nullable(shape("verify"))),
        ("output", nullable(string())),
        ("error_lines", nullable(string())),
    ]
}

/// An atom with what hangs on it.
pub(super) fn shown() -> Value {
    let mut keys = atom_keys();
    keys.push(("dependencies", object(&[("outgoing", array(shape("bond"))), ("incoming", array(shape("bond")))])));
    keys.push(("comments", array(shape("comment"))));
    keys.push(("runs", array(shape("run"))));
    keys.push(("aliases", array(shape("name"))));
    keys.push(("reviews", array(shape("review"))));
    object(&keys)
}

/// A list that says whose it is.
pub(super) fn list_of(owner: &[(&'static str, Value)], items: Value) -> Value {
    let mut keys = owner.to_vec();
    keys.extend(list_keys(items));
    object(&keys)
}
