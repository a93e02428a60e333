use super::Tx;
use super::engine::{self, params};
use crate::Result;
use crate::error::Doing;
use crate::model::Timestamp;

/// A task of the mailbox with the atom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) task_id: String,
    pub(crate) atom_id: String,
    /// The state that was last written to the queue's file.
    pub(crate) told: Option<String>,
}

fn from_row(row: &engine::Row<'_>) -> engine::Result<Task> {
    Ok(Task { task_id: row.get(0)?, atom_id: row.get(1)?, told: row.get(2)? })
}

pub(crate) fn find_task(tx: &Tx<'_>, task_id: &str) -> Result<Option<Task>> {
    tx.read_optional(
        "SELECT task_id, atom_id, told FROM mailbox_tasks WHERE task_id = ?1",
        [task_id],
        from_row,
    )
    .doing("find a task")
}

/// The mailbox task of an atom.
pub(crate) fn task_of(tx: &Tx<'_>, atom: &str) -> Result<Option<Task>> {
    tx.read_optional(
        "SELECT task_id, atom_id, told FROM mailbox_tasks WHERE atom_id = ?1",
        [atom],
        from_row,
    )
    .doing("find a task")
}

/// Returns the tasks, oldest atom first. Excluded are tasks reported as over that have not changed
/// since `since`.
pub(crate) fn list_tasks(tx: &Tx<'_>, since: Timestamp) -> Result<Vec<Task>> {
    tx.read_all(
        "SELECT t.task_id, t.atom_id, t.told FROM mailbox_tasks t
             JOIN atoms a ON a.id = t.atom_id
             WHERE t.told IS NULL OR t.told NOT IN ('completed','rejected')
             OR a.status NOT IN ('closed','wont_do','discard') OR a.updated_at >= ?1
             ORDER BY a.seq",
        [since.as_micros()],
        from_row,
    )
    .doing("read tasks")
}

pub(crate) fn add_task(tx: &Tx<'_>, task_id: &str, atom: &str) -> Result<()> {
    tx.execute(
        "INSERT INTO mailbox_tasks (task_id, atom_id) VALUES (?1, ?2)",
        params![task_id, atom],
    )
    .doing("add a task")
    .map(drop)
}

pub(crate) fn set_told(tx: &Tx<'_>, task_id: &str, told: &str) -> Result<()> {
    tx.execute("UPDATE mailbox_tasks SET told = ?2 WHERE task_id = ?1", params![task_id, told])
        .doing("change a task")
        .map(drop)
}

/// Marks the n-th message of this content in the file as handled. Returns true if the message was
/// new.
pub(crate) fn mark_seen(
    tx: &Tx<'_>,
    file: &str,
    hash: &str,
    nth: i64,
    now: Timestamp,
) -> Result<bool> {
    let changed = tx
        .execute_cached(
            "INSERT INTO mailbox_seen (file, hash, nth, at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO NOTHING",
            params![file, hash, nth, now.as_micros()],
        )
        .doing("mark a message as seen")?;
    Ok(changed > 0)
}
