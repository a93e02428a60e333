//! Rows that are written one by one, and sent to a server many at once.

use super::{Params, Result, Tx};

impl Tx<'_> {
    /// Has a server wait for more rows, from here to the end of the transaction, before it is sent
    /// those of [`Tx::gather_row`]. Whatever else is asked comes after all of them.
    pub(crate) fn gather_rows(&self) {
        match self {
            Tx::Sqlite(_) => {}
            #[cfg(feature = "postgres")]
            Tx::Postgres(tx) => tx.gathered.start_gathering(),
        }
    }

    /// Executes a statement that writes one row, and of which nothing is read: an `INSERT …
    /// VALUES (…)`, or for a server also an `UPDATE … FROM (VALUES (…))`, with parameters within
    /// the parentheses only. Where rows are gathered, inserted rows go first, each table after
    /// those that it refers to. The first parameter of an update is the key of its row.
    pub(crate) fn gather_row(&self, sql: &str, params: impl Params) -> Result<()> {
        match self {
            Tx::Sqlite(tx) => Ok(tx.prepare_cached(sql)?.execute(params).map(drop)?),
            #[cfg(feature = "postgres")]
            Tx::Postgres(tx) => tx.gather_row(sql, &params),
        }
    }
}
