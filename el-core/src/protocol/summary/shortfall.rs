//! Fewer tests passed than there are: `7/8`, `7 of 8`, `passed: 7, total: 8`, `90% pass`.

use super::words::{Colour, is_failure, is_pass, lower_words, parse_fraction};

/// Words before a pair of numbers that is no count of tests: `shard 1/2`, `on 11/30`, `Node 18/20`.
const NO_COUNTS: &[&str] = &[
    "attempt", "batch", "chunk", "from", "go", "group", "java", "node", "of", "on", "page", "part",
    "phase", "php", "python", "round", "ruby", "run", "rust", "shard", "since", "step", "try",
    "until", "version", "versions",
];
/// Words of a clause that counts something else, unless it says that something passed.
const OF_OTHERS: &[&str] = &[
    "added",
    "changed",
    "cover",
    "coverage",
    "covered",
    "covers",
    "moved",
    "new",
    "rewritten",
    "touched",
    "updated",
];
/// Stands for a green sign.
const SIGN: &str = "greensign";
/// Stands for a colon.
const COLON: &str = "colonsign";

/// The parts of a line between commas and the like.
pub(super) fn split_clauses(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| matches!(c, ',' | ';' | '(' | ')' | '—' | '|' | '[' | ']');
    text.split(is_end).flat_map(|part| part.split(". "))
}

/// A line about tests, for the question of whether all passed.
#[derive(Debug)]
pub(super) struct Shortfall {
    clauses: Vec<Vec<String>>,
    names_a_test: bool,
    skipped: u64,
}

impl Shortfall {
    /// `names_a_test`: the line is the name of a passed test, and numbers may be part of the name.
    pub(super) fn new(text: &str, names_a_test: bool, skipped: u64) -> Shortfall {
        let text = spell_out(text);
        Shortfall {
            clauses: split_clauses(&text).map(lower_words).collect(),
            names_a_test,
            skipped,
        }
    }

    pub(super) fn is_short(&self) -> bool {
        let of_clause = self.clauses.iter().any(|clause| {
            let clause: Vec<&str> = clause.iter().map(String::as_str).collect();
            (0..clause.len())
                .any(|at| self.is_short_fraction(&clause, at) || is_short_percentage(&clause, at))
        });
        of_clause || self.is_below_total() || self.is_below_count()
    }

    /// `7 of 8`, `7 passed out of 8`.
    fn is_short_fraction(&self, clause: &[&str], at: usize) -> bool {
        let Some((part, whole, end)) = read_fraction(clause, at) else { return false };
        let has = |wanted: fn(&str) -> bool| clause.iter().any(|word| wanted(word));
        let before = at.checked_sub(1).map(|at| clause[at]);
        let after = clause.get(end).copied();
        let belongs = |word: Option<&str>| {
            word.is_some_and(|word| matches!(word, SIGN | COLON) || is_pass(word) || is_tests(word))
        };
        part + self.skipped < whole
            && before.is_none_or(|word| !NO_COUNTS.contains(&word))
            && (has(is_pass) || !has(|word| is_failure(word) || OF_OTHERS.contains(&word)))
            && (!self.names_a_test || before.is_none() || belongs(before) || belongs(after))
    }

    /// `8 tests, 7 passed`.
    fn is_below_count(&self) -> bool {
        let find = |wanted: fn(&str) -> bool| {
            self.clauses.iter().find_map(|clause| match &clause[..] {
                [number, word] if wanted(word) => number.parse::<u64>().ok(),
                _ => None,
            })
        };
        let (passed, whole) = (find(is_pass), find(|word| matches!(word, "tests" | "specs")));
        passed.zip(whole).is_some_and(|(passed, whole)| passed + self.skipped < whole)
    }

    /// `passed: 7, total: 8`, `8 total, 7 passed`.
    fn is_below_total(&self) -> bool {
        let words = self.clauses.iter().flatten().map(String::as_str);
        let words: Vec<&str> = words.filter(|word| !matches!(*word, SIGN | COLON)).collect();
        let find = |wanted: fn(&str) -> bool| words.iter().position(|word| wanted(word));
        let (Some(pass), Some(total)) = (find(is_pass), find(|word| word == "total")) else {
            return false;
        };
        let number = |at: Option<usize>| words.get(at?)?.parse::<u64>().ok();
        let before = |at: usize| {
            let noun = at.checked_sub(1).filter(|at| is_tests(words[*at]));
            number(at.checked_sub(1)).or_else(|| number(noun?.checked_sub(1)))
        };
        let after = |at: usize| {
            number(Some(at + 1 + usize::from(words.get(at + 1).is_some_and(|word| *word == "of"))))
        };
        let (passed, whole) = match (before(pass), before(total), after(pass), after(total)) {
            // The same side, where both have a number there.
            (Some(passed), Some(whole), ..) | (.., Some(passed), Some(whole)) => (passed, whole),
            (Some(passed), None, _, Some(whole)) | (None, Some(whole), Some(passed), None) => {
                (passed, whole)
            }
            _ => return false,
        };
        passed + self.skipped < whole
    }
}

