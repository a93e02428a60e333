//! Tracks a run's progress, cost and current action.

use std::collections::{BTreeSet, VecDeque};

use super::one_line;
use super::result::{RunResult, Usage};
use super::stream::StreamEvent;

/// Longest `action`, in characters.
const ACTION: usize = 120;
/// Longest name of a model, in characters.
const MODEL: usize = 80;
/// The number of messages whose usage may still change; older messages are summed up. Only
/// subagents cause several messages at a time.
const OPEN_MESSAGES: usize = 64;
/// The most tools that may run at a time; more mean a broken stream.
const OPEN_TOOLS: usize = 1024;

/// The progress of a run over all calls of Claude Code.
///
/// During a call, the token counts are those of the messages so far (output counts are low, since
/// the stream repeats the count from the beginning of each message), and the cost is estimated from
/// the tokens. The result of the call corrects both. A call that ends without a result leaves its
/// estimate.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// Answers of the model, subagents not counted.
    pub turns: u64,
    /// Tokens read, from the cache too.
    pub tokens_in: u64,
    /// Tokens written.
    pub tokens_out: u64,
    /// Millionths of a dollar, with what is estimated.
    pub cost_usd_micros: u64,
    /// The part of the cost that no result has reported.
    pub estimated_micros: u64,
    /// The model that was named last.
    pub model: Option<String>,
    /// The agent's current action: a line of at most 120 characters, without control codes.
    pub action: String,
    /// A tool runs, so silence is normal.
    pub tool_in_flight: bool,

    /// The totals of finished calls.
    before: Totals,
    /// The totals in the results of this call.
    results: Totals,
    /// The totals since the last result, without open messages.
    settled: Totals,
    open_messages: VecDeque<(String, Usage)>,
    open_tools: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    turns: u64,
    usage: Usage,
    /// Reported by results.
    cost: u64,
}

impl Totals {
    /// The same without an estimate: results have reported the cost.
    fn with_known_cost(self) -> Totals {
        Totals { usage: Usage { estimate_micros: 0, ..self.usage }, ..self }
    }
}

impl Progress {
    /// Applies an event. Returns true if a visible value has changed.
    pub fn apply_event(&mut self, event: &StreamEvent) -> bool {
        let shown = (
            self.turns,
            self.tokens_in,
            self.tokens_out,
            self.cost_usd_micros,
            self.tool_in_flight,
        );
        let action = self.update_counts(event);
        let now = (
            self.turns,
            self.tokens_in,
            self.tokens_out,
            self.cost_usd_micros,
            self.tool_in_flight,
        );
        match action.map(|action| one_line(&action, ACTION)) {
            Some(action) if action != self.action => {
                self.action = action;
                true
            }
            _ => shown != now,
        }
    }

    /// Prepares for another call of Claude Code, which counts from zero.
    pub fn next_call(&mut self) {
        self.before = self.totals();
        self.results = Totals::default();
        self.settled = Totals::default();
        self.open_messages.clear();
        self.open_tools.clear();
        self.refresh_counts();
    }

    /// Updates the counts. Returns the current action if the event contains the action.
    fn update_counts(&mut self, event: &StreamEvent) -> Option<String> {
        match event {
            StreamEvent::Init { model, .. } => {
                self.name_model(model.as_deref());
                return Some("starting".to_owned());
            }
            StreamEvent::ModelFallback { to, .. } => self.name_model(Some(to)),
            StreamEvent::Text { text, subagent: false } => {
                return Some(text.lines().find(|line| !line.trim().is_empty())?.to_owned());
            }
            StreamEvent::Thinking => return Some("thinking".to_owned()),
            StreamEvent::ToolUse { id, name, summary, .. } => {
                if self.open_tools.len() < OPEN_TOOLS {
                    self.open_tools.insert(id.clone());
                }
                self.refresh_counts();
                return Some(if summary.is_empty() {
                    name.clone()
                } else {
                    format!("{name}: {summary}")
                });
            }
            StreamEvent::ToolResult { id, .. } => {
                self.open_tools.remove(id);
                self.refresh_counts();
            }
            StreamEvent::Usage { message_id, usage, subagent } => {
                self.apply_usage(message_id, *usage, *subagent)
            }
            StreamEvent::ApiRetry { attempt, max_retries, error, .. } => {
                return Some(format!(
                    "waiting for the API: {error}, retry {attempt} of {max_retries}"
                ));
            }
            StreamEvent::ApiError { text, .. } => return Some(format!("API error: {text}")),
            StreamEvent::RateLimit(limit) if limit.is_reached() => {
                return Some("usage limit reached".to_owned());
            }
            StreamEvent::StopHookFeedback { .. } => {
                return Some("sent back to end its atom".to_owned());
            }
            StreamEvent::Interrupted => return Some("interrupted".to_owned()),
            StreamEvent::Result(result) => {
                self.open_tools.clear();
                self.apply_result(result);
                self.refresh_counts();
                let ended = match result.message() {
                    _ if !result.is_error => "finished".to_owned(),
                    message if message.is_empty() => "interrupted".to_owned(),
                    message => format!("ended with an error: {message}"),
                };
                return Some(ended);
            }
            _ => {}
        }
        None
    }

