//! What words and signs say of success: of the work, and of its tests.

use super::headings::Section;
use super::sections::Sections;
use crate::model::{SummaryStatus, TestOutcome};

/// Characters of a line that are looked at.
const LOOK: usize = 300;

/// The status that the agent gives itself. Where it gives several, the worst; where it left the
/// template as it was, none.
pub(super) fn status(sections: &Sections<'_>, warnings: &mut Vec<String>) -> Option<SummaryStatus> {
    let mut found: Vec<SummaryStatus> = Vec::new();
    let mut unread = false;
    for part in sections.parts(Section::Status) {
        let mut lines = part.iter().filter(|line| !line.text.is_empty());
        if part.iter().any(|line| is_template(line.text)) {
            warnings.push("Status: left as the template has it".to_owned());
        } else {
            match lines.find_map(|line| status_of(line.text)) {
                Some(status) => found.push(status),
                None => unread = true,
            }
        }
    }
    if unread && found.is_empty() {
        warnings.push("Status: neither COMPLETED, PARTIAL nor FAILED".to_owned());
    }
    let worst = found.iter().copied().max();
    if found.iter().any(|status| Some(*status) != worst) {
        warnings.push("Status: there are different ones; the worst is taken".to_owned());
    }
    worst
}

pub(super) fn has_status(text: &str) -> bool {
    is_template(text) || status_of(text).is_some()
}

/// All three on one line: nobody chose.
fn is_template(text: &str) -> bool {
    ["COMPLETED", "PARTIAL", "FAILED"].iter().all(|word| text.contains(word))
}

/// The first word of the line that tells, or else its first sign.
fn status_of(text: &str) -> Option<SummaryStatus> {
    let words = words(text);
    let by_word = words.iter().enumerate().find_map(|(at, word)| {
        let status = match word.as_str() {
            "completed" | "complete" | "done" | "success" | "successful" | "successfully"
            | "succeeded" | "finished" => SummaryStatus::Completed,
            "partial" | "partially" | "incomplete" | "progress" | "wip" | "blocked" | "mostly"
            | "unfinished" => SummaryStatus::Partial,
            "failed" | "failure" | "fail" | "aborted" | "unsuccessful" => SummaryStatus::Failed,
            _ => return None,
        };
        let is_denied = words[..at].iter().rev().take(2).any(|before| {
            matches!(before.as_str(), "not" | "never" | "isn't" | "wasn't" | "couldn't")
        });
        Some(if is_denied && status == SummaryStatus::Completed {
            SummaryStatus::Partial
        } else {
            status
        })
    });
    by_word.or_else(|| {
        text.chars().take(LOOK).find_map(|c| match c {
            '✅' | '✔' | '✓' | '☑' | '🎉' | '🟢' => Some(SummaryStatus::Completed),
            '⚠' | '🟡' | '🚧' | '⏳' | '🟠' | '🔶' => Some(SummaryStatus::Partial),
            '❌' | '✖' | '✗' | '✘' | '🔴' | '⛔' | '🛑' => Some(SummaryStatus::Failed),
            _ => None,
        })
    })
}

/// What a text about tests comes to: a number of failures counts above all, then the first line
/// that says anything.
pub(super) fn tests(text: &str) -> Option<TestOutcome> {
    if text.contains("[OR]") {
        return None;
    }
    if text.lines().any(has_failures) {
        return Some(TestOutcome::Failed);
    }
    text.lines().find_map(outcome_of)
}

/// `2 failed`, `1 test failed`, `3 tests failed`, `failures: 2`, `7/8 passed` (unless something was
/// skipped).
fn has_failures(line: &str) -> bool {
    let words = words(line);
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let by_word = words.iter().enumerate().any(|(at, word)| match word.as_str() {
        "failed" | "failures" | "failure" => {
            let before = (1..=2).find_map(|back| at.checked_sub(back).and_then(number));
            let after = if word == "failed" { None } else { number(at + 1) };
            before.or(after).is_some_and(|count| count > 0)
        }
        _ => false,
    });
    let is_short = || {
        let skipped = words.iter().any(|word| word.starts_with("skip") || word == "ignored");
        let passed = words.iter().any(|word| word.starts_with("pass"));
        let fraction = |word: &String| {
            word.split_once('/')
                .and_then(|(a, b)| Some((a.parse::<u64>().ok()?, b.parse::<u64>().ok()?)))
        };
        passed && !skipped && words.iter().filter_map(fraction).any(|(of, all)| of < all)
    };
    by_word || is_short()
}

fn outcome_of(line: &str) -> Option<TestOutcome> {
    let sign = line.chars().find_map(|c| match c {
        '✅' | '✔' | '✓' | '☑' | '🟢' => Some(TestOutcome::Passed),
        '❌' | '✖' | '✗' | '✘' | '🔴' => Some(TestOutcome::Failed),
        '⏭' | '⏩' | '⏸' => Some(TestOutcome::Skipped),
        _ => None,
    });
    let words = words(line);
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let lower = line.chars().take(LOOK).collect::<String>().to_lowercase();
    let none = [
        "no tests",
        "no test ",
        "no automated tests",
        "not run",
        "not tested",
        "not applicable",
        "n/a",
        "were skipped",
        "tests skipped",
    ];
    sign.or_else(|| none.iter().any(|part| lower.contains(part)).then_some(TestOutcome::Skipped))
        .or_else(|| {
            (has(&["passed", "pass", "passes", "passing", "green", "succeeded", "ok"])
                && !has(&["not"]))
            .then_some(TestOutcome::Passed)
        })
        .or_else(|| has(&["failed", "failing", "fail", "fails"]).then_some(TestOutcome::Failed))
        .or_else(|| (has(&["none", "skipped"])).then_some(TestOutcome::Skipped))
}

/// The words of a line in lower case, of those that are looked at.
fn words(line: &str) -> Vec<String> {
    let start: String = line.chars().take(LOOK).collect();
    start
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '/'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}
