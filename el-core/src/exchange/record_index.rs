//! The records of a batch while a file is read.

use std::collections::{HashMap, HashSet};

use super::record::{Batch, Record, RecordBond, RecordComment};
use super::{NoteKind, Notes};

/// The records of a batch by id.
#[derive(Debug, Default)]
pub(super) struct RecordIndex {
    index: HashMap<String, usize>,
    /// Lines with a record that a later line replaced.
    replaced: HashSet<usize>,
}

/// The parts of an item in a file: the record, with bonds and comments.
pub(super) type RecordParts = (Record, Vec<RecordBond>, Vec<RecordComment>);

impl RecordIndex {
    /// Reads an item into the batch. Notes of `read` are kept even if `read` refuses the item.
    pub(super) fn read_item(
        &mut self,
        batch: &mut Batch,
        read: impl FnOnce(&mut Notes) -> Result<RecordParts, String>,
    ) -> Result<(), String> {
        let (record, bonds, comments) = read(&mut batch.notes)?;
        self.push(batch, record);
        batch.bonds.extend(bonds);
        batch.comments.extend(comments);
        Ok(())
    }

    /// Puts a record into the batch. A record of the same id is replaced, as in an append-only
    /// file.
    fn push(&mut self, batch: &mut Batch, record: Record) {
        match self.index.get(&record.id) {
            Some(&at) => {
                let place = format!("line {} ({})", record.line, record.id);
                batch.notes.add(
                    NoteKind::Remark,
                    "an id stands in the file twice; the later line holds",
                    &place,
                );
                self.replaced.insert(batch.records[at].line);
                batch.records[at] = record;
            }
            None => {
                self.index.insert(record.id.clone(), batch.records.len());
                batch.records.push(record);
            }
        }
    }

    /// Returns the record with the id.
    pub(super) fn get<'b>(&self, batch: &'b mut Batch, id: &str) -> Option<&'b mut Record> {
        self.index.get(id).and_then(|at| batch.records.get_mut(*at))
    }

    /// Removes the bonds and comments of replaced lines.
    pub(super) fn drop_replaced(self, batch: &mut Batch) {
        if !self.replaced.is_empty() {
            batch.bonds.retain(|bond| !self.replaced.contains(&bond.line));
            batch.comments.retain(|comment| !self.replaced.contains(&comment.line));
        }
    }
}
