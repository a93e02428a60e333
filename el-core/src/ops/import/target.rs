//! The atom of each record: a short form for all records, and the full form for the one at hand.

use serde_json::{Map, Value};

use super::*;

/// The atom that a record goes to.
pub(super) struct Target {
    pub(super) atom_id: Arc<str>,
    pub(super) is_new: bool,
    /// The resolved parent.
    pub(super) parent: Option<Arc<str>>,
    /// The parent is written later.
    pub(super) comes_before_parent: bool,
    /// The atom was here, and gets its new parent later.
    pub(super) moves_later: bool,
    /// How many live `blocks` bonds into it the import adds, as far as the file tells.
    pub(super) blockers: u32,
    /// The bonds of the record that are possible.
    pub(super) bonds: Vec<edges::Ends>,
    /// The bonds of the last import, as JSON.
    pub(super) last_bonds: Option<Box<str>>,
    /// The record was imported before.
    pub(super) has_last: bool,
    /// The bonds are those of the last import, which are forgotten then.
    pub(super) has_last_bonds: bool,
    /// If the last import took all of the same line: the hash of its parent.
    pub(super) same_line: Option<u32>,
    /// Edges of the record that are not possible, for the metadata.
    pub(super) left_out: Vec<Value>,
    /// The import leaves the parent as it is.
    pub(super) keeps_parent: bool,
    /// The type stays as it is here.
    pub(super) keeps_type: bool,
}

/// A record with the matching state of the store.
pub(super) struct Planned {
    pub(super) record: Record,
    pub(super) atom_id: String,
    /// The existing atom; `None` for a new atom.
    pub(super) before: Option<Atom>,
    /// The state of the last import.
    pub(super) last: Option<alias::Imported>,
    /// The resolved parent.
    pub(super) parent: Option<String>,
    /// The parent is written later.
    pub(super) comes_before_parent: bool,
    /// The bonds of the record that are possible.
    pub(super) bonds: Vec<edges::Ends>,
    /// The file has all of the metadata: keys absent from the file are removed.
    pub(super) owns_metadata: bool,
    pub(super) keeps_parent: bool,
    /// A hash of the record's line, if the record is as the line says.
    pub(super) digest: Option<u64>,
}

impl Target {
    /// Returns true if nothing of the record can change anything: the line is that of the last
    /// import, which took all of it, and its parent and bonds are the same atoms as then. Changes
    /// made here since then stand.
    pub(super) fn is_as_imported(&self, options: &ImportOptions) -> bool {
        let Some(parent) = self.same_line else { return false };
        self.has_last_bonds
            && self.left_out.is_empty()
            && !self.keeps_type
            && (self.keeps_parent || field::hash_of(self.parent.as_deref()) == parent)
            && !options.takes_all_of(&self.atom_id)
    }

    /// Compares the bonds with those of the last import, which are forgotten if they are the same.
    pub(super) fn compare_bonds(&mut self) {
        self.has_last_bonds =
            edges::text_of_bonds(&self.bonds).as_deref() == self.last_bonds.as_deref();
        if self.has_last_bonds {
            self.last_bonds = None;
        }
    }

    /// Completes a record by the state of the store, and by the import's decisions.
    pub(super) fn with_record(
        &mut self,
        tracker: Tracker,
        mut record: Record,
        digest: Option<u64>,
        (before, last): (Option<Atom>, Option<alias::Imported>),
    ) -> Planned {
        let digest = digest.filter(|_| !self.keeps_type && self.left_out.is_empty());
        if let Some(before) = before.as_ref().filter(|_| self.keeps_type) {
            record.issue_type = before.issue_type;
        }
        if !self.left_out.is_empty() {
            let kept = record.metadata.entry("source").or_insert_with(|| Map::new().into());
            if let Some(kept) = kept.as_object_mut() {
                let list = kept.entry("left_out").or_insert_with(|| Value::Array(Vec::new()));
                if let Some(list) = list.as_array_mut() {
                    list.append(&mut self.left_out);
                }
            }
        }
        Planned {
            record,
            atom_id: self.atom_id.to_string(),
            before,
            last,
            parent: self.parent.as_deref().map(str::to_owned),
            comes_before_parent: self.comes_before_parent,
            bonds: std::mem::take(&mut self.bonds),
            owns_metadata: tracker == Tracker::El,
            keeps_parent: self.keeps_parent,
            digest,
        }
    }
}
