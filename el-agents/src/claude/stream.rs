//! Parses lines of Claude Code's `stream-json` into the facts that el uses.
//!
//! The format belongs to the client and changes. Missing, new or differently typed fields are
//! skipped, and no line is an error.

use el_core::text::{fold_line, middle_out, one_line};
use serde_json::Value;

use super::field::{number_field, text_field};
use super::result::{RunResult, Usage};

/// The maximum length of a text that is only shown, in characters.
const SHOWN: usize = 200;

/// A fact from a line. A message with several parts yields several events.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// The call has begun.
    Init { session_id: Option<String>, model: Option<String>, version: Option<String> },
    /// Text from the agent.
    Text { text: String, subagent: bool },
    /// The agent thought.
    Thinking,
    /// A tool call; `summary` has the input as a line.
    ToolUse { id: String, name: String, summary: String, subagent: bool },
    /// A tool answered.
    ToolResult { id: String, is_error: bool, summary: String, subagent: bool },
    /// The usage of a model's answer so far. Repeated for the same message.
    Usage { message_id: String, usage: Usage, subagent: bool },
    /// A request failed and will be made again.
    ApiRetry { attempt: u64, max_retries: u64, delay_ms: u64, status: Option<u16>, error: String },
    /// Requests failed for good; the result that follows says so too.
    ApiError { error: String, text: String },
    /// The account's state with respect to the usage limit.
    RateLimit(Limit),
    /// The model was changed under way.
    ModelFallback { from: String, to: String },
    /// The Stop hook sent the agent back to work.
    StopHookFeedback { text: String },
    /// The agent was interrupted (SIGINT).
    Interrupted,
    /// The supervisor says why it ends the agent.
    Note { text: String },
    /// A tool runs in the background, or for more than a few seconds.
    TaskStarted { id: String, description: String },
    /// Such a tool has ended: `completed`, `failed`, `stopped`, `killed`.
    TaskEnded { id: String, status: String },
    /// The call has ended. `task_…` events may still follow.
    Result(Box<RunResult>),
    /// An event of an unused kind.
    Other { kind: String },
    /// The beginning of a line that is no event.
    Garbage { text: String },
}

/// A `rate_limit_event`. `allowed` and `allowed_warning` come with every other answer and are no
/// failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// `allowed`, `allowed_warning`, `rejected`.
    pub status: String,
    /// When the limit is lifted, seconds since 1970.
    pub resets_at: Option<i64>,
    /// `five_hour`, `seven_day`, …
    pub kind: Option<String>,
}

impl Limit {
    /// Returns true if requests are refused. An unknown status counts as allowed.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        matches!(self.status.as_str(), "rejected" | "denied")
    }
}

/// Parses a line. An empty line has no events.
#[must_use]
pub fn parse_line(line: &[u8]) -> Vec<StreamEvent> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Vec::new();
    }
    let garbage = || {
        vec![StreamEvent::Garbage {
            text: one_line(&String::from_utf8_lossy(&line[..line.len().min(4096)]), SHOWN),
        }]
    };
    // A character cut in half must not cost the whole event.
    let parsed = serde_json::from_slice(line)
        .or_else(|_| serde_json::from_str(&String::from_utf8_lossy(line)));
    match parsed {
        Ok(value @ Value::Object(_)) => parse_object(&value),
        Ok(_) | Err(_) => garbage(),
    }
}

fn parse_object(value: &Value) -> Vec<StreamEvent> {
    let kind = text_field(value, "type").unwrap_or_default();
    let subtype = text_field(value, "subtype").unwrap_or_default();
    match (kind.as_str(), subtype.as_str()) {
        ("assistant", _) => parse_assistant(value),
        ("user", _) => parse_user(value),
        ("result", _) => vec![StreamEvent::Result(Box::new(RunResult::from_json(value)))],
        ("rate_limit_event", _) => vec![rate_limit(value)],
        ("system", "init") => vec![StreamEvent::Init {
            session_id: text_field(value, "session_id"),
            model: text_field(value, "model"),
            version: text_field(value, "claude_code_version"),
        }],
        ("system", "api_retry") => vec![StreamEvent::ApiRetry {
            attempt: number_field(value, "attempt").unwrap_or(0),
            max_retries: number_field(value, "max_retries").unwrap_or(0),
            delay_ms: number_field(value, "retry_delay_ms").unwrap_or(0),
            status: number_field(value, "error_status")
                .and_then(|status| u16::try_from(status).ok()),
            error: text_field(value, "error").unwrap_or_else(|| "unknown".to_owned()),
        }],
        ("system", "model_fallback") => vec![StreamEvent::ModelFallback {
            from: text_field(value, "original_model").unwrap_or_default(),
            to: text_field(value, "fallback_model").unwrap_or_default(),
        }],
        ("system", "task_started") => vec![StreamEvent::TaskStarted {
            id: text_field(value, "task_id").unwrap_or_default(),
            description: one_line(&text_field(value, "description").unwrap_or_default(), SHOWN),
        }],
        ("system", "task_updated") => {
            task_ended(value, value.get("patch").and_then(|patch| text_field(patch, "status")))
        }
        ("system", "supervisor") => {
            vec![StreamEvent::Note { text: text_field(value, "text").unwrap_or_default() }]
        }
        ("system", "task_notification") => task_ended(value, text_field(value, "status")),
        ("", _) => vec![StreamEvent::Garbage { text: one_line(&value.to_string(), SHOWN) }],
        (kind, "") => vec![StreamEvent::Other { kind: kind.to_owned() }],
        (kind, subtype) => vec![StreamEvent::Other { kind: format!("{kind}/{subtype}") }],
    }
}

