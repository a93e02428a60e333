//! The list of tools as clients receive the list.

use serde_json::Value;

/// Every conversation that loads the list pays for each byte.
const LIST: &str = include_str!("tools.json");

pub(super) fn all_tools() -> Value {
    serde_json::from_str(LIST).expect("a test reads the list")
}

/// The names of a tool's arguments.
pub(super) fn parameter_names(tool: &str) -> Vec<String> {
    let all = all_tools();
    let found = all.as_array().into_iter().flatten().find(|one| one["name"] == tool);
    let names = found.and_then(|one| one["inputSchema"]["properties"].as_object());
    names.map(|names| names.keys().cloned().collect()).unwrap_or_default()
}
