//! The `result` event at the end of a call of Claude Code, and the cost.

use el_core::text::one_line;
use serde_json::Value;

use super::field::{number_field, text_field};
use super::prices::price_of;

/// So much of a denied command is kept, in characters.
const COMMAND_MAX: usize = 200;

/// Token counts of an answer or of many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read, from and into the cache included.
    pub tokens_in: u64,
    /// Tokens written.
    pub tokens_out: u64,
    /// The estimated cost, in millionths of a dollar; 0 where the model's price is unknown.
    pub estimate_micros: u64,
}

impl Usage {
    /// Reads `{"input_tokens":…}` or, in a result's `modelUsage`, `{"inputTokens":…}`; missing
    /// counts are 0.
    pub(super) fn from_json(value: &Value) -> Self {
        Self::of_model(value, "")
    }

    /// Reads the usage of an answer of this model.
    pub(super) fn of_model(value: &Value, model: &str) -> Self {
        let count = |name: &str, other: &str| {
            number_field(value, name).or_else(|| number_field(value, other)).unwrap_or(0)
        };
        let input = count("input_tokens", "inputTokens");
        let written = count("cache_creation_input_tokens", "cacheCreationInputTokens");
        let read = count("cache_read_input_tokens", "cacheReadInputTokens");
        let tokens_out = count("output_tokens", "outputTokens");
        let price = price_of(model);
        Self {
            tokens_in: input.saturating_add(written).saturating_add(read),
            tokens_out,
            estimate_micros: price
                .map_or(0, |price| price.estimate(input, read, written, tokens_out)),
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            tokens_in: self.tokens_in.saturating_add(other.tokens_in),
            tokens_out: self.tokens_out.saturating_add(other.tokens_out),
            estimate_micros: self.estimate_micros.saturating_add(other.estimate_micros),
        }
    }

    pub(super) fn max(self, other: Self) -> Self {
        Self {
            tokens_in: self.tokens_in.max(other.tokens_in),
            tokens_out: self.tokens_out.max(other.tokens_out),
            estimate_micros: self.estimate_micros.max(other.estimate_micros),
        }
    }
}

/// The end of a call according to Claude Code. The claim may be wrong; the atom's status decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunResult {
    /// The call failed. `subtype` does not tell: it is `success` for errors of the API too.
    pub is_error: bool,
    /// `success`, `error_max_turns`, `error_max_budget_usd`, `error_during_execution`, …
    pub subtype: String,
    /// The HTTP status of the API's last answer, for an error.
    pub api_error_status: Option<u16>,
    /// `completed`, `max_turns`, `aborted_streaming`, `hook_stopped`, …
    pub terminal_reason: Option<String>,
    /// Why the model stopped: `end_turn`, `refusal`, …
    pub stop_reason: Option<String>,
    pub num_turns: Option<u64>,
    /// Millionths of a dollar, for this call alone.
    pub cost_usd_micros: Option<u64>,
    /// All models together, for this call alone.
    pub usage: Usage,
    /// Cost and usage count from the call's last result, if the call has several, and not from the
    /// beginning.
    pub since_last_result: bool,
    /// The last answer, or the error's text; empty if there is none.
    pub text: String,
    /// The errors, if `text` does not have them.
    pub errors: Vec<String>,
    /// The calls of tools that were asked for and not permitted, each once: `Write`, or with the
    /// command `Bash(git push)`, as a rule names them.
    pub permission_denials: Vec<String>,
}

impl RunResult {
    /// Returns true if a signal ended the call, while the client waited for an answer of the API.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.terminal_reason.as_deref() == Some("aborted_streaming")
    }

    pub(super) fn from_json(value: &Value) -> Self {
        // A newer client (2.1.332) counts the whole conversation, earlier calls included, and
        // reports the new part separately; an older client (2.1.197) counts the call.
        let new = value.get("model_usage_since_last_result").and_then(Value::as_object);
        let models = new.or_else(|| value.get("modelUsage").and_then(Value::as_object));
        let models = || models.into_iter().flat_map(|models| models.values());
        let total = if new.is_some() {
            models().map(|model| model.get("costUSD").and_then(Value::as_f64)).sum()
        } else {
            value.get("total_cost_usd").and_then(Value::as_f64)
        };
        // `usage` omits subagents and an unfinished last answer.
        let own = value.get("usage").map(Usage::from_json).unwrap_or_default();
        let all = models().map(Usage::from_json).fold(Usage::default(), Usage::plus);
        let subtype = text_field(value, "subtype").unwrap_or_default();
        let list = |name: &str| value.get(name).and_then(Value::as_array).into_iter().flatten();
        let mut permission_denials: Vec<String> = Vec::new();
        for denial in list("permission_denials") {
            let call = denied_call(denial);
            if !permission_denials.contains(&call) {
                permission_denials.push(call);
            }
        }
        Self {
            // Without the field, the subtype decides.
            is_error: value["is_error"].as_bool().unwrap_or(subtype != "success"),
            subtype,
            api_error_status: number_field(value, "api_error_status")
                .and_then(|status| u16::try_from(status).ok()),
            terminal_reason: text_field(value, "terminal_reason"),
            stop_reason: text_field(value, "stop_reason"),
            num_turns: number_field(value, "num_turns"),
            cost_usd_micros: total.and_then(dollars_to_micros),
            usage: own.max(all),
            since_last_result: new.is_some(),
            text: text_field(value, "result").unwrap_or_default(),
            errors: list("errors").filter_map(|error| error.as_str().map(str::to_owned)).collect(),
            permission_denials,
        }
    }

    /// The error in words, for people: the text, or the errors, or the subtype. Empty after an
    /// interruption, which is no error. A diagnosis for the client's makers is left out.
    #[must_use]
    pub fn message(&self) -> String {
        let is_for_people = |error: &&String| !error.starts_with("[ede_diagnostic]");
        let errors: Vec<&String> = self.errors.iter().filter(is_for_people).collect();
        if !self.text.is_empty() {
            self.text.clone()
        } else if !errors.is_empty() {
            errors.into_iter().map(String::as_str).collect::<Vec<_>>().join("; ")
        } else if self.terminal_reason.as_ref().is_some_and(|why| why.starts_with("aborted_")) {
            String::new()
        } else {
            self.subtype.clone()
        }
    }
}

