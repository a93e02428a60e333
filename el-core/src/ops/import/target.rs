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
    /// The bonds of the record that are possible.
    pub(super) bonds: Vec<edges::Ends>,
    /// The bonds of the last import, as JSON.
    pub(super) last_bonds: Option<Box<str>>,
    /// The record was imported before.
    pub(super) has_last: bool,
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
}

impl Target {
    /// Reads the state of the store for a record, and applies the import's decisions to the record.
    pub(super) fn with_record(
        &mut self,
        tx: &Tx<'_>,
        source: &str,
        tracker: Tracker,
        mut record: Record,
    ) -> Result<Planned> {
        let before = (!self.is_new).then(|| atom::get(tx, &self.atom_id)).transpose()?;
        let last =
            self.has_last.then(|| alias::find(tx, source, &record.id)).transpose()?.flatten();
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
        Ok(Planned {
            record,
            atom_id: self.atom_id.to_string(),
            before,
            last,
            parent: self.parent.as_deref().map(str::to_owned),
            comes_before_parent: self.comes_before_parent,
            bonds: std::mem::take(&mut self.bonds),
            owns_metadata: tracker == Tracker::El,
            keeps_parent: self.keeps_parent,
        })
    }
}
