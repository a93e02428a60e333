//! Parses Claude Code's screen: pure, from the text of a capture.
//!
//! The screen is made for people and changes with every version, so the parser takes little from
//! the screen: the input line, a running turn, and a question to a person. The agent's words and
//! actions come from the `conversation`, the state of the atom from the store alone.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::claude::one_line;

/// The number of last lines that may contain a question.
const TAIL: usize = 30;
/// The number of lines above the input line that may contain the spinner.
const SPINNER: usize = 6;
/// Blanks at the beginning of a line that the client sets to the right.
const MARGIN: usize = 60;
/// Longest text of a question, in characters.
const QUESTION: usize = 100;

/// A look at the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Screen {
    pub(crate) state: ScreenState,
    /// Changes with the content, but not with a clock, a spinner or a blinking cursor.
    pub(crate) fingerprint: u64,
    /// The non-empty lines above the input line, without the spinner and the text at the right
    /// margin.
    pub(crate) body: Vec<String>,
}

/// The use of the screen at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScreenState {
    /// The client is starting or drawing, or the screen is unknown.
    Unknown,
    /// There is an input line.
    Prompt {
        /// The text in the input line, or a suggestion of the client.
        input: String,
        /// A turn goes on.
        busy: bool,
        /// A background task of the agent still runs and will wake the agent.
        background: bool,
    },
    /// A question to a person. The client waits for the answer.
    Question(Question),
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) kind: QuestionKind,
    /// The question's text, as a line.
    pub(crate) text: String,
}

/// The kinds of questions. All but the last come before any work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionKind {
    /// Trust in the folder.
    Trust,
    /// Use of the key in the environment.
    ApiKey,
    /// Work without permissions.
    Bypass,
    /// How to log in.
    Login,
    /// The theme, and other parts of a first start.
    Onboarding,
    /// Any other question, mostly about the use of a tool.
    Other,
}

impl Screen {
    /// Reads the text of a capture.
    pub(crate) fn from_capture(text: &str) -> Screen {
        let mut lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        while lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        let boxed = input_line(&lines);
        let (above, below) = match boxed {
            Some((top, bottom)) => (&lines[..top], &lines[bottom + 1..]),
            None => (&lines[..], &lines[lines.len().saturating_sub(TAIL)..]),
        };
        let state = match boxed {
            _ if is_question(below) => {
                ScreenState::Question(parse_question(&lines[lines.len().saturating_sub(TAIL)..]))
            }
            Some((top, bottom)) => parse_prompt(&lines[top + 1..bottom], above, below),
            None => ScreenState::Unknown,
        };
        let body = above
            .iter()
            .filter(|line| !line.is_empty() && !is_spinner(line) && !is_margin(line))
            .map(|line| (*line).to_owned());
        let body = body.collect();
        Screen { fingerprint: screen_fingerprint(&lines, &state), state, body }
    }

    /// Returns the last lines with letters or digits as a single line, for a message about an
    /// unexpected screen.
    pub(crate) fn last_words(text: &str, lines: usize) -> String {
        let said: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| line.chars().any(char::is_alphanumeric))
            .collect();
        one_line(&said[said.len().saturating_sub(lines)..].join(" / "), 300)
    }
}

/// Returns the indices of the two rulers around the input.
fn input_line(lines: &[&str]) -> Option<(usize, usize)> {
    let rulers: Vec<usize> = (0..lines.len()).filter(|at| is_ruler(lines[*at])).collect();
    let mut pairs = rulers.windows(2).rev().take(2).map(|pair| (pair[0], pair[1]));
    pairs.find(|(top, bottom)| bottom - top > 1 && after_prompt(lines[top + 1]).is_some())
}

fn is_ruler(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(['─', '╭', '╰'])
        && line.chars().skip(1).take(10).filter(|c| *c == '─').count() == 10
}

/// Returns the text behind the prompt sign of an input line.
fn after_prompt(line: &str) -> Option<&str> {
    let line = line.trim_matches(|c: char| c.is_whitespace() || c == '│');
    let rest = line.strip_prefix(['❯', '>'])?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim())
}

