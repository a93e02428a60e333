//! Bytes in, lines out, in bounded memory.

/// The default limit of a line in bytes, far above any event of Claude Code.
const DEFAULT_LIMIT: usize = 16 << 20;

/// A line of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// The line without the end (`\n` or `\r\n`).
    Whole(Vec<u8>),
    /// The length in bytes of a line over the limit. The content was dropped.
    TooLong(u64),
}

/// Cuts a stream into lines, in any chunks. Holds at most a single line within the limit.
#[derive(Debug)]
pub struct LineSplitter {
    limit: usize,
    line: Vec<u8>,
    /// Length of the line so far, kept or not.
    length: u64,
    too_long: u64,
}

impl Default for LineSplitter {
    fn default() -> Self {
        Self::with_limit(DEFAULT_LIMIT)
    }
}

impl LineSplitter {
    /// A splitter that keeps lines of at most `limit` bytes.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { limit, line: Vec::new(), length: 0, too_long: 0 }
    }

    /// Takes the next bytes and returns the completed lines, in order.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.extend_line(&bytes[..end]);
            lines.push(self.take_line());
            bytes = &bytes[end + 1..];
        }
        self.extend_line(bytes);
        lines
    }

    /// Ends the stream and returns the text after the last line end, if any.
    pub fn finish(&mut self) -> Option<Line> {
        (self.length > 0).then(|| self.take_line())
    }

    /// How many lines were too long.
    #[must_use]
    pub fn too_long(&self) -> u64 {
        self.too_long
    }

    fn extend_line(&mut self, bytes: &[u8]) {
        self.length = self.length.saturating_add(bytes.len() as u64);
        if self.length <= self.limit as u64 {
            self.line.extend_from_slice(bytes);
        } else {
            self.line = Vec::new();
        }
    }

    fn take_line(&mut self) -> Line {
        let length = std::mem::take(&mut self.length);
        let mut line = std::mem::take(&mut self.line);
        if length > self.limit as u64 {
            self.too_long += 1;
            return Line::TooLong(length);
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Line::Whole(line)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(text: &str) -> Line {
        Line::Whole(text.into())
    }

    /// Returns the lines that the splitter has to find, taken from the whole stream.
    fn expected(stream: &[u8], limit: usize) -> Vec<Line> {
        let mut parts: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
        if parts.last().is_some_and(|last| last.is_empty()) {
            parts.pop();
        }
        let line = |part: &&[u8]| {
            if part.len() > limit {
                Line::TooLong(part.len() as u64)
            } else {
                Line::Whole(part.strip_suffix(b"\r").unwrap_or(part).to_vec())
            }
        };
        parts.iter().map(line).collect()
    }

    #[test]
    fn lines_end_with_either_end_and_the_last_with_none() {
        let mut splitter = LineSplitter::default();
        assert_eq!(splitter.push(b"one\r\ntw"), [whole("one")]);
        assert_eq!(splitter.push(b"o\n\nth\rree"), [whole("two"), whole("")]);
        assert_eq!(splitter.finish(), Some(whole("th\rree")));
        assert_eq!(splitter.finish(), None);
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_counted_and_the_next_is_read() {
        let mut splitter = LineSplitter::with_limit(8);
        assert_eq!(splitter.push(b"12345678\n123456789"), [whole("12345678")]);
        assert_eq!(splitter.push(&[b'x'; 100]), []);
        assert!(splitter.line.capacity() <= 16, "memory is held for a line that is thrown away");
        assert_eq!(splitter.push(b"\nok\n"), [Line::TooLong(109), whole("ok")]);
        assert_eq!(splitter.too_long(), 1);
    }

    proptest! {
        #[test]
        fn any_cutting_of_the_stream_gives_the_same_lines(
            stream in prop::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()],
                0..200,
            ),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
            limit in 0_usize..40,
        ) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            let mut splitter = LineSplitter::with_limit(limit);
            let mut lines = Vec::new();
            for pair in cuts.windows(2) {
                lines.extend(splitter.push(&stream[pair[0]..pair[1]]));
                prop_assert!(splitter.line.len() <= limit);
            }
            lines.extend(splitter.finish());
            prop_assert_eq!(lines, expected(&stream, limit));
        }
    }
}
