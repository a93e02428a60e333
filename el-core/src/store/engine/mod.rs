//! The database behind the statements: SQLite, and under the feature `postgres` a server.
//!
//! The API is that part of rusqlite's which the store uses, under the same names, and the values
//! are rusqlite's. Without a second engine each enum has one case, and the calls are rusqlite's
//! own.
//!
//! A statement is one text for both engines: SQLite's, in the subset that `postgres/dialect.rs`
//! turns into PostgreSQL's. Where no text can serve both, [`Tx::pick_text`] picks one of two.

use rusqlite::TransactionBehavior;
use rusqlite::types::{FromSql, FromSqlError, ValueRef};

use crate::model::Timestamp;

#[cfg(feature = "postgres")]
mod dialect;
#[cfg(feature = "postgres")]
mod fault;
mod gather;
mod held;
#[cfg(feature = "postgres")]
mod link;
#[cfg(feature = "postgres")]
mod listen;
#[cfg(feature = "postgres")]
mod looks;
#[cfg(feature = "postgres")]
mod numeric;
mod params;
#[cfg(feature = "postgres")]
mod postgres;
mod read;
mod waiting;

pub(crate) use held::Held;
pub use held::leave_files_open;
#[cfg(feature = "postgres")]
pub(crate) use link::Opening;
pub(crate) use params::{ColumnAt, Params};
#[cfg(feature = "postgres")]
pub(crate) use postgres::{PROJECT_LOCK, Server};
pub(crate) use rusqlite::types::Value;
pub(crate) use rusqlite::{ToSql, named_params, params};
pub(crate) use waiting::ListenState;

/// The fault of an engine.
#[derive(Debug)]
pub(crate) enum Error {
    /// Of SQLite; and on every engine, that there is no row, or that a value is of another type.
    Sqlite(rusqlite::Error),
    #[cfg(feature = "postgres")]
    Postgres(Box<::postgres::Error>),
    /// The server is silent, or the connection has broken before.
    #[cfg(feature = "postgres")]
    NoAnswer,
}

impl Error {
    /// Returns true if the engine found contents that it did not write.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Error::Sqlite(error) => {
                error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt)
            }
            #[cfg(feature = "postgres")]
            Error::Postgres(_) | Error::NoAnswer => false,
        }
    }
}

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Error {
        Error::Sqlite(error)
    }
}

impl From<FromSqlError> for Error {
    fn from(error: FromSqlError) -> Error {
        Error::Sqlite(error.into())
    }
}

impl<T> crate::error::Doing<T> for Result<T> {
    fn doing(self, step: &'static str) -> crate::Result<T> {
        self.map_err(|error| match error {
            Error::Sqlite(source) => crate::Error::sqlite(step, source),
            #[cfg(feature = "postgres")]
            Error::Postgres(source) => fault::server_fault(step, &source),
            #[cfg(feature = "postgres")]
            Error::NoAnswer => fault::no_answer(step),
        })
    }
}

/// Tells a row that is not there from a fault.
pub(crate) trait OptionalExtension<T> {
    fn optional(self) -> Result<Option<T>>;
}

impl<T> OptionalExtension<T> for Result<T> {
    fn optional(self) -> Result<Option<T>> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(Error::Sqlite(rusqlite::Error::QueryReturnedNoRows)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) enum Database {
    Sqlite(Held),
    #[cfg(feature = "postgres")]
    Postgres(Server),
}

impl Database {
    /// Begins a transaction that reads one moment.
    pub(crate) fn begin_read(&self) -> Result<Tx<'_>> {
        match self {
            Database::Sqlite(conn) => {
                let deferred = TransactionBehavior::Deferred;
                Ok(Tx::Sqlite(rusqlite::Transaction::new_unchecked(conn, deferred)?))
            }
            #[cfg(feature = "postgres")]
            Database::Postgres(server) => Ok(Tx::Postgres(server.begin_read()?)),
        }
    }

