//! Atoms with unmerged branches. Once closed, they hold their dependants until the merge.

use super::Tx;
use super::engine::params;
use crate::Result;
use crate::error::Doing;
use crate::model::Timestamp;

pub(crate) fn note(tx: &Tx<'_>, atom: &str, now: Timestamp) -> Result<()> {
    tx.execute_cached(
        "INSERT INTO unmerged (atom_id, since) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        params![atom, now.as_micros()],
    )
    .doing("note an unmerged branch")
    .map(drop)
}

pub(crate) fn forget(tx: &Tx<'_>, atom: &str) -> Result<()> {
    tx.execute_cached("DELETE FROM unmerged WHERE atom_id = ?1", [atom])
        .doing("forget an unmerged branch")
        .map(drop)
}

pub(crate) fn forget_all(tx: &Tx<'_>) -> Result<()> {
    tx.execute("DELETE FROM unmerged", []).doing("forget unmerged branches").map(drop)
}

/// Returns true if dependants of the atom, once it is closed, wait for the merge of its branch.
pub(crate) fn is_noted(tx: &Tx<'_>, atom: &str) -> Result<bool> {
    tx.read_one("SELECT EXISTS (SELECT 1 FROM unmerged WHERE atom_id = ?1)", [atom], |row| {
        row.get(0)
    })
    .doing("look for an unmerged branch")
}

/// The closed atoms with a note, oldest note first.
pub(crate) fn list_closed(tx: &Tx<'_>) -> Result<Vec<String>> {
    tx.read_all(
        "SELECT u.atom_id FROM unmerged u CROSS JOIN atoms a ON a.id = u.atom_id
         WHERE a.status = 'closed' ORDER BY u.since, u.atom_id",
        [],
        |row| row.get(0),
    )
    .doing("read unmerged branches")
}
