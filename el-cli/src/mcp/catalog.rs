//! The tools as clients get them.

use serde_json::Value;

/// Each of its bytes is paid for by every conversation that loads it.
const LIST: &str = include_str!("tools.json");

pub(super) fn all() -> Value {
    serde_json::from_str(LIST).expect("a test reads the list")
}

/// The names of a tool's arguments.
pub(super) fn parameters(tool: &str) -> Vec<String> {
    let all = all();
    let found = all.as_array().into_iter().flatten().find(|one| one["name"] == tool);
    let names = found.and_then(|one| one["inputSchema"]["properties"].as_object());
    names.map(|names| names.keys().cloned().collect()).unwrap_or_default()
}
