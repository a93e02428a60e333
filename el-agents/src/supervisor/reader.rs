//! What the agent's output tells. It is believed for progress, cost and the reasons of failure,
//! never for success.

use std::collections::BTreeSet;
use std::time::Instant;

use el_core::model::{ExitRecord, Progress, Timestamp, UsageLimit};
use el_core::protocol::response::Reading;

use super::answer_listener::AnswerListener;
use crate::claude::{
    self, Line, LineSplitter, Renderer, RunResult, StreamEvent, one_line, parse_line,
};

/// Longest message that goes into an exit record, in characters.
const MESSAGE_MAX: usize = 500;
/// Width of the pane, less its margin.
const WIDTH: usize = 196;

/// Takes the agent's standard output in and keeps what matters of it.
#[derive(Debug)]
pub(crate) struct Reader {
    lines: LineSplitter,
    progress: claude::Progress,
    renderer: Renderer,
    /// The output is Claude Code's event stream; else plain lines.
    is_stream: bool,
    result: Option<RunResult>,
    /// Names of the tools that were denied, over all calls: what the first one was refused may be
    /// why no later one gets on.
    denied: BTreeSet<String>,
    result_at: Option<Instant>,
    limit_resets_at: Option<Option<Timestamp>>,
    last_line: Option<String>,
    /// The last plain line of standard error.
    last_error: Option<String>,
    errors: LineSplitter,
    /// Background tasks of the agent that have not ended.
    tasks: BTreeSet<String>,
    /// For the structured answers in what it says.
    ear: AnswerListener,
}

/// Denied tools that a record names.
const DENIED_MAX: usize = 20;
/// More tasks than this are a stream gone wrong.
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
            last_line: None,
            last_error: None,
            errors: LineSplitter::with_limit(64 << 10),
            tasks: BTreeSet::new(),
            ear: AnswerListener::default(),
        }
    }

    /// The agent is called once more, to go on with its conversation.
    pub(crate) fn next_call(&mut self) {
        self.lines = LineSplitter::default();
        self.progress.next_call();
        self.result = None;
        self.result_at = None;
        self.tasks.clear();
        self.ear.next_call();
    }

    /// Everything that the agent said in this call, with its structured answers.
    pub(crate) fn take_reading(&mut self) -> Reading {
        self.ear.take_reading()
    }

    /// Takes bytes of standard output; gives what the pane is to show.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> String {
        let lines = self.lines.push(bytes);
        lines.into_iter().map(|line| self.line(line)).collect()
    }

    /// Takes bytes of standard error; gives what the pane is to show.
    pub(crate) fn take_error(&mut self, bytes: &[u8]) -> String {
        let lines = self.errors.push(bytes);
        let mut shown = String::new();
        for line in lines {
            let Line::Whole(line) = line else { continue };
            let text = one_line(&String::from_utf8_lossy(&line), MESSAGE_MAX);
            if !text.is_empty() {
                shown.push_str(&format!("! {text}\n"));
                self.last_error = Some(text);
            }
        }
        shown
    }

    /// Both streams have ended; gives what the pane is to show of an unfinished last line.
    pub(crate) fn finish(&mut self) -> String {
        if let Some(Line::Whole(rest)) = self.errors.finish() {
            self.last_error = Some(one_line(&String::from_utf8_lossy(&rest), MESSAGE_MAX))
                .filter(|text| !text.is_empty())
                .or(self.last_error.take());
        }
        match self.lines.finish() {
            Some(line) => self.line(line),
            None => String::new(),
        }
    }

    fn line(&mut self, line: Line) -> String {
        match line {
            Line::TooLong(bytes) => format!("[a line of {bytes} bytes is not shown]\n"),
            Line::Whole(line) if self.is_stream => {
                parse_line(&line).iter().map(|event| self.event(event)).collect()
            }
            Line::Whole(line) => {
                let text = one_line(&String::from_utf8_lossy(&line), 2_000);
                if !text.is_empty() {
                    self.last_line = Some(text.clone());
                }
                self.ear.hear_line(&String::from_utf8_lossy(&line));
                format!("{text}\n")
            }
        }
    }

    fn event(&mut self, event: &StreamEvent) -> String {
        self.progress.apply(event);
        if let StreamEvent::Text { text, subagent: false } = event
            && let Some(action) = self.ear.hear_message(text)
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
            // It answered after all: the limit did not end it, nor was its last result the last.
            StreamEvent::Text { subagent: false, .. }
            | StreamEvent::ToolUse { subagent: false, .. } => {
                self.limit_resets_at = None;
                self.result_at = None;
            }
            StreamEvent::TaskStarted { id, .. } if self.tasks.len() < TASKS_MAX => {
                self.tasks.insert(id.clone());
            }
            StreamEvent::TaskEnded { id, .. } => drop(self.tasks.remove(id)),
            _ => {}
        }
        self.renderer.render(event)
    }

    /// As the store keeps it.
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
            cost_micros: count(self.progress.cost_usd_micros),
            action: action.filter(|text| !text.is_empty()).map(|text| one_line(&text, 120)),
            ..self.ear.progress()
        }
    }

    pub(crate) fn tool_in_flight(&self) -> bool {
        self.progress.tool_in_flight
    }

    /// When the agent said its result, if that is its last: while a background task of its own
    /// runs, it waits for that and goes on.
    pub(crate) fn result_at(&self) -> Option<Instant> {
        self.result_at.filter(|_| self.tasks.is_empty())
    }

    /// Whether the agent itself said that it failed.
    pub(crate) fn is_error(&self) -> bool {
        self.result.as_ref().is_some_and(|result| result.is_error)
    }

    /// Writes what the output told into the record of the end.
    pub(crate) fn tell(&self, record: &mut ExitRecord) {
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
        if let Some(resets_at) = self.limit_resets_at {
            record.usage_limit = Some(UsageLimit { resets_at });
        } else if record.is_error && record.api_error_status == Some(429) {
            record.usage_limit = Some(UsageLimit { resets_at: None });
        }
    }
}

