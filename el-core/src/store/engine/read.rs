//! Statements that stay prepared, each asked by one call; and the columns of a row.

use serde::de::DeserializeOwned;

use super::{ColumnAt, OptionalExtension as _, Params, Result, Row, Tx};
use crate::error::Doing as _;
use crate::model::Timestamp;

impl Tx<'_> {
    /// Reads all rows.
    pub(crate) fn read_all<T, All: FromIterator<T>>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<All> {
        let mut statement = self.prepare_cached(sql)?;
        let mut rows = statement.query_all(params)?;
        std::iter::from_fn(|| rows.next().transpose().map(|row| read(&row?))).collect()
    }

    /// Reads the first row. Without one, it fails.
    pub(crate) fn read_one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        self.prepare_cached(sql)?.query_row(params, read)
    }

    /// Reads the first row; `None`: there is none.
    pub(crate) fn read_optional<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.read_one(sql, params, read).optional()
    }

    /// Returns true if there is a row.
    pub(crate) fn has_row(&self, sql: &str, params: impl Params) -> Result<bool> {
        Ok(self.prepare_cached(sql)?.query_all(params)?.next()?.is_some())
    }

    /// Visits the rows one by one, until `visit` returns false.
    pub(crate) fn each_row<E: From<crate::Error>>(
        &self,
        sql: &str,
        params: impl Params,
        doing: &'static str,
        mut visit: impl FnMut(&Row<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut statement = self.prepare_cached(sql).doing(doing)?;
        let mut rows = statement.query(params).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            if !visit(&row)? {
                break;
            }
        }
        Ok(())
    }

    /// Changes rows, and returns their number.
    pub(crate) fn execute_cached(&self, sql: &str, params: impl Params) -> Result<usize> {
        self.prepare_cached(sql)?.execute(params)
    }
}

impl Row<'_> {
    /// Reads a time, which is kept in microseconds.
    pub(crate) fn time_or_none<I: ColumnAt>(&self, column: I) -> Result<Option<Timestamp>> {
        Ok(self.get::<_, Option<i64>>(column)?.map(Timestamp::from_micros))
    }

    /// Reads JSON; `None`: there is none, or it cannot be read here, as a newer `el` may write it.
    pub(crate) fn json_or_none<I: ColumnAt, T: DeserializeOwned>(
        &self,
        column: I,
    ) -> Result<Option<T>> {
        let text: Option<String> = self.get(column)?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }
}
