//! The fields of an atom that could be written back to the tracker that it came from.

use super::*;
use crate::model::Atom;

/// A field whose value here is another than there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PushField {
    pub field: &'static str,
    pub theirs: String,
    pub ours: String,
    /// There it is as the last import saw it, so nobody's words are lost.
    pub may_write: bool,
}

/// Compares records as they are there now with the atoms that they became. The fields are title,
/// description and labels; of an atom that was not imported under this name, nothing may be
/// written.
///
/// # Errors
///
/// If the database cannot be read.
pub fn plan_push(store: &Store, batch: Batch) -> Result<Vec<(Atom, Vec<PushField>)>> {
    store.read(|tx| {
        let mut found = Vec::new();
        for record in batch.records {
            let Some(last) = alias::find(tx, &batch.source, &record.id)? else { continue };
            let before = atom::get(tx, &last.atom_id)?;
            let plan = Planned {
                record,
                atom_id: before.id.clone(),
                before: Some(before.clone()),
                last: Some(last),
                parent: None,
                comes_before_parent: false,
                bonds: Vec::new(),
                owns_metadata: false,
                keeps_parent: true,
            };
            found.push((before, fields::pushed_fields(&plan)));
        }
        Ok(found)
    })
}
