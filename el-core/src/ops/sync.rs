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
    /// All changes of the other tracker up to this time have arrived; `None`: no sync yet.
    pub until: Option<Timestamp>,
}

/// Reads the state that earlier syncs left. `source` is the namespace of the ids. `name` stands for
/// a place and a filter, since each combination has its own syncs.
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

/// Records the time up to which a sync has brought changes.
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
