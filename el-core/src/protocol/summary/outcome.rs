//! The outcome of tests in a text. Red in any line is red.

use super::shortfall::{Shortfall, split_clauses};
use super::words::{
    Colour, is_denial, is_failure, is_pass, lower_words, parse_fraction, read_colours,
};
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
        let clauses = split_clauses(&text).map(lower_words).collect();
        TestLine { text: text.to_lowercase(), clauses }
    }

    fn has_word(&self, wanted: impl Fn(&str) -> bool) -> bool {
        self.clauses.iter().flatten().any(|word| wanted(word))
    }

    /// Returns the number of skipped tests; `None` if some were skipped without a number.
    fn count_skipped(&self) -> Option<u64> {
        let mut skipped = 0;
        for clause in &self.clauses {
            let clause: Vec<&str> = clause.iter().map(String::as_str).collect();
            for at in (0..clause.len()).filter(|at| is_skip(clause[*at])) {
                let is_denied = clause[at.saturating_sub(2)..at].iter().any(|word| is_denial(word));
                skipped += if is_denied { 0 } else { count_near(&clause, at)? };
            }
        }
        Some(skipped)
    }

    fn is_red(&self) -> bool {
        let colours = read_colours(&self.text);
        if colours.red {
            return true;
        }
        let is_passing = self.has_word(is_pass);
        let is_cargos = self.text.starts_with("test ") && self.text.ends_with(" ok");
        let names_a_test = is_cargos || self.is_a_passed_test() && !is_passing;
        let is_partial = (is_passing || colours.green && !names_a_test) && self.is_partial();
        if is_partial || is_passing && self.makes_an_exception() {
            return true;
        }
        // A runner's own line for one test counts where it stands: `PASS [0.1s] (1/12) name`.
        let is_a_runners = is_cargos || self.text.trim_start().starts_with("pass [");
        if !is_a_runners
            && let Some(skipped) = self.count_skipped()
            && Shortfall::new(&self.text, names_a_test, skipped).is_short()
        {
            return true;
        }
        let bare = self.text.trim_start_matches(['-', '*', ' ', '#']);
        // vitest has a sign of multiplication before a test that failed.
        if bare.starts_with("not ok") || bare.starts_with("× ") {
            return true;
        }
        self.clauses.iter().any(|clause| {
            let clause: Vec<&str> = clause.iter().map(String::as_str).collect();
            (0..clause.len()).any(|at| Self::is_red_word(&clause, at, names_a_test))
        })
    }

    /// `all pass but one`, `all pass, one does not`, `the rest pass`.
    fn makes_an_exception(&self) -> bool {
        let excepts = ["except", "apart from", "other than", "all but", "aside from", " save "];
        let is_number = |word: &str| {
            matches!(word, "one" | "two" | "three" | "some" | "a" | "the" | "for")
                || word.parse::<u64>().is_ok()
        };
        let is_exception = |words: &[String]| match words {
            [but, number, ..] if but == "but" || but == "minus" => is_number(number),
            [without, the, rest @ ..] if without == "without" && the == "the" => {
                !rest.first().is_some_and(|word| matches!(&**word, "need" | "help" | "use"))
            }
            [rest, pass, too @ ..] if matches!(&**rest, "rest" | "others") && is_pass(pass) => {
                !too.iter().any(|word| matches!(&**word, "too" | "also" | "well"))
            }
            _ => false,
        };
        excepts.iter().any(|part| self.text.contains(part))
            || self.clauses.iter().any(|clause| {
                clause.last().is_some_and(|word| word == "not")
                    || (0..clause.len()).any(|at| {
                        // `with and without the feature`.
                        let is_both = at > 0 && matches!(&*clause[at - 1], "and" | "or");
                        !is_both && is_exception(&clause[at..])
                    })
            })
    }

    /// `most tests pass`, `nearly all pass`, `only the unit tests pass`.
    fn is_partial(&self) -> bool {
        self.clauses.iter().any(|clause| {
            let passes = |from: usize| clause.iter().skip(from).take(4).any(|word| is_pass(word));
            clause.iter().enumerate().any(|(at, word)| match &**word {
                "most" => {
                    let before = at.checked_sub(1).map(|at| &*clause[at]);
                    !matches!(before, Some("the" | "at"))
                }
                "mostly" | "partially" | "partly" => true,
                "nearly" | "almost" => clause.get(at + 1).is_some_and(|next| {
                    matches!(&**next, "all" | "every" | "everything" | "each") || is_pass(next)
                }),
                "only" | "some" | "half" => at == 0 && passes(1),
                _ => false,
            })
        })
    }

    fn is_red_word(clause: &[&str], at: usize, names_a_test: bool) -> bool {
        let word = clause[at];
        let before = &clause[at.saturating_sub(3)..at];
        if is_pass(word) {
            return before.iter().any(|word| matches!(*word, "not" | "none"))
                || before.iter().any(|word| word.ends_with("n't"))
                || matches!(before, [.., "no", noun] if noun.starts_with("test"));
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
            "panicked" | "broken" | "segfault" | "segmentation" | "sigsegv" | "sigabrt"
            | "crashed" => !names_a_test && !before.iter().any(|word| is_denial(word)),
            _ if is_hang(word) => match count_near(clause, at) {
                Some(count) => count > 0,
                // `the hang is gone`, `it used to hang`.
                None => {
                    let last = before.last().copied();
                    !names_a_test
                        && !before.iter().any(|word| is_denial(word))
                        && !matches!(last, Some("the" | "a" | "that" | "this" | "to"))
                }
            },
            "panic" | "traceback" | "timeout" => at == 0 && !names_a_test,
            "compile" | "build" | "start" | "load" | "connect" | "finish" | "complete" => {
                let is_not = |word: &&str| matches!(*word, "not" | "unable" | "cannot");
                let is_denied = |word: &&str| is_not(word) || word.ends_with("n't");
                !names_a_test && before.iter().any(is_denied)
            }
            "code" | "status" if before.last() == Some(&"exit") => {
                number_after(clause, at + 1).is_some_and(|code| code > 0)
            }
            "flaky" | "ko" | "regression" | "regressions" => {
                count_near(clause, at).is_some_and(|count| count > 0)
            }
            "timed" if clause.get(at + 1) == Some(&"out") => match count_near(clause, at) {
                Some(count) => count > 0,
                None => !names_a_test && !before.iter().any(|word| is_denial(word)),
            },
            "problem" | "problems" => count_near(clause, at).is_some_and(|count| count > 0),
            "red" => {
                clause.len() == 1
                    || at == 1 && clause.len() == 2 && !is_denial(clause[0])
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
        } else if self.has_passes() || self.denies_failure() {
            Some(TestOutcome::Passed)
        } else {
            self.has_word(|word| matches!(word, "none" | "skipped")).then_some(TestOutcome::Skipped)
        }
    }

    /// `8 passed`, and not `0 passed`.
    fn has_passes(&self) -> bool {
        self.clauses.iter().any(|clause| {
            let clause: Vec<&str> = clause.iter().map(String::as_str).collect();
            let counts = |at: usize| count_near(&clause, at) != Some(0);
            (0..clause.len()).any(|at| is_pass(clause[at]) && counts(at))
        })
    }

    /// `No test failures`.
    fn denies_failure(&self) -> bool {
        self.has_word(|word| is_failure(word) || is_hang(word))
    }
}