/// Part and whole of a fraction that begins at a word, and the place behind it.
fn read_fraction(clause: &[&str], at: usize) -> Option<(u64, u64, usize)> {
    let behind = |from: usize| {
        (from..clause.len()).find(|at| clause[*at].parse::<u64>().is_ok()).map(|at| at + 1)
    };
    // Slashes that are left are those of paths, dates and versions.
    let part = clause[at].parse::<u64>().ok()?;
    if let Some((part, whole)) = parse_fraction(clause, at) {
        return Some((part, whole, behind(at + 1)?));
    }
    // `7 passed of 8`, `7 tests out of 8`.
    let of = (at + 2..clause.len().min(at + 5)).find(|at| clause[*at] == "of")?;
    let between = &clause[at + 1..of];
    let belongs = between.iter().any(|word| is_pass(word)) || between.last() == Some(&"out");
    let is_nothing = |word: &&&str| matches!(**word, "the" | "all" | "a" | "total" | "of" | "our");
    let whole = of + 1 + clause[of + 1..].iter().take_while(is_nothing).count();
    let number = clause.get(whole)?.parse().ok().filter(|_| belongs)?;
    Some((part, number, whole + 1))
}

/// `90% pass`, `90% of the tests pass`, `pass rate: 90%`.
fn is_short_percentage(clause: &[&str], at: usize) -> bool {
    let Some(percent) = clause[at].strip_suffix('%') else { return false };
    let before = &clause[at.saturating_sub(5)..at];
    let is_whole = percent == "100" || before.last() == Some(&"100");
    let is_word = |word: &&str| **word != *COLON && word.parse::<u64>().is_err();
    let told: Vec<&str> = before.iter().copied().filter(is_word).rev().collect();
    let of_tests = match clause.get(at + 1) {
        Some(word) if *word == "of" => clause[at + 2..].iter().any(|word| is_tests(word)),
        Some(word) => is_pass(word) || is_tests(word),
        None => matches!(told[..], ["rate", word, ..] | [word, ..] if is_pass(word)),
    };
    of_tests
        && !is_whole
        && percent.bytes().all(|byte| byte.is_ascii_digit())
        && clause.iter().any(|word| is_pass(word))
        && !clause.iter().any(|word| OF_OTHERS.contains(word))
}

fn is_tests(word: &str) -> bool {
    ["test", "spec", "check", "suite"].iter().any(|noun| word.starts_with(noun))
}

/// Writes `7/8` as `7 of 8`, unless it is part of a path, a date or a version, and gives signs and
/// colons words of their own.
fn spell_out(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let after = &text[at + c.len_utf8()..];
        match c {
            '/' if is_alone(&text[..at], after) => spelled += " of ",
            ':' if after.starts_with([' ', '*']) || after.is_empty() => {
                spelled = spelled + " " + COLON + " ";
            }
            _ if Colour::from_sign(c) == Some(Colour::Green) => {
                spelled = spelled + " " + SIGN + " ";
            }
            _ => spelled.push(c),
        }
    }
    spelled
}

/// Returns true if both sides of a slash are plain numbers.
fn is_alone(before: &str, after: &str) -> bool {
    let (before, after) = (before.trim_end_matches(' '), after.trim_start_matches(' '));
    let digits = |c: char| c.is_ascii_digit();
    let (left, right) = (before.trim_end_matches(digits), after.trim_start_matches(digits));
    let joins = |c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '$' | '#' | '\\');
    let goes_on = |rest: &str| {
        let mut rest = rest.chars();
        match rest.next() {
            Some('.' | '-' | '–') => rest.next().is_some_and(joins),
            first => first.is_some_and(joins),
        }
    };
    left.len() < before.len()
        && right.len() < after.len()
        && !left.ends_with(|c: char| joins(c) || matches!(c, '.' | '-' | '–'))
        && !goes_on(right)
        && !right.trim_start().starts_with('/')
        && !left.trim_end().ends_with('/')
}