    fn name_model(&mut self, name: Option<&str>) {
        if let Some(name) = name.map(|name| one_line(name, MODEL)).filter(|name| !name.is_empty()) {
            self.model = Some(name);
        }
    }

    fn apply_result(&mut self, result: &RunResult) {
        let sum =
            self.open_messages.iter().fold(self.settled.usage, |sum, (_, usage)| sum.plus(*usage));
        let seen = Totals { usage: sum, ..self.settled };
        let before = std::mem::take(&mut self.results);
        // The first result has a better count of turns than the number of messages. Later results
        // count differently.
        let first = before.turns == 0;
        let turns = before.turns.saturating_add(if first {
            seen.turns.max(result.num_turns.unwrap_or(0))
        } else {
            seen.turns
        });
        let cost = result.cost_usd_micros.unwrap_or(0);
        self.results = if result.since_last_result {
            // A failed call may report less than it used.
            Totals {
                turns,
                usage: before.usage.plus(result.usage.max(seen.usage)),
                cost: before.cost.saturating_add(cost),
            }
            .with_known_cost()
        } else {
            Totals {
                turns,
                usage: result.usage.max(before.usage.plus(seen.usage)),
                cost: cost.max(before.cost),
            }
            .with_known_cost()
        };
        self.settled = Totals::default();
        self.open_messages.clear();
    }

    fn apply_usage(&mut self, message_id: &str, usage: Usage, subagent: bool) {
        if let Some((_, known)) = self.open_messages.iter_mut().find(|(id, _)| id == message_id) {
            *known = known.max(usage);
        } else {
            self.settled.turns += u64::from(!subagent);
            self.open_messages.push_back((message_id.to_owned(), usage));
            if self.open_messages.len() > OPEN_MESSAGES
                && let Some((_, oldest)) = self.open_messages.pop_front()
            {
                self.settled.usage = self.settled.usage.plus(oldest);
            }
        }
        self.refresh_counts();
    }

    fn totals(&self) -> Totals {
        let open =
            self.open_messages.iter().fold(Usage::default(), |sum, (_, usage)| sum.plus(*usage));
        let parts = [self.before, self.results, self.settled];
        Totals {
            turns: parts.iter().fold(0, |sum, part| sum.saturating_add(part.turns)),
            usage: parts.iter().fold(open, |sum, part| sum.plus(part.usage)),
            cost: parts.iter().fold(0, |sum, part| sum.saturating_add(part.cost)),
        }
    }

