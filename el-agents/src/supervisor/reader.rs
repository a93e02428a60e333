//! Reads the agent's output. The output is believed about progress, cost and the reasons of
//! failure, never about success.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use el_core::model::{Cost, EndKind, ExitRecord, Fault, Progress, Refusal, Timestamp};
use el_core::protocol::response::Reading;
use el_core::text::{cut_width, sanitize};
use serde_json::json;

use super::answer_listener::AnswerListener;
use crate::claude::{
    self, ErrorCause, Line, LineSplitter, Renderer, RunResult, StreamEvent, classify_error,
    one_line, parse_line,
};

/// Longest message that goes into an exit record, in characters.
const MESSAGE_MAX: usize = 500;
/// Longest plain line in the pane, in characters.
const LINE_MAX: usize = 2_000;
/// The width of the pane, less the margin, in characters.
const WIDTH: usize = 196;

/// Reads the agent's standard output and keeps the relevant facts.
#[derive(Debug)]
pub(crate) struct Reader {
    lines: LineSplitter,
    progress: claude::Progress,
    renderer: Renderer,
    /// The output is Claude Code's event stream; else plain lines.
    is_stream: bool,
    result: Option<RunResult>,
    /// Names of denied tools, over all calls: a tool denied in the first call may explain a failure
    /// in a later call.
    denied: BTreeSet<String>,
    result_at: Option<Instant>,
    limit_resets_at: Option<Option<Timestamp>>,
    /// The client asks the API, and has had no answer since then.
    asks_since: Option<Instant>,
    /// Consecutive refusals of the account that the client retries.
    refusals: u32,
    /// The last error of the API: the status, and the client's error code.
    api_error: (Option<u16>, String),
    last_line: Option<String>,
    /// The last plain line of standard error.
    last_error: Option<String>,
    errors: LineSplitter,
    /// Background tasks of the agent that have not ended.
    tasks: BTreeSet<String>,
    /// Collects the structured answers.
    answers: AnswerListener,
}

/// The most denied tools that a record names.
const DENIED_MAX: usize = 20;
/// The number of refusals of the account in a row that ends the run.
const REFUSALS: u32 = 2;
/// The maximum number of background tasks; more mean a broken stream.
const TASKS_MAX: usize = 256;

impl Reader {
    pub(crate) fn new(is_stream: bool) -> Reader {
        Reader {
            lines: LineSplitter::default(),
            progress: claude::Progress::default(),
            renderer: Renderer::new(WIDTH, true),
            is_stream,
            result: None,
            denied: BTreeSet::new(),
            result_at: None,
            limit_resets_at: None,
            asks_since: None,
            refusals: 0,
            api_error: (None, String::new()),
            last_line: None,
            last_error: None,
            errors: LineSplitter::with_limit(64 << 10),
            tasks: BTreeSet::new(),
            answers: AnswerListener::default(),
        }
    }

    /// Prepares for another call of the same conversation.
    pub(crate) fn next_call(&mut self) {
        self.lines = LineSplitter::default();
        self.progress.next_call();
        self.result = None;
        self.result_at = None;
        self.tasks.clear();
        self.asks_since = None;
        self.refusals = 0;
        self.answers.next_call();
    }

    /// Returns the structured answers of this call.
    pub(crate) fn take_reading(&mut self) -> Reading {
        self.answers.take_reading()
    }

    /// Reads bytes of standard output. Returns the text for the pane.
    pub(crate) fn take_output(&mut self, bytes: &[u8]) -> String {
        let lines = self.lines.push(bytes);
        lines.into_iter().map(|line| self.read_line(line)).collect()
    }

    /// Reads bytes of standard error. Returns the text for the pane.
    pub(crate) fn take_error(&mut self, bytes: &[u8]) -> String {
        let lines = self.errors.push(bytes);
        let mut shown = String::new();
        for line in lines {
            let Line::Whole(line) = line else { continue };
            shown.push_str(&self.read_error_line(&line));
        }
        shown
    }

    fn read_error_line(&mut self, line: &[u8]) -> String {
        let line = String::from_utf8_lossy(line);
        self.remember_error(one_line(&line, MESSAGE_MAX));
        let text = plain_line(&line);
        if text.is_empty() { text } else { format!("! {text}\n") }
    }