    /// Begins a transaction that writes. No other writes in the project until it ends.
    pub(crate) fn begin_write(&mut self) -> Result<Tx<'_>> {
        match self {
            Database::Sqlite(conn) => {
                Ok(Tx::Sqlite(conn.transaction_with_behavior(TransactionBehavior::Immediate)?))
            }
            #[cfg(feature = "postgres")]
            Database::Postgres(server) => Ok(Tx::Postgres(server.begin_write()?)),
        }
    }

    /// Makes one statement, which is a transaction by itself, and reads its one row.
    pub(crate) fn query_alone<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        let tx = match self {
            Database::Sqlite(_) => self.begin_read()?,
            #[cfg(feature = "postgres")]
            Database::Postgres(server) => Tx::Postgres(server.without_transaction()),
        };
        let row = tx.query_row(sql, params, read)?;
        tx.commit()?;
        Ok(row)
    }

    /// The time: of a server its own, for all that share it.
    pub(crate) fn lease_time(&self, here: Timestamp) -> Timestamp {
        match self {
            Database::Sqlite(_) => here,
            #[cfg(feature = "postgres")]
            Database::Postgres(server) => server.lease_time().map_or(here, Timestamp::from_micros),
        }
    }

    #[cfg(test)]
    pub(crate) fn sqlite_mut(&mut self) -> &mut rusqlite::Connection {
        match self {
            Database::Sqlite(conn) => conn,
            #[cfg(feature = "postgres")]
            Database::Postgres(_) => panic!("only SQLite counts its steps"),
        }
    }

    /// The connection, if it is SQLite's: for what no server has.
    pub(crate) fn sqlite(&self) -> Option<&rusqlite::Connection> {
        match self {
            Database::Sqlite(conn) => Some(conn),
            #[cfg(feature = "postgres")]
            Database::Postgres(_) => None,
        }
    }

    /// The same, for its end.
    pub(crate) fn sqlite_held(&mut self) -> Option<&mut Held> {
        match self {
            Database::Sqlite(conn) => Some(conn),
            #[cfg(feature = "postgres")]
            Database::Postgres(_) => None,
        }
    }
}

/// A transaction. It is rolled back unless it is committed.
#[derive(Debug)]
pub(crate) enum Tx<'c> {
    Sqlite(rusqlite::Transaction<'c>),
    #[cfg(feature = "postgres")]
    Postgres(postgres::Transaction<'c>),
}

impl Tx<'_> {
    /// A statement; its text is parsed once a connection.
    pub(crate) fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>> {
        match self {
            Tx::Sqlite(tx) => Ok(Statement::Sqlite(tx.prepare_cached(sql)?)),
            #[cfg(feature = "postgres")]
            Tx::Postgres(tx) => Ok(Statement::Postgres { tx, sql: sql.to_owned() }),
        }
    }

    /// Executes a statement of which nothing is kept. Returns the number of rows that it changed.
    pub(crate) fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        match self {
            Tx::Sqlite(tx) => Ok(tx.execute(sql, params)?),
            #[cfg(feature = "postgres")]
            Tx::Postgres(tx) => tx.execute(sql, &params),
        }
    }

    /// Reads one row by a statement of which nothing is kept.
    pub(crate) fn query_row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        match self {
            Tx::Sqlite(tx) => {
                let mut statement = tx.prepare(sql)?;
                let mut rows = Rows::Sqlite(statement.query(params)?);
                read(&rows.expect_one()?)
            }
            #[cfg(feature = "postgres")]
            Tx::Postgres(tx) => read(&Rows::Postgres(tx.query(sql, &params)?).expect_one()?),
        }
    }

    /// Executes statements that take no values.
    pub(crate) fn execute_batch(&self, sql: &str) -> Result<()> {
        match self {
            Tx::Sqlite(tx) => Ok(tx.execute_batch(sql)?),
            #[cfg(feature = "postgres")]
            Tx::Postgres(tx) => tx.execute_batch(sql),
        }
    }

    pub(crate) fn commit(self) -> Result<()> {
        match self {
            Tx::Sqlite(tx) => Ok(tx.commit()?),
            #[cfg(feature = "postgres")]
            Tx::Postgres(tx) => tx.commit(),
        }
    }

    pub(crate) fn rollback(self) -> Result<()> {
        match self {
            Tx::Sqlite(tx) => Ok(tx.rollback()?),
            #[cfg(feature = "postgres")]
            Tx::Postgres(tx) => tx.rollback(),
        }
    }

    /// The time at which the transaction began: of a server its own, for all that share it.
    pub(crate) fn lease_time(&self, here: Timestamp) -> Timestamp {
        match self {
            Tx::Sqlite(_) => here,
            #[cfg(feature = "postgres")]
            Tx::Postgres(tx) => Timestamp::from_micros(tx.began_at()),
        }
    }

    /// Picks the text of a statement where none serves both engines.
    pub(crate) fn pick_text<'a>(&self, sqlite: &'a str, postgres: &'a str) -> &'a str {
        if self.is_sqlite() { sqlite } else { postgres }
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        matches!(self, Tx::Sqlite(_))
    }
}

