//! The state that earlier syncs with another tracker left.

use std::collections::BTreeMap;

use crate::model::Timestamp;
use crate::store::{Store, alias, meta, run};
use crate::{Ctx, Result};

/// The state that earlier syncs left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncState {
    /// The atoms, by the other tracker's ids.
    pub known: BTreeMap<String, String>,
    /// Changes there up to here have arrived; `None`: there was no sync yet.
    pub until: Option<Timestamp>,
}

/// Reads what earlier syncs left. `source` is the namespace of the ids; `name` tells the syncs of
/// different places and filters apart.
///
/// # Errors
///
/// If the database cannot be read.
pub fn sync_state(store: &Store, source: &str, name: &str) -> Result<SyncState> {
    store.read(|tx| {
        let until = meta::get(tx, &key(name))?.and_then(|text| text.parse().ok());
        let mut known = BTreeMap::new();
        alias::each_imported_name(tx, source, |alias, atom_id| {
            known.insert(alias.to_owned(), atom_id.to_owned());
        })?;
        Ok(SyncState { known, until: until.map(Timestamp::from_micros) })
    })
}

/// Remembers how far a sync came.
///
/// # Errors
///
/// If the session has lost its run, or the database cannot be written.
pub fn note_sync(store: &mut Store, ctx: &Ctx<'_>, name: &str, until: Timestamp) -> Result<()> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        meta::set(tx, &key(name), &until.as_micros().to_string())
    })
}

fn key(name: &str) -> String {
    format!("{}{name}", meta::SYNC)
}
