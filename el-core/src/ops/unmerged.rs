use crate::model::Timestamp;
use crate::store::{Store, Tx, atom, meta, pull_request, unmerged};
use crate::{Ctx, Result};

/// Sets whether dependants wait until the branches of their dependencies are merged. The value is
/// kept in the database, since a run is placed without a look at the configuration. While the gate
/// is on, each branch is noted from its first run or push until its merge.
///
/// # Errors
/// If the database cannot be read or written.
pub fn set_merge_gate(store: &mut Store, ctx: &Ctx<'_>, is_on: bool) -> Result<()> {
    if store.read(has_merge_gate)? == is_on {
        return Ok(());
    }
    store.write(|tx| {
        if !is_on {
            meta::remove(tx, meta::MERGE_GATE)?;
            return unmerged::forget_all(tx);
        }
        meta::set(tx, meta::MERGE_GATE, "1")?;
        for open in pull_request::latest(tx, true)? {
            unmerged::note(tx, &open.atom_id, ctx.now)?;
        }
        Ok(())
    })
}

fn has_merge_gate(tx: &Tx<'_>) -> Result<bool> {
    Ok(meta::get(tx, meta::MERGE_GATE)?.is_some())
}

/// Notes that an atom gets a branch, if dependants wait for merges.
pub(super) fn note_branch(tx: &Tx<'_>, atom: &str, now: Timestamp) -> Result<()> {
    if has_merge_gate(tx)? { unmerged::note(tx, atom, now) } else { Ok(()) }
}

/// Returns true if the dependants of an atom, once it is closed, wait for the merge of its branch.
///
/// # Errors
/// If the database cannot be read.
pub fn waits_for_merge(store: &Store, id: &str) -> Result<bool> {
    store.read(|tx| unmerged::is_noted(tx, id))
}

/// Lets the dependants of an atom go on: its branch has no work, or was merged outside of `el`.
///
/// # Errors
/// If the id is unknown, or the database cannot be written.
pub fn forget_unmerged(store: &mut Store, id: &str) -> Result<()> {
    store.write(|tx| unmerged::forget(tx, &atom::resolve(tx, id)?))
}
