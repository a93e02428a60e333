//! A block, from the start delimiter to the end.

use serde::Serialize;
use serde_json::{Map, Value};

use super::delimiter::{self, Delimiter, DelimiterMatch};
use super::fault::{Fault, FaultKind, Repair, Repaired};
use super::json::{Outcome, Parser, Stop};
use super::position::{Position, Ruler};
use crate::model::Phase;

/// The most bytes kept of an unreadable block.
const RAW_MAX: usize = 64 << 10;
/// Characters of a line on each side of a fault that are quoted.
const EXCERPT: usize = 80;

/// A block that was meant as an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Block {
    /// The position of the start delimiter.
    pub at: Position,
    /// As written; `None` if unreadable.
    pub phase: Option<String>,
    /// `null` if unreadable.
    pub data: Value,
    /// The fields beside `phase` and `data`.
    pub extra: Map<String, Value>,
    /// The repairs in order, up to a limit.
    pub repairs: Vec<Repaired>,
    /// How much was put right.
    pub repairs_made: usize,
    pub fault: Option<Fault>,
    /// The text between the delimiters of an unreadable block; cut if very long.
    pub raw: Option<String>,
}

impl Block {
    /// Returns the phase if known. Letter case and `-` for `_` do not matter.
    pub fn known_phase(&self) -> Option<Phase> {
        self.phase.as_deref().and_then(|phase| phase.parse().ok())
    }
}

/// The result of reading at a start delimiter.
pub(super) enum Step {
    /// Undecided before more text comes.
    More,
    /// A block, and the byte of the end.
    Block(Box<Block>, usize),
    /// The delimiters are only mentioned; the text goes on at the byte.
    Mention(Fault, usize),
}

/// A text with blocks.
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    /// Where `begin` is.
    pub(super) base: Position,
    /// The byte of the start delimiter.
    pub(super) begin: usize,
    pub(super) seams: &'a [usize],
    /// No more text will come.
    pub(super) is_final: bool,
}

/// The cost of a reading, in bytes read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Work {
    pub(super) looked: usize,
    /// The part of the bytes that was read again.
    pub(super) again: usize,
}

/// Reads the block that begins at `source.begin` with `start`. `far`: a delimiter within a text may
/// be passed.
pub(super) fn read_block(
    source: &Source<'_>,
    start: Delimiter,
    far: bool,
    work: &mut Work,
) -> Step {
    let body = source.begin + start.len;
    let mut parser = Parser::new(source.text, body, source.seams, far);
    let read = read_document(&mut parser, source.is_final);
    work.looked += parser.at - body;
    if parser.hit_end && !source.is_final {
        work.again += parser.at - body;
        return Step::More;
    }
    match read {
        Ok((value, end)) => finish_block(source, start, parser, Ok(value), end),
        Err(stop) => {
            let next = delimiter::find_delimiter(source.text.as_bytes(), body);
            let (at, found) = match next {
                Some((at, DelimiterMatch::Delimiter(found))) => (at, Some(found)),
                Some((_, DelimiterMatch::Maybe | DelimiterMatch::Nothing)) | None
                    if !source.is_final =>
                {
                    return Step::More;
                }
                _ => (source.text.len(), None),
            };
            work.looked += at - body;
            // Some delimiter before the fault was taken for a part of a text: perhaps it was none.
            let (read, parser) = if parser.crossed && found.is_some() {
                work.again += parser.at.saturating_sub(at);
                work.looked += at - body;
                let mut near = Parser::new(source.text, body, source.seams, false);
                (read_document(&mut near, source.is_final), near)
            } else {
                (Err(stop), parser)
            };
            match read {
                Ok((value, end)) => finish_block(source, start, parser, Ok(value), end),
                Err(mut stop) => {
                    if stop.kind == FaultKind::Unclosed && found.is_none_or(|found| !found.is_end) {
                        stop.message.push_str(
                            "; the end delimiter is missing as well, so the answer was perhaps cut \
                             off",
                        );
                    }
                    let end = at + found.filter(|found| found.is_end).map_or(0, |found| found.len);
                    if stop.kind.is_mention() {
                        return Step::Mention(fault_at(source, &stop, end), end);
                    }
                    let mut step = finish_block(source, start, parser, Err(stop), end);
                    if let Step::Block(block, _) = &mut step {
                        block.raw = Some(cut_excerpt(&source.text[body..at]).to_owned());
                    }
                    step
                }
            }
        }
    }
}