pub(crate) enum Statement<'t> {
    Sqlite(rusqlite::CachedStatement<'t>),
    #[cfg(feature = "postgres")]
    Postgres {
        tx: &'t postgres::Transaction<'t>,
        sql: String,
    },
}

impl Statement<'_> {
    pub(crate) fn execute(&mut self, params: impl Params) -> Result<usize> {
        match self {
            Statement::Sqlite(statement) => Ok(statement.execute(params)?),
            #[cfg(feature = "postgres")]
            Statement::Postgres { tx, sql } => tx.execute(sql, &params),
        }
    }

    /// The rows one by one, for a reader that may stop before the last.
    pub(crate) fn query(&mut self, params: impl Params) -> Result<Rows<'_>> {
        match self {
            Statement::Sqlite(statement) => Ok(Rows::Sqlite(statement.query(params)?)),
            #[cfg(feature = "postgres")]
            Statement::Postgres { tx, sql } => Ok(Rows::Postgres(tx.open_cursor(sql, &params)?)),
        }
    }

    /// All rows.
    fn query_all(&mut self, params: impl Params) -> Result<Rows<'_>> {
        match self {
            Statement::Sqlite(statement) => Ok(Rows::Sqlite(statement.query(params)?)),
            #[cfg(feature = "postgres")]
            Statement::Postgres { tx, sql } => Ok(Rows::Postgres(tx.query(sql, &params)?)),
        }
    }

    pub(crate) fn query_row<T>(
        &mut self,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        read(&self.query_all(params)?.expect_one()?)
    }
}

pub(crate) enum Rows<'s> {
    Sqlite(rusqlite::Rows<'s>),
    #[cfg(feature = "postgres")]
    Postgres(postgres::Rows<'s>),
}

impl Rows<'_> {
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_>>> {
        match self {
            Rows::Sqlite(rows) => Ok(rows.next()?.map(Row::Sqlite)),
            #[cfg(feature = "postgres")]
            Rows::Postgres(rows) => Ok(rows.next()?.map(Row::Postgres)),
        }
    }

    fn expect_one(&mut self) -> Result<Row<'_>> {
        self.next()?.ok_or(Error::Sqlite(rusqlite::Error::QueryReturnedNoRows))
    }
}

pub(crate) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    #[cfg(feature = "postgres")]
    Postgres(&'r postgres::Record),
}

impl Row<'_> {
    /// The value of a column, by place or by name.
    pub(crate) fn get<I: ColumnAt, T: FromSql>(&self, column: I) -> Result<T> {
        match self {
            Row::Sqlite(row) => Ok(row.get(column)?),
            #[cfg(feature = "postgres")]
            Row::Postgres(_) => Ok(T::column_result(self.get_ref(column)?)?),
        }
    }

    /// The same, without a copy.
    pub(crate) fn get_ref<I: ColumnAt>(&self, column: I) -> Result<ValueRef<'_>> {
        match self {
            Row::Sqlite(row) => Ok(row.get_ref(column)?),
            #[cfg(feature = "postgres")]
            Row::Postgres(record) => {
                let at = column.place_among(&record.columns);
                let value = at.and_then(|at| record.values.get(at));
                Ok(value.ok_or(rusqlite::Error::QueryReturnedNoRows)?.into())
            }
        }
    }
}
