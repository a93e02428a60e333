//! The facts behind the series of figures. Each query reads one span of time, and stops at a bound.

use super::Tx;
use super::engine::{self, Row, params};
use crate::error::Doing;
use crate::model::{AttemptFact, Cost, DoneFact, Outcome, Status, Timestamp};
use crate::{Error, Result};

/// The attempts that began since a time, newest first, no more than `most`.
pub(crate) fn list_attempts(tx: &Tx<'_>, since: Timestamp, most: i64) -> Result<Vec<AttemptFact>> {
    // Runs are numbered in the order of their beginnings: the walk ends at the first older one.
    let sql =
        "SELECT r.atom_id, r.agent, r.model, r.started_at, r.attempt, r.outcome, r.cost_micros,
           r.estimated_micros, r.denied IS NOT NULL, r.over_budget IS NOT NULL,
           CASE WHEN r.attempt = 1 AND NOT EXISTS (
             SELECT 1 FROM runs o INDEXED BY runs_atom
             WHERE o.atom_id = r.atom_id AND o.seq > r.seq)
           THEN (SELECT a.status FROM atoms a WHERE a.id = r.atom_id) END
         FROM runs r ORDER BY r.seq DESC LIMIT ?1";
    let doing = "read the attempts";
    let mut found = Vec::new();
    tx.each_row(sql, [most], doing, |row| {
        let fact = attempt_from_row(row).doing(doing)?;
        let is_in_time = fact.started >= since;
        found.extend(is_in_time.then_some(fact));
        Ok::<_, Error>(is_in_time)
    })?;
    Ok(found)
}

fn attempt_from_row(row: &Row<'_>) -> engine::Result<AttemptFact> {
    let outcome: Option<String> = row.get(5)?;
    let status: Option<String> = row.get(10)?;
    Ok(AttemptFact {
        atom: row.get(0)?,
        agent: row.get(1)?,
        model: row.get(2)?,
        started: Timestamp::from_micros(row.get(3)?),
        attempt: row.get(4)?,
        outcome: outcome.map(|word| word.parse().unwrap_or(Outcome::Failed)),
        cost: Cost { cost_micros: row.get(6)?, estimated_micros: row.get(7)? },
        was_denied: row.get(8)?,
        was_over_budget: row.get(9)?,
        stands_as: status.and_then(|word| word.parse().ok()),
    })
}

/// SQL: the time at which the last blocker of an atom `a` was over, before `{end}`.
const LAST_BLOCKER: &str = "(SELECT max(s.closed_at) FROM bonds b
     CROSS JOIN atoms s ON s.id = b.source_id
     WHERE b.target_id = a.id AND b.kind IN ('blocks','waits_for') AND s.closed_at <= {end})";

/// The time since when an atom could have begun: the last of these times of the atom and its
/// blockers, without those after the end.
fn last_of(end: i64, times: [Option<i64>; 4]) -> Timestamp {
    let last = times.into_iter().flatten().filter(|time| *time <= end).max();
    Timestamp::from_micros(last.unwrap_or(end))
}

/// The work that ended since a time, newest first, no more than `most`.
pub(crate) fn list_done(tx: &Tx<'_>, since: Timestamp, most: i64) -> Result<Vec<DoneFact>> {
    let sql = format!(
        "SELECT a.status, a.closed_at, a.created_at, a.defer_until, {}
         FROM atoms a INDEXED BY atoms_closed
         WHERE a.closed_at >= ?1 AND a.status IN ('closed','wont_do')
           AND a.issue_type NOT IN ('epic','formula')
         ORDER BY a.closed_at DESC LIMIT ?2",
        LAST_BLOCKER.replace("{end}", "a.closed_at")
    );
    tx.read_all(&sql, params![since.as_micros(), most], |row| {
        let status: String = row.get(0)?;
        let closed: i64 = row.get(1)?;
        let ready = last_of(closed, [row.get(2)?, row.get(3)?, row.get(4)?, None]);
        Ok(DoneFact {
            status: status.parse().unwrap_or(Status::Closed),
            closed: Timestamp::from_micros(closed),
            ready,
        })
    })
    .doing("read what was done")
}

/// The time since when an atom is ready. A reopened atom is ready since its reopening.
pub(crate) fn ready_since(tx: &Tx<'_>, id: &str, now: Timestamp) -> Result<Option<Timestamp>> {
    let sql = format!(
        "SELECT a.created_at, a.defer_until, a.fresh_since, {} FROM atoms a WHERE a.id = ?1",
        LAST_BLOCKER.replace("{end}", "?2")
    );
    tx.read_optional(&sql, params![id, now.as_micros()], |row| {
        let times = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
        Ok(last_of(now.as_micros(), times))
    })
    .doing("tell since when an atom is ready")
}

/// The parent of an atom, and the parent's title.
pub(crate) fn find_epic(tx: &Tx<'_>, atom: &str) -> Result<Option<(String, String)>> {
    tx.read_optional(
        "SELECT p.id, p.title FROM atoms a JOIN atoms p ON p.id = a.parent_id WHERE a.id = ?1",
        [atom],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .doing("find the epic of an atom")
}
