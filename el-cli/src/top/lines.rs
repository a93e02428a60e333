//! Lines of any length as rows of a given width. However many there are, a screen costs no more
//! than its own rows.

use std::collections::VecDeque;
use std::ops::Range;

use unicode_width::UnicodeWidthChar as _;

/// The most characters that are kept of a line.
const LINE: usize = 1_000;

/// A line, or a part of one that was too long for the width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextRow {
    pub(super) text: String,
    /// The first byte of the line, which tells what a line of a diff is.
    pub(super) first: u8,
    /// The line goes on in the next row.
    goes_on: bool,
}

/// The lines to keep: the last ones, or the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    Last,
    First,
}

/// Lines as rows.
#[derive(Debug)]
pub(super) struct Lines {
    rows: VecDeque<TextRow>,
    width: usize,
    bytes: usize,
    lines: usize,
    most: usize,
    most_bytes: usize,
}

impl Lines {
    /// No more lines and bytes than these are kept.
    pub(super) fn new(width: usize, most: usize, most_bytes: usize) -> Lines {
        let rows = VecDeque::new();
        Lines { rows, width: width.max(1), bytes: 0, lines: 0, most, most_bytes }
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn clear(&mut self) {
        *self = Lines::new(self.width, self.most, self.most_bytes);
    }

    pub(super) fn window(&self, rows: Range<usize>) -> impl Iterator<Item = &TextRow> {
        self.rows.range(rows.start.min(self.rows.len())..rows.end.min(self.rows.len()))
    }

    /// Adds a line. Returns how many rows at the head went for it; `None` if the line has no room.
    pub(super) fn push(&mut self, line: &str, keep: Keep) -> Option<usize> {
        let line: String = line.chars().take(LINE).collect();
        let is_full = self.lines >= self.most || self.bytes + line.len() > self.most_bytes;
        if is_full && keep == Keep::First {
            return None;
        }
        self.add_rows(&line);
        self.lines += 1;
        self.bytes += line.len();
        let mut gone = 0;
        while self.lines > self.most || (self.bytes > self.most_bytes && self.lines > 1) {
            gone += self.drop_line();
        }
        Some(gone)
    }

    fn drop_line(&mut self) -> usize {
        let mut gone = 0;
        while let Some(row) = self.rows.pop_front() {
            gone += 1;
            self.bytes -= row.text.len();
            if !row.goes_on {
                break;
            }
        }
        self.lines -= 1;
        gone
    }

    fn add_rows(&mut self, line: &str) {
        let first = line.bytes().next().unwrap_or(0);
        let mut rest = line;
        loop {
            let end = row_end(rest, self.width);
            let (row, left) = rest.split_at(end);
            let goes_on = !left.is_empty();
            self.rows.push_back(TextRow { text: row.to_owned(), first, goes_on });
            if !goes_on {
                return;
            }
            rest = left;
        }
    }

    /// Takes a new width. Returns where the line of the row `at` begins now.
    pub(super) fn set_width(&mut self, width: usize, at: usize) -> usize {
        let width = width.max(1);
        if width == self.width {
            return at;
        }
        self.width = width;
        let mut begins = 0;
        let mut line = String::new();
        for (old, row) in std::mem::take(&mut self.rows).into_iter().enumerate() {
            if old <= at && line.is_empty() {
                begins = self.rows.len();
            }
            line.push_str(&row.text);
            if !row.goes_on {
                self.add_rows(&line);
                line.clear();
            }
        }
        begins
    }
}

/// Where a row of this width ends: after a blank if there is a blank in the second half.
fn row_end(text: &str, width: usize) -> usize {
    let mut used = 0;
    let mut blank = None;
    for (at, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > width && at > 0 {
            return blank.unwrap_or(at);
        }
        if character == ' ' && used * 2 > width {
            blank = Some(at + 1);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &Lines) -> Vec<&str> {
        lines.window(0..lines.len()).map(|row| row.text.as_str()).collect()
    }

    #[test]
    fn a_long_line_goes_on_below_and_comes_together_again() {
        let mut lines = Lines::new(9, 10, 1_000);
        lines.push("+ one two three", Keep::First);
        lines.push("", Keep::First);
        lines.push("漢字漢字漢字", Keep::First);
        assert_eq!(texts(&lines), ["+ one ", "two three", "", "漢字漢字", "漢字"]);
        assert!(lines.window(0..2).all(|row| row.first == b'+'));
        assert_eq!(lines.set_width(40, 4), 2);
        assert_eq!(texts(&lines), ["+ one two three", "", "漢字漢字漢字"]);
        assert_eq!(lines.set_width(9, 2), 3);
        assert_eq!(lines.len(), 5);
    }

    #[test]
    fn the_last_or_the_first_lines_are_kept_within_bounds() {
        let mut lines = Lines::new(4, 2, 1_000);
        for line in ["onetwo", "b", "c"] {
            lines.push(line, Keep::Last);
        }
        assert_eq!(texts(&lines), ["b", "c"]);
        assert_eq!(lines.push("d", Keep::First), None);
        let mut bytes = Lines::new(80, 100, 10);
        assert_eq!(bytes.push("12345678", Keep::Last), Some(0));
        assert_eq!(bytes.push("12345678", Keep::Last), Some(1));
        assert_eq!(bytes.push("123", Keep::First), None);
        bytes.clear();
        assert_eq!((bytes.len(), bytes.push("123", Keep::First)), (0, Some(0)));
    }

    #[test]
    fn a_screen_of_a_long_text_costs_its_own_rows() {
        let mut lines = Lines::new(80, 100_000, 8 << 20);
        for n in 0..20_000 {
            lines.push(&format!("+line {n}"), Keep::First);
        }
        assert_eq!(lines.window(19_990..20_030).count(), 10);
        assert_eq!(lines.window(10_000..10_040).next().unwrap().text, "+line 10000");
    }
}
