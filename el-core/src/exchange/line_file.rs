//! A file that is read line by line, and later at single lines again.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// The position of a line in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Span {
    offset: u64,
    length: usize,
}

impl Span {
    pub(super) fn between(offset: u64, end: u64) -> Span {
        Span { offset, length: usize::try_from(end - offset).unwrap_or(usize::MAX) }
    }

    /// Returns the number of bytes.
    pub(super) fn length(self) -> usize {
        self.length
    }

    /// Returns the first bytes of the line.
    pub(super) fn cut_to(self, length: usize) -> Span {
        Span { length: length.min(self.length), ..self }
    }
}

/// A file with one line in memory.
#[derive(Debug)]
pub(super) struct LineFile<R> {
    file: BufReader<R>,
    position: u64,
    line: Vec<u8>,
}

impl<R: Read + Seek> LineFile<R> {
    /// Takes a file whose next byte is the first of a line, `position` bytes after the beginning.
    pub(super) fn new(file: R, position: u64) -> LineFile<R> {
        LineFile { file: BufReader::with_capacity(1 << 16, file), position, line: Vec::new() }
    }

    /// Reads the next line, without the line feed; `None` at the end.
    pub(super) fn next_line(&mut self) -> io::Result<Option<(Span, &[u8])>> {
        self.line.clear();
        let read = self.file.read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(None);
        }
        let offset = self.position;
        self.position += read as u64;
        self.line.truncate(self.line.strip_suffix(b"\n").unwrap_or(&self.line).len());
        Ok(Some((Span { offset, length: self.line.len() }, &self.line)))
    }

    /// Reads a line again.
    pub(super) fn read_at(&mut self, span: Span) -> io::Result<&[u8]> {
        // Lines come mostly in the file's own order: a short way forward stays in the buffer.
        match i64::try_from(span.offset).ok().zip(i64::try_from(self.position).ok()) {
            Some((to, from)) => self.file.seek_relative(to - from)?,
            None => drop(self.file.seek(SeekFrom::Start(span.offset))?),
        }
        self.line.resize(span.length, 0);
        self.file.read_exact(&mut self.line)?;
        self.position = span.offset + span.length as u64;
        Ok(&self.line)
    }

    /// Goes back to the beginning of a line.
    pub(super) fn rewind(&mut self, position: u64) -> io::Result<()> {
        self.position = self.file.seek(SeekFrom::Start(position))?;
        Ok(())
    }
}
