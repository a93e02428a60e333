use super::engine::{self, Row, params};
use super::{Tx, without_trigger};
use crate::error::Doing;
use crate::model::{Bond, BondKind, Timestamp};
use crate::{Error, Result};

/// Adds a bond. Returns false if the bond existed.
pub(crate) fn add(
    tx: &Tx<'_>,
    source: &str,
    target: &str,
    kind: BondKind,
    now: Timestamp,
) -> Result<bool> {
    let added = tx
        .execute_cached(
            "INSERT INTO bonds (target_id, source_id, kind, created_at)
             VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO NOTHING",
            params![target, source, kind.as_str(), now.as_micros()],
        )
        .doing("add a bond")?;
    Ok(added > 0)
}

/// Adds a bond that is not there.
pub(crate) fn add_new(
    tx: &Tx<'_>,
    source: &str,
    target: &str,
    kind: BondKind,
    now: Timestamp,
) -> Result<()> {
    tx.gather_row(
        "INSERT INTO bonds (target_id, source_id, kind, created_at) VALUES (?1, ?2, ?3, ?4)",
        params![target, source, kind.as_str(), now.as_micros()],
    )
    .doing("add a bond")
}

/// The number of new bonds from which on the blockers are counted for all of them together.
const MANY: usize = 1_000;

/// Does work that adds `count` bonds. At each, the trigger would write the atom that it blocks.
pub(crate) fn add_many(tx: &Tx<'_>, count: usize, work: impl FnOnce() -> Result<()>) -> Result<()> {
    if count < MANY || !tx.is_sqlite() {
        return work();
    }
    without_trigger(tx, "bonds_block_insert", work)?;
    recount_blockers(tx)
}

/// Removes a bond, or every bond between two atoms if `kind` is `None`. Returns the removed bonds.
pub(crate) fn remove(
    tx: &Tx<'_>,
    source: &str,
    target: &str,
    kind: Option<BondKind>,
) -> Result<Vec<Bond>> {
    let found: Vec<Bond> = list_touching(tx, target)?
        .into_iter()
        .filter(|b| {
            b.source_id == source
                && b.target_id == target
                && b.dependency_type != BondKind::ParentChild
                && kind.is_none_or(|k| k == b.dependency_type)
        })
        .collect();
    for bond in &found {
        tx.execute(
            "DELETE FROM bonds WHERE target_id = ?1 AND source_id = ?2 AND kind = ?3",
            params![target, source, bond.dependency_type.as_str()],
        )
        .doing("remove a bond")?;
    }
    Ok(found)
}

/// Every bond that the atom is an end of, containment included; oldest first.
pub(crate) fn list_touching(tx: &Tx<'_>, atom: &str) -> Result<Vec<Bond>> {
    query_bonds(
        tx,
        "SELECT source_id, target_id, kind, created_at FROM bonds WHERE target_id = ?1
         UNION ALL SELECT source_id, target_id, kind, created_at FROM bonds WHERE source_id = ?1
         UNION ALL SELECT parent_id, id, 'parent_child', created_at FROM atoms
         WHERE id = ?1 AND parent_id IS NOT NULL
         UNION ALL SELECT parent_id, id, 'parent_child', created_at FROM atoms WHERE parent_id = ?1
         ORDER BY 4, 1, 2",
        params![atom],
    )
}

/// The bonds into an atom, without containment, by source and kind.
pub(crate) fn list_into(tx: &Tx<'_>, target: &str) -> Result<Vec<Bond>> {
    query_bonds(
        tx,
        "SELECT source_id, target_id, kind, created_at FROM bonds WHERE target_id = ?1
         ORDER BY source_id, kind",
        params![target],
    )
}

/// Every bond of the project, containment included.
pub(crate) fn list_all(tx: &Tx<'_>) -> Result<Vec<Bond>> {
    query_bonds(
        tx,
        "SELECT source_id, target_id, kind, created_at FROM bonds
         UNION ALL SELECT parent_id, id, 'parent_child', created_at FROM atoms
         WHERE parent_id IS NOT NULL ORDER BY 4, 1, 2",
        params![],
    )
}

/// Returns true if there is a bond of the kind.
pub(crate) fn has_kind(tx: &Tx<'_>, kind: BondKind) -> Result<bool> {
    tx.has_row("SELECT 1 FROM bonds WHERE kind = ?1 LIMIT 1", [kind.as_str()])
        .doing("find bonds of a kind")
}

