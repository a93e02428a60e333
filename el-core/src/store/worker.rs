use super::engine::{self, OptionalExtension as _, Row, params};
use super::{Store, Tx};
use crate::Result;
use crate::error::Doing;
use crate::model::{Stamp, Takes, Timestamp, Worker};

pub(crate) fn insert(tx: &Tx<'_>, worker: &Worker) -> Result<()> {
    tx.execute(
        "INSERT INTO workers (id, pid, start, boot, agent, concurrency, started_at, heartbeat_at,
         agents, takes, name, load_milli, offers)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        params![
            worker.id,
            worker.process.pid,
            worker.process.start,
            worker.process.boot,
            worker.agent,
            worker.concurrency,
            worker.started_at.as_micros(),
            worker.heartbeat_at.as_micros(),
            serde_json::json!(worker.agents).to_string(),
            worker.takes.as_str(),
            worker.name,
            worker.load_milli,
            serde_json::json!(worker.offers).to_string(),
        ],
    )
    .doing("register a worker")
    .map(drop)
}

/// Returns false if the worker is not signed on.
pub(crate) fn heartbeat(
    tx: &Tx<'_>,
    id: &str,
    now: Timestamp,
    load_milli: Option<i64>,
) -> Result<bool> {
    let changed = tx.execute(
        "UPDATE workers SET heartbeat_at = ?2, load_milli = ?3 WHERE id = ?1",
        params![id, now.as_micros(), load_milli],
    );
    Ok(changed.doing("keep a worker alive")? > 0)
}

/// The news for a waiting worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pulse {
    /// Someone said `el work --stop`.
    pub stop_requested: bool,
    /// The number of the last event.
    pub last_event: i64,
    /// When the first lease of a live run is over.
    pub lease_end: Option<Timestamp>,
}

/// Records a heartbeat and returns the news, by one statement. `None`: the worker is signed off.
pub(crate) fn pulse(
    store: &Store,
    id: &str,
    now: Timestamp,
    load_milli: Option<i64>,
) -> Result<Option<Pulse>> {
    let read = |row: &Row<'_>| {
        Ok(Pulse {
            stop_requested: row.get(0)?,
            last_event: row.get(1)?,
            lease_end: row.time_or_none(2)?,
        })
    };
    store
        .database
        .query_alone(
            "UPDATE workers SET heartbeat_at = ?2, load_milli = ?3 WHERE id = ?1
             RETURNING stop_requested,
               (SELECT coalesce(max(seq), 0) FROM events),
               (SELECT min(lease_until) FROM runs WHERE outcome IS NULL)",
            params![id, now.as_micros(), load_milli],
            read,
        )
        .optional()
        .doing("keep a worker alive")
}

/// Returns when the date of the first deferred atom comes.
pub(crate) fn next_date(tx: &Tx<'_>, now: Timestamp) -> Result<Option<Timestamp>> {
    let sql = "SELECT min(defer_until) FROM atoms
        WHERE status = 'deferred' AND blocked_by = 0 AND defer_until > ?1";
    tx.query_row(sql, [now.as_micros()], |row| row.time_or_none(0))
        .doing("find the next date of an atom")
}

/// Records the atoms that the worker can be relied on to take.
pub(crate) fn set_takes(tx: &Tx<'_>, id: &str, takes: Takes) -> Result<()> {
    tx.execute("UPDATE workers SET takes = ?2 WHERE id = ?1", params![id, takes.as_str()])
        .doing("record a worker's filter")
        .map(drop)
}

pub(crate) fn remove(tx: &Tx<'_>, id: &str) -> Result<()> {
    tx.execute("DELETE FROM workers WHERE id = ?1", [id]).doing("sign a worker off").map(drop)
}

pub(crate) fn request_stop(tx: &Tx<'_>, id: &str) -> Result<()> {
    tx.execute("UPDATE workers SET stop_requested = 1 WHERE id = ?1", [id])
        .doing("ask a worker to stop")
        .map(drop)
}

/// Returns true if a worker was asked to stop. An unknown worker was not.
pub(crate) fn is_stopping(tx: &Tx<'_>, id: &str) -> Result<bool> {
    tx.read_one(
        "SELECT EXISTS (SELECT 1 FROM workers WHERE id = ?1 AND stop_requested = 1)",
        [id],
        |row| row.get(0),
    )
    .doing("tell if a worker should stop")
}

pub(crate) fn list_workers(tx: &Tx<'_>) -> Result<Vec<Worker>> {
    tx.read_all(
        "SELECT id, pid, start, boot, agent, concurrency, started_at, heartbeat_at,
             stop_requested, agents, takes, name, load_milli, offers
             FROM workers ORDER BY started_at, id",
        [],
        from_row,
    )
    .doing("read workers")
}

fn from_row(row: &Row<'_>) -> engine::Result<Worker> {
    let agent: String = row.get(4)?;
    let mut agents: Vec<String> =
        serde_json::from_str(&row.get::<_, String>(9)?).unwrap_or_default();
    if agents.is_empty() {
        agents.push(agent.clone());
    }
    Ok(Worker {
        id: row.get(0)?,
        name: row.get(11)?,
        load_milli: row.get(12)?,
        process: Stamp { pid: row.get(1)?, start: row.get(2)?, boot: row.get(3)? },
        agent,
        agents,
        takes: row.get::<_, String>(10)?.parse().unwrap_or(Takes::Some),
        offers: row.json_or_none(13)?.unwrap_or_default(),
        concurrency: row.get(5)?,
        started_at: Timestamp::from_micros(row.get(6)?),
        heartbeat_at: Timestamp::from_micros(row.get(7)?),
        stop_requested: row.get(8)?,
    })
}
