//! A file as a sequence of JSON values with line numbers: JSON Lines, an array, or an object over
//! several lines. One value is in memory at a time.

use std::fmt;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize as _, Deserializer as _};
use serde_json::{Map, Value};

use super::BadLine;
use super::line_file::{LineFile, Span};

/// Receives the amount done and the total.
pub type Progress<'a> = dyn FnMut(usize, usize) + 'a;

/// Records between two reports of progress.
const STEP: usize = 512;

/// A file that is read more than once.
pub trait Stored: Read + Write + Seek + fmt::Debug {}

impl<T: Read + Write + Seek + fmt::Debug> Stored for T {}

/// Makes a nameless file, for input that cannot be read twice in its place.
pub type Spare<'a> = dyn FnMut() -> io::Result<Box<dyn Stored>> + 'a;

/// A line that is not blank.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// Counts from 1; in a JSON array, the element.
    pub(super) number: usize,
    pub(super) span: Span,
    pub(super) bytes: &'a [u8],
}

/// A file to import.
#[derive(Debug)]
pub struct Input {
    lines: LineFile<Box<dyn Stored>>,
    start: u64,
    /// In bytes.
    size: u64,
    /// The first byte that is no space.
    first: Option<u8>,
    /// The fault of an array that cannot be read.
    fault: Option<BadLine>,
}

impl Input {
    /// Opens a file. An array, or an object over several lines, is written down as lines first.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or a spare file cannot be written.
    pub fn open(mut file: Box<dyn Stored>, spare: &mut Spare<'_>) -> io::Result<Input> {
        let mut mark = [0; 3];
        let has_mark = read_full(&mut file, &mut mark)? == 3 && mark == *b"\xef\xbb\xbf";
        let start = if has_mark { 3 } else { 0 };
        let (skipped, first) = find_first_byte(&mut file, start)?;
        let mut fault = None;
        if matches!(first, Some(b'[' | b'{')) {
            file.seek(SeekFrom::Start(skipped))?;
            let mut lines = LineFile::new(&mut file, skipped);
            let is_whole = |line: &[u8]| serde_json::from_slice::<Value>(line).is_ok();
            let is_document =
                first == Some(b'[') || !lines.next_line()?.is_some_and(|(_, line)| is_whole(line));
            if is_document {
                file.seek(SeekFrom::Start(skipped))?;
                let mut lines = spare()?;
                let mut out = io::BufWriter::new(&mut lines);
                let read = write_lines(&mut file, first, &mut out)?;
                drop(out);
                match read {
                    Ok(()) => return Input::from_lines(lines, 0, first, None),
                    Err(error) if first == Some(b'[') => {
                        // Lines count from the beginning of the text, blank ones included.
                        let line = line_number(&mut file, start, skipped)? + error.line().max(1);
                        fault = Some(BadLine { line: line - 1, message: plain_message(&error) });
                    }
                    Err(_) => {}
                }
            }
        }
        Input::from_lines(file, start, first, fault)
    }

    fn from_lines(
        mut file: Box<dyn Stored>,
        start: u64,
        first: Option<u8>,
        fault: Option<BadLine>,
    ) -> io::Result<Input> {
        let size = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(start))?;
        Ok(Input { lines: LineFile::new(file, start), start, size, first, fault })
    }

    /// Takes a text in memory.
    pub fn from_bytes(bytes: &[u8]) -> Input {
        Input::open(Box::new(Cursor::new(bytes.to_vec())), &mut || {
            Ok(Box::new(Cursor::new(Vec::new())))
        })
        .expect("memory can be read and written")
    }

    /// Returns true if there is nothing but spaces.
    pub fn is_blank(&self) -> bool {
        self.first.is_none()
    }

    /// Reads all of a text, such as one in Markdown.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn read_text(&mut self) -> io::Result<Vec<u8>> {
        let whole = Span::between(self.start, self.size);
        self.lines.read_at(whole).map(<[u8]>::to_vec)
    }

    /// Hands every line that is not blank to `each`, as a value or as the fault of the line, until
    /// `each` returns false.
    pub(super) fn each_value(
        &mut self,
        mut each: impl FnMut(Line<'_>, Result<Value, String>) -> bool,
    ) -> io::Result<()> {
        if let Some(fault) = &self.fault {
            let line = Line { number: fault.line, span: Span::default(), bytes: &[] };
            each(line, Err(fault.message.clone()));
            return Ok(());
        }
        self.lines.rewind(self.start)?;
        let mut number = 0;
        while let Some((span, bytes)) = self.lines.next_line()? {
            number += 1;
            let line = Line { number, span, bytes };
            if !bytes.trim_ascii().is_empty() && !each(line, parse_line(bytes)) {
                break;
            }
        }
        Ok(())
    }

    /// Hands every object of a JSON file to `each`. Returns the lines with other values, and those
    /// that `each` refuses.
    pub(super) fn each_object(
        &mut self,
        progress: &mut Progress<'_>,
        mut each: impl FnMut(Line<'_>, Map<String, Value>) -> Result<(), String>,
    ) -> io::Result<Vec<BadLine>> {
        let mut bad = Vec::new();
        let size = usize::try_from(self.size).unwrap_or(usize::MAX);
        let (mut at, mut bytes) = (0_usize, 0);
        self.each_value(|line, value| {
            if at.is_multiple_of(STEP) {
                progress(bytes, size);
            }
            at += 1;
            bytes += line.span.length();
            let done = match value {
                Ok(Value::Object(object)) => each(line, object),
                Ok(_) => Err("it is not a JSON object".to_owned()),
                Err(why) => Err(why),
            };
            if let Err(message) = done {
                bad.push(BadLine { line: line.number, message });
            }
            true
        })?;
        Ok(bad)
    }

    /// Reads an object again; `None` if the line has no object any more.
    pub(super) fn read_object(&mut self, span: Span) -> io::Result<Option<Map<String, Value>>> {
        Ok(match parse_line(self.lines.read_at(span)?) {
            Ok(Value::Object(object)) => Some(object),
            _ => None,
        })
    }
}

/// Fills the buffer as far as the file goes.
fn read_full(file: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match file.read(&mut buffer[done..])? {
            0 => break,
            read => done += read,
        }
    }
    Ok(done)
}

