//! The atoms that are delegated tasks.

use super::{COLUMNS, from_row};
use crate::Result;
use crate::error::Doing;
use crate::model::Atom;
use crate::store::Tx;

/// Returns the delegated tasks, newest first, optionally only those of an assignee.
pub(crate) fn list_delegated(tx: &Tx<'_>, assignee: Option<&str>) -> Result<Vec<Atom>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM atoms a WHERE a.delegated_by IS NOT NULL AND (?1 IS NULL
         OR a.assignee = ?1) ORDER BY a.seq DESC"
    );
    tx.read_all(&sql, [assignee], from_row).doing("read tasks")
}

/// Returns the assignees of all delegated tasks that are not over, sorted.
pub(crate) fn assignees_of_tasks(tx: &Tx<'_>) -> Result<Vec<String>> {
    let mut names: Vec<String> = tx
        .read_all(
            "SELECT DISTINCT assignee FROM atoms
             WHERE delegated_by IS NOT NULL AND assignee IS NOT NULL
             AND status <> 'closed' AND status <> 'wont_do' AND status <> 'discard'",
            [],
            |row| row.get(0),
        )
        .doing("read the agents of tasks")?;
    // SQLite would sort before it drops the repetitions, and make a table of a list of words.
    names.sort();
    Ok(names)
}