/// Passes source, target and kind of every bond, without containment, to `each`.
pub(crate) fn each_bond(tx: &Tx<'_>, mut each: impl FnMut(&str, &str, BondKind)) -> Result<()> {
    let sql = "SELECT source_id, target_id, kind FROM bonds";
    tx.read_all(sql, [], |row| {
        let word = |at: usize| row.get_ref(at).and_then(|v| v.as_str().map_err(Into::into));
        if let Ok(kind) = word(2)?.parse() {
            each(word(0)?, word(1)?, kind);
        }
        Ok(())
    })
    .doing("read bonds")
}

/// Returns the atoms that wait for this atom alone: targets of blocking bonds, unless the atom is
/// an epic, and children, since a blocked parent holds the children.
pub(crate) fn waiting_for_itself(tx: &Tx<'_>, atom: &str) -> Result<Vec<String>> {
    query_ids(
        tx,
        "SELECT b.target_id FROM bonds b CROSS JOIN atoms s ON s.id = b.source_id
         WHERE b.source_id = ?1 AND b.kind IN ('blocks','conditional_blocks')
           AND s.issue_type NOT IN ('epic','formula')
         UNION ALL SELECT id FROM atoms WHERE parent_id = ?1",
        atom,
    )
}

/// Returns the atoms that wait for this atom and all descendants: targets of `waits_for`, and of
/// every blocking bond of an epic.
pub(crate) fn waiting_for_family(tx: &Tx<'_>, atom: &str) -> Result<Vec<String>> {
    query_ids(
        tx,
        "SELECT b.target_id FROM bonds b CROSS JOIN atoms s ON s.id = b.source_id
         WHERE b.source_id = ?1 AND (b.kind = 'waits_for'
           OR (b.kind IN ('blocks','conditional_blocks') AND s.issue_type IN ('epic','formula')))",
        atom,
    )
}

fn query_ids(tx: &Tx<'_>, sql: &str, atom: &str) -> Result<Vec<String>> {
    tx.read_all(sql, [atom], |row| row.get(0)).doing("follow bonds")
}

fn query_bonds(tx: &Tx<'_>, sql: &str, params: &[&dyn engine::ToSql]) -> Result<Vec<Bond>> {
    tx.read_all::<_, Vec<_>>(sql, params, from_row).doing("read bonds")?.into_iter().collect()
}

fn from_row(row: &Row<'_>) -> engine::Result<Result<Bond>> {
    let kind: String = row.get(2)?;
    let Ok(kind) = kind.parse() else {
        return Ok(Err(Error::Corrupt {
            table: "bonds",
            why: format!("the kind '{kind}' is unknown"),
        }));
    };
    Ok(Ok(Bond {
        record_type: Bond::RECORD_TYPE,
        source_id: row.get(0)?,
        target_id: row.get(1)?,
        dependency_type: kind,
        created_at: Timestamp::from_micros(row.get(3)?),
    }))
}

/// Returns atoms with a wrong count of live `blocks` bonds. Only a write that bypasses the triggers
/// can cause a wrong count.
pub(crate) fn find_miscounted(tx: &Tx<'_>) -> Result<Vec<String>> {
    tx.read_all(
        "SELECT a.id FROM atoms a WHERE a.blocked_by <> (
               SELECT count(*) FROM bonds b JOIN atoms s ON s.id = b.source_id
               WHERE b.target_id = a.id AND b.kind = 'blocks'
               AND s.status NOT IN ('closed','wont_do','discard')) ORDER BY a.seq",
        [],
        |row| row.get(0),
    )
    .doing("check the counts of blockers")
}

/// Counts the live `blocks` bonds of every atom anew, and writes the counts that differ.
pub(crate) fn recount_blockers(tx: &Tx<'_>) -> Result<()> {
    let count = "(SELECT count(*) FROM bonds b JOIN atoms s ON s.id = b.source_id
           WHERE b.target_id = atoms.id AND b.kind = 'blocks'
           AND s.status NOT IN ('closed','wont_do','discard'))";
    let sql = format!("UPDATE atoms SET blocked_by = {count} WHERE blocked_by <> {count}");
    tx.execute(&sql, []).doing("count blockers anew").map(drop)
}