/// Returns the first byte from `start` on that is no space, and the position of that byte.
fn find_first_byte(file: &mut dyn Stored, start: u64) -> io::Result<(u64, Option<u8>)> {
    let mut at = file.seek(SeekFrom::Start(start))?;
    let mut buffer = [0; 4096];
    loop {
        let read = read_full(file, &mut buffer)?;
        match buffer[..read].iter().position(|byte| !byte.is_ascii_whitespace()) {
            Some(found) => return Ok((at + found as u64, Some(buffer[found]))),
            None if read < buffer.len() => return Ok((at, None)),
            None => at += read as u64,
        }
    }
}

/// Returns the number of the line at `end`, counted from `start`.
fn line_number(file: &mut dyn Stored, start: u64, end: u64) -> io::Result<usize> {
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = io::BufReader::new(file.take(end - start)).bytes();
    bytes.try_fold(1, |lines, byte| Ok(lines + usize::from(byte? == b'\n')))
}

/// Writes each element of an array as a line, or an object as one line. Returns the fault of a text
/// that is not JSON.
fn write_lines(
    file: &mut dyn Stored,
    first: Option<u8>,
    out: &mut dyn Write,
) -> io::Result<serde_json::Result<()>> {
    let mut reader = serde_json::Deserializer::from_reader(io::BufReader::new(file));
    let mut failed = None;
    let mut elements = Elements { out: &mut *out, failed: &mut failed };
    let read = if first == Some(b'[') {
        reader.deserialize_seq(elements)
    } else {
        Value::deserialize(&mut reader).map(|value| elements.push(&value))
    };
    let read = read.and_then(|()| reader.end());
    if let Some(error) = failed {
        return Err(error);
    }
    out.flush()?;
    match read {
        Err(error) if error.is_io() => Err(error.into()),
        read => Ok(read),
    }
}

/// Writes values as lines, up to the first that cannot be written.
struct Elements<'a> {
    out: &'a mut dyn Write,
    failed: &'a mut Option<io::Error>,
}

impl Elements<'_> {
    fn push(&mut self, value: &Value) {
        if self.failed.is_none() {
            let written = serde_json::to_writer(&mut *self.out, value).map_err(io::Error::from);
            *self.failed = written.and_then(|()| self.out.write_all(b"\n")).err();
        }
    }
}

impl<'de> Visitor<'de> for Elements<'_> {
    type Value = ();

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(value) = list.next_element::<Value>()? {
            self.push(&value);
        }
        Ok(())
    }
}

/// The message for a conflict mark of `git merge`.
pub const OPEN_CONFLICT: &str = "a merge conflict is not settled here";

fn parse_line(line: &[u8]) -> Result<Value, String> {
    std::str::from_utf8(line)
        .map_err(|error| format!("it is no UTF-8 text (byte {})", error.valid_up_to() + 1))
        .and_then(parse_value)
}

fn parse_value(line: &str) -> Result<Value, String> {
    serde_json::from_str(line).map_err(|error| {
        if ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].iter().any(|mark| line.starts_with(mark)) {
            return OPEN_CONFLICT.to_owned();
        }
        plain_message(&error)
    })
}

/// Returns serde_json's message without the position, since serde_json counts within the line.
fn plain_message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    format!("it is not JSON: {}", text.split(" at line ").next().unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(text: &[u8]) -> Vec<(usize, Result<Value, String>)> {
        let mut found = Vec::new();
        let keep = |line: Line<'_>, value| {
            found.push((line.number, value));
            true
        };
        Input::from_bytes(text).each_value(keep).unwrap();
        found
    }

    fn outline(text: &str) -> Vec<(usize, bool)> {
        values(text.as_bytes()).iter().map(|(line, value)| (*line, value.is_ok())).collect()
    }

    #[test]
    fn lines_keep_their_numbers_and_one_bad_line_stops_none() {
        assert_eq!(
            outline("{\"a\":1}\n\nrubbish\r\n{\"b\":2}\r\n"),
            [(1, true), (3, false), (4, true)]
        );
        assert_eq!(
            values(b"\xff\n{}").iter().map(|(line, v)| (*line, v.is_ok())).collect::<Vec<_>>(),
            [(1, false), (2, true)]
        );
    }

    #[test]
    fn an_array_and_a_formatted_object_are_read_too() {
        assert_eq!(outline("[{\"a\":1},\n {\"b\":2}]"), [(1, true), (2, true)]);
        assert_eq!(outline("{\n  \"a\": 1\n}\n"), [(1, true)]);
        assert_eq!(outline("[{\"a\":1},\n rubbish]"), [(2, false)]);
        assert_eq!(outline("\u{feff}\n[{\"a\":1},\n rubbish]"), [(3, false)]);
    }

    #[test]
    fn an_open_merge_conflict_is_named_as_such() {
        let told: Vec<_> = values(b"<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n")
            .into_iter()
            .filter_map(|(_, v)| v.err())
            .collect();
        assert_eq!(told.len(), 3);
        assert!(told[0].contains("merge conflict"));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = values(&bytes);
        }
    }
}
