//! A file as a sequence of JSON values with line numbers: JSON Lines, an array, or an object over
//! several lines.

use serde_json::{Map, Value};

use super::Batch;

/// Is told how much of how much is done.
pub type Progress<'a> = dyn FnMut(usize, usize) + 'a;

/// Records between two reports of progress.
const STEP: usize = 512;

/// A file's values.
pub(super) struct Values<'a> {
    /// Every value with a line number (in an array: a position), in order. An unreadable value is
    /// an error with a line. Blank lines are skipped.
    pub(super) items: Box<dyn Iterator<Item = (usize, Result<Value, String>)> + 'a>,
    /// How many lines there are (in an array: values).
    pub(super) lines: usize,
}

/// Hands every object of a JSON file to `each`. Other values, and objects that `each` refuses, are
/// recorded as bad lines.
pub(super) fn each_object(
    bytes: &[u8],
    batch: &mut Batch,
    progress: &mut Progress<'_>,
    mut each: impl FnMut(&mut Batch, usize, Map<String, Value>) -> Result<(), String>,
) {
    let values = parse_lines(bytes);
    for (at, (line, value)) in values.items.enumerate() {
        if at % STEP == 0 {
            progress(line, values.lines);
        }
        let done = match value {
            Ok(Value::Object(object)) => each(batch, line, object),
            Ok(_) => Err("it is no JSON object".to_owned()),
            Err(why) => Err(why),
        };
        if let Err(why) = done {
            batch.add_error(line, why);
        }
    }
}

pub(super) fn parse_lines(bytes: &[u8]) -> Values<'_> {
    let one = |line, value| Values { items: Box::new(std::iter::once((line, value))), lines: line };
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let start = bytes.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(bytes.len());
    // One document over several lines: an array, or an object that someone formatted.
    if matches!(bytes.get(start), Some(b'[' | b'{')) && first_line_is_partial(&bytes[start..]) {
        match serde_json::from_slice::<Value>(bytes) {
            Ok(Value::Array(items)) => {
                let lines = items.len();
                return Values { items: Box::new((1..).zip(items.into_iter().map(Ok))), lines };
            }
            Ok(value) => return one(1, Ok(value)),
            Err(error) if bytes[start] == b'[' => {
                return one(error.line().max(1), Err(plain_message(&error)));
            }
            Err(_) => {}
        }
    }
    let lines = bytes.split(|b| *b == b'\n');
    let items = (1..).zip(lines.clone()).filter(|(_, line)| !line.trim_ascii().is_empty()).map(
        |(at, line)| {
            let value = std::str::from_utf8(line)
                .map_err(|error| format!("it is no UTF-8 text (byte {})", error.valid_up_to() + 1));
            (at, value.and_then(parse_value))
        },
    );
    Values { items: Box::new(items), lines: lines.count() }
}

fn first_line_is_partial(bytes: &[u8]) -> bool {
    let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    bytes.starts_with(b"[") || serde_json::from_slice::<Value>(line).is_err()
}

/// The message for a conflict mark of `git merge`.
pub const OPEN_CONFLICT: &str = "a merge conflict is not settled here";

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
    format!("it is no JSON: {}", text.split(" at line ").next().unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn outline(text: &str) -> Vec<(usize, bool)> {
        parse_lines(text.as_bytes()).items.map(|(line, value)| (line, value.is_ok())).collect()
    }

    #[test]
    fn lines_keep_their_numbers_and_one_bad_line_stops_none() {
        assert_eq!(
            outline("{\"a\":1}\n\nrubbish\r\n{\"b\":2}\r\n"),
            [(1, true), (3, false), (4, true)]
        );
        assert_eq!(
            parse_lines(b"\xff\n{}").items.map(|(line, v)| (line, v.is_ok())).collect::<Vec<_>>(),
            [(1, false), (2, true)]
        );
    }

    #[test]
    fn an_array_and_a_formatted_object_are_read_too() {
        assert_eq!(outline("[{\"a\":1},\n {\"b\":2}]"), [(1, true), (2, true)]);
        assert_eq!(outline("{\n  \"a\": 1\n}\n"), [(1, true)]);
        assert_eq!(outline("[{\"a\":1},\n rubbish]"), [(2, false)]);
    }

    #[test]
    fn an_open_merge_conflict_is_named_as_such() {
        let told: Vec<_> = parse_lines(b"<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n")
            .items
            .filter_map(|(_, v)| v.err())
            .collect();
        assert_eq!(told.len(), 3);
        assert!(told[0].contains("merge conflict"));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_lines(&bytes).items.count();
        }
    }
}
