//! PostgreSQL behind the store's statements: one connection, its transactions and its values.
//!
//! Statements are sent with their values and the values' types in one message, unnamed and
//! unprepared (`query_typed`), so that a pooler may hand each transaction to another backend.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use postgres::SimpleQueryMessage;
use rusqlite::types::Value;

use super::link::{Link, Opening, PATIENCE};
use super::looks::Looks;
use super::{Error, Params, Result};

mod gathered;
mod values;

use gathered::Gathered;
use values::{FromServer, Wire, bind, with_types};

/// How long a transaction waits for a lock, and a statement for its end.
const LIMITS: &str = "SET LOCAL lock_timeout = '30s'; SET LOCAL statement_timeout = '35s'";

/// How long the client may say nothing while it holds the project's lock. Without a limit, a client
/// that is cut off in the middle of a change would hold up all others, for hours at worst.
const SILENCE: &str = "SET LOCAL idle_in_transaction_session_timeout = '5s'";

/// The lock that makes one writer at a time of all that may write a project, as SQLite has it: no
/// two `dep add` make a circle, no `dep add` passes a `close`, no claim passes an epic's budget.
/// It is held to the end of the transaction.
pub(crate) const PROJECT_LOCK: &str =
    "SELECT pg_advisory_xact_lock(hashtextextended(current_schema(), 7090000001))";

/// The last statement of a transaction's beginning: the server's time, in microseconds.
const CLOCK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

/// A connection to a server.
pub(crate) struct Server {
    opening: Opening,
    link: RefCell<Link>,
    /// How long an answer is waited for, on this connection and the next.
    patience: Cell<Duration>,
    pub(super) looks: Looks,
    /// The server's time at the last beginning of a transaction, and when that was here.
    clock: Cell<Option<(i64, Instant)>>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Server")
    }
}

impl Server {
    pub(crate) fn connect(opening: Opening) -> Result<Server> {
        let link = RefCell::new(Link::open(&opening, PATIENCE)?);
        Ok(Server {
            opening,
            link,
            patience: Cell::new(PATIENCE),
            looks: Looks::default(),
            clock: Cell::new(None),
        })
    }

    /// Sets how long an answer is waited for; `None`: as long as by default.
    pub(crate) fn limit_waits(&self, limit: Option<Duration>) {
        let patience = limit.unwrap_or(PATIENCE);
        self.patience.set(patience);
        self.link.borrow().set_patience(patience);
    }

    /// Begins a transaction that sees what is committed at this moment, and no later change.
    pub(crate) fn begin_read(&self) -> Result<Transaction<'_>> {
        self.begin("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", "")
    }

    /// Begins a transaction that writes, once no other writes in the project.
    pub(crate) fn begin_write(&self) -> Result<Transaction<'_>> {
        let lock = format!("{SILENCE}; {PROJECT_LOCK}");
        self.begin("BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE", &lock)
    }

    /// Begins a transaction that writes what no other transaction depends on.
    pub(crate) fn begin_unlocked(&self) -> Result<Transaction<'_>> {
        self.begin("BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE", "")
    }

    fn begin(&self, begin: &str, lock: &str) -> Result<Transaction<'_>> {
        // The transaction is there before the first failure, so that its end is certain.
        let mut transaction = self.without_transaction();
        transaction.is_open.set(true);
        let begin = format!("{begin}; {LIMITS}; {lock}; {CLOCK}");
        let begun = self.read_clock(&begin);
        transaction.began_at = match begun {
            // A connection that broke while nobody used it has lost nothing.
            Err(_) if self.link.borrow().is_broken() => {
                self.link.replace(Link::open(&self.opening, self.patience.get())?);
                self.read_clock(&begin)?
            }
            begun => begun?,
        };
        self.clock.set(Some((transaction.began_at, Instant::now())));
        Ok(transaction)
    }

    /// Stands for a transaction where a statement is one by itself: its end does nothing.
    pub(super) fn without_transaction(&self) -> Transaction<'_> {
        let (is_open, cursors) = (Cell::new(false), Cell::new(0));
        Transaction { server: self, is_open, cursors, began_at: 0, gathered: Gathered::default() }
    }

    pub(super) fn opening(&self) -> &Opening {
        &self.opening
    }

    /// Executes statements of which the last gives a time.
    fn read_clock(&self, sql: &str) -> Result<i64> {
        let sql = sql.to_owned();
        let told = self.link.borrow().call(move |client| client.simple_query(&sql))?;
        let last = told.iter().rev().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
            _ => None,
        });
        Ok(last.unwrap_or_default())
    }

    /// The server's time, in microseconds, by the last transaction; `None` before the first.
    pub(crate) fn lease_time(&self) -> Option<i64> {
        let (then, at) = self.clock.get()?;
        let since = i64::try_from(at.elapsed().as_micros()).unwrap_or(i64::MAX);
        Some(then.saturating_add(since))
    }

    /// How often the server was asked.
    #[cfg(test)]
    pub(crate) fn count_questions(&self) -> u64 {
        self.link.borrow().questions.get()
    }

    /// A number that changes whenever a transaction begins to write or ends, in any database of the
    /// server. It may be a second old, and at ease five.
    pub(crate) fn data_version(&self) -> Result<i64> {
        if let Some(version) = self.looks.known() {
            return Ok(version);
        }
        let sql = "SELECT hashtextextended(pg_current_snapshot()::text, 0)";
        let row = self.link.borrow().call(|client| client.query_typed_one(sql, &[]))?;
        let version = row.try_get(0)?;
        self.looks.note(version);
        Ok(version)
    }
}

