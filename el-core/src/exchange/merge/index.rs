//! An index of the lines of a file by record key.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::io::{self, Read, Seek};

use super::key::Key;
use crate::exchange::line_file::{LineFile, Span as Place};

/// The last line with a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    place: Place,
    /// When the record was created, in microseconds.
    pub(super) created: Option<i64>,
}

/// A record of a file.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) hash: u128,
    pub(super) at: usize,
    /// When the record's atom was created, in microseconds.
    pub(super) atom_created: i64,
    created: i64,
}

impl Entry {
    /// Returns the position in an export: first the header; then each atom by creation time and id,
    /// followed by bonds and comments; unknown lines last, in file order.
    pub(super) fn sort_key(&self) -> impl Ord + '_ {
        let (part, rank, within) = match &self.key {
            Key::Header => (0, 0, (0, "", "")),
            Key::Atom(_) => (1, 0, (0, "", "")),
            Key::Bond { source, kind, .. } => (1, 1, (0, &**source, &**kind)),
            Key::Comment { id, .. } => (1, 2, (self.created, &**id, "")),
            Key::Other(_) | Key::Opaque(_) => (2, 0, (0, "", "")),
        };
        let atom = self.key.atom_id().map(|atom| (self.atom_created, atom));
        (part, atom, rank, within, self.at)
    }
}

/// A file with an index of lines by key.
#[derive(Debug)]
pub(super) struct Index<R> {
    file: LineFile<R>,
    /// By [`Key::stable_hash`]. The last of several lines with the same key counts.
    pub(super) spans: HashMap<u128, Span>,
    /// In the order of the file; the first of several lines with the same key counts.
    pub(super) entries: Vec<Entry>,
}

impl<R: Read + Seek> Index<R> {
    pub(super) fn index_lines(file: R) -> io::Result<Index<R>> {
        let mut file = LineFile::new(file, 0);
        let (mut spans, mut entries) = (HashMap::new(), Vec::new());
        while let Some((place, line)) = file.next_line()? {
            let line = as_utf8(line)?.trim_end();
            if line.is_empty() {
                continue;
            }
            let (key, created) = Key::from_line(line);
            let hash = key.stable_hash();
            let span = Span { place: place.cut_to(line.len()), created };
            match spans.entry(hash) {
                Slot::Occupied(mut slot) => {
                    slot.insert(span);
                }
                Slot::Vacant(slot) => {
                    slot.insert(span);
                    let created = created.unwrap_or_default();
                    entries.push(Entry { key, hash, at: 0, atom_created: 0, created });
                }
            }
        }
        Ok(Index { file, spans, entries })
    }

    /// Reads the line with the key again.
    pub(super) fn read_line(&mut self, hash: u128) -> io::Result<Option<&str>> {
        let Some(span) = self.spans.get(&hash) else { return Ok(None) };
        as_utf8(self.file.read_at(span.place)?).map(Some)
    }
}

fn as_utf8(bytes: &[u8]) -> io::Result<&str> {
    std::str::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not UTF-8 text"))
}
