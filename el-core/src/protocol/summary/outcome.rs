//! The outcome of tests in a text. Red in any line is red.

use super::words::{Colour, is_denial, is_failure, lower_words, parse_fraction, read_colours};
use crate::model::TestOutcome;

/// Characters of a line that are looked at.
const LOOK: usize = 2_000;

/// Phrases for missing or skipped tests.
const NOT_RUN: &[&str] = &[
    "no tests",
    "no test ",
    "no automated tests",
    "not run",
    "not tested",
    "not applicable",
    "n/a",
    "were skipped",
    "tests skipped",
    "could not run",
    "couldn't run",
    "cannot run",
    "unable to run",
    "none were run",
    "nothing to test",
];

/// Returns the outcome of the tests: any line of failure decides, else the first line with an
/// outcome.
pub(super) fn read_outcome(text: &str) -> Option<TestOutcome> {
    if text.contains("[OR]") {
        return None;
    }
    let lines: Vec<TestLine> = text.lines().map(TestLine::new).collect();
    if lines.iter().any(TestLine::is_red) {
        return Some(TestOutcome::Failed);
    }
    lines.iter().find_map(TestLine::line_outcome)
}

#[derive(Debug)]
struct TestLine {
    text: String,
    /// The words between commas and the like.
    clauses: Vec<Vec<String>>,
}

impl TestLine {
    fn new(line: &str) -> TestLine {
        let text: String = line.chars().take(LOOK).collect();
        let is_end = |c: char| matches!(c, ',' | ';' | '(' | ')' | '—' | '|' | '[' | ']');
        let clauses =
            text.split(is_end).flat_map(|part| part.split(". ")).map(lower_words).collect();
        TestLine { text: text.to_lowercase(), clauses }
    }

    fn has_word(&self, wanted: impl Fn(&str) -> bool) -> bool {
        self.clauses.iter().flatten().any(|word| wanted(word))
    }

    fn is_skipping(&self) -> bool {
        self.has_word(|word| {
            word.starts_with("skip") || matches!(word, "ignored" | "pending" | "todo")
        })
    }

    fn is_red(&self) -> bool {
        if read_colours(&self.text).red {
            return true;
        }
        let is_passing = self.has_word(is_pass);
        let is_cargos = self.text.starts_with("test ") && self.text.ends_with(" ok");
        let names_a_test = is_cargos || self.is_a_passed_test() && !is_passing;
        if is_passing && self.makes_an_exception() {
            return true;
        }
        if self.text.trim_start_matches(['-', '*', ' ', '#']).starts_with("not ok") {
            return true;
        }
        self.clauses.iter().any(|clause| {
            let clause: Vec<&str> = clause.iter().map(String::as_str).collect();
            (0..clause.len()).any(|at| self.is_red_word(&clause, at, names_a_test))
        })
    }

    /// `all pass but one`, `all pass, one does not`.
    fn makes_an_exception(&self) -> bool {
        let excepts = ["except", "apart from", "other than", "all but", "aside from", " save "];
        let is_number = |word: &str| {
            matches!(word, "one" | "two" | "three" | "some" | "a" | "the" | "for")
                || word.parse::<u64>().is_ok()
        };
        excepts.iter().any(|part| self.text.contains(part))
            || self.clauses.iter().any(|clause| {
                clause.last().is_some_and(|word| word == "not")
                    || clause.windows(2).any(|two| two[0] == "but" && is_number(&two[1]))
            })
    }

    fn is_red_word(&self, clause: &[&str], at: usize, names_a_test: bool) -> bool {
        let word = clause[at];
        let before = &clause[at.saturating_sub(3)..at];
        if is_pass(word) {
            return before.iter().any(|word| *word == "not" || word.ends_with("n't"))
                || !self.is_skipping() && is_short(clause, at);
        }
        let is_error = matches!(word, "error" | "errors");
        if is_failure(word) || is_error {
            if let Some(count) = count_near(clause, at) {
                return count > 0;
            }
            if is_error {
                return at == 0 && !names_a_test && clause.get(1) != Some(&"handling");
            }
            return !names_a_test && !before.iter().any(|word| is_denial(word));
        }
        match word {
            "panicked" | "broken" | "segfault" | "crashed" => {
                !names_a_test && !before.iter().any(|word| is_denial(word))
            }
            "timed" if clause.get(at + 1) == Some(&"out") => match count_near(clause, at) {
                Some(count) => count > 0,
                None => !names_a_test && !before.iter().any(|word| is_denial(word)),
            },
            "problem" | "problems" => count_near(clause, at).is_some_and(|count| count > 0),
            "red" => {
                clause.len() == 1
                    || count_near(clause, at).is_some_and(|count| count > 0)
                    || before.last().is_some_and(|word| {
                        matches!(*word, "is" | "are" | "still" | "went" | "turned" | "stay")
                    })
            }
            _ => false,
        }
    }

    /// Returns true for the line of a single passed test: the test's name may contain any word.
    fn is_a_passed_test(&self) -> bool {
        let text = self.text.trim_matches(['-', '*', ' ', '\u{fe0f}', '.']);
        let green = |c: Option<char>| c.and_then(Colour::from_sign) == Some(Colour::Green);
        text.starts_with(['✓', '✔']) || green(text.chars().next_back()) || text.starts_with("ok ")
    }

    fn line_outcome(&self) -> Option<TestOutcome> {
        let is_green = read_colours(&self.text).green;
        let is_not_run = self.text.contains(['⏭', '⏩', '⏸'])
            || NOT_RUN.iter().any(|part| self.text.contains(part)) && !self.denies_failure();
        if is_green {
            Some(TestOutcome::Passed)
        } else if is_not_run {
            Some(TestOutcome::Skipped)
        } else if self.has_word(is_pass) || self.denies_failure() {
            Some(TestOutcome::Passed)
        } else {
            self.has_word(|word| matches!(word, "none" | "skipped")).then_some(TestOutcome::Skipped)
        }
    }

    /// `No test failures`.
    fn denies_failure(&self) -> bool {
        self.has_word(is_failure)
    }
}

fn is_pass(word: &str) -> bool {
    matches!(word, "passed" | "pass" | "passes" | "passing" | "green" | "succeeded" | "ok")
}

/// `7/8 passed`, `7 of 8 tests pass`, `passed 7 of 8`.
fn is_short(clause: &[&str], at: usize) -> bool {
    (at.saturating_sub(5)..(at + 2).min(clause.len()))
        .filter_map(|from| parse_fraction(clause, from))
        .any(|(part, whole)| part < whole)
}

/// The number that belongs to a word: `2 tests failed`, `failures: 2`, `fail 1`.
fn count_near(clause: &[&str], at: usize) -> Option<u64> {
    let number = |at: usize| clause.get(at)?.parse::<u64>().ok();
    let before = at.checked_sub(1).and_then(|one| {
        number(one).or_else(|| {
            let is_noun = clause[one].starts_with("test") || clause[one].starts_with("check");
            number(one.checked_sub(1)?).filter(|_| is_noun || clause[one] == "unexpected")
        })
    });
    before.or_else(|| number(at + 1))
}
