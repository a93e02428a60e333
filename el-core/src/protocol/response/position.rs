//! Positions in a text.

use serde::Serialize;

/// A position in a text, or in the whole of a text that came in pieces. Line and column count from
/// 1, the column in characters; the byte counts from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Position {
    pub line: usize,
    pub column: usize,
    pub byte: usize,
}

impl Position {
    /// The beginning of a text.
    pub const START: Position = Position { line: 1, column: 1, byte: 0 };

    /// Returns the position after `text`. Lines end with LF, with or without CR.
    pub(super) fn advance_over(mut self, text: &str) -> Position {
        self.byte += text.len();
        let mut last = text;
        if let Some(at) = text.rfind('\n') {
            self.line += text.as_bytes().iter().filter(|b| **b == b'\n').count();
            self.column = 1;
            last = &text[at + 1..];
        }
        self.column += last.chars().count();
        self
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Converts bytes of a text into positions. Queries in ascending order cost a single pass in total.
#[derive(Debug)]
pub(super) struct Ruler<'a> {
    text: &'a str,
    base: Position,
    read: usize,
    at: Position,
}

impl<'a> Ruler<'a> {
    pub(super) fn new(text: &'a str, base: Position) -> Ruler<'a> {
        Ruler { text, base, read: 0, at: base }
    }

    /// Returns the position of a byte, which begins a character or ends the text.
    pub(super) fn position_at(&mut self, byte: usize) -> Position {
        if byte < self.read {
            (self.read, self.at) = (0, self.base);
        }
        self.at = self.at.advance_over(&self.text[self.read..byte]);
        self.read = byte;
        self.at
    }
}