fn dollars_to_micros(dollars: f64) -> Option<u64> {
    let micros = (dollars * 1e6).round();
    // Up to 2^53 a float counts exactly; a larger value is no price.
    (0.0..=9e15).contains(&micros).then_some(micros as u64)
}

/// Names a denied call: the tool, and the command if there is one.
fn denied_call(denial: &Value) -> String {
    let tool = text_field(denial, "tool_name").unwrap_or_else(|| "?".to_owned());
    let command = denial.get("tool_input").and_then(|input| text_field(input, "command"));
    match command {
        Some(command) => format!("{tool}({})", one_line(&command, COMMAND_MAX)),
        None => tool,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> RunResult {
        RunResult::from_json(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn an_api_error_is_an_error_though_its_subtype_says_success() {
        let result = read(
            r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":401,
                "num_turns":1,"result":"Invalid API key","total_cost_usd":0,
                "usage":{"input_tokens":0,"output_tokens":0},"permission_denials":[]}"#,
        );
        assert!(result.is_error);
        assert_eq!(
            (result.api_error_status, result.message().as_str()),
            (Some(401), "Invalid API key")
        );
        assert_eq!((result.cost_usd_micros, result.num_turns), (Some(0), Some(1)));
    }

    #[test]
    fn a_bound_that_was_reached_tells_it_in_its_errors() {
        let result = read(
            r#"{"type":"result","subtype":"error_max_budget_usd","is_error":true,"num_turns":4,
                "total_cost_usd":0.004,
                "usage":{"input_tokens":300,"output_tokens":60,"cache_read_input_tokens":7},
                "modelUsage":{"a":{"inputTokens":400,"outputTokens":80,"costUSD":0.004},
                "b":{"inputTokens":1,"outputTokens":2}},
                "errors":["Reached maximum budget ($0.004)"]}"#,
        );
        assert_eq!(result.message(), "Reached maximum budget ($0.004)");
        assert_eq!(
            result.usage,
            Usage { tokens_in: 401, tokens_out: 82, estimate_micros: 0 },
            "all models count"
        );
        assert_eq!(result.cost_usd_micros, Some(4_000));
    }

    #[test]
    fn what_earlier_calls_of_the_conversation_took_is_not_counted_again() {
        let result = read(
            r#"{"subtype":"success","is_error":false,"num_turns":1,"total_cost_usd":0.0016,
                "usage":{"input_tokens":100,"output_tokens":20},
                "modelUsage":{"a":{"inputTokens":200,"outputTokens":40,"costUSD":0.0016}},
                "model_usage_since_last_result":
                    {"a":{"inputTokens":100,"outputTokens":20,"costUSD":0.0008}}}"#,
        );
        assert!(result.since_last_result);
        assert_eq!(result.usage, Usage { tokens_in: 100, tokens_out: 20, estimate_micros: 0 });
        assert_eq!(result.cost_usd_micros, Some(800));
        let nothing =
            read(r#"{"subtype":"success","total_cost_usd":5,"model_usage_since_last_result":{}}"#);
        assert_eq!(nothing.cost_usd_micros, Some(0));
    }

    #[test]
    fn denied_tools_are_named_once() {
        let result = read(
            r#"{"subtype":"success","is_error":false,"permission_denials":
                [{"tool_name":"Bash"},{"tool_name":"Write"},{"tool_name":"Bash"},{},
                 {"tool_name":"Bash","tool_input":{"command":"git push\n  origin"}},
                 {"tool_name":"Bash","tool_input":{"command":"git push origin"}}]}"#,
        );
        assert_eq!(result.permission_denials, ["Bash", "Write", "?", "Bash(git push origin)"]);
    }

    #[test]
    fn a_result_without_fields_is_an_error_of_unknown_cost() {
        let result = read("{}");
        assert!(result.is_error);
        assert_eq!(
            (result.cost_usd_micros, result.num_turns, result.usage),
            (None, None, Usage::default())
        );
        assert!(!read(r#"{"subtype":"success"}"#).is_error);
        for odd in ["-1", "1e300", "\"x\"", "null"] {
            assert_eq!(
                read(&format!(r#"{{"total_cost_usd":{odd}}}"#)).cost_usd_micros,
                None,
                "{odd}"
            );
        }
    }
}
