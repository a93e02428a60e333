use super::change::{ChangeDetails, set_status};
use crate::model::{Atom, Status};
use crate::store::{Store, Tx, epic, meta};
use crate::{Ctx, Result};

/// The reason of an epic that was closed by the setting.
const ALL_IS_OVER: &str = "all that it contains is over";

/// Epics that are not over although all that they contain is.
///
/// # Errors
/// If the database cannot be read.
pub fn finished_epics(store: &Store) -> Result<Vec<Atom>> {
    store.read(epic::all_finished)
}

/// Sets whether an epic is closed once all that it contains is over. The value is kept in the
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

fn closes_epics(tx: &Tx<'_>) -> Result<bool> {
    Ok(meta::get(tx, meta::EPIC_AUTOCLOSE)?.as_deref() == Some("1"))
}

/// Closes the parent of an atom that has just ended, if that was the last one in it and the
/// setting says so.
pub(super) fn close_finished_parent(tx: &Tx<'_>, ctx: &Ctx<'_>, child: &Atom) -> Result<()> {
    let Some(parent) = child.parent_id.as_deref() else { return Ok(()) };
    if !closes_epics(tx)? {
        return Ok(());
    }
    match epic::finished(tx, parent)? {
        Some(epic) => {
            let to = ChangeDetails {
                reason: Some(ALL_IS_OVER),
                via: Some("epic_autoclose"),
                ..ChangeDetails::default()
            };
            set_status(tx, ctx, &epic, Status::Closed, to)
        }
        None => Ok(()),
    }
}
