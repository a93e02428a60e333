//! JSON as models write JSON. Correct JSON is read as by any reader. Incorrect JSON is repaired if
//! there is a single reading, and refused otherwise. Every byte is read a bounded number of times.

mod blanks;
mod strings;

use serde_json::{Map, Value};

use super::delimiter::{self, Delimiter, DelimiterMatch};
use super::fault::{FaultKind, Repair};

/// Deeper nesting is refused; later readers stop at 128.
pub(super) const DEPTH_MAX: usize = 100;
/// A block with more values is refused.
pub(super) const VALUES_MAX: usize = 500_000;
/// The maximum number of repairs that are remembered.
const REPAIRS_MAX: usize = 100;

const LEFT_OUT: &str = "`...` stands for something that was left out; everything must be written";

/// Why the parser stopped, and the byte.
#[derive(Debug, PartialEq)]
pub(super) struct Stop {
    pub(super) kind: FaultKind,
    pub(super) message: String,
    pub(super) at: usize,
}

pub(super) type Outcome<T> = Result<T, Stop>;

#[derive(Debug, Default)]
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    bytes: &'a [u8],
    pub(super) at: usize,
    /// Bytes where a message of a stream ended.
    seams: &'a [usize],
    /// A delimiter within a text and a line is part of the text.
    delimiters_in_texts: bool,
    /// The parser passed such a delimiter.
    pub(super) crossed: bool,
    /// The parser looked beyond the end of the text: more text could change the result.
    pub(super) hit_end: bool,
    depth: usize,
    values: usize,
    repairs: Vec<(Repair, usize)>,
    repairs_made: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(
        text: &'a str,
        at: usize,
        seams: &'a [usize],
        delimiters_in_texts: bool,
    ) -> Parser<'a> {
        Parser { text, bytes: text.as_bytes(), at, seams, delimiters_in_texts, ..Parser::default() }
    }

    /// Returns the repairs with positions, in order and up to a limit, and the total.
    pub(super) fn into_repairs(self) -> (Vec<(Repair, usize)>, usize) {
        let mut repairs = self.repairs;
        repairs.sort_by_key(|(_, at)| *at);
        (repairs, self.repairs_made)
    }

    pub(super) fn note_repair(&mut self, repair: Repair, at: usize) {
        // A fence has a beginning and an end, and is one.
        if repair == Repair::CodeFence && self.repairs.iter().any(|(known, _)| *known == repair) {
            return;
        }
        self.repairs_made += 1;
        if self.repairs.len() < REPAIRS_MAX {
            self.repairs.push((repair, at));
        }
    }

    pub(super) fn stop_here<T>(&self, kind: FaultKind, message: impl Into<String>) -> Outcome<T> {
        self.stop_at(kind, message, self.at)
    }

    pub(super) fn stop_at<T>(
        &self,
        kind: FaultKind,
        message: impl Into<String>,
        at: usize,
    ) -> Outcome<T> {
        Err(Stop { kind, message: message.into(), at })
    }

    pub(super) fn peek(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.hit_end |= byte.is_none();
        byte
    }

    /// Passes `word` if present. At the end of the text, a part of the word may be there.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let rest = &self.bytes[self.at..];
        let is_here = rest.starts_with(word.as_bytes());
        if is_here {
            self.at += word.len();
        } else if rest.len() < word.len() && word.as_bytes().starts_with(rest) {
            self.hit_end = true;
        }
        is_here
    }

    /// Returns the delimiter at the current position, if any.
    pub(super) fn peek_delimiter(&mut self) -> Option<Delimiter> {
        if self.bytes.get(self.at) != Some(&b'<') {
            return None;
        }
        match delimiter::delimiter_at(&self.bytes[self.at..]) {
            DelimiterMatch::Delimiter(found) => Some(found),
            DelimiterMatch::Maybe => {
                self.hit_end = true;
                None
            }
            DelimiterMatch::Nothing => None,
        }
    }

    /// The character that stands here, for a message.
    pub(super) fn current_char(&self) -> String {
        match self.text[self.at..].chars().next() {
            Some(c) if c.is_control() => format!("the character U+{:04X}", u32::from(c)),
            Some(c) => format!("`{c}`"),
            None => "the end".to_owned(),
        }
    }

    /// Reads a value; the spaces in front are passed already.
    pub(super) fn parse_value(&mut self) -> Outcome<Value> {
        self.count_value()?;
        if self.peek_delimiter().is_some() {
            return self.cut_off("a value is missing");
        }
        match self.peek() {
            None => self.cut_off("a value is missing"),
            Some(b'{') => self.parse_nested(Parser::parse_object),
            Some(b'[') => self.parse_nested(Parser::parse_array),
            Some(b'-' | b'0'..=b'9') => self.parse_number(),
            Some(byte) => match self.parse_quoted()? {
                Some(text) => Ok(Value::String(text)),
                None if byte.is_ascii_alphabetic() || byte == b'_' => self.parse_word(),
                None if self.is_ellipsis() => self.stop_here(FaultKind::LeftOut, LEFT_OUT),
                None => self.stop_here(
                    FaultKind::Syntax,
                    format!("{} cannot begin a value", self.current_char()),
                ),
            },
        }
    }

    fn count_value(&mut self) -> Outcome<()> {
        self.values += 1;
        if self.values > VALUES_MAX {
            return self.stop_here(
                FaultKind::TooLarge,
                format!("it holds more than {VALUES_MAX} keys and values"),
            );
        }
        Ok(())
    }

    fn is_ellipsis(&self) -> bool {
        self.text[self.at..].starts_with("..") || self.text[self.at..].starts_with('…')
    }

    fn parse_nested(&mut self, read: fn(&mut Self) -> Outcome<Value>) -> Outcome<Value> {
        if self.depth == DEPTH_MAX {
            return self.stop_here(
                FaultKind::TooLarge,
                format!("it is nested more than {DEPTH_MAX} deep"),
            );
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn parse_array(&mut self) -> Outcome<Value> {
        let mut items = Vec::new();
        let mut comma = None;
        let mut new_line = self.skip_blanks()?;
        loop {
            if self.try_close(b']', comma, items.is_empty())? {
                return Ok(Value::Array(items));
            }
            if comma.is_none() && !items.is_empty() {
                let alike = match items.last() {
                    Some(Value::Object(_)) => self.peek() == Some(b'{'),
                    Some(Value::Array(_)) => self.peek() == Some(b'['),
                    _ => false,
                };
                self.missing_comma(new_line && alike)?;
            }
            items.push(self.parse_value()?);
            self.skip_to_comma(&mut comma, &mut new_line)?;
        }
    }

    fn parse_object(&mut self) -> Outcome<Value> {
        let mut map = Map::new();
        let mut comma = None;
        let mut new_line = self.skip_blanks()?;
        loop {
            if self.try_close(b'}', comma, map.is_empty())? {
                return Ok(Value::Object(map));
            }
            if comma.is_none() && !map.is_empty() {
                let is_key = self.peek() == Some(b'"');
                self.missing_comma(new_line && is_key)?;
            }
            let at = self.at;
            let key = self.parse_key()?;
            self.skip_blanks()?;
            if !self.eat_word(":") {
                let key = short_text(&key);
                if self.peek_delimiter().is_some() || self.peek().is_none() {
                    return self.cut_off(&format!("after the key `{key}` its value is missing"));
                }
                let message = format!(
                    "after the key `{key}` comes {} instead of a colon",
                    self.current_char()
                );
                return self.stop_here(FaultKind::Syntax, message);
            }
            self.skip_blanks()?;
            let value = self.parse_value()?;
            match map.get(&key) {
                None => drop(map.insert(key, value)),
                Some(known) if *known == value => self.note_repair(Repair::RepeatedKey, at),
                Some(_) => {
                    let message = format!(
                        "the key `{}` stands twice with different values",
                        short_text(&key)
                    );
                    return self.stop_at(FaultKind::RepeatedKey, message, at);
                }
            }
            self.skip_to_comma(&mut comma, &mut new_line)?;
        }
    }

    /// Passes the comma after an item, if any, and returns the position of the comma.
    fn skip_to_comma(&mut self, comma: &mut Option<usize>, new_line: &mut bool) -> Outcome<()> {
        *new_line = self.skip_blanks()?;
        *comma = None;
        if self.peek() == Some(b',') {
            *comma = Some(self.at);
            self.at += 1;
            self.skip_blanks()?;
        }
        Ok(())
    }

    /// Returns true if the array or object ends here, after the necessary repairs.
    fn try_close(&mut self, closer: u8, comma: Option<usize>, is_empty: bool) -> Outcome<bool> {
        match self.peek() {
            Some(byte) if byte == closer => self.at += 1,
            Some(b',') if comma.is_some() => {
                return self.stop_here(
                    FaultKind::Ambiguous,
                    "two commas: an item is missing between them",
                );
            }
            Some(b',') => {
                return self.stop_here(FaultKind::Ambiguous, "a comma with no item before it");
            }
            Some(byte @ (b'}' | b']')) => {
                let (byte, closer) = (char::from(byte), char::from(closer));
                let message = format!(
                    "`{byte}` where `{closer}` is to be: a closer is missing before it, or this \
                     one is wrong"
                );
                return self.stop_here(FaultKind::Ambiguous, message);
            }
            None => return self.cut_off("it is not closed"),
            Some(_) => match self.peek_delimiter() {
                // A block ended by the writer lost only the closers; a block that just stops may
                // have lost more.
                Some(found) if found.is_end && comma.is_none() && !is_empty => {
                    self.note_repair(Repair::MissingCloser, self.at)
                }
                Some(_) => return self.cut_off("it is not closed"),
                None => return Ok(false),
            },
        }
        if let Some(comma) = comma {
            self.note_repair(Repair::TrailingComma, comma);
        }
        Ok(true)
    }

    fn missing_comma(&mut self, is_clear: bool) -> Outcome<()> {
        if is_clear {
            self.note_repair(Repair::MissingComma, self.at);
            return Ok(());
        }
        self.stop_here(
            FaultKind::Syntax,
            format!("after a value comes {} instead of a comma or a closer", self.current_char()),
        )
    }

    fn cut_off<T>(&self, what: &str) -> Outcome<T> {
        self.stop_here(FaultKind::Unclosed, format!("the JSON ends too early: {what}"))
    }

    fn parse_key(&mut self) -> Outcome<String> {
        self.count_value()?;
        let from = self.at;
        if let Some(text) = self.parse_quoted()? {
            return Ok(text);
        }
        if self.is_ellipsis() {
            return self.stop_here(FaultKind::LeftOut, LEFT_OUT);
        }
        if !self.peek().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_' || b == b'$') {
            return self.stop_here(
                FaultKind::Syntax,
                format!("{} cannot begin a key", self.current_char()),
            );
        }
        while self
            .peek()
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'-'))
        {
            self.at += 1;
        }
        self.note_repair(Repair::UnquotedKey, from);
        Ok(self.text[from..self.at].to_owned())
    }

    fn parse_word(&mut self) -> Outcome<Value> {
        let from = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
            self.at += 1;
        }
        let word = &self.text[from..self.at];
        if matches!(word, "True" | "False" | "None") {
            self.note_repair(Repair::PythonLiteral, from);
        }
        match word {
            "true" | "True" => Ok(Value::Bool(true)),
            "false" | "False" => Ok(Value::Bool(false)),
            "null" | "None" => Ok(Value::Null),
            _ => {
                let message =
                    format!("`{}` is no value; a text stands in double quotes", short_text(word));
                self.stop_at(FaultKind::Syntax, message, from)
            }
        }
    }

    fn parse_number(&mut self) -> Outcome<Value> {
        let from = self.at;
        while self.peek().is_some_and(|b| {
            b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.' | b'_' | b'%')
        }) {
            self.at += 1;
        }
        let digits = &self.text[from..self.at];
        serde_json::from_str::<Value>(digits).or_else(|_| {
            self.stop_at(
                FaultKind::Syntax,
                format!("`{}` is not a JSON number", short_text(digits)),
                from,
            )
        })
    }
}

/// The beginning of a text, for a message.
pub(super) fn short_text(text: &str) -> String {
    let cut: String = text.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(40).is_some() { format!("{cut}…") } else { cut }
}
