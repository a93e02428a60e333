//! Spaces and comments between the parts of JSON.

use super::{Outcome, Parser};
use crate::protocol::response::fault::{FaultKind, Repair};

impl Parser<'_> {
    /// Passes spaces and comments. Returns true if a line ended there.
    pub(in crate::protocol::response) fn skip_blanks(&mut self) -> Outcome<bool> {
        let mut new_line = false;
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\n') => {
                    new_line = true;
                    self.at += 1;
                }
                Some(b'/' | b'#') => match self.skip_comment()? {
                    Some(has_line) => new_line |= has_line,
                    None => return Ok(new_line),
                },
                _ => return Ok(new_line),
            }
        }
    }

    /// Passes a comment, if any. Returns whether a line ended in the comment.
    fn skip_comment(&mut self) -> Outcome<Option<bool>> {
        let from = self.at;
        if self.eat_word("/*") {
            while !self.eat_word("*/") {
                if self.peek().is_none() || self.peek_delimiter().is_some() {
                    return self.stop_at(
                        FaultKind::Syntax,
                        "a comment is opened and not closed",
                        from,
                    );
                }
                self.at += 1;
            }
        } else if self.eat_word("//") || self.eat_word("#") {
            while self.peek().is_some_and(|byte| byte != b'\n') && self.peek_delimiter().is_none() {
                self.at += 1;
            }
        } else {
            return Ok(None);
        }
        let comment = &self.text[from..self.at];
        if says_left_out(comment) {
            let message =
                "a comment says that something was left out here; everything must be written";
            return self.stop_at(FaultKind::LeftOut, message, from);
        }
        self.note_repair(Repair::Comment, from);
        Ok(Some(comment.contains('\n')))
    }
}

/// Returns true if a comment stands for a part left out.
fn says_left_out(comment: &str) -> bool {
    const WORDS: [&str; 9] = [
        "omitted",
        "left out",
        "truncated",
        "abbreviated",
        "and so on",
        "etc.",
        "remaining",
        "more tasks",
        "more items",
    ];
    let lower = comment.to_ascii_lowercase();
    comment.contains("...")
        || comment.contains('…')
        || WORDS.iter().any(|words| lower.contains(words))
}
