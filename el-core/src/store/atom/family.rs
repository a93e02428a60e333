//! Parents, children, and what contains others.

use std::collections::{HashMap, HashSet};

use crate::Result;
use crate::error::Doing;
use crate::store::{Tx, list_text};

/// The parent of an atom.
pub(crate) fn parent_of(tx: &Tx<'_>, id: &str) -> Result<Option<String>> {
    tx.read_optional("SELECT parent_id FROM atoms WHERE id = ?1", [id], |row| row.get(0))
        .doing("read a parent")
        .map(Option::flatten)
}

/// The parents of these atoms, by id. Atoms without a parent have no entry.
pub(crate) fn parents_of(tx: &Tx<'_>, ids: &[&str]) -> Result<HashMap<String, String>> {
    tx.read_all(
        "SELECT id, parent_id FROM atoms
         WHERE parent_id IS NOT NULL AND id IN (SELECT value FROM json_each(?1))",
        [list_text(ids)],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .doing("read parents")
}

/// Returns the ids of all abstract atoms. An abstract atom is over only when all descendants are.
pub(crate) fn abstract_ids(tx: &Tx<'_>) -> Result<HashSet<String>> {
    tx.read_all("SELECT id FROM atoms WHERE issue_type IN ('epic','formula')", [], |row| row.get(0))
        .doing("find epics")
}

/// Id and parent of every atom.
pub(crate) fn all_parents(tx: &Tx<'_>) -> Result<Vec<(String, Option<String>)>> {
    tx.read_all("SELECT id, parent_id FROM atoms ORDER BY seq", [], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
    .doing("read parents")
}

/// Passes the id of every atom to `each`, with the parent and whether the atom is abstract.
pub(crate) fn each_place(
    tx: &Tx<'_>,
    mut each: impl FnMut(&str, Option<&str>, bool),
) -> Result<()> {
    let sql = "SELECT id, parent_id, issue_type IN ('epic','formula') FROM atoms";
    tx.read_all(sql, [], |row| {
        each(row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str_or_null()?, row.get(2)?);
        Ok(())
    })
    .doing("read parents")
}

/// Returns the descendants that are not over, oldest first. Below an atom that was given up, all
/// descendants count as given up.
pub(crate) fn open_below(tx: &Tx<'_>, id: &str) -> Result<Vec<String>> {
    tx.read_all(
        "WITH RECURSIVE down (id) AS (
               SELECT ?1 UNION SELECT c.id FROM atoms c JOIN down ON c.parent_id = down.id
               WHERE c.status NOT IN ('wont_do', 'discard'))
             SELECT a.id FROM down JOIN atoms a ON a.id = down.id
             WHERE a.id <> ?1 AND a.status NOT IN ('closed', 'wont_do', 'discard') ORDER BY a.seq",
        [id],
        |row| row.get(0),
    )
    .doing("read the descendants of an atom")
}

/// The ids of the direct children.
pub(crate) fn child_ids(tx: &Tx<'_>, id: &str) -> Result<Vec<String>> {
    tx.read_all("SELECT id FROM atoms WHERE parent_id = ?1 ORDER BY seq", [id], |row| row.get(0))
        .doing("read children")
}
