//! The status in a line. `COMPLETED` is believed only if the line has no other meaning. The list of
//! words is short, since there are too many ways to say "no".

use super::words::{Colour, is_denial, is_failure, lower_words, read_colours};

/// Characters of a line that are looked at; a longer line is no status.
const LOOK: usize = 2_000;

/// Words that say "completed", in the languages that agents were seen to use.
const COMPLETED: &str = "\
    completed complete done success successful succeeded finished fertig erledigt \
    abgeschlossen terminé terminée completado completada 完成 已完成 完了";
/// Words allowed beside a status.
const BESIDE: &str = "\
    the this task tasks work job issue status state result overall final it is was are has \
    have been all everything now fully completely entirely successfully 100% with";
const PARTIAL: &str = "\
    partial partially partly incomplete wip blocked mostly unfinished";
/// Words that weaken a status anywhere in the line.
const DOUBT: &str = "\
    none nothing nobody unable without except excluding but however although though unless \
    until missing remaining remains pending todo tbd skipped untested broken error errors \
    rolled reverted only still yet almost nearly far should might maybe probably hopefully \
    half some most or crash crashed crashes red problem problems apart minus false nope later \
    rest awaiting awaits stub stubs stubbed workaround workarounds hack limitation limitations \
    caveat caveats lacks lacking persists needs gave please think believe guess isnt doesnt dont \
    didnt arent wasnt hasnt couldnt wrong waiting unresolved unverified uncommitted unmerged \
    unpushed aber nicht kein keine ohne teilweise mais pas sans sauf pero \
    sin";
/// Words that are harmless after "no": `no errors`, `no open points`.
const HARMLESS_IF_NONE: &str = "\
    error errors issue issues problem problems warning warnings failure failures failed \
    regression regressions blocker blockers remaining open outstanding further follow todo \
    todos missing pending left needs limitation limitations caveat caveats workaround \
    workarounds";

/// Returns true if a word is in a list, which is written as a text.
fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// The meaning of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reading {
    Silent,
    Completed,
    /// Weakens the status of another line.
    Doubt,
    Partial,
    Failed,
}

/// Returns true if the line has a status, or the doubt of a status.
pub(super) fn has_status(text: &str) -> bool {
    is_template(text) || line_reading(text) != Reading::Silent
}

/// Returns true for an unchanged line of the template.
pub(super) fn is_template(text: &str) -> bool {
    text.contains("[OR]")
        || ["COMPLETED", "PARTIAL", "FAILED"].iter().all(|word| text.contains(word))
}

pub(super) fn line_reading(text: &str) -> Reading {
    let (is_ticked, own) = split_box(text);
    if is_ticked == Some(false) {
        return Reading::Silent;
    }
    let text = without_struck_out(own);
    let is_whole = text.len() == own.len();
    let colours = read_colours(&text);
    let is_long = text.chars().count() > LOOK;
    let text: String = text.chars().take(LOOK).collect();
    let segments: Vec<Vec<String>> = split_segments(&text);
    let all: Vec<&str> = segments.iter().flatten().map(String::as_str).collect();
    let is_beside = |words: &&Vec<String>| words.iter().all(|word| is_in(BESIDE, word));
    let head = segments.iter().find(|words| !is_beside(words));
    let is_completed = head.is_some_and(|words| is_completed(words));
    let failed = failure_at(&all);
    let partial = partial_at(&all);
    if colours.red || is_completed && failed.is_some() {
        return Reading::Failed;
    }
    match (failed, partial) {
        (Some(failed), Some(partial)) if partial < failed => return Reading::Partial,
        (Some(_), _) => return Reading::Failed,
        (None, Some(_)) => return Reading::Partial,
        (None, None) if colours.amber => return Reading::Partial,
        (None, None) => {}
    }
    if has_doubt(&all) || text.contains('?') || is_long {
        Reading::Doubt
    } else if is_completed || all.is_empty() && colours.green && is_whole {
        Reading::Completed
    } else {
        Reading::Silent
    }
}

/// Returns true if a line begins with the words or the sign of a status.
pub(super) fn begins_with_status(text: &str) -> bool {
    let text = without_struck_out(split_box(text).1);
    let first = text.trim_start_matches(['*', '_', ' ', '-', '>', '`']);
    let sign = first.chars().next().and_then(Colour::from_sign);
    let segments = split_segments(&text);
    let head: Vec<&str> = segments.iter().flatten().take(1).map(String::as_str).collect();
    sign.is_some_and(|colour| colour != Colour::Green)
        || failure_at(&head).is_some()
        || partial_at(&head).is_some()
}

