use std::collections::HashSet;

use super::engine::{self, Row, params};
use super::{Store, Tx, json_text};
use crate::error::Doing;
use crate::model::{Event, EventKind, Timestamp};
use crate::{Ctx, Error, Result};

/// Writes an event of the audit trail, in the transaction of the change.
pub(crate) fn insert(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    kind: EventKind,
    atom: Option<&str>,
    run: Option<&str>,
    data: &serde_json::Value,
) -> Result<()> {
    let run = run.or(ctx.session.map(|s| s.run.as_str()));
    tx.gather_row(
        "INSERT INTO events (at, actor, kind, atom_id, run_id, data)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![ctx.now.as_micros(), ctx.actor, kind.as_str(), atom, run, json_text(data),],
    )
    .doing("write an event")
}

/// Returns the events of an atom, or of all atoms, oldest first: only events after `after`, at most
/// `limit`.
pub(crate) fn list(tx: &Tx<'_>, atom: Option<&str>, after: i64, limit: i64) -> Result<Vec<Event>> {
    let mut events = Vec::new();
    visit_each(tx, atom, after, limit, |event| {
        events.push(event);
        Ok(())
    })?;
    Ok(events)
}

const LAST: &str = "SELECT coalesce(max(seq), 0) FROM events";

/// The number of the last event; 0 if there is none.
pub(crate) fn last(tx: &Tx<'_>) -> Result<i64> {
    tx.read_one(LAST, [], |row| row.get(0)).doing("find the last event")
}

/// The same, by a single question to a server. A transaction makes a broken connection anew.
pub(crate) fn last_alone(store: &Store) -> Result<i64> {
    let told = store.database.query_alone(LAST, [], |row| row.get(0));
    told.or_else(|_| store.read(last))
}

/// Counts the events of an atom, or of all atoms.
pub(crate) fn count(tx: &Tx<'_>, atom: Option<&str>) -> Result<i64> {
    let of_atom = if atom.is_some() { "atom_id = ?1" } else { "?1 IS NULL" };
    tx.read_one(&format!("SELECT count(*) FROM events WHERE {of_atom}"), [atom], |row| row.get(0))
        .doing("count events")
}

/// The number of the event before the latest `count`.
pub(crate) fn before_latest(tx: &Tx<'_>, atom: Option<&str>, count: i64) -> Result<i64> {
    let of_atom = if atom.is_some() { "atom_id = ?1" } else { "?1 IS NULL" };
    let sql = format!("SELECT seq FROM events WHERE {of_atom} ORDER BY seq DESC LIMIT 1 OFFSET ?2");
    tx.read_optional(&sql, params![atom, count], |row| row.get(0))
        .doing("find the latest events")
        .map(Option::unwrap_or_default)
}

/// Visits the events of [`list`] in order, in constant memory.
pub(crate) fn visit_each(
    tx: &Tx<'_>,
    atom: Option<&str>,
    after: i64,
    limit: i64,
    mut visit: impl FnMut(Event) -> Result<()>,
) -> Result<()> {
    let limit = if limit < 0 { i64::MAX } else { limit };
    // Two texts: a condition that may be absent would keep the index of atoms from being used.
    let of_atom = if atom.is_some() { "atom_id = ?1 AND" } else { "?1 IS NULL AND" };
    let sql = format!(
        "SELECT seq, at, actor, kind, atom_id, run_id, data FROM events
         WHERE {of_atom} seq > ?2 ORDER BY seq LIMIT ?3"
    );
    let doing = "read events";
    tx.each_row(&sql, params![atom, after, limit], doing, |row| {
        visit(from_row(row).doing(doing)??).map(|()| true)
    })
}

/// Visits a person's own events, newest first, until `visit` says no.
pub(crate) fn each_of_person(
    tx: &Tx<'_>,
    actor: &str,
    mut visit: impl FnMut(Event) -> Result<bool>,
) -> Result<()> {
    let doing = "read a person's events";
    let sql = "SELECT seq, at, actor, kind, atom_id, run_id, data FROM events
               WHERE actor = ?1 AND run_id IS NULL ORDER BY seq DESC";
    tx.each_row(sql, [actor], doing, |row| visit(from_row(row).doing(doing)??))
}

/// Returns true if somebody other than this person changed the atom after an event.
pub(crate) fn is_changed_by_others(
    tx: &Tx<'_>,
    atom: &str,
    after: i64,
    actor: &str,
) -> Result<bool> {
    tx.read_one(
        "SELECT EXISTS (SELECT 1 FROM events INDEXED BY events_atom
         WHERE atom_id = ?1 AND seq > ?2 AND (actor <> ?3 OR run_id IS NOT NULL))",
        params![atom, after, actor],
        |row| row.get(0),
    )
    .doing("tell what is new")
}

