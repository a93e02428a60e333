//! The tools: their descriptions for clients, and the function behind each tool.

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::call::Call;
use super::version::Version;
use super::{catalog, rows, wire};
use crate::{CommandError, Result};

mod changes;
mod finding;
mod tasks;

/// How long clients may cache the list, in milliseconds. The list does not change while the server
/// runs.
pub(super) const FRESH_MS: u64 = 3_600_000;
pub(super) const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";
/// The key under which programs find the code of a failure; the text is for models.
const ERROR_KEY: &str = "el/error";

/// A tool and the function that runs the tool.
#[derive(Debug)]
pub(super) struct Tool {
    name: &'static str,
    pub(super) run: fn(&Call, Arguments) -> Result<String>,
    /// Returns true if the call may wait for an event. Other calls then run beside that call.
    pub(super) may_take_long: fn(&Arguments) -> bool,
}

const fn quick_tool(name: &'static str, run: fn(&Call, Arguments) -> Result<String>) -> Tool {
    Tool { name, run, may_take_long: |_| false }
}

static TOOLS: [Tool; 14] = [
    // A worker may have to be started.
    Tool { name: "claude_code", run: tasks::claude_code, may_take_long: |_| true },
    quick_tool("claude_code_status", tasks::task_status),
    Tool {
        name: "claude_code_result",
        run: tasks::task_result,
        may_take_long: |arguments| arguments.asks_for("wait"),
    },
    quick_tool("claude_code_cancel", tasks::cancel_task),
    quick_tool("ready", finding::list_ready),
    quick_tool("list", finding::list_atoms),
    quick_tool("show", finding::show_atom),
    quick_tool("inbox", finding::read_inbox),
    quick_tool("create", changes::create_atom),
    quick_tool("claim", changes::claim_atom),
    quick_tool("update", changes::update_atom),
    // In a session, a check may have to pass first.
    Tool {
        name: "close",
        run: changes::close_atoms,
        may_take_long: |_| crate::session::is_answering(),
    },
    quick_tool("comment", changes::add_comment),
    quick_tool("dependencies", changes::change_dependencies),
];

impl Tool {
    pub(super) fn find_tool(name: &str) -> Option<&'static Tool> {
        TOOLS.iter().find(|tool| tool.name == name)
    }
}

/// The answer to `tools/list`.
pub(super) fn list_tools(version: Version) -> Value {
    let mut result = json!({ "tools": catalog::all_tools() });
    if version.is_stateless() {
        result["ttlMs"] = FRESH_MS.into();
        result["cacheScope"] = "public".into();
        mark_complete(&mut result);
    }
    result
}

pub(super) fn server_info() -> Value {
    json!({ "name": "el", "version": env!("CARGO_PKG_VERSION") })
}

/// Adds the fields that every result without a handshake has.
fn mark_complete(result: &mut Value) {
    result["resultType"] = "complete".into();
    result["_meta"][SERVER_KEY] = server_info();
}

/// The answer to `tools/call`.
pub(super) fn call_answer(id: &Value, done: Result<String>, version: Version) -> Value {
    let mut result = match done {
        Ok(text) => json!({ "content": [{ "type": "text", "text": text.trim_end() }] }),
        Err(error) => json!({
            "content": [{ "type": "text", "text": failure_text(&error) }],
            "isError": true,
            "_meta": { ERROR_KEY: {
                "code": error.code(),
                "exit": error.exit().code(),
                "retryable": error.is_retryable(),
                "details": error.details(),
            } },
        }),
    };
    if version.is_stateless() {
        mark_complete(&mut result);
    }
    wire::result_message(id, result)
}

/// The code, the message, the causes and the hints of an error.
fn failure_text(error: &CommandError) -> String {
    let mut text = format!("{} (exit {}): {}", error.code(), error.exit().code(), error.message());
    for cause in error.causes() {
        text.push_str(&format!("\nbecause: {cause}"));
    }
    for line in error.listed_items() {
        text.push_str(&format!("\n  {line}"));
    }
    let hints = error.hints().iter().map(String::as_str);
    let own = match error.code() {
        "no_database" => Some("no restart is needed then: every call looks anew"),
        "newer_database" => Some(
            "if a newer el is installed by now, restart this server, which is still the old one",
        ),
        "not_found" => Some("the tools list and ready show ids too"),
        _ => None,
    };
    for hint in hints.chain(own) {
        text.push_str(&format!("\nnext: {hint}"));
    }
    if error.is_retryable() {
        text.push_str("\nnext: the same call may succeed later");
    }
    rows::text_window(&text, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_what_there_is() {
        let names: Vec<String> = catalog::all_tools()
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(names, TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>());
        for tool in catalog::all_tools().as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert!(tool["inputSchema"]["properties"].is_object(), "{tool}");
            assert!(tool["description"].is_string(), "{tool}");
        }
    }

    #[test]
    fn the_list_is_sent_without_a_byte_too_many() {
        let sent = serde_json::to_string(&catalog::all_tools()).unwrap();
        // About four bytes a token: docs/mcp.md gives the figures.
        assert!(sent.len() <= 5_000, "{} bytes", sent.len());
    }

    #[test]
    fn handing_over_is_as_it_was_specified() {
        let all = catalog::all_tools();
        let tool = &all[0];
        assert_eq!(
            tool,
            &json!({
                "name": "claude_code",
                "description": "Delegate a coding task to Claude Code. Returns immediately with \
                                task ID. You'll be notified when complete.",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "task": {
                            "type": "string",
                            "description": "The coding task/prompt for Claude Code",
                        },
                        "workdir": {
                            "type": "string",
                            "description": "Working directory (default: current project)",
                        },
                    },
                    "required": ["task"],
                },
            })
        );
    }
}