fn parse_assistant(value: &Value) -> Vec<StreamEvent> {
    let Some(message) = value.get("message") else { return Vec::new() };
    let subagent = is_subagent(value);
    let mut events = Vec::new();
    if let Some(error) = text_field(value, "error") {
        let said: Vec<String> =
            content_parts(message).filter_map(|part| text_field(part, "text")).collect();
        return vec![StreamEvent::ApiError { error, text: said.join("\n") }];
    }
    for part in content_parts(message) {
        match text_field(part, "type").as_deref() {
            Some("text") => {
                let text = text_field(part, "text").unwrap_or_default();
                events.push(StreamEvent::Text { text, subagent });
            }
            Some("thinking" | "redacted_thinking") => events.push(StreamEvent::Thinking),
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                events.push(StreamEvent::ToolUse {
                    id: text_field(part, "id").unwrap_or_default(),
                    name: text_field(part, "name").unwrap_or_else(|| "?".to_owned()),
                    summary: one_line(
                        &tool_summary(part.get("input").unwrap_or(&Value::Null)),
                        SHOWN,
                    ),
                    subagent,
                })
            }
            _ => {}
        }
    }
    if let (Some(message_id), Some(usage)) = (text_field(message, "id"), message.get("usage")) {
        let usage = Usage::of_model(usage, &text_field(message, "model").unwrap_or_default());
        events.push(StreamEvent::Usage { message_id, usage, subagent });
    }
    events
}

fn parse_user(value: &Value) -> Vec<StreamEvent> {
    let Some(message) = value.get("message") else { return Vec::new() };
    let subagent = is_subagent(value);
    let event = |part: &Value| match text_field(part, "type").as_deref() {
        Some("tool_result") => Some(StreamEvent::ToolResult {
            id: text_field(part, "tool_use_id").unwrap_or_default(),
            is_error: part["is_error"].as_bool().unwrap_or(false),
            // The end of a long text is kept, which contains the error.
            summary: middle_out(&fold_line(&tool_result_text(part)), SHOWN),
            subagent,
        }),
        Some("text") => said_to_agent(&text_field(part, "text").unwrap_or_default()),
        _ => None,
    };
    match message.get("content") {
        Some(Value::String(said)) => said_to_agent(said).into_iter().collect(),
        _ => content_parts(message).filter_map(event).collect(),
    }
}

/// Reads a message of the client to the agent in the user's name.
fn said_to_agent(said: &str) -> Option<StreamEvent> {
    if let Some(text) = said.strip_prefix("Stop hook feedback:") {
        return Some(StreamEvent::StopHookFeedback { text: text.trim().to_owned() });
    }
    said.starts_with("[Request interrupted by user").then_some(StreamEvent::Interrupted)
}

fn rate_limit(value: &Value) -> StreamEvent {
    let info = value.get("rate_limit_info").filter(|info| info.is_object()).unwrap_or(value);
    let resets_at = number_field(info, "resetsAt")
        .or_else(|| number_field(info, "resets_at"))
        .and_then(|time| i64::try_from(time).ok());
    StreamEvent::RateLimit(Limit {
        status: text_field(info, "status").unwrap_or_default(),
        // Seconds, as observed; a number that can only be milliseconds is converted.
        resets_at: resets_at.map(|time| if time > 100_000_000_000 { time / 1000 } else { time }),
        kind: text_field(info, "rateLimitType").or_else(|| text_field(info, "rate_limit_type")),
    })
}

fn task_ended(value: &Value, status: Option<String>) -> Vec<StreamEvent> {
    match status {
        Some(status) if !matches!(status.as_str(), "running" | "pending" | "in_progress") => {
            vec![StreamEvent::TaskEnded {
                id: text_field(value, "task_id").unwrap_or_default(),
                status,
            }]
        }
        _ => Vec::new(),
    }
}

/// Returns the most telling field of a tool's input: the command, the file, the pattern; else the
/// first text.
fn tool_summary(input: &Value) -> String {
    const TELLING: [&str; 10] = [
        "command",
        "file_path",
        "notebook_path",
        "path",
        "pattern",
        "url",
        "query",
        "description",
        "skill",
        "prompt",
    ];
    let Value::Object(fields) = input else { return String::new() };
    let telling = TELLING.iter().find_map(|name| fields.get(*name)?.as_str());
    telling.or_else(|| fields.values().find_map(Value::as_str)).map_or_else(
        || {
            if fields.is_empty() {
                String::new()
            } else {
                Value::Object(fields.clone()).to_string()
            }
        },
        str::to_owned,
    )
}

/// Returns the text of a tool's answer: a string, or the texts among the parts.
fn tool_result_text(part: &Value) -> String {
    match part.get("content") {
        Some(Value::String(said)) => said.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| text_field(part, "text")).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn content_parts(message: &Value) -> impl Iterator<Item = &Value> {
    message.get("content").and_then(Value::as_array).into_iter().flatten()
}

fn is_subagent(value: &Value) -> bool {
    value.get("parent_tool_use_id").is_some_and(Value::is_string)
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