/// The latest change of an atom after an event, without changes that were taken back.
pub(crate) fn other_since(tx: &Tx<'_>, atom: &str, after: i64) -> Result<Option<Event>> {
    let undone: HashSet<i64> = list(tx, Some(atom), after, i64::MAX)?
        .iter()
        .filter(|event| event.kind == EventKind::Undone)
        .filter_map(|event| event.data.get("step").and_then(serde_json::Value::as_i64))
        .collect();
    let mut found = None;
    let mut last: Option<Event> = None;
    let mut is_undone = false;
    visit_each(tx, Some(atom), after, i64::MAX, |event| {
        let is_same_call =
            last.as_ref().is_some_and(|l| l.at == event.at && l.actor == event.actor);
        if !is_same_call {
            is_undone = was_step_of(tx, &event, &undone)?;
        }
        if event.kind != EventKind::Undone && !is_undone {
            found = Some(event.clone());
        }
        last = Some(event);
        Ok(())
    })?;
    Ok(found)
}

/// Returns true if the event's call is one of these steps: a step's number is that of its first
/// event, which may be of another atom.
fn was_step_of(tx: &Tx<'_>, event: &Event, steps: &HashSet<i64>) -> Result<bool> {
    if steps.is_empty() {
        return Ok(false);
    }
    let first: i64 = tx
        .read_one(
            // A server's numbers have gaps.
            "SELECT min(seq) FROM events WHERE seq <= ?1 AND seq > (
               SELECT coalesce(max(seq), 0) FROM events
               WHERE seq < ?1 AND (at <> ?2 OR actor <> ?3))",
            params![event.seq, event.at.as_micros(), event.actor],
            |row| row.get(0),
        )
        .doing("find the beginning of a call")?;
    Ok(steps.contains(&first))
}

/// Counts the nested delegated tasks around an atom: the atom if delegated, the task that filed the
/// atom from a run, and so on.
pub(crate) fn tasks_above(tx: &Tx<'_>, atom: &str, at_most: i64) -> Result<i64> {
    tx.read_one(
        "WITH RECURSIVE above (atom, step) AS (
             SELECT ?1, 1
             UNION ALL
             SELECT r.atom_id, above.step + 1 FROM above
             JOIN events e ON e.atom_id = above.atom AND e.kind = 'created'
             JOIN runs r ON r.id = e.run_id
             WHERE above.step < ?2)
         SELECT count(*) FROM above JOIN atoms a ON a.id = above.atom
         WHERE a.delegated_by IS NOT NULL",
        params![atom, at_most],
        |row| row.get(0),
    )
    .doing("count the levels of a task")
}

/// Returns the latest atom that the conversation claimed last, that is still in progress without a
/// run, and that no reminder has named since the claim.
pub(crate) fn claimed_by(tx: &Tx<'_>, conversation: &str) -> Result<Option<String>> {
    tx.read_optional(
        // The condition repeats the words of the index: with other words it would not be used.
        "SELECT a.id FROM events e INDEXED BY events_conversation
         CROSS JOIN atoms a ON a.id = e.atom_id
         WHERE e.kind = 'claimed' AND CASE WHEN json_valid(e.data)
         THEN e.data ->> '$.conversation' END = ?1
           AND a.status = 'in_progress'
           AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.atom_id = a.id AND r.outcome IS NULL)
           AND NOT EXISTS (SELECT 1 FROM events n
           WHERE n.atom_id = a.id AND n.seq > e.seq AND n.kind IN ('claimed','nudged'))
         ORDER BY e.seq DESC LIMIT 1",
        [conversation],
        |row| row.get(0),
    )
    .doing("find a conversation's claims")
}

/// Returns true if `by` already reminded the run.
pub(crate) fn was_nudged(tx: &Tx<'_>, atom: &str, run: &str, by: &str) -> Result<bool> {
    tx.read_one(
        "SELECT EXISTS (SELECT 1 FROM events WHERE atom_id = ?1 AND run_id = ?2
             AND kind = 'nudged' AND json_valid(data) AND data ->> '$.by' = ?3)",
        [atom, run, by],
        |row| row.get(0),
    )
    .doing("tell if a run was reminded")
}

fn from_row(row: &Row<'_>) -> engine::Result<Result<Event>> {
    let kind: String = row.get(3)?;
    let data: String = row.get(6)?;
    let event = |kind: EventKind| -> engine::Result<Event> {
        Ok(Event {
            seq: row.get(0)?,
            at: Timestamp::from_micros(row.get(1)?),
            actor: row.get(2)?,
            kind,
            atom_id: row.get(4)?,
            run_id: row.get(5)?,
            data: serde_json::from_str(&data).unwrap_or(serde_json::Value::Null),
        })
    };
    Ok(match kind.parse() {
        Ok(kind) => Ok(event(kind)?),
        Err(_) => {
            Err(Error::Corrupt { table: "events", why: format!("the kind '{kind}' is unknown") })
        }
    })
}
