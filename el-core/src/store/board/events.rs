//! The facts in events and plans: failed landings, resting plans, and what was done lately.

use super::{ATOM, atom_from_row, last_run};
use crate::Result;
use crate::error::Doing;
use crate::model::{DoneRow, Timestamp};
use crate::store::Tx;
use crate::store::ready::is_resting_plan;

/// A branch that could not be landed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotLanded {
    pub(crate) atom: String,
    pub(crate) at: Timestamp,
    pub(crate) onto: String,
    /// `conflict` or `check_failed`.
    pub(crate) outcome: String,
    pub(crate) detail: Option<String>,
    /// The atom that was filed to resolve a conflict.
    pub(crate) conflict_atom: Option<String>,
}

/// The closed atoms whose last landing failed, newest first.
pub(crate) fn list_not_landed(tx: &Tx<'_>, most: i64) -> Result<Vec<NotLanded>> {
    let text = |name: &str| format!("CASE WHEN json_valid(e.data) THEN e.data ->> '$.{name}' END");
    let sql = format!(
        "SELECT e.atom_id, e.at, {}, {}, {}, {} FROM events e INDEXED BY events_land_failed
           CROSS JOIN atoms a ON a.id = e.atom_id
         WHERE e.kind = 'land_failed' AND a.status = 'closed' AND NOT EXISTS (
           SELECT 1 FROM events l INDEXED BY events_atom
           WHERE l.atom_id = e.atom_id AND l.seq > e.seq AND l.kind IN ('landed','land_failed'))
         ORDER BY e.seq DESC LIMIT ?1",
        text("onto"),
        text("fate"),
        text("detail"),
        text("conflict_atom")
    );
    tx.read_all(&sql, [most], |row| {
        Ok(NotLanded {
            atom: row.get(0)?,
            at: Timestamp::from_micros(row.get(1)?),
            onto: row.get::<_, Option<String>>(2)?.unwrap_or_default(),
            outcome: row.get::<_, Option<String>>(3)?.unwrap_or_default(),
            detail: row.get(4)?,
            conflict_atom: row.get(5)?,
        })
    })
    .doing("read failed landings")
}

/// The plans that have begun and not ended, and that nobody drives: the epic, the beginning, and
/// the fault of an answer, if one stopped the plan.
pub(crate) fn list_resting(
    tx: &Tx<'_>,
    most: i64,
) -> Result<Vec<(String, Timestamp, Option<String>)>> {
    let sql = concat!(
        "SELECT p.epic_id, p.started_at,
           (SELECT q.fault FROM questions q WHERE q.epic_id = p.epic_id AND q.state = 'open'
            AND q.fault IS NOT NULL LIMIT 1)
         FROM orchestrations p INDEXED BY orchestrations_on CROSS JOIN atoms a ON a.id = p.epic_id
         WHERE p.ended_at IS NULL AND a.status NOT IN ('closed','wont_do','discard')
           AND ",
        is_resting_plan!("p.epic_id"),
        " LIMIT ?1"
    );
    tx.read_all(sql, [most], |row| {
        Ok((row.get(0)?, Timestamp::from_micros(row.get(1)?), row.get(2)?))
    })
    .doing("read resting plans")
}

/// The atoms that became closed or won't-do lately, newest first: the id, the time, and the run
/// that did it. Looks at the latest `events` events.
pub(crate) fn list_done(tx: &Tx<'_>, events: i64) -> Result<Vec<(String, Timestamp)>> {
    tx.read_all(
        "SELECT e.atom_id, e.at FROM (
               SELECT atom_id, at, kind, data FROM events ORDER BY seq DESC LIMIT ?1) e
             WHERE e.kind = 'status' AND e.atom_id IS NOT NULL AND json_valid(e.data)
               AND e.data ->> '$.to' IN ('closed','wont_do')",
        [events],
        |row| Ok((row.get(0)?, Timestamp::from_micros(row.get(1)?))),
    )
    .doing("read what was done")
}

/// The row of an atom that is closed or won't-do.
pub(crate) fn done_row(tx: &Tx<'_>, id: &str) -> Result<Option<DoneRow>> {
    let sql = format!(
        "SELECT {ATOM}, a.close_reason FROM atoms a
         WHERE a.id = ?1 AND a.status IN ('closed','wont_do')"
    );
    let found = tx
        .read_optional(&sql, [id], |row| Ok((atom_from_row(row)?, row.get(12)?)))
        .doing("read what was done")?;
    let Some((atom, close_reason)) = found else { return Ok(None) };
    Ok(Some(DoneRow { last_run: last_run(tx, id)?, atom, close_reason }))
}

/// Returns true if any agent has ever worked in the project.
pub(crate) fn has_runs(tx: &Tx<'_>) -> Result<bool> {
    tx.read_one("SELECT EXISTS (SELECT 1 FROM runs)", [], |row| row.get(0)).doing("find runs")
}
