//! The database, read from outside of `el`: a file, or a schema on a server.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use postgres::types::Type;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

/// Where a project's database is.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    File(PathBuf),
    Server(String),
}

impl Place {
    /// For a project of this name: on the server of `EL_TEST_POSTGRES`, if there is one.
    pub(crate) fn new(state: &Path, name: &str) -> Place {
        match std::env::var("EL_TEST_POSTGRES") {
            Ok(url) => Place::Server(format!("{url}&options=-csearch_path%3Dx_{name}")),
            Err(_) => Place::File(state.join("el.db")),
        }
    }

    /// For reading.
    pub(crate) fn open(&self) -> Db {
        self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY, Duration::from_secs(20))
    }

    /// For blocking the writers, without a wait for its own turn.
    pub(crate) fn open_to_lock(&self) -> Db {
        self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE, Duration::ZERO)
    }

    fn connect(&self, flags: OpenFlags, patience: Duration) -> Db {
        match self {
            Place::File(path) => {
                let file = Connection::open_with_flags(path, flags).unwrap();
                file.busy_timeout(patience).unwrap();
                Db::File(file)
            }
            Place::Server(url) => {
                let server = postgres::Client::connect(url, postgres::NoTls).unwrap();
                Db::Server(RefCell::new(server))
            }
        }
    }
}

/// A connection.
pub(crate) enum Db {
    File(Connection),
    Server(RefCell<postgres::Client>),
}

/// The cells of a row: texts, numbers, nulls.
struct Row(Vec<Value>);

impl Row {
    fn maybe_text(&self, at: usize) -> Option<String> {
        self.0[at].as_str().map(str::to_owned)
    }

    fn text(&self, at: usize) -> String {
        self.maybe_text(at).unwrap()
    }

    fn maybe_number<T: TryFrom<i64>>(&self, at: usize) -> Option<T> {
        T::try_from(self.0[at].as_i64()?).ok()
    }

    fn number(&self, at: usize) -> i64 {
        self.maybe_number(at).unwrap()
    }

    fn of_file(row: &rusqlite::Row<'_>, columns: usize) -> rusqlite::Result<Row> {
        let cell = |at| {
            Ok(match row.get_ref(at)? {
                ValueRef::Integer(number) => number.into(),
                ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
                _ => Value::Null,
            })
        };
        (0..columns).map(cell).collect::<rusqlite::Result<_>>().map(Row)
    }

