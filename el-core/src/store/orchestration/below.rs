//! The atoms below an epic, with questions and dependencies.

use std::collections::{HashMap, HashSet};

use crate::Result;
use crate::error::Doing;
use crate::model::BondKind;
use crate::store::Tx;
use crate::store::engine::{self, Row};

/// Reads rows about the descendants of an epic. `rest` is the SQL after the table `down` of ids.
fn of_below<T>(
    tx: &Tx<'_>,
    epic: &str,
    rest: &str,
    read: impl FnMut(&Row<'_>) -> engine::Result<T>,
) -> Result<Vec<T>> {
    let down = "SELECT id FROM atoms WHERE parent_id = ?1 UNION SELECT c.id FROM atoms c
                JOIN down ON c.parent_id = down.id";
    let doing = "read what is below an epic";
    tx.read_all(&format!("WITH RECURSIVE down (id) AS ({down}) {rest}"), [epic], read).doing(doing)
}

/// Returns the descendants of an epic, in the order of filing.
pub(crate) fn atoms_below(tx: &Tx<'_>, epic: &str) -> Result<Vec<String>> {
    of_below(
        tx,
        epic,
        "SELECT a.id FROM down JOIN atoms a ON a.id = down.id ORDER BY a.seq",
        |row| row.get(0),
    )
}

/// Returns the descendants that ask a question, of any orchestration.
pub(crate) fn asking_below(tx: &Tx<'_>, epic: &str) -> Result<HashSet<String>> {
    let found = of_below(
        tx,
        epic,
        "SELECT q.atom_id FROM down JOIN questions q ON q.atom_id = down.id",
        |row| row.get(0),
    )?;
    Ok(found.into_iter().collect())
}

/// Returns the dependencies of each descendant, inside and outside of the epic.
pub(crate) fn waits_below(tx: &Tx<'_>, epic: &str) -> Result<HashMap<String, Vec<String>>> {
    let rest = "SELECT b.target_id, b.source_id, b.kind FROM down
                JOIN bonds b ON b.target_id = down.id ORDER BY b.created_at, b.source_id";
    let mut waits: HashMap<String, Vec<String>> = HashMap::new();
    for (target, source, kind) in
        of_below(tx, epic, rest, |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?)))?
    {
        if kind.parse::<BondKind>().is_ok_and(BondKind::is_blocking) {
            waits.entry(target).or_default().push(source);
        }
    }
    Ok(waits)
}