pub(crate) struct Transaction<'c> {
    server: &'c Server,
    is_open: Cell<bool>,
    /// How many cursors it has opened.
    cursors: Cell<u32>,
    /// The server's time when it began, and had its lock.
    began_at: i64,
    pub(super) gathered: Gathered,
}

impl std::fmt::Debug for Transaction<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Transaction")
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open.get() {
            // A connection that is gone has no transaction either.
            let _ = self.end("ROLLBACK");
        }
    }
}

impl Transaction<'_> {
    /// Has the server do something, after what was gathered before.
    fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut postgres::Client) -> std::result::Result<T, postgres::Error>
        + Send
        + 'static,
    ) -> Result<T> {
        self.send_gathered()?;
        self.call_now(work)
    }

    pub(super) fn call_now<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut postgres::Client) -> std::result::Result<T, postgres::Error>
        + Send
        + 'static,
    ) -> Result<T> {
        self.server.link.borrow().call(work)
    }

    pub(crate) fn execute(&self, sql: &str, params: &impl Params) -> Result<usize> {
        let (sql, values) = bind(sql, params);
        let call =
            move |client: &mut postgres::Client| client.execute_typed(&sql, &with_types(&values));
        let count = self.call(call)?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// All rows of a query, in one answer.
    pub(crate) fn query(&self, sql: &str, params: &impl Params) -> Result<Rows<'_>> {
        let (sql, values) = bind(sql, params);
        Ok(Rows { fetched: self.fetch(sql, values)?.into_iter(), current: None, cursor: None })
    }

    /// The rows of a query, of which only those are sent that are read, and some more.
    pub(crate) fn open_cursor(&self, sql: &str, params: &impl Params) -> Result<Rows<'_>> {
        let (sql, values) = bind(sql, params);
        let number = self.cursors.get() + 1;
        self.cursors.set(number);
        let declare = format!("DECLARE el_{number} NO SCROLL CURSOR FOR {sql}");
        let call = move |client: &mut postgres::Client| {
            client.execute_typed(&declare, &with_types(&values))
        };
        self.call(call)?;
        let cursor = Cursor { transaction: self, number, next: FIRST_FETCH };
        Ok(Rows { fetched: Vec::new().into_iter(), current: None, cursor: Some(cursor) })
    }

    fn fetch(&self, sql: String, values: Vec<Wire>) -> Result<Vec<Record>> {
        let call =
            move |client: &mut postgres::Client| client.query_typed(&sql, &with_types(&values));
        let rows = self.call(call)?;
        let columns: Rc<[Box<str>]> = rows.first().map_or_else(
            || Rc::from([]),
            |row| row.columns().iter().map(|column| Box::from(column.name())).collect(),
        );
        let record = |row: postgres::Row| -> Result<Record> {
            let cells = (0..row.len()).map(|at| Ok(row.try_get::<_, FromServer>(at)?.0));
            Ok(Record { values: cells.collect::<Result<_>>()?, columns: Rc::clone(&columns) })
        };
        rows.into_iter().map(record).collect()
    }

    /// Executes statements that take no values.
    pub(crate) fn execute_batch(&self, sql: &str) -> Result<()> {
        let sql = sql.to_owned();
        self.call(move |client| client.batch_execute(&sql))
    }

    pub(crate) fn commit(self) -> Result<()> {
        self.send_gathered()?;
        self.end("COMMIT")
    }

    pub(crate) fn rollback(self) -> Result<()> {
        self.end("ROLLBACK")
    }

    fn end(&self, how: &'static str) -> Result<()> {
        if !self.is_open.replace(false) {
            return Ok(());
        }
        self.call_now(|client| client.batch_execute(how))
    }

    /// The server's time when the transaction began, in microseconds.
    pub(crate) fn began_at(&self) -> i64 {
        self.began_at
    }
}

/// The rows of the first answer of a cursor, and the most of a later one: each has four times the
/// rows of the one before.
const FIRST_FETCH: usize = 32;
const MOST_FETCHED: usize = 2048;

/// The rows of a query. Another statement may begin while they are read.
pub(crate) struct Rows<'t> {
    fetched: std::vec::IntoIter<Record>,
    current: Option<Record>,
    /// Where there may be more of them.
    cursor: Option<Cursor<'t>>,
}

impl Rows<'_> {
    pub(super) fn next(&mut self) -> Result<Option<&Record>> {
        self.current = self.fetched.next();
        if self.current.is_none()
            && let Some(cursor) = &mut self.cursor
        {
            let more = cursor.fetch_more()?;
            if more.is_empty() {
                self.cursor = None;
            }
            self.fetched = more.into_iter();
            self.current = self.fetched.next();
        }
        Ok(self.current.as_ref())
    }
}

/// A query that the server answers piece by piece, until the transaction ends.
struct Cursor<'t> {
    transaction: &'t Transaction<'t>,
    number: u32,
    next: usize,
}

impl Cursor<'_> {
    fn fetch_more(&mut self) -> Result<Vec<Record>> {
        let sql = format!("FETCH {} FROM el_{}", self.next, self.number);
        self.next = (self.next * 4).min(MOST_FETCHED);
        self.transaction.fetch(sql, Vec::new())
    }
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        let close = format!("CLOSE el_{}", self.number);
        // After a failure, the end of the transaction closes it.
        let _ = self.transaction.execute_batch(&close);
    }
}

/// A row that was read.
#[derive(Debug)]
pub(crate) struct Record {
    pub(super) values: Vec<Value>,
    pub(super) columns: Rc<[Box<str>]>,
}

impl From<postgres::Error> for Error {
    fn from(error: postgres::Error) -> Error {
        Error::Postgres(Box::new(error))
    }
}
