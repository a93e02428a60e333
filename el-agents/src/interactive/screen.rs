//! What Claude Code's own screen shows: pure, from the text of one capture.
//!
//! The screen is made for people and changes with every version, so as little as possible is taken
//! from it: where the input line is, whether a turn goes on, and whether a person is asked
//! something. What the agent said and did is read elsewhere (`conversation`), and how its atom
//! stands only in the store.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::claude::one_line;

/// Lines at the end of a screen in which a question can stand.
const TAIL: usize = 30;
/// Lines above the input line in which the spinner can stand.
const SPINNER: usize = 6;
/// Blanks at the beginning of a line that the client sets to the right.
const MARGIN: usize = 60;
/// Longest text of a question, in characters.
const QUESTION: usize = 100;

/// One look at the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Screen {
    pub(crate) state: State,
    /// Changes when something happens; not with a clock, a spinner, or a cursor that blinks.
    pub(crate) fingerprint: u64,
    /// The lines above the input line that say something: without blank ones, the spinner, and what
    /// stands at the right margin.
    pub(crate) body: Vec<String>,
}

/// What the screen is for at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// It is just starting or drawing, or is none that we know.
    Unknown,
    /// There is an input line.
    Prompt {
        /// What stands in it; a suggestion of the client's, too.
        input: String,
        /// A turn goes on.
        busy: bool,
        /// Something that the agent began still runs in the background, and will wake it up.
        background: bool,
    },
    /// A person is asked something, and nothing goes on before the answer.
    Question(Question),
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) kind: Kind,
    /// The question itself, in one line.
    pub(crate) text: String,
}

/// The questions that a client asks before it takes any work, and all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Whether the folder is trusted.
    Trust,
    /// Whether the key of the environment is to be used.
    ApiKey,
    /// Whether one really wants to work without permissions.
    Bypass,
    /// How to log in.
    Login,
    /// The theme, and what else belongs to a first start.
    Onboarding,
    /// Anything else: above all, whether a tool may be used.
    Other,
}

impl Screen {
    /// Reads the text of a capture.
    pub(crate) fn read(text: &str) -> Screen {
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
                State::Question(question(&lines[lines.len().saturating_sub(TAIL)..]))
            }
            Some((top, bottom)) => prompt(&lines[top + 1..bottom], above, below),
            None => State::Unknown,
        };
        let body = above
            .iter()
            .filter(|line| !line.is_empty() && !is_spinner(line) && !is_margin(line))
            .map(|line| (*line).to_owned());
        let body = body.collect();
        Screen { fingerprint: fingerprint(&lines, &state), state, body }
    }

    /// The last lines that say anything, as one line: for a message about a screen that nobody
    /// expected.
    pub(crate) fn last_words(text: &str, lines: usize) -> String {
        let said: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| line.chars().any(char::is_alphanumeric))
            .collect();
        one_line(&said[said.len().saturating_sub(lines)..].join(" / "), 300)
    }
}

/// The two rulers, as indices, between which the input stands.
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

/// What stands behind the sign of an input line.
fn after_prompt(line: &str) -> Option<&str> {
    let line = line.trim_matches(|c: char| c.is_whitespace() || c == '│');
    let rest = line.strip_prefix(['❯', '>'])?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim())
}

fn prompt(inside: &[&str], above: &[&str], below: &[&str]) -> State {
    let mut input: Vec<&str> = inside
        .iter()
        .map(|line| line.trim_matches(|c: char| c.is_whitespace() || c == '│'))
        .collect();
    input[0] = after_prompt(inside[0]).unwrap_or_default();
    let near = &above[above.len().saturating_sub(SPINNER)..];
    let busy = near.iter().any(|line| is_spinner(line))
        || near.iter().chain(below).any(|line| line.contains("esc to interrupt"));
    State::Prompt {
        input: input.join("\n").trim().to_owned(),
        busy,
        background: below.iter().any(|line| tells_of_background(line)),
    }
}

/// `✶ Cascading… (5s · ↓ 20 tokens)`: a sign of its own, one word, an ellipsis.
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

fn question(tail: &[&str]) -> Question {
    let said = tail.join("\n").to_lowercase();
    let says = |texts: &[&str]| texts.iter().any(|text| said.contains(text));
    let kind = if says(&["trust this folder", "do you trust", "one you trust"]) {
        Kind::Trust
    } else if says(&["custom api key"]) {
        Kind::ApiKey
    } else if says(&["bypass permissions mode"]) && says(&["accept"]) {
        Kind::Bypass
    } else if says(&["login method", "log in with", "paste code here"]) {
        Kind::Login
    } else if says(&["text style", "choose a theme", "let's get started"]) {
        Kind::Onboarding
    } else {
        Kind::Other
    };
    let from = tail.iter().rposition(|line| is_ruler(line)).map_or(0, |at| at + 1);
    let asked = tail[from..].iter().rev().find(|line| line.trim_end().ends_with('?'));
    let first = || tail[from..].iter().find(|line| line.chars().any(char::is_alphanumeric));
    let text =
        asked.or_else(first).map_or_else(String::new, |line| one_line(line.trim(), QUESTION));
    Question { kind, text }
}

fn fingerprint(lines: &[&str], state: &State) -> u64 {
    let mut hasher = DefaultHasher::new();
    for line in lines {
        if is_spinner(line) {
            // Of a spinner, only the count of tokens tells of anything but time.
            tokens(line).hash(&mut hasher);
            continue;
        }
        line.chars().filter(|c| c.is_alphabetic()).for_each(|c| c.hash(&mut hasher));
    }
    matches!(state, State::Question(_)).hash(&mut hasher);
    hasher.finish()
}

/// The number before `tokens`.
fn tokens(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(2).find(|pair| pair[1].starts_with("tokens")).map(|pair| pair[0])
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;