#[cfg(test)]
mod tests {
    use el_core::model::EndKind;

    use super::*;

    fn record(lines: &[&str]) -> ExitRecord {
        let mut reader = Reader::new(true);
        for line in lines {
            reader.take(format!("{line}\n").as_bytes());
        }
        let mut record = ExitRecord::new("run-1", EndKind::Exited, Timestamp::from_micros(0));
        reader.tell(&mut record);
        record
    }

    const LIMIT: &str = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1800000000}}"#;

    #[test]
    fn a_usage_limit_is_told_with_its_reset() {
        let failed = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"limit"}"#;
        let told = record(&[LIMIT, failed]);
        assert_eq!(told.usage_limit.unwrap().resets_at.unwrap().as_secs(), 1_800_000_000);
        assert_eq!(record(&[failed]).usage_limit, Some(UsageLimit { resets_at: None }));
    }

    #[test]
    fn a_limit_that_was_overcome_is_forgotten() {
        let text = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"on I go"}]}}"#;
        assert_eq!(record(&[LIMIT, text]).usage_limit, None);
    }

    #[test]
    fn a_result_is_the_last_word_only_when_no_background_task_runs() {
        let mut reader = Reader::new(true);
        reader.take(b"{\"type\":\"system\",\"subtype\":\"task_started\",\"task_id\":\"b1\"}\n");
        reader.take(b"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"waiting\"}\n");
        assert_eq!(reader.result_at(), None);
        reader.take(b"{\"type\":\"system\",\"subtype\":\"task_notification\",\"task_id\":\"b1\",\"status\":\"completed\"}\n");
        assert!(reader.result_at().is_some());
        reader.take(b"{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"on\"}]}}\n");
        assert_eq!(reader.result_at(), None, "another turn began");
    }

    #[test]
    fn what_an_earlier_call_was_denied_is_still_told() {
        let mut reader = Reader::new(true);
        reader.take(b"{\"type\":\"result\",\"is_error\":false,\"permission_denials\":[{\"tool_name\":\"Bash\"}]}\n");
        reader.next_call();
        reader.take(b"{\"type\":\"result\",\"is_error\":false,\"permission_denials\":[]}\n");
        let mut record = ExitRecord::new("run-1", EndKind::Exited, Timestamp::from_micros(0));
        reader.tell(&mut record);
        assert_eq!(record.denied_tools, ["Bash"]);
    }

    #[test]
    fn without_a_result_the_last_line_of_stderr_says_why() {
        let mut reader = Reader::new(true);
        reader.take_error(b"warning: x\nError: Session ID is already in use.\n");
        let mut record = ExitRecord::new("run-1", EndKind::Exited, Timestamp::from_micros(0));
        reader.tell(&mut record);
        assert_eq!(record.message.as_deref(), Some("Error: Session ID is already in use."));
    }
}
