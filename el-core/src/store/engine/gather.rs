//! Rows that are written one by one, and sent to a server many at once.

use super::{Params, Result, Statement, Tx};

impl Tx<'_> {
    /// Has a server wait for more rows, from here to the end of the transaction, before it is sent
    /// those of [`Statement::gather_row`]. Whatever else is asked comes after all of them.
    pub(crate) fn gather_rows(&self) {
        match self {
            Tx::Sqlite(_) => {}
            #[cfg(feature = "postgres")]
            Tx::Postgres(tx) => tx.gathered.start_gathering(),
        }
    }
}

impl Statement<'_> {
    /// Executes a statement that writes one row, and of which nothing is read: an `INSERT …
    /// VALUES (…)`, or for a server also an `UPDATE … FROM (VALUES (…))`, with parameters within
    /// the parentheses only. Where rows are gathered, inserted rows go first, each table after
    /// those that it refers to. The first parameter of an update is the key of its row.
    pub(crate) fn gather_row(&mut self, params: impl Params) -> Result<()> {
        match self {
            Statement::Sqlite(statement) => statement.execute(params).map(|_| ())?,
            #[cfg(feature = "postgres")]
            Statement::Postgres { tx, sql } => tx.gather_row(sql, &params)?,
        }
        Ok(())
    }
}