    /// Keeps a line of stderr as the reason for the end, except a hint, which follows an error.
    fn remember_error(&mut self, text: String) {
        let is_hint = self.last_error.is_some() && text.starts_with("hint:");
        if !text.is_empty() && !is_hint {
            self.last_error = Some(text);
        }
    }

    /// Ends both streams. Returns the text of an unfinished last line for the pane.
    pub(crate) fn finish(&mut self) -> String {
        let error = match self.errors.finish() {
            Some(Line::Whole(rest)) => self.read_error_line(&rest),
            _ => String::new(),
        };
        let said = self.lines.finish().map(|line| self.read_line(line)).unwrap_or_default();
        said + &error
    }

    fn read_line(&mut self, line: Line) -> String {
        match line {
            Line::TooLong(bytes) => format!("[a line of {bytes} bytes is not shown]\n"),
            Line::Whole(line) if self.is_stream => {
                parse_line(&line).iter().map(|event| self.read_event(event)).collect()
            }
            Line::Whole(line) => {
                let line = String::from_utf8_lossy(&line);
                let text = plain_line(&line);
                if !text.is_empty() {
                    self.last_line = Some(one_line(&line, LINE_MAX));
                }
                self.answers.hear_line(&line);
                format!("{text}\n")
            }
        }
    }

    fn read_event(&mut self, event: &StreamEvent) -> String {
        self.progress.apply_event(event);
        if let StreamEvent::Text { text, subagent: false } = event
            && let Some(action) = self.answers.hear_message(text)
        {
            self.progress.action = action;
        }
        match event {
            StreamEvent::Result(result) => {
                self.denied.extend(result.permission_denials.iter().take(DENIED_MAX).cloned());
                self.result = Some((**result).clone());
                self.result_at = Some(Instant::now());
            }
            StreamEvent::RateLimit(limit) if limit.is_reached() => {
                self.limit_resets_at = Some(
                    limit.resets_at.map(|s| Timestamp::from_micros(s.saturating_mul(1_000_000))),
                );
            }
            // An answer came after all: the limit did not end the agent, and the last result was
            // not final.
            StreamEvent::Text { subagent: false, .. }
            | StreamEvent::ToolUse { subagent: false, .. } => {
                self.limit_resets_at = None;
                self.result_at = None;
                self.refusals = 0;
                self.api_error = (None, String::new());
            }
            StreamEvent::ApiRetry { status, error, .. } => {
                let is_refusal = matches!(status, Some(401..=403));
                self.refusals = if is_refusal { self.refusals.saturating_add(1) } else { 0 };
                self.api_error = (*status, error.clone());
            }
            StreamEvent::ApiError { error, .. } => self.api_error = (None, error.clone()),
            StreamEvent::TaskStarted { id, .. } if self.tasks.len() < TASKS_MAX => {
                self.tasks.insert(id.clone());
            }
            StreamEvent::TaskEnded { id, .. } => drop(self.tasks.remove(id)),
            _ => {}
        }
        self.note_asking(event);
        self.renderer.render(event)
    }

    /// Tracks the client's requests to the API: a request begins with the call, and after each tool
    /// result.
    fn note_asking(&mut self, event: &StreamEvent) {
        let asks = match event {
            // The client's own last line when it is interrupted is no answer of the API.
            StreamEvent::Result(result) if result.is_interrupted() => self.asks_since,
            StreamEvent::Init { .. }
            | StreamEvent::ToolResult { subagent: false, .. }
            | StreamEvent::StopHookFeedback { .. } => Some(Instant::now()),
            StreamEvent::ApiRetry { .. } => self.asks_since.or_else(|| Some(Instant::now())),
            StreamEvent::Text { .. }
            | StreamEvent::Thinking
            | StreamEvent::ToolUse { .. }
            | StreamEvent::Usage { .. }
            | StreamEvent::Result(_) => None,
            _ => self.asks_since,
        };
        self.asks_since = asks.filter(|_| !self.progress.tool_in_flight);
    }

    /// Returns true if the API refuses the account for good. The client would retry for minutes, so
    /// the supervisor ends the call.
    pub(crate) fn is_refused(&self) -> bool {
        self.refusals >= REFUSALS
    }

    /// Returns true if the agent was waiting for the API when it was ended: for the whole silence,
    /// or for most of the run.
    fn waits_for_api(&self, end: EndKind, running: Duration) -> bool {
        let Some(since) = self.asks_since else { return false };
        match end {
            EndKind::Stalled => true,
            EndKind::TimedOut => since.elapsed() >= running / 2,
            _ => false,
        }
    }

