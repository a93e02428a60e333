use super::change::closes_epics;
use crate::Result;
use crate::model::Atom;
use crate::store::{Store, epic, meta};

/// Returns the epics that are not over although all their contents are.
///
/// # Errors
/// If the database cannot be read.
pub fn finished_epics(store: &Store) -> Result<Vec<Atom>> {
    store.read(epic::all_finished)
}

/// Returns the [`finished_epics`] among these ids.
///
/// # Errors
/// If the database cannot be read.
pub fn finished_among(store: &Store, ids: &[String]) -> Result<Vec<Atom>> {
    store.read(|tx| {
        let found = ids.iter().map(|id| epic::finished(tx, id));
        found.filter_map(Result::transpose).collect()
    })
}

/// Sets whether an epic is closed once all its contents are over. The value is kept in the
/// database, since a run may end without a look at the configuration.
///
/// # Errors
/// If the database cannot be read or written.
pub fn set_epic_autoclose(store: &mut Store, is_on: bool) -> Result<()> {
    if store.read(closes_epics)? == is_on {
        return Ok(());
    }
    store.write(|tx| meta::set(tx, meta::EPIC_AUTOCLOSE, if is_on { "1" } else { "0" }))
}