/// Reads the JSON of a block with the surroundings. Returns the end of the block, end delimiter
/// included.
fn read_document(parser: &mut Parser<'_>, is_final: bool) -> Outcome<(Value, usize)> {
    read_head(parser)?;
    let value = parser.parse_value()?;
    let end = read_tail(parser, is_final)?;
    Ok((value, end))
}

fn read_head(parser: &mut Parser<'_>) -> Outcome<()> {
    loop {
        let at = parser.at;
        match parser.peek() {
            Some(b' ' | b'\t' | b'\r' | b'\n') => parser.at += 1,
            _ if parser.eat_word("\u{feff}") => parser.note_repair(Repair::Bom, at),
            Some(b'`' | b'~') if parser.eat_word("```") || parser.eat_word("~~~") => {
                while matches!(
                    parser.peek(),
                    Some(b'`' | b'~' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9')
                ) {
                    parser.at += 1;
                }
                parser.note_repair(Repair::CodeFence, at);
            }
            Some(b'j' | b'J') if parser.eat_word("json") || parser.eat_word("JSON") => {
                parser.note_repair(Repair::CodeFence, at)
            }
            Some(b'/' | b'#') => {
                parser.skip_blanks()?;
                if parser.at == at {
                    return no_object(parser);
                }
            }
            Some(b'{') => return Ok(()),
            _ => return no_object(parser),
        }
    }
}

/// Decides about a missing `{`: a fault, or delimiters that are only mentioned.
fn no_object<T>(parser: &mut Parser<'_>) -> Outcome<T> {
    let rest = &parser.text[parser.at..];
    let next = delimiter::find_delimiter(parser.text.as_bytes(), parser.at);
    let (end, is_block) = match next {
        Some((end, DelimiterMatch::Delimiter(found))) => (end, found.is_end),
        _ => {
            parser.hit_end = true;
            (parser.text.len(), false)
        }
    };
    let body = &parser.text[parser.at..end];
    if rest.starts_with('[') && is_block {
        return parser.stop_here(FaultKind::NotAnObject, "a list stands where one object is to be");
    }
    // Prose after a delimiter that nothing ends is prose.
    if is_block && (body.contains('{') || body.contains("\"phase\"")) {
        return parser.stop_here(
            FaultKind::Syntax,
            format!(
                "{} stands where the JSON object is to begin with an opening brace",
                parser.current_char()
            ),
        );
    }
    parser.stop_here(FaultKind::NoJson, "there is no JSON object between the delimiters")
}

/// Reads the text between the JSON and the end of the block.
fn read_tail(parser: &mut Parser<'_>, is_final: bool) -> Outcome<usize> {
    let mut comma = false;
    loop {
        parser.skip_blanks()?;
        let at = parser.at;
        if let Some(found) = parser.peek_delimiter() {
            if !found.is_end {
                parser.note_repair(Repair::MissingEndDelimiter, at);
                return Ok(at);
            }
            if found.is_loose {
                parser.note_repair(Repair::LooseDelimiter, at);
            }
            return Ok(at + found.len);
        }
        match parser.peek() {
            None => {
                parser.note_repair(Repair::MissingEndDelimiter, at);
                return Ok(at);
            }
            Some(b'}' | b']') => {
                parser.at += 1;
                parser.note_repair(Repair::ExtraCloser, at);
            }
            Some(b',') if !comma => {
                comma = true;
                parser.at += 1;
                parser.note_repair(Repair::TrailingComma, at);
            }
            Some(b'`' | b'~') if parser.eat_word("```") || parser.eat_word("~~~") => {
                parser.note_repair(Repair::CodeFence, at)
            }
            _ => return after_json(parser, is_final),
        }
    }
}

/// Decides about other text after the JSON: a fault in the block, or prose after a missing end
/// delimiter.
fn after_json(parser: &mut Parser<'_>, is_final: bool) -> Outcome<usize> {
    let at = parser.at;
    let next = delimiter::find_delimiter(parser.text.as_bytes(), at);
    let is_inside = match next {
        Some((_, DelimiterMatch::Delimiter(found))) => found.is_end,
        _ => {
            parser.hit_end = true;
            if !is_final {
                return parser.stop_here(FaultKind::Unclosed, "the end delimiter is missing");
            }
            false
        }
    };
    if is_inside || parser.peek() == Some(b'{') {
        let message = format!(
            "{} follows after the JSON object; between the delimiters stands one object and \
             nothing else",
            parser.current_char()
        );
        return parser.stop_here(FaultKind::Syntax, message);
    }
    parser.note_repair(Repair::MissingEndDelimiter, at);
    Ok(at)
}

fn finish_block(
    source: &Source<'_>,
    start: Delimiter,
    mut parser: Parser<'_>,
    read: Outcome<Value>,
    end: usize,
) -> Step {
    if start.is_loose {
        parser.note_repair(Repair::LooseDelimiter, source.begin);
    }
    let seams = source.seams.partition_point(|seam| *seam <= source.begin)
        ..source.seams.partition_point(|seam| *seam < end);
    for seam in &source.seams[seams] {
        parser.note_repair(Repair::JoinedMessages, *seam);
    }
    let body = source.begin + start.len..parser.at.max(source.begin + start.len);
    let (repairs, repairs_made) = parser.into_repairs();
    let mut ruler = Ruler::new(&source.text[source.begin..], source.base);
    let repairs = repairs
        .into_iter()
        .map(|(repair, at)| Repaired { repair, at: ruler.position_at(at - source.begin) })
        .collect();
    let mut block = Block { repairs, repairs_made, ..empty_block(source.base) };
    if let Err(stop) = read.and_then(|value| take_apart(&mut block, value, body.start)) {
        block.fault = Some(fault_at(source, &stop, end));
        block.raw = Some(cut_excerpt(&source.text[body]).to_owned());
    }
    Step::Block(Box::new(block), end)
}

/// A block that is not read at all.
pub(super) fn given_up(source: &Source<'_>, start: Delimiter, stop: &Stop) -> Block {
    let raw = cut_excerpt(&source.text[source.begin + start.len..]).to_owned();
    Block {
        fault: Some(fault_at(source, stop, source.text.len())),
        raw: Some(raw),
        ..empty_block(source.base)
    }
}

fn empty_block(at: Position) -> Block {
    Block {
        at,
        phase: None,
        data: Value::Null,
        extra: Map::new(),
        repairs: Vec::new(),
        repairs_made: 0,
        fault: None,
        raw: None,
    }
}

fn take_apart(block: &mut Block, value: Value, at: usize) -> Outcome<()> {
    let stop = |kind, message: &str| Err(Stop { kind, message: message.to_owned(), at });
    let Value::Object(mut map) = value else {
        return stop(FaultKind::NotAnObject, "it is to be one JSON object");
    };
    match map.shift_remove("phase") {
        Some(Value::String(phase)) if !phase.trim().is_empty() => {
            block.phase = Some(phase.trim().to_owned())
        }
        None => return stop(FaultKind::NoPhase, "the field `phase` is missing"),
        Some(_) => {
            return stop(
                FaultKind::NoPhase,
                "the field `phase` is to be the name of a phase, in quotes",
            );
        }
    }
    match map.shift_remove("data") {
        Some(data @ Value::Object(_)) => block.data = data,
        None | Some(Value::Null) => {
            return stop(
                FaultKind::NoData,
                "the field `data` is missing; everything beside `phase` stands in it",
            );
        }
        Some(_) => return stop(FaultKind::NoData, "the field `data` is to be an object"),
    }
    block.extra = map;
    Ok(())
}

/// Makes a fault from a stop: the position, and the text there up to the end of the block.
fn fault_at(source: &Source<'_>, stop: &Stop, end: usize) -> Fault {
    let text = source.text;
    let at = Ruler::new(&text[source.begin..], source.base).position_at(stop.at - source.begin);
    let before: Vec<char> = text[source.begin..stop.at]
        .chars()
        .rev()
        .take_while(|c| *c != '\n')
        .take(EXCERPT)
        .collect();
    let mut excerpt: String = before.into_iter().rev().collect();
    excerpt.push_str("⟪here⟫");
    excerpt.extend(
        text[stop.at..end.max(stop.at)]
            .chars()
            .take_while(|c| *c != '\n' && *c != '\r')
            .take(EXCERPT),
    );
    Fault { kind: stop.kind, message: stop.message.clone(), at, excerpt }
}

fn cut_excerpt(text: &str) -> &str {
    crate::text::head_bytes(text.trim(), RAW_MAX)
}