    /// Returns a line of the transcript, in the form of the agent's output, that the supervisor
    /// says. The agent may have been ended within a line.
    pub(crate) fn own_line(&self, text: &str) -> Vec<u8> {
        let line = match self.is_stream {
            true => json!({"type": "system", "subtype": "supervisor", "text": text}).to_string(),
            false => format!("el: {text}"),
        };
        format!("\n{line}\n").into_bytes()
    }

    /// Returns the progress for the store.
    pub(crate) fn progress(&self) -> Progress {
        let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let action = if self.is_stream {
            Some(self.progress.action.clone())
        } else {
            self.last_line.clone()
        };
        Progress {
            turns: count(self.progress.turns),
            tokens_in: count(self.progress.tokens_in),
            tokens_out: count(self.progress.tokens_out),
            cost: Cost {
                cost_micros: count(self.progress.cost_usd_micros),
                estimated_micros: count(self.progress.estimated_micros),
            },
            model: self.progress.model.clone(),
            action: action.filter(|text| !text.is_empty()).map(|text| one_line(&text, 120)),
            ..self.answers.progress()
        }
    }

    pub(crate) fn tool_in_flight(&self) -> bool {
        self.progress.tool_in_flight
    }

    /// The time of the agent's last result; `None` while a background task runs, after which the
    /// agent goes on.
    pub(crate) fn result_at(&self) -> Option<Instant> {
        self.result_at.filter(|_| self.tasks.is_empty())
    }

    /// Returns true if the agent itself reports a failure.
    pub(crate) fn is_error(&self) -> bool {
        self.result.as_ref().is_some_and(|result| result.is_error)
    }

    /// Adds the facts of the output to the exit record. `running`: the duration of the run.
    pub(crate) fn fill_exit_record(&self, record: &mut ExitRecord, running: Duration) {
        record.is_error = self.is_error();
        let result = self.result.as_ref();
        record.api_error_status = result.and_then(|r| r.api_error_status).map(i64::from);
        record.denied_tools = self.denied.iter().take(DENIED_MAX).cloned().collect();
        let said = match result {
            Some(result) if result.is_error => Some(result.message()),
            Some(_) => None,
            None => self.last_error.clone(),
        };
        if record.message.is_none() {
            record.message =
                said.map(|text| one_line(&text, MESSAGE_MAX)).filter(|text| !text.is_empty());
        }
        if self.is_stream {
            self.fill_fault(record, running);
        }
    }

    fn fill_fault(&self, record: &mut ExitRecord, running: Duration) {
        let (status, error) = &self.api_error;
        if let Some(resets_at) = self.limit_resets_at {
            record.fault = Some(Fault::UsageLimit { resets_at });
        } else if record.end == EndKind::Refused {
            let status = status.map_or_else(String::new, |status| format!("{status} "));
            record.message = Some(format!("the API answers {status}({error})"));
            record.api_error_status = self.api_error.0.map(i64::from);
            let refusal = match self.api_error.0 {
                Some(402) => Refusal::Credit,
                Some(403) => Refusal::Access,
                _ => Refusal::Login,
            };
            record.fault = Some(Fault::Account { refusal });
        } else if self.waits_for_api(record.end, running) {
            let mut message = "the API did not answer".to_owned();
            if !error.is_empty() {
                message.push_str(&format!(" ({error})"));
            }
            record.message = Some(message);
            record.fault = Some(Fault::Outage);
        } else if record.is_error || (self.result.is_none() && record.exit_code.unwrap_or(0) != 0) {
            let result = self.result.as_ref();
            let word = |value: Option<&String>| value.cloned().unwrap_or_default();
            let found = classify_error(&claude::ErrorReport {
                status: result.and_then(|result| result.api_error_status),
                kind: error,
                stop_reason: &word(result.and_then(|result| result.stop_reason.as_ref())),
                terminal_reason: &word(result.and_then(|result| result.terminal_reason.as_ref())),
                text: record.message.as_deref().unwrap_or_default(),
            });
            match found {
                ErrorCause::Fault(fault) => record.fault = Some(fault),
                ErrorCause::Permanent => record.is_permanent = true,
                ErrorCause::Unknown => {}
            }
        }
    }
}

/// A line for the pane, with its indentation.
fn plain_line(line: &str) -> String {
    cut_width(sanitize(line).trim_end(), LINE_MAX)
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
