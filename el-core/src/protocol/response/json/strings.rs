//! Texts in quotes of every kind.

use super::{Outcome, Parser};
use crate::protocol::response::delimiter::{self, DelimiterMatch};
use crate::protocol::response::fault::{FaultKind, Repair};

const NOT_CLOSED: &str = "a text is not closed: its end quote is missing";

/// The quotes around a text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Quotes {
    Double,
    Single,
    SmartDouble,
    SmartSingle,
}

impl Quotes {
    /// Returns the opening quotes and the length in bytes.
    fn opening_quote(rest: &str) -> Option<(Quotes, usize)> {
        let first = rest.chars().next()?;
        let quotes = match first {
            '"' => Quotes::Double,
            '\'' => Quotes::Single,
            '“' | '”' | '„' => Quotes::SmartDouble,
            '‘' | '’' => Quotes::SmartSingle,
            _ => return None,
        };
        Some((quotes, first.len_utf8()))
    }

    fn ends_with(self, c: char) -> bool {
        match self {
            Quotes::Double => c == '"',
            Quotes::Single => c == '\'',
            Quotes::SmartDouble => matches!(c, '“' | '”'),
            Quotes::SmartSingle => matches!(c, '‘' | '’'),
        }
    }
}

impl Parser<'_> {
    /// Reads a quoted text, if any.
    pub(super) fn parse_quoted(&mut self) -> Outcome<Option<String>> {
        let Some((quotes, len)) = Quotes::opening_quote(&self.text[self.at..]) else {
            return Ok(None);
        };
        let from = self.at;
        match quotes {
            Quotes::Double => {}
            Quotes::Single => self.note_repair(Repair::SingleQuotes, from),
            Quotes::SmartDouble | Quotes::SmartSingle => {
                self.note_repair(Repair::SmartQuotes, from)
            }
        }
        self.at += len;
        let mut out = String::new();
        let mut inner = None;
        loop {
            let plain = self.at;
            while self
                .bytes
                .get(self.at)
                .is_some_and(|b| !matches!(b, b'"' | b'\'' | b'\\' | b'<' | 0..=0x1f | 0xe2))
            {
                self.at += 1;
            }
            out.push_str(&self.text[plain..self.at]);
            let Some(c) = self.text[self.at..].chars().next() else {
                self.hit_end = true;
                return self.stop_at(FaultKind::Unclosed, NOT_CLOSED, from);
            };
            match c {
                '\\' => {
                    self.parse_escape(&mut out)?;
                    continue;
                }
                '<' => {
                    if let DelimiterMatch::Delimiter(found) =
                        delimiter::delimiter_at(&self.bytes[self.at..])
                    {
                        if !self.delimiters_in_texts || self.begins_line() {
                            return self.stop_at(FaultKind::Unclosed, NOT_CLOSED, from);
                        }
                        self.crossed = true;
                        out.push_str(&self.text[self.at..self.at + found.len]);
                        self.at += found.len;
                        continue;
                    }
                }
                c if quotes.ends_with(c)
                    && self.is_last_quote(quotes, c, from + len, &mut inner)? =>
                {
                    self.at += c.len_utf8();
                    return Ok(Some(out));
                }
                c if c < ' ' => {
                    self.note_repair(Repair::UnescapedControl, self.at);
                    // CR LF is a single line end.
                    if c == '\r' && self.bytes.get(self.at + 1) == Some(&b'\n') {
                        self.at += 1;
                    }
                    out.push(if self.bytes[self.at] == b'\n' { '\n' } else { c });
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            out.push(c);
            self.at += c.len_utf8();
        }
    }

    /// Returns true if only spaces precede the position, on the line or in the message.
    fn begins_line(&self) -> bool {
        let mut at = self.at;
        loop {
            if at == 0 || self.seams.binary_search(&at).is_ok() {
                return true;
            }
            match self.bytes[at - 1] {
                b' ' | b'\t' => at -= 1,
                byte => return byte == b'\n',
            }
        }
    }

    /// Returns true if the quote ends the text. A quote ends the text if the following characters
    /// can follow a text. Any other quote belongs to the text; that is certain only for pairs of
    /// quotes and for apostrophes. `begin`: the beginning of the text; `inner`: the open quote of a
    /// pair.
    fn is_last_quote(
        &mut self,
        quotes: Quotes,
        c: char,
        begin: usize,
        inner: &mut Option<usize>,
    ) -> Outcome<bool> {
        let here = self.at;
        let next = here + c.len_utf8();
        if self.can_follow_text(next) {
            if inner.is_some() {
                let message = "a double quote within a text is not escaped, and it cannot be told \
                    where the text ends";
                return self.stop_here(FaultKind::Ambiguous, message);
            }
            return Ok(true);
        }
        let after = self.text[next..].chars().next();
        let before = if here == begin { None } else { self.text[..here].chars().next_back() };
        match quotes {
            Quotes::Single | Quotes::SmartSingle => {
                if before.is_some_and(char::is_alphanumeric)
                    && after.is_some_and(char::is_alphanumeric)
                {
                    return Ok(false);
                }
                self.stop_here(
                    FaultKind::Ambiguous,
                    "a single quote within a text in single quotes; write the text in double \
                     quotes",
                )
            }
            Quotes::SmartDouble => {
                let message = "a typographic quote within a text in typographic quotes; write the \
                    text in double quotes";
                self.stop_here(FaultKind::Ambiguous, message)
            }
            Quotes::Double if inner.is_some() => {
                if before.is_some_and(char::is_whitespace) || *inner == Some(here - 1) {
                    let message = "double quotes within a text are not escaped, and do not stand \
                        in clear pairs";
                    return self.stop_here(FaultKind::Ambiguous, message);
                }
                *inner = None;
                Ok(false)
            }
            Quotes::Double => {
                let opens = before.is_none_or(|c| c.is_whitespace() || "([{=:,>-/`*".contains(c))
                    && after.is_some_and(|c| c.is_alphanumeric() || "<./$@_-`*({[".contains(c));
                if opens {
                    self.note_repair(Repair::UnescapedQuote, here);
                    *inner = Some(here);
                }
                Ok(!opens)
            }
        }
    }

    /// Returns true if the characters at `at` can follow a text on the line.
    fn can_follow_text(&mut self, mut at: usize) -> bool {
        while matches!(self.bytes.get(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        match self.bytes.get(at) {
            None => {
                self.hit_end = true;
                true
            }
            Some(b',' | b':' | b'}' | b']' | b'\n' | b'\r' | b'#') => true,
            Some(b'/') => {
                self.hit_end |= at + 1 == self.bytes.len();
                matches!(self.bytes.get(at + 1), Some(b'/' | b'*') | None)
            }
            Some(b'<') => {
                let seen = delimiter::delimiter_at(&self.bytes[at..]);
                self.hit_end |= seen == DelimiterMatch::Maybe;
                seen != DelimiterMatch::Nothing
            }
            Some(_) => false,
        }
    }

    fn parse_escape(&mut self, out: &mut String) -> Outcome<()> {
        let from = self.at;
        self.at += 1;
        let Some(c) = self.text[self.at..].chars().next() else {
            self.hit_end = true;
            return self.stop_at(FaultKind::Unclosed, NOT_CLOSED, from);
        };
        self.at += c.len_utf8();
        match c {
            '"' | '\\' | '/' => out.push(c),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'u' => return self.parse_unicode(from, out),
            '\'' => {
                self.note_repair(Repair::BadEscape, from);
                out.push(c);
            }
            // Other languages have these escapes; a meaning here would be a guess.
            'x' | 'U' | 'N' | '0'..='9' | '\n' | '\r' => {
                let message =
                    "JSON has no such escape; a backslash in a text is written as two backslashes";
                return self.stop_at(FaultKind::Ambiguous, message, from);
            }
            _ => {
                self.note_repair(Repair::BadEscape, from);
                out.push('\\');
                out.push(c);
            }
        }
        Ok(())
    }

    fn parse_unicode(&mut self, from: usize, out: &mut String) -> Outcome<()> {
        let mut unit = self.parse_hex();
        if let Some(high @ 0xd800..=0xdbff) = unit {
            unit = None;
            if self.eat_word("\\u")
                && let Some(low @ 0xdc00..=0xdfff) = self.parse_hex()
            {
                unit = Some(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
            }
        }
        let Some(c) = unit.and_then(char::from_u32) else {
            return self.stop_at(
                FaultKind::Syntax,
                "`\\u` needs four hexadecimal digits that name a character",
                from,
            );
        };
        out.push(c);
        Ok(())
    }

    fn parse_hex(&mut self) -> Option<u32> {
        let digits = self.bytes.get(self.at..self.at + 4);
        self.hit_end |= digits.is_none();
        let digits = std::str::from_utf8(digits?)
            .ok()
            .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}
