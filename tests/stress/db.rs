//! The database, read from outside of `el`.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Db(Connection);

/// A live run, with its atom's status.
#[derive(Debug, Clone)]
pub(crate) struct LiveRun {
    pub(crate) id: String,
    pub(crate) atom: String,
    pub(crate) session: Option<String>,
    pub(crate) supervisor: Option<u32>,
    pub(crate) agent: Option<u32>,
    pub(crate) status: String,
}

#[derive(Debug, Clone)]
pub(crate) struct RunRow {
    pub(crate) id: String,
    pub(crate) atom: String,
    pub(crate) attempt: i64,
    pub(crate) outcome: Option<String>,
    /// Microseconds since 1970.
    pub(crate) ended_at: Option<i64>,
}

#[derive(Debug, Clone)]
pub(crate) struct EventRow {
    pub(crate) seq: i64,
    pub(crate) at: i64,
    pub(crate) actor: String,
    pub(crate) kind: String,
    pub(crate) atom: String,
    pub(crate) run: Option<String>,
    pub(crate) data: Value,
}

impl Db {
    /// For reading.
    pub(crate) fn open(path: &Path) -> Db {
        let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        conn.busy_timeout(Duration::from_secs(20)).unwrap();
        Db(conn)
    }

    /// A connection for blocking the writers, which must not wait for its own turn.
    pub(crate) fn open_to_lock(path: &Path) -> Db {
        let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
        conn.busy_timeout(Duration::ZERO).unwrap();
        Db(conn)
    }

    /// Blocks all other writers until [`Db::unlock`]; `false` if a writer is active.
    pub(crate) fn lock(&self) -> bool {
        self.0.execute_batch("BEGIN IMMEDIATE").is_ok()
    }

    pub(crate) fn unlock(&self) {
        self.0.execute_batch("ROLLBACK").unwrap();
    }

    fn rows<T>(
        &self,
        sql: &str,
        of: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Vec<T> {
        let mut statement = self.0.prepare_cached(sql).unwrap();
        let rows = statement.query_map([], of).unwrap();
        rows.collect::<rusqlite::Result<_>>().unwrap()
    }

    fn number(&self, sql: &str) -> i64 {
        self.rows(sql, |row| row.get(0))[0]
    }

    pub(crate) fn live(&self) -> Vec<LiveRun> {
        let sql = "SELECT r.id, r.atom_id, r.session, r.supervisor_pid, r.agent_pid, \
            coalesce(a.status, 'gone')
                   FROM runs r LEFT JOIN atoms a ON a.id = r.atom_id WHERE r.outcome IS NULL";
        self.rows(sql, |row| {
            Ok(LiveRun {
                id: row.get(0)?,
                atom: row.get(1)?,
                session: row.get(2)?,
                supervisor: row.get(3)?,
                agent: row.get(4)?,
                status: row.get(5)?,
            })
        })
    }

    /// Live runs of workers that are gone, or that signed on before this moment (microseconds since
    /// 1970).
    pub(crate) fn live_of_workers_before(&self, moment: i64) -> Vec<String> {
        let sql = format!(
            "SELECT r.id || ' of ' || r.atom_id FROM runs r WHERE r.outcome IS NULL
             AND NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = r.worker_id AND w.started_at > \
             {moment})"
        );
        self.rows(&sql, |row| row.get(0))
    }

    pub(crate) fn runs(&self) -> Vec<RunRow> {
        self.rows("SELECT id, atom_id, attempt, outcome, ended_at FROM runs ORDER BY seq", |row| {
            Ok(RunRow {
                id: row.get(0)?,
                atom: row.get(1)?,
                attempt: row.get(2)?,
                outcome: row.get(3)?,
                ended_at: row.get(4)?,
            })
        })
    }

    pub(crate) fn settled(&self) -> Vec<String> {
        self.rows("SELECT id FROM runs WHERE outcome IS NOT NULL", |row| row.get(0))
    }

    pub(crate) fn is_live(&self, run: &str) -> bool {
        self.live().iter().any(|live| live.id == run)
    }

    /// Id and status of every atom.
    pub(crate) fn atoms(&self) -> Vec<(String, String)> {
        self.rows("SELECT id, status FROM atoms ORDER BY seq", |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Id and title of every task of a plan.
    pub(crate) fn planned(&self) -> Vec<(String, String)> {
        let sql = "SELECT a.id, a.title FROM planned_tasks p JOIN atoms a ON a.id = p.atom_id \
            ORDER BY a.seq";
        self.rows(sql, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// The blockers of each atom.
    pub(crate) fn blocking(&self) -> Vec<(String, String)> {
        self.rows("SELECT source_id, target_id FROM bonds WHERE kind = 'blocks'", |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
    }

    /// Atoms in progress without a run and without a person: both read at the same moment.
    pub(crate) fn ownerless(&self) -> Vec<String> {
        let sql = "SELECT a.id FROM atoms a WHERE a.status = 'in_progress' AND a.assignee IS NULL
                   AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.atom_id = a.id AND r.outcome IS \
                   NULL)";
        self.rows(sql, |row| row.get(0))
    }

    pub(crate) fn twice_live(&self) -> Vec<String> {
        self.rows(
            "SELECT atom_id FROM runs WHERE outcome IS NULL GROUP BY atom_id HAVING count(*) > 1",
            |row| row.get(0),
        )
    }

    /// Returns true if a back-off runs for which a drain has to wait.
    pub(crate) fn waits_for_retry(&self) -> bool {
        self.number(
            "SELECT count(*) FROM atoms WHERE status = 'open' AND retry_at > \
            unixepoch('subsec') * 1000000",
        ) > 0
    }

    pub(crate) fn has_comment(&self, text: &str) -> bool {
        let sql = "SELECT count(*) FROM comments WHERE content = ?1";
        self.0.query_row(sql, [text], |row| row.get::<_, i64>(0)).unwrap() > 0
    }

    pub(crate) fn events(&self) -> Vec<EventRow> {
        self.rows(
            "SELECT seq, at, actor, kind, coalesce(atom_id, ''), run_id, data FROM events \
            ORDER BY seq",
            |row| {
                let data: String = row.get(6)?;
                Ok(EventRow {
                    seq: row.get(0)?,
                    at: row.get(1)?,
                    actor: row.get(2)?,
                    kind: row.get(3)?,
                    atom: row.get(4)?,
                    run: row.get(5)?,
                    data: serde_json::from_str(&data).unwrap(),
                })
            },
        )
    }

    /// Describes an atom's events for people.
    pub(crate) fn story(&self, atom: &str) -> String {
        let events = self.events();
        let lines = events.iter().filter(|event| event.atom == atom).map(|event| {
            let run = event.run.as_deref().unwrap_or("-");
            format!(
                "    {:>4} {} {:<7} {:<16} {run:<13} {}\n",
                event.seq, event.at, event.actor, event.kind, event.data
            )
        });
        lines.collect()
    }
}
