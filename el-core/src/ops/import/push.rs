//! The fields of an atom that could be written back to the tracker that it came from, and those
//! that were.

use super::*;
use crate::model::Atom;

/// A field that has another value here than in the other tracker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PushField {
    pub field: &'static str,
    pub theirs: String,
    pub ours: String,
    /// The other tracker's value is still that of the last import, so writing loses nothing.
    pub may_write: bool,
}

/// Compares the present records of the other tracker with their atoms here: title, description and
/// labels. Records without an atom under this name are left out.
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
                digest: None,
            };
            found.push((before, fields::pushed_fields(&plan)));
        }
        Ok(found)
    })
}

/// Remembers that the other tracker has these values of a record now, so that the next look does
/// not take them for somebody's change.
///
/// # Errors
///
/// If the session has lost its run, or the database cannot be written.
pub fn note_push(
    store: &mut Store,
    ctx: &Ctx<'_>,
    source: &str,
    alias: &str,
    written: &[PushField],
) -> Result<()> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let Some(last) = alias::find(tx, source, alias)? else { return Ok(()) };
        let fields = last.fields.as_deref().map(|fields| fields::with_written(fields, written));
        alias::put_import(tx, source, alias, &alias::Imported { fields, ..last })
    })
}
