//! The meaning of a plain-text answer without the form. A word can carry a status, but never a task
//! list.

use serde::Serialize;

use crate::model::{CompletionStatus, Phase};

/// Bytes of a text that are kept.
const KEPT: usize = 16 << 10;

/// The status in the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// *analysis complete*, *exploration finished* …
    AnalysisComplete,
    /// *task list ready*, *breakdown created* …
    TasksReady,
    /// *task complete*, *work done* …
    WorkerDone,
    /// *error*, *failed*, *could not*.
    WorkerError,
}

/// The part of an answer that plain words can carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "carried", rename_all = "snake_case")]
pub enum FallbackAnswer {
    /// The analysis in the model's own words, without a number of tasks.
    Analysis { summary: String },
    /// A worker's status and words.
    Completion { status: CompletionStatus, summary: String },
}

/// Reads the answer for the phase from plain text; `None`: the phase stops. Task lists and results
/// are data, so no words can carry such answers. Text that claims both success and failure has no
/// answer.
pub fn carried_answer(text: &str, phase: Phase) -> Option<FallbackAnswer> {
    let summary = || cut_summary(text).to_owned();
    match (phase, read_signal(text, phase)?) {
        (Phase::Analysis, Signal::AnalysisComplete) => {
            Some(FallbackAnswer::Analysis { summary: summary() })
        }
        (Phase::Completion, Signal::WorkerDone) => Some(FallbackAnswer::Completion {
            status: CompletionStatus::Success,
            summary: summary(),
        }),
        (Phase::Completion, Signal::WorkerError) => Some(FallbackAnswer::Completion {
            status: CompletionStatus::Failed,
            summary: summary(),
        }),
        _ => None,
    }
}

/// Returns the status in the words of `text`, for a phase with a status.
pub fn read_signal(text: &str, phase: Phase) -> Option<Signal> {
    let words = split_words(text);
    let pairs = |first: &[&[&str]], second: &[&str]| has_phrase(&words, first, second);
    match phase {
        Phase::Analysis => pairs(
            &[&["analysis"], &["exploration"]],
            &["complete", "completed", "done", "finished"],
        )
        .then_some(Signal::AnalysisComplete),
        Phase::TaskList => pairs(
            &[&["task", "list"], &["breakdown"]],
            &["ready", "complete", "completed", "created"],
        )
        .then_some(Signal::TasksReady),
        Phase::Progress | Phase::Completion => {
            let done =
                pairs(&[&["task"], &["work"]], &["complete", "completed", "done", "finished"]);
            match (done, says_error(&words)) {
                (true, false) => Some(Signal::WorkerDone),
                (false, true) => Some(Signal::WorkerError),
                _ => None,
            }
        }
        Phase::Aggregation => None,
    }
}

/// Splits a text into words in lower case; a mark between two words, such as a full stop, counts as
/// a word.
fn split_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in text.chars() {
        match c {
            c if c.is_alphanumeric() || matches!(c, '\'' | '’') => {
                if let Some(word) = words.last_mut() {
                    word.extend(c.to_lowercase());
                }
            }
            '.' | '!' | '?' | ';' | ',' | '(' | ')' | '\n' => {
                words.extend([c.to_string(), String::new()])
            }
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Matches a phrase of `first`, then `is`, `was`, `has been` or nothing, then a word of `second`,
/// without a negation before or after.
fn has_phrase(words: &[String], first: &[&[&str]], second: &[&str]) -> bool {
    (0..words.len()).any(|at| {
        first.iter().any(|first| {
            let Some(rest) = words[at..].strip_prefix_words(first) else { return false };
            let linking = rest
                .iter()
                .take_while(|word| {
                    matches!(word.as_str(), "is" | "was" | "has" | "been" | "are" | "now")
                })
                .take(3)
                .count();
            let Some(end) = rest.get(linking) else { return false };
            second.contains(&end.as_str()) && !is_turned(&words[..at])
        })
    })
}

/// Returns true if the last words before are a negation or condition: *not*, *when*, *until* …
fn is_turned(before: &[String]) -> bool {
    before
        .iter()
        .rev()
        .take_while(|word| !matches!(word.as_str(), "." | "!" | "?" | ";" | "\n"))
        .take(5)
        .any(|word| {
            matches!(
                word.as_str(),
                "not"
                    | "no"
                    | "never"
                    | "when"
                    | "once"
                    | "until"
                    | "before"
                    | "after"
                    | "if"
                    | "cannot"
                    | "can't"
                    | "isn't"
                    | "will"
            )
        })
}

/// Returns true if the words report an error. A denied error, a count of zero, or an error as the
/// subject of the work does not count.
fn says_error(words: &[String]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let is_error = match word.as_str() {
            "error" | "errors" | "failed" => true,
            "could" => words.get(at + 1).is_some_and(|next| next == "not"),
            "couldn't" | "couldn’t" => true,
            _ => false,
        };
        let denied = words[at.saturating_sub(2)..at]
            .iter()
            .any(|word| matches!(word.as_str(), "no" | "0" | "zero" | "without" | "any"));
        let is_matter = word.starts_with("error")
            && words.get(at + 1).is_some_and(|next| {
                matches!(
                    next.as_str(),
                    "handling"
                        | "handler"
                        | "handlers"
                        | "message"
                        | "messages"
                        | "code"
                        | "codes"
                        | "type"
                        | "types"
                        | "path"
                        | "paths"
                        | "case"
                        | "cases"
                        | "response"
                        | "responses"
                )
            });
        is_error && !denied && !is_matter
    })
}

trait Words {
    fn strip_prefix_words(&self, prefix: &[&str]) -> Option<&[String]>;
}

impl Words for [String] {
    fn strip_prefix_words(&self, prefix: &[&str]) -> Option<&[String]> {
        let (head, rest) = self.split_at_checked(prefix.len())?;
        head.iter().zip(prefix).all(|(word, wanted)| word == wanted).then_some(rest)
    }
}

fn cut_summary(text: &str) -> &str {
    crate::text::head_bytes(text.trim(), KEPT)
}
