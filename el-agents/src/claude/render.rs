//! Renders the event stream for people in the pane.

use el_core::text::{cut_width, fold_line, middle_out, one_line, sanitize};

use super::result::RunResult;
use super::stream::{Limit, StreamEvent};

/// The number of first lines shown of a long text.
const FIRST_LINES: usize = 10;
/// The number of last lines shown of a long text, which contain the error. The transcript has the
/// whole text.
const LAST_LINES: usize = 30;

const DIM: &str = "2";
const BOLD: &str = "1";
const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const CYAN: &str = "36";

/// Renders events for a screen of a given width. Text of agents and tools is sanitised; colours
/// come from el alone.
#[derive(Debug, Clone)]
pub struct Renderer {
    width: usize,
    colour: bool,
    /// The last shown limit. The client repeats the limit with each answer.
    limit: Option<Limit>,
}

impl Renderer {
    /// `width` in characters, taken as at least 20.
    #[must_use]
    pub fn new(width: usize, colour: bool) -> Self {
        Self { width: width.max(20), colour, limit: None }
    }

    /// Renders an event as lines with line ends; empty for an event without interest to people.
    pub fn render(&mut self, event: &StreamEvent) -> String {
        match event {
            StreamEvent::Init { model, version, .. } => {
                let model = model.as_deref().unwrap_or("unknown model");
                let version = version
                    .as_deref()
                    .map(|version| format!(", Claude Code {version}"))
                    .unwrap_or_default();
                self.render_line(DIM, "●", &format!("started: {model}{version}"))
            }
            StreamEvent::Text { text, subagent } => self.render_text(text, *subagent),
            StreamEvent::ToolUse { name, summary, subagent, .. } => {
                let indent = if *subagent { "  " } else { "" };
                self.render_line(CYAN, &format!("{indent}▶"), &format!("{name} {summary}"))
            }
            StreamEvent::ToolResult { is_error: true, summary, .. } => {
                self.render_line(RED, "  ✗", summary)
            }
            StreamEvent::ToolResult { is_error: false, summary, .. } => {
                self.render_line(DIM, "  ✓", summary)
            }
            StreamEvent::ApiRetry { attempt, max_retries, delay_ms, status, error } => {
                let status = status.map(|status| format!(" ({status})")).unwrap_or_default();
                let seconds = delay_ms.div_ceil(1000);
                let text = format!(
                    "API: {error}{status}, retry {attempt} of {max_retries} in {seconds} s"
                );
                self.render_line(YELLOW, "…", &text)
            }
            StreamEvent::ApiError { text, .. } => self.render_line(RED, "✗", text),
            StreamEvent::RateLimit(limit) => self.render_limit(limit),
            StreamEvent::ModelFallback { from, to } => {
                self.render_line(YELLOW, "●", &format!("model changed: {from} → {to}"))
            }
            StreamEvent::StopHookFeedback { text } => self.render_line(YELLOW, "↩", text),
            StreamEvent::Note { text } => self.render_line(YELLOW, "■", text),
            StreamEvent::Interrupted => self.render_line(YELLOW, "■", "interrupted"),
            StreamEvent::TaskStarted { description, .. } => {
                self.render_line(DIM, "  ⧗", &format!("still running: {description}"))
            }
            StreamEvent::TaskEnded { status, .. } => {
                self.render_line(DIM, "  ⧗", &format!("background task {status}"))
            }
            StreamEvent::Result(result) => self.render_result(result),
            StreamEvent::Garbage { text } => self.render_line(DIM, "?", text),
            StreamEvent::Thinking | StreamEvent::Usage { .. } | StreamEvent::Other { .. } => {
                String::new()
            }
        }
    }

    fn render_text(&self, text: &str, subagent: bool) -> String {
        let clean = sanitize(text);
        let lines: Vec<&str> = clean.trim_matches('\n').lines().collect();
        let indent = if subagent { "  " } else { "" };
        let mut shown = String::new();
        let left_out = lines.len().saturating_sub(FIRST_LINES + LAST_LINES);
        for (at, line) in lines.iter().enumerate() {
            if left_out > 0 && (FIRST_LINES..FIRST_LINES + left_out).contains(&at) {
                if at == FIRST_LINES {
                    shown.push_str(&self.render_line(DIM, "…", &format!("{left_out} more lines")));
                }
                continue;
            }
            let line = format!("{indent}{}", line.replace('\t', "    "));
            shown.push_str(cut_width(&line, self.width).trim_end());
            shown.push('\n');
        }
        shown
    }

    fn render_limit(&mut self, limit: &Limit) -> String {
        let known = self.limit.replace(limit.clone());
        if known.as_ref() == Some(limit) || limit.status == "allowed" {
            return String::new();
        }
        let kind = limit.kind.as_deref().unwrap_or("usage");
        if limit.is_reached() {
            self.render_line(RED, "■", &format!("{kind} limit reached"))
        } else {
            self.render_line(YELLOW, "●", &format!("{kind} limit: {}", limit.status))
        }
    }

