//! Reads lines of limited length from a stream.

use std::io::{self, BufRead};

/// The longest message, in bytes. The longest prompt of the tracker fits, however JSON escapes the
/// text.
pub(super) const LONGEST: usize = 64 << 20;

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The line without its newline.
    Whole(Vec<u8>),
    /// The line exceeded the limit; the rest was read and thrown away.
    TooLong,
}

/// Reads the next line. Returns `None` at the end of the stream. The last line may lack a newline.
pub(super) fn read_line(from: &mut impl BufRead, longest: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let (mut is_too_long, mut has_begun) = (false, false);
    loop {
        let available = match from.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if available.is_empty() {
            return Ok(has_begun.then(|| finish_line(line, is_too_long)));
        }
        has_begun = true;
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        if line.len() + part.len() > longest {
            is_too_long = true;
            line = Vec::new();
        } else if !is_too_long {
            line.extend_from_slice(part);
        }
        let used = end.map_or(available.len(), |at| at + 1);
        from.consume(used);
        if end.is_some() {
            return Ok(Some(finish_line(line, is_too_long)));
        }
    }
}

fn finish_line(line: Vec<u8>, is_too_long: bool) -> Line {
    if is_too_long { Line::TooLong } else { Line::Whole(line) }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_end_at_newlines_and_at_the_end() {
        let mut from = BufReader::with_capacity(3, &b"one\n\ntoo long it is\nlast"[..]);
        let mut next = || read_line(&mut from, 8).unwrap();
        assert_eq!(next(), Some(Line::Whole(b"one".to_vec())));
        assert_eq!(next(), Some(Line::Whole(Vec::new())));
        assert_eq!(next(), Some(Line::TooLong));
        assert_eq!(next(), Some(Line::Whole(b"last".to_vec())));
        assert_eq!(next(), None);
    }
}
