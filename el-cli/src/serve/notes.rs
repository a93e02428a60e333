//! Remarks on lines of a diff, as the next attempt reads them.

use std::fmt::Write as _;

use el_core::text::{cut_width, one_line, sanitize};
use serde::Deserialize;

/// The most lines that are quoted for a remark.
const LINES: usize = 20;
/// The most characters that are quoted of a line.
const WIDTH: usize = 200;

/// A remark on lines of a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Note {
    file: String,
    /// Lines, counted from 1.
    from: u64,
    to: u64,
    /// The lines of the old text, which the change removed.
    #[serde(default)]
    is_old: bool,
    /// The lines' texts.
    #[serde(default)]
    lines: Vec<String>,
    text: String,
}

/// The reason of a rejection: a person's words, then each remark with its place.
pub(super) fn rejection_text(reason: &str, notes: &[Note]) -> String {
    let mut text = reason.trim().to_owned();
    for note in notes {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        let place = match (note.from, note.to) {
            (from, to) if from >= to => format!("line {from}"),
            (from, to) => format!("lines {from}-{to}"),
        };
        let side = if note.is_old { " before the change" } else { "" };
        let _ = write!(text, "{}, {place}{side}:", one_line(&note.file, WIDTH));
        for line in note.lines.iter().take(LINES) {
            let line = sanitize(line).replace(['\n', '\t'], "  ");
            let _ = write!(text, "\n> {}", cut_width(&line, WIDTH));
        }
        if note.lines.len() > LINES {
            let _ = write!(text, "\n> ({} more lines)", note.lines.len() - LINES);
        }
        let _ = write!(text, "\n{}", note.text.trim());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_has_its_place_and_the_lines() {
        let note = |from, to, is_old, lines: &[&str]| Note {
            file: "src/a.rs".to_owned(),
            from,
            to,
            is_old,
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
            text: " Why?\n".to_owned(),
        };
        let notes = [note(3, 3, false, &["  let x = 1;"]), note(5, 6, true, &["a", "b"])];
        assert_eq!(
            rejection_text(" No tests. ", &notes),
            "No tests.\n\nsrc/a.rs, line 3:\n>   let x = 1;\nWhy?\n\n\
             src/a.rs, lines 5-6 before the change:\n> a\n> b\nWhy?"
        );
        assert_eq!(rejection_text("", &[]), "");
        let long = note(1, 40, false, &["x"; 40]);
        assert!(rejection_text("", &[long]).contains("\n> (20 more lines)\nWhy?"));
    }
}