fn is_hang(word: &str) -> bool {
    matches!(word, "hang" | "hangs" | "hung" | "hanging" | "flaked" | "flakes")
}

fn is_skip(word: &str) -> bool {
    word.starts_with("skip") || matches!(word, "ignored" | "pending" | "todo")
}

/// The number that belongs to a word: `2 tests failed`, `failures: 2`, `fail 1`, `0 of 8 failed`.
fn count_near(clause: &[&str], at: usize) -> Option<u64> {
    let before = at.checked_sub(1).and_then(|one| {
        number_before(clause, one).or_else(|| {
            let is_noun = clause[one].starts_with("test") || clause[one].starts_with("check");
            number_before(clause, one.checked_sub(1)?)
                .filter(|_| is_noun || clause[one] == "unexpected")
        })
    });
    before.or_else(|| number_after(clause, at + 1))
}

/// A number, or the first one of a fraction that ends there.
fn number_before(clause: &[&str], at: usize) -> Option<u64> {
    let fraction = [at.checked_sub(3), at.checked_sub(2), Some(at)].into_iter().flatten();
    let ends = |from: usize| match from == at {
        true => clause[at].contains('/'),
        false => clause[from + 1..at].contains(&"of"),
    };
    fraction
        .filter(|from| ends(*from))
        .find_map(|from| parse_fraction(clause, from))
        .map_or_else(|| clause[at].parse().ok(), |(part, _)| Some(part))
}

fn number_after(clause: &[&str], at: usize) -> Option<u64> {
    let word = clause.get(at)?;
    word.parse().ok().or_else(|| parse_fraction(clause, at).map(|(part, _)| part))
}