    fn refresh_counts(&mut self) {
        let totals = self.totals();
        self.turns = totals.turns;
        self.tokens_in = totals.usage.tokens_in;
        self.tokens_out = totals.usage.tokens_out;
        self.estimated_micros = totals.usage.estimate_micros;
        self.cost_usd_micros = totals.cost.saturating_add(self.estimated_micros);
        self.tool_in_flight = !self.open_tools.is_empty();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::stream::parse_line;
    use super::*;

    fn applied(lines: &str) -> Progress {
        let mut progress = Progress::default();
        for event in lines.lines().flat_map(|line| parse_line(line.as_bytes())) {
            progress.apply_event(&event);
        }
        progress
    }

    const TOOL: &str = concat!(
        r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","#,
        r#""name":"Bash","input":{"command":"cargo test\n--all"}}],"usage":{"input_tokens":100,"#,
        r#""cache_read_input_tokens":50,"output_tokens":1}}}"#
    );
    const ANSWER: &str = concat!(
        r#"{"type":"user","message":{"content":[{"tool_use_id":"t1","type":"tool_result","#,
        r#""content":"ok"}]}}"#
    );
    const RESULT: &str = concat!(
        r#"{"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":"done","#,
        r#""total_cost_usd":0.0021,"usage":{"input_tokens":200,"cache_read_input_tokens":100,"#,
        r#""output_tokens":40}}"#
    );

    #[test]
    fn a_running_tool_is_the_action_and_in_flight_until_it_answers() {
        let progress = applied(TOOL);
        assert_eq!(progress.action, "Bash: cargo test --all");
        assert!(progress.tool_in_flight);
        let progress = applied(&format!("{TOOL}\n{ANSWER}"));
        assert!(!progress.tool_in_flight);
        assert_eq!((progress.turns, progress.tokens_in, progress.tokens_out), (1, 150, 1));
    }

    #[test]
    fn the_parts_of_one_message_count_once() {
        let progress = applied(&[TOOL; 3].join("\n"));
        assert_eq!((progress.turns, progress.tokens_in, progress.tokens_out), (1, 150, 1));
    }

    #[test]
    fn the_result_has_the_last_word_on_one_call_and_calls_add_up() {
        let mut progress = applied(&[TOOL, ANSWER, RESULT].join("\n"));
        let counts = |progress: &Progress| {
            (progress.turns, progress.tokens_in, progress.tokens_out, progress.cost_usd_micros)
        };
        assert_eq!(counts(&progress), (2, 300, 40, 2_100));
        assert_eq!(progress.action, "finished");
        progress.next_call();
        assert_eq!(counts(&progress), (2, 300, 40, 2_100));
        for event in [TOOL, RESULT].iter().flat_map(|line| parse_line(line.as_bytes())) {
            progress.apply_event(&event);
        }
        assert_eq!(counts(&progress), (4, 600, 80, 4_200));
        assert!(!progress.tool_in_flight, "after the result nothing runs");
    }

    #[test]
    fn a_result_that_repeats_does_not_count_twice() {
        let progress = applied(&[TOOL, RESULT, RESULT].join("\n"));
        assert_eq!((progress.turns, progress.tokens_in, progress.cost_usd_micros), (2, 300, 2_100));
    }

    #[test]
    fn results_that_tell_what_is_new_add_up() {
        let result = |extra: &str| {
            let usage = r#"{"input_tokens":150,"output_tokens":9}"#;
            let model = r#"{"inputTokens":150,"outputTokens":9,"costUSD":0.5}"#;
            format!(
                r#"{{"type":"result","subtype":"success","num_turns":1,"total_cost_usd":9,
                    "usage":{usage},"model_usage_since_last_result":{{"a":{model}}}{extra}}}"#
            )
            .replace('\n', "")
        };
        let other = TOOL.replace("m1", "m2");
        let mut progress = applied(&[TOOL, ANSWER, &result("")].join("\n"));
        assert_eq!(
            (progress.turns, progress.tokens_in, progress.tokens_out, progress.cost_usd_micros),
            (1, 150, 9, 500_000)
        );
        for line in [&other, &result(",\"result_index\":1")] {
            for event in parse_line(line.as_bytes()) {
                progress.apply_event(&event);
            }
        }
        assert_eq!(
            (progress.turns, progress.tokens_in, progress.tokens_out, progress.cost_usd_micros),
            (2, 300, 18, 1_000_000)
        );
        progress.next_call();
        assert_eq!((progress.turns, progress.cost_usd_micros), (2, 1_000_000));
    }

    #[test]
    fn a_call_without_a_result_leaves_an_estimate() {
        let priced = TOOL.replace(r#""id":"m1","#, r#""id":"m1","model":"claude-sonnet-5","#);
        let costs = |progress: &Progress| (progress.cost_usd_micros, progress.estimated_micros);
        // 100 tokens at 3 dollars a million, 50 from the cache, 1 written.
        assert_eq!(costs(&applied(&priced)), (330, 330));
        assert_eq!(costs(&applied(&[priced.as_str(), RESULT].join("\n"))), (2_100, 0));
        let mut progress = applied(&priced);
        progress.next_call();
        assert_eq!(costs(&progress), (330, 330));
        for event in parse_line(RESULT.as_bytes()) {
            progress.apply_event(&event);
        }
        assert_eq!(costs(&progress), (2_430, 330), "only the second call has a result");
    }

    #[test]
    fn only_changes_are_reported() {
        let mut progress = Progress::default();
        let event = parse_line(TOOL.as_bytes());
        assert!(progress.apply_event(&event[0]));
        assert!(!progress.apply_event(&event[0]));
        assert!(!progress.apply_event(&StreamEvent::Other { kind: "x".to_owned() }));
    }

    #[test]
    fn the_action_is_short_and_clean() {
        let text = format!("\n \n\x1b[31m{}\nmore", "long ".repeat(100));
        let mut progress = Progress::default();
        progress.apply_event(&StreamEvent::Text { text, subagent: false });
        assert_eq!(progress.action.chars().count(), ACTION);
        assert!(progress.action.starts_with("long long") && progress.action.ends_with('…'));
    }

    proptest! {
        #[test]
        fn many_messages_and_tools_take_bounded_memory(
            ids in prop::collection::vec(0_u32..5000, 0..3000),
        ) {
            let mut progress = Progress::default();
            for id in &ids {
                let usage = Usage { tokens_in: u64::MAX / 3, tokens_out: 1, estimate_micros: 2 };
                let (message_id, subagent) = (id.to_string(), false);
                progress.apply_event(&StreamEvent::Usage { message_id, usage, subagent });
                let (id, name, summary) = (id.to_string(), "Bash".to_owned(), String::new());
                progress.apply_event(&StreamEvent::ToolUse { id, name, summary, subagent });
            }
            prop_assert!(progress.open_messages.len() <= OPEN_MESSAGES);
            prop_assert!(progress.open_tools.len() <= OPEN_TOOLS);
        }
    }
}