fn parse_prompt(inside: &[&str], above: &[&str], below: &[&str]) -> ScreenState {
    let mut input: Vec<&str> = inside
        .iter()
        .map(|line| line.trim_matches(|c: char| c.is_whitespace() || c == '│'))
        .collect();
    input[0] = after_prompt(inside[0]).unwrap_or_default();
    let near = &above[above.len().saturating_sub(SPINNER)..];
    let busy = near.iter().any(|line| is_spinner(line))
        || near.iter().chain(below).any(|line| line.contains("esc to interrupt"));
    ScreenState::Prompt {
        input: input.join("\n").trim().to_owned(),
        busy,
        background: below.iter().any(|line| tells_of_background(line)),
    }
}

/// Recognises `✶ Cascading… (5s · ↓ 20 tokens)`: a sign, a word, an ellipsis.
fn is_spinner(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let (Some(sign), Some(word)) = (words.next(), words.next()) else { return false };
    let is_sign = sign.chars().count() == 1
        && sign.chars().all(|c| !c.is_alphanumeric() && !"●⎿❯>-#│".contains(c));
    is_sign
        && (word.ends_with('…')
            || line
                .split_once('…')
                .is_some_and(|(_, rest)| rest.starts_with(" (") && rest.contains('s')))
}

/// `                                   ◐ medium · /effort`
fn is_margin(line: &str) -> bool {
    line.chars().take_while(|c| c.is_whitespace()).count() >= MARGIN
}

/// `1 shell`, `2 background tasks`, in the line below the input.
fn tells_of_background(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(2).any(|pair| {
        pair[0].bytes().all(|b| b.is_ascii_digit())
            && ["shell", "background", "task", "bash", "monitor", "agent"]
                .iter()
                .any(|name| pair[1].starts_with(name))
    })
}

fn is_question(tail: &[&str]) -> bool {
    let chosen = |line: &&str| {
        let Some(choice) = line.trim_start_matches(['│', ' ']).strip_prefix('❯').map(str::trim)
        else {
            return false;
        };
        let mut letters = choice.chars();
        let numbered =
            letters.next().is_some_and(|c| c.is_ascii_digit()) && letters.next() == Some('.');
        numbered
            || choice.starts_with("Yes")
            || choice.starts_with("No,")
            || choice.starts_with("No (")
            || choice == "No"
    };
    let last = &tail[tail.len().saturating_sub(14)..];
    last.iter().any(chosen) || last.iter().any(|line| line.contains("Enter to confirm"))
}

fn parse_question(tail: &[&str]) -> Question {
    let said = tail.join("\n").to_lowercase();
    let says = |texts: &[&str]| texts.iter().any(|text| said.contains(text));
    let kind = if says(&["trust this folder", "do you trust", "one you trust"]) {
        QuestionKind::Trust
    } else if says(&["custom api key"]) {
        QuestionKind::ApiKey
    } else if says(&["bypass permissions mode"]) && says(&["accept"]) {
        QuestionKind::Bypass
    } else if says(&["login method", "log in with", "paste code here"]) {
        QuestionKind::Login
    } else if says(&["text style", "choose a theme", "let's get started"]) {
        QuestionKind::Onboarding
    } else {
        QuestionKind::Other
    };
    let from = tail.iter().rposition(|line| is_ruler(line)).map_or(0, |at| at + 1);
    let asked = tail[from..].iter().rev().find(|line| line.trim_end().ends_with('?'));
    let first = || tail[from..].iter().find(|line| line.chars().any(char::is_alphanumeric));
    let text =
        asked.or_else(first).map_or_else(String::new, |line| one_line(line.trim(), QUESTION));
    Question { kind, text }
}

fn screen_fingerprint(lines: &[&str], state: &ScreenState) -> u64 {
    let mut hasher = DefaultHasher::new();
    for line in lines {
        if is_spinner(line) {
            // In a spinner, only the token count tells more than time.
            token_count(line).hash(&mut hasher);
            continue;
        }
        line.chars().filter(|c| c.is_alphabetic()).for_each(|c| c.hash(&mut hasher));
    }
    matches!(state, ScreenState::Question(_)).hash(&mut hasher);
    hasher.finish()
}

/// The number before `tokens`.
fn token_count(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(2).find(|pair| pair[1].starts_with("tokens")).map(|pair| pair[0])
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;