    fn render_result(&self, result: &RunResult) -> String {
        let cost = result
            .cost_usd_micros
            .map(|micros| format!(", ${:.4}", micros as f64 / 1e6))
            .unwrap_or_default();
        let turns = result
            .num_turns
            .map(|turns| format!(" after {turns} turn{}", if turns == 1 { "" } else { "s" }))
            .unwrap_or_default();
        let mut shown = if result.is_error {
            let message = result.message();
            let why = if message.is_empty() { message } else { format!(": {message}") };
            self.render_line(RED, "✗", &format!("ended{turns}{cost}{why}"))
        } else {
            self.render_line(GREEN, "✓", &format!("finished{turns}{cost}"))
        };
        if !result.permission_denials.is_empty() {
            let names = result.permission_denials.join(", ");
            shown.push_str(&self.render_line(YELLOW, "●", &format!("not permitted: {names}")));
        }
        shown
    }

    /// Renders a coloured mark and a line of text.
    fn render_line(&self, colour: &str, mark: &str, text: &str) -> String {
        let width = self.width.saturating_sub(mark.chars().count() + 1);
        // For errors, the end tells more than the middle.
        let text = match colour {
            RED => middle_out(&fold_line(text), width),
            _ => one_line(text, width),
        };
        let (begin, end) = if self.colour {
            (format!("\u{1b}[{colour}m"), "\u{1b}[0m")
        } else {
            (String::new(), "")
        };
        if colour == DIM || colour == BOLD {
            format!("{begin}{mark} {text}{end}\n")
        } else {
            format!("{begin}{mark}{end} {text}\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::stream::parse_line;
    use super::*;

    fn rendered(lines: &str, colour: bool) -> String {
        let mut renderer = Renderer::new(60, colour);
        lines
            .lines()
            .flat_map(|line| parse_line(line.as_bytes()))
            .map(|event| renderer.render(&event))
            .collect()
    }

    #[test]
    fn a_run_reads_as_a_story() {
        let text = rendered(include_str!("fixtures/close_after_hook.jsonl"), false);
        assert_eq!(
            text,
            "● started: claude-opus-4-8[1m], Claude Code 2.1.197\n\
             All done, I think.\n\
             ↩ You have not closed the atom yet. Run: el close el-42\n\
             Right.\n\
             ▶ Bash el close el-42 --reason \"closed after the hook\"\n\
             \u{20}\u{20}✓ Closed el-42\n\
             Closed el-42.\n\
             ✓ finished after 3 turns, $0.0030\n"
        );
    }

    #[test]
    fn colours_are_ours_and_control_codes_of_others_are_not_shown() {
        let event = StreamEvent::ToolResult {
            id: String::new(),
            is_error: true,
            summary: "\x1b]0;owned\x07\x1b[2Jboom".to_owned(),
            subagent: false,
        };
        assert_eq!(Renderer::new(60, true).render(&event), "\x1b[31m  ✗\x1b[0m boom\n");
        assert_eq!(Renderer::new(60, false).render(&event), "  ✗ boom\n");
    }

    #[test]
    fn of_long_texts_the_end_is_shown_and_the_cut_is_told() {
        let text = format!("{}\n{}fatal error\n", "x".repeat(500), "line\n".repeat(99));
        let shown = Renderer::new(60, false).render(&StreamEvent::Text { text, subagent: false });
        assert_eq!(shown.lines().count(), FIRST_LINES + 1 + LAST_LINES);
        assert!(shown.lines().next().unwrap().ends_with('…'));
        assert_eq!(shown.lines().nth(FIRST_LINES).unwrap(), "… 61 more lines");
        assert_eq!(shown.lines().last().unwrap(), "fatal error");
    }

    #[test]
    fn a_limit_is_told_when_it_changes() {
        let mut renderer = Renderer::new(60, false);
        let mut told = |status: &str| {
            let limit = Limit {
                status: status.to_owned(),
                resets_at: None,
                kind: Some("five_hour".to_owned()),
            };
            renderer.render(&StreamEvent::RateLimit(limit))
        };
        assert_eq!(told("allowed"), "");
        assert_eq!(told("allowed_warning"), "● five_hour limit: allowed_warning\n");
        assert_eq!(told("allowed_warning"), "");
        assert_eq!(told("rejected"), "■ five_hour limit reached\n");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_screen_nor_holds_a_control_code(
            text in any::<String>(),
            width in 0_usize..100,
            subagent: bool,
        ) {
            let mut renderer = Renderer::new(width, false);
            for event in [
                StreamEvent::Text { text: text.clone(), subagent },
                StreamEvent::ToolUse {
                    id: String::new(),
                    name: text.clone(),
                    summary: text.clone(),
                    subagent,
                },
                StreamEvent::Garbage { text: text.clone() },
            ] {
                for line in renderer.render(&event).lines() {
                    prop_assert!(line.chars().count() <= width.max(20));
                    prop_assert!(!line.chars().any(char::is_control));
                }
            }
        }
    }
}