/// Returns true if a line begins with what takes back the words before it: `But`, `Unable to`.
pub(super) fn begins_with_doubt(text: &str) -> bool {
    let segments = split_segments(text);
    let mut words = segments.iter().flatten().map(String::as_str);
    match words.next() {
        Some("could") => words.next() == Some("not"),
        Some(word) => {
            matches!(word, "unable" | "cannot" | "can't" | "couldn't" | "but" | "however")
        }
        None => false,
    }
}

fn is_completed(words: &[String]) -> bool {
    words.iter().any(|word| is_in(COMPLETED, word))
        && words.iter().all(|word| is_in(COMPLETED, word) || is_in(BESIDE, word))
}

/// Returns the position of a word of failure without negation (`nothing failed` has none).
fn failure_at(words: &[&str]) -> Option<usize> {
    (0..words.len()).find(|at| is_failure(words[*at]) && !is_denied(words, *at))
}

fn partial_at(words: &[&str]) -> Option<usize> {
    (0..words.len()).find(|at| {
        let word = words[*at];
        is_in(PARTIAL, word) && !is_denied(words, *at)
            || word == "progress" && *at > 0 && words[*at - 1] == "in"
            || is_in(COMPLETED, word)
                && words[at.saturating_sub(2)..*at].iter().any(|before| is_not(before))
    })
}

fn is_denied(words: &[&str], at: usize) -> bool {
    words[at.saturating_sub(3)..at].iter().any(|before| is_denial(before))
}

fn is_not(word: &str) -> bool {
    matches!(word, "not" | "never" | "isn't" | "wasn't" | "hasn't" | "couldn't")
}

fn has_doubt(words: &[&str]) -> bool {
    let is_harmless = |at: usize| {
        let after = words.get(at + 1..).unwrap_or_default();
        after.iter().take(3).any(|word| is_in(HARMLESS_IF_NONE, word) || is_failure(word))
    };
    words.iter().enumerate().any(|(at, word)| match *word {
        "no" | "zero" | "nothing" | "without" if is_harmless(at) => false,
        "no" | "not" | "never" | "cannot" | "cant" => true,
        word if word.ends_with("n't") => true,
        "be" => at > 0 && words[at - 1] == "to",
        word if is_in(HARMLESS_IF_NONE, word) && is_denied(words, at) => false,
        word => is_in(DOUBT, word) || is_part_of_more(words, at),
    })
}

/// `3 of 5`, `3/5`, `90%`.
fn is_part_of_more(words: &[&str], at: usize) -> bool {
    let word = words[at];
    if let Some(percent) = word.strip_suffix('%') {
        return percent.parse::<f64>().is_ok_and(|percent| percent < 100.0);
    }
    super::words::parse_fraction(words, at).is_some_and(|(part, whole)| part < whole)
}

/// Splits a line at dashes, colons and the like, and at signs; each part as words.
fn split_segments(text: &str) -> Vec<Vec<String>> {
    let mut segments = Vec::new();
    let mut from = 0;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let after = text[at + c.len_utf8()..].chars().next().unwrap_or(' ');
        let is_dash = matches!(c, '-' | '–' | '—') && (before.is_whitespace() || after == ' ');
        let divides = is_dash
            || c == '—'
            || c == '/' && !(before.is_ascii_digit() && after.is_ascii_digit())
            || c == '.' && !after.is_alphanumeric()
            || matches!(c, ':' | '：' | ',' | ';' | '!' | '(' | ')' | '[' | ']' | '|' | '→' | '。')
            || Colour::from_sign(c).is_some();
        if divides {
            segments.push(lower_words(&text[from..at]));
            from = at + c.len_utf8();
        }
        before = c;
    }
    segments.push(lower_words(&text[from..]));
    segments.retain(|words| !words.is_empty());
    segments
}

/// Splits the box of `- [x] text` off, and tells whether it is ticked.
fn split_box(text: &str) -> (Option<bool>, &str) {
    let bare = text.trim_start_matches(['-', '*', '+', ' ']);
    match bare.get(..3) {
        Some("[ ]") => (Some(false), &bare[3..]),
        Some("[x]" | "[X]") => (Some(true), &bare[3..]),
        _ => (None, text),
    }
}

/// Without `~~this~~`.
fn without_struck_out(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("~~") {
        out.push_str(before);
        match after.split_once("~~") {
            Some((_, after)) => rest = after,
            None => return out + after,
        }
    }
    out + rest
}
