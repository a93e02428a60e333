//! The agent's output: the client's events, or the same as text for people.

use std::cell::RefCell;
use std::io::Write;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::args::Mode;
use crate::session::{Session, uuid};
use crate::tui::Tui;

/// The cost of messages.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) usd: f64,
}

impl Cost {
    pub(crate) fn plus(self, more: Self) -> Self {
        Self {
            input: self.input + more.input,
            output: self.output + more.output,
            usd: self.usd + more.usd,
        }
    }
}

/// The end of a run, as in its result event.
pub(crate) struct Ending<'a> {
    pub(crate) subtype: &'a str,
    pub(crate) is_error: bool,
    pub(crate) api_error_status: Option<u16>,
    pub(crate) terminal_reason: &'a str,
    /// The `result` of a run that ended by itself. An error subtype has `errors` instead.
    pub(crate) text: &'a str,
}

pub(crate) struct Events {
    mode: Mode,
    model: String,
    session_id: String,
    started: Instant,
    /// Where a person's lines go, on a terminal.
    pub(crate) tui: Option<RefCell<Tui>>,
}

impl Events {
    pub(crate) fn new(mode: Mode, model: &str, session: &Session, tui: Option<Tui>) -> Self {
        let tui = tui.map(RefCell::new);
        Self {
            mode,
            model: model.to_owned(),
            session_id: session.id.clone(),
            started: Instant::now(),
            tui,
        }
    }

    /// Writes bytes to stdout at once. As in the client, a closed reader stops nothing.
    pub(crate) fn bytes(&self, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    fn emit(&self, mut event: Value) -> Value {
        event["session_id"] = json!(self.session_id);
        event["uuid"] = json!(uuid());
        if self.mode == Mode::Stream {
            self.bytes(format!("{event}\n").as_bytes());
        }
        event
    }

    /// A line for a person, in the screen mode.
    pub(crate) fn screen(&self, line: &str) {
        if let Some(tui) = &self.tui {
            tui.borrow_mut().say(line);
        } else if self.mode == Mode::Screen {
            self.bytes(format!("{line}\n").as_bytes());
        }
    }

    pub(crate) fn init(&self, cwd: &str, permission_mode: &str) {
        self.screen("Fake Agent (plays Claude Code)");
        self.emit(json!({
            "type": "system", "subtype": "init", "cwd": cwd, "tools": ["Bash", "Edit", "Read",
                "Write"], "mcp_servers": [],
            "model": self.model, "permissionMode": permission_mode,
                "apiKeySource": "ANTHROPIC_API_KEY",
            "claude_code_version": crate::VERSION, "plugins": [],
        }));
    }

    pub(crate) fn system(&self, event: Value) {
        self.emit(event);
    }

    pub(crate) fn assistant(&self, content: &Value, cost: Cost) -> Value {
        self.emit(json!({
            "type": "assistant", "parent_tool_use_id": null, "timestamp": timestamp(),
                "request_id": id("req_"),
            "message": {
                "id": id("msg_"), "type": "message", "role": "assistant", "model": self.model,
                    "content": [content],
                "stop_reason": null, "stop_sequence": null, "usage": usage(cost.input, 1),
            },
        }))
    }

    /// An API error, wrapped in a message as the client does.
    pub(crate) fn api_error(&self, text: &str, error: &str, status: u16) {
        self.screen(text);
        self.emit(json!({
            "type": "assistant", "parent_tool_use_id": null, "error": error,
                "is_api_error_message": true,
            "api_error_status": status,
            "message": {
                "id": uuid(), "type": "message", "role": "assistant", "model": "<synthetic>",
                "content": [{"type": "text", "text": text}], "stop_reason": "stop_sequence",
                    "usage": usage(0, 0),
            },
        }));
    }

    pub(crate) fn tool_result(&self, tool_use_id: &str, text: &str, is_error: bool) -> Value {
        let detail = if is_error {
            json!(format!("Error: {text}"))
        } else {
            json!({"stdout": text, "stderr": "", "interrupted": false, "isImage": false,
                "noOutputExpected": false})
        };
        self.screen(&format!("  ⎿ {text}"));
        self.emit(json!({
            "type": "user", "parent_tool_use_id": null, "timestamp": timestamp(),
                "tool_use_result": detail,
            "message": {"role": "user", "content": [
                {"tool_use_id": tool_use_id, "type": "tool_result", "content": text,
                    "is_error": is_error},
            ]},
        }))
    }

    pub(crate) fn user_text(&self, text: &str, synthetic: bool) -> Value {
        self.screen(text);
        let mut event = json!({
            "type": "user", "parent_tool_use_id": null, "timestamp": timestamp(),
            "message": {"role": "user", "content": [{"type": "text", "text": text}]},
        });
        if synthetic {
            event["isSynthetic"] = json!(true);
        }
        self.emit(event)
    }

    /// The result: `usage` and `num_turns` count from the last result on, the totals from the
    /// conversation's beginning.
    pub(crate) fn result(
        &self,
        ending: &Ending<'_>,
        turns: u32,
        since: Cost,
        total: Cost,
        denials: &[Value],
    ) {
        let millis = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut event = json!({
            "type": "result", "subtype": ending.subtype, "is_error": ending.is_error,
            "api_error_status": ending.api_error_status, "duration_ms": millis,
                "duration_api_ms": millis,
            "num_turns": turns,
                "stop_reason": if ending.is_error { Value::Null } else { json!("end_turn") },
            "total_cost_usd": total.usd, "usage": usage(since.input, since.output),
            "modelUsage": {&self.model: {
                "inputTokens": total.input, "outputTokens": total.output, "cacheReadInputTokens": 0,
                "cacheCreationInputTokens": 0, "costUSD": total.usd, "contextWindow": 200_000,
            }},
            "model_usage_since_last_result": {&self.model: {
                "inputTokens": since.input, "outputTokens": since.output, "cacheReadInputTokens": 0,
                "cacheCreationInputTokens": 0, "costUSD": since.usd,
            }},
            "permission_denials": denials, "terminal_reason": ending.terminal_reason,
        });
        if ending.subtype == "success" {
            event["result"] = json!(ending.text);
        } else {
            event["errors"] = json!([ending.text]);
        }
        let event = self.emit(event);
        match self.mode {
            Mode::Json => self.bytes(format!("{event}\n").as_bytes()),
            Mode::Text => self.bytes(format!("{}\n", ending.text).as_bytes()),
            Mode::Stream | Mode::Screen => {}
        }
    }
}

fn usage(input: u64, output: u64) -> Value {
    json!({
        "input_tokens": input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            "output_tokens": output,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": "standard",
    })
}

pub(crate) fn id(prefix: &str) -> String {
    format!("{prefix}{}", uuid().replace('-', "").get(..24).unwrap_or_default())
}

/// Now, as RFC 3339. Only the day's time is real work; the date follows the civil calendar from
/// days since 1970.
fn timestamp() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = now.as_secs();
    let days = i64::try_from(seconds / 86_400).unwrap_or_default() + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!(
        "{:04}-{month:02}-{of_month:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z",
        era * 400 + year + carry,
        now.subsec_millis()
    )
}