    fn of_server(row: &postgres::Row) -> Row {
        let cell = |(at, column): (usize, &postgres::Column)| match *column.type_() {
            Type::INT8 => row.get::<_, Option<i64>>(at).into(),
            _ => row.get::<_, Option<String>>(at).into(),
        };
        Row(row.columns().iter().enumerate().map(cell).collect())
    }
}

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
    /// Blocks all other writers until [`Db::unlock`]; `false` if a writer is active.
    pub(crate) fn lock(&self) -> bool {
        match self {
            Db::File(file) => file.execute_batch("BEGIN IMMEDIATE").is_ok(),
            Db::Server(server) => {
                server.borrow_mut().batch_execute("BEGIN").unwrap();
                // The lock of whoever writes the project.
                let is_mine = self.rows(
                    "SELECT pg_try_advisory_xact_lock(
                       hashtextextended(current_schema(), 7090000001))::int::bigint",
                );
                let is_mine = is_mine[0].number(0) == 1;
                if !is_mine {
                    self.unlock();
                }
                is_mine
            }
        }
    }

    pub(crate) fn unlock(&self) {
        match self {
            Db::File(file) => file.execute_batch("ROLLBACK").unwrap(),
            Db::Server(server) => server.borrow_mut().batch_execute("ROLLBACK").unwrap(),
        }
    }

    fn rows(&self, sql: &str) -> Vec<Row> {
        match self {
            Db::File(file) => {
                let mut statement = file.prepare_cached(sql).unwrap();
                let columns = statement.column_count();
                let rows = statement.query_map([], |row| Row::of_file(row, columns)).unwrap();
                rows.collect::<rusqlite::Result<_>>().unwrap()
            }
            Db::Server(server) => {
                let rows = server.borrow_mut().query_typed(sql, &[]).unwrap();
                rows.iter().map(Row::of_server).collect()
            }
        }
    }

    fn texts(&self, sql: &str) -> Vec<String> {
        self.rows(sql).iter().map(|row| row.text(0)).collect()
    }

    fn pairs(&self, sql: &str) -> Vec<(String, String)> {
        self.rows(sql).iter().map(|row| (row.text(0), row.text(1))).collect()
    }

    fn count(&self, sql: &str) -> i64 {
        self.rows(sql)[0].number(0)
    }

    pub(crate) fn live(&self) -> Vec<LiveRun> {
        let sql = "SELECT r.id, r.atom_id, r.session, r.supervisor_pid, r.agent_pid, \
            coalesce(a.status, 'gone')
                   FROM runs r LEFT JOIN atoms a ON a.id = r.atom_id WHERE r.outcome IS NULL";
        let live = |row: &Row| LiveRun {
            id: row.text(0),
            atom: row.text(1),
            session: row.maybe_text(2),
            supervisor: row.maybe_number(3),
            agent: row.maybe_number(4),
            status: row.text(5),
        };
        self.rows(sql).iter().map(live).collect()
    }

    /// Live runs of workers that are gone, or that signed on before this moment (microseconds since
    /// 1970).
    pub(crate) fn live_of_workers_before(&self, moment: i64) -> Vec<String> {
        let sql = format!(
            "SELECT r.id || ' of ' || r.atom_id FROM runs r WHERE r.outcome IS NULL
             AND NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = r.worker_id AND w.started_at > \
             {moment})"
        );
        self.texts(&sql)
    }

    pub(crate) fn runs(&self) -> Vec<RunRow> {
        let run = |row: &Row| RunRow {
            id: row.text(0),
            atom: row.text(1),
            attempt: row.number(2),
            outcome: row.maybe_text(3),
            ended_at: row.maybe_number(4),
        };
        let sql = "SELECT id, atom_id, attempt, outcome, ended_at FROM runs ORDER BY seq";
        self.rows(sql).iter().map(run).collect()
    }

    pub(crate) fn settled(&self) -> Vec<String> {
        self.texts("SELECT id FROM runs WHERE outcome IS NOT NULL")
    }

    pub(crate) fn is_live(&self, run: &str) -> bool {
        self.live().iter().any(|live| live.id == run)
    }

    /// Id and status of every atom.
    pub(crate) fn atoms(&self) -> Vec<(String, String)> {
        self.pairs("SELECT id, status FROM atoms ORDER BY seq")
    }

    /// Id and title of every task of a plan.
    pub(crate) fn planned(&self) -> Vec<(String, String)> {
        let sql = "SELECT a.id, a.title FROM planned_tasks p JOIN atoms a ON a.id = p.atom_id \
            ORDER BY a.seq";
        self.pairs(sql)
    }

    /// The blockers of each atom.
    pub(crate) fn blocking(&self) -> Vec<(String, String)> {
        self.pairs("SELECT source_id, target_id FROM bonds WHERE kind = 'blocks'")
    }

    /// Atoms in progress without a run and without a person: both read at the same moment.
    pub(crate) fn ownerless(&self) -> Vec<String> {
        let sql = "SELECT a.id FROM atoms a WHERE a.status = 'in_progress' AND a.assignee IS NULL
                   AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.atom_id = a.id AND r.outcome IS \
                   NULL)";
        self.texts(sql)
    }

    pub(crate) fn twice_live(&self) -> Vec<String> {
        self.texts(
            "SELECT atom_id FROM runs WHERE outcome IS NULL GROUP BY atom_id HAVING count(*) > 1",
        )
    }

    /// Returns true if a back-off runs for which a drain has to wait.
    pub(crate) fn waits_for_retry(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros();
        let sql = "SELECT count(*) FROM atoms WHERE status = 'open' AND retry_at > ";
        self.count(&format!("{sql}{now}")) > 0
    }

    pub(crate) fn has_comment(&self, text: &str) -> bool {
        let text = text.replace('\'', "''");
        self.count(&format!("SELECT count(*) FROM comments WHERE content = '{text}'")) > 0
    }

    pub(crate) fn events(&self) -> Vec<EventRow> {
        let event = |row: &Row| EventRow {
            seq: row.number(0),
            at: row.number(1),
            actor: row.text(2),
            kind: row.text(3),
            atom: row.text(4),
            run: row.maybe_text(5),
            data: serde_json::from_str(&row.text(6)).unwrap(),
        };
        let sql = "SELECT seq, at, actor, kind, coalesce(atom_id, ''), run_id, data FROM events
                   ORDER BY seq";
        self.rows(sql).iter().map(event).collect()
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
