//! Wrapping of prose to the terminal's width.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

const NARROWEST: usize = 16;

/// Wraps a text at `columns`. A continued line keeps the indent of its first line; a word that is
/// too wide is broken. Without `columns` the lines stay unchanged.
pub(crate) fn wrap_text(text: &str, columns: Option<usize>) -> Vec<Cow<'_, str>> {
    let Some(columns) = columns else { return text.lines().map(Cow::Borrowed).collect() };
    let columns = columns.max(NARROWEST);
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.width() <= columns {
            lines.push(Cow::Borrowed(line));
        } else {
            wrap_line(line, columns, &mut lines);
        }
    }
    lines
}

fn wrap_line(line: &str, columns: usize, lines: &mut Vec<Cow<'_, str>>) {
    let indent_end = line.find(|c: char| c != ' ' && c != '\t').unwrap_or(0);
    let indent = if line[..indent_end].width() < columns / 2 { &line[..indent_end] } else { "" };
    let mut current = indent.to_owned();
    let mut used = indent.width();
    let mut has_word = false;
    for word in line[indent_end..].split(' ') {
        let width = word.width();
        if has_word && used + 1 + width > columns {
            lines.push(Cow::Owned(std::mem::replace(&mut current, indent.to_owned())));
            used = indent.width();
            has_word = false;
        }
        if has_word {
            current.push(' ');
            used += 1;
        }
        has_word = true;
        for character in word.chars() {
            let width = character.width().unwrap_or(0);
            if used + width > columns {
                lines.push(Cow::Owned(std::mem::replace(&mut current, indent.to_owned())));
                used = indent.width();
            }
            current.push(character);
            used += width;
        }
    }
    lines.push(Cow::Owned(current));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_broken_between_words_and_keeps_its_indent() {
        assert_eq!(
            wrap_text("- one two three four five six\n\nend", Some(16)),
            ["- one two three", "four five six", "", "end"]
        );
        assert_eq!(wrap_text("  aaa bbb ccc ddd eee", Some(16)), ["  aaa bbb ccc", "  ddd eee"]);
    }

    #[test]
    fn a_word_wider_than_the_room_is_broken() {
        assert_eq!(wrap_text(&"x".repeat(20), Some(16)), ["x".repeat(16), "x".repeat(4)]);
    }

    #[test]
    fn a_pipe_gets_the_text_as_it_is() {
        let long = "word ".repeat(100);
        assert_eq!(wrap_text(&long, None), [long.as_str()]);
    }
}
