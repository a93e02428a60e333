//! The short rows of a queue. Descriptions and metadata of thousands would cost most of the time.

use super::Query;
use crate::Result;
use crate::error::Doing;
use crate::model::{Priority, Timestamp};
use crate::store::Tx;

/// The part of an atom that a queue shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueueRow {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) priority: Priority,
    pub(crate) created_at: Timestamp,
    pub(crate) assignee: Option<String>,
    pub(crate) retry_at: Option<Timestamp>,
}

impl Query {
    /// Returns the atoms in the order of the queue.
    pub(crate) fn queue_rows(&self, tx: &Tx<'_>) -> Result<Vec<QueueRow>> {
        let select = self.select_sql(
            tx,
            "a.parent_id, a.id, a.title, a.priority, a.created_at, a.assignee, a.retry_at, \
             a.seq AS seq",
        );
        let sql = format!("{select} ORDER BY priority, created_at, seq");
        let doing = "read the queue";
        let mut rows = Vec::new();
        self.visit_sql(tx, &sql, 0, doing, |row| {
            let retry_at: Option<i64> = row.get(6).doing(doing)?;
            rows.push(QueueRow {
                id: row.get(1).doing(doing)?,
                title: row.get(2).doing(doing)?,
                priority: Priority::new(row.get(3).doing(doing)?).unwrap_or(Priority::DEFAULT),
                created_at: Timestamp::from_micros(row.get(4).doing(doing)?),
                assignee: row.get(5).doing(doing)?,
                retry_at: retry_at.map(Timestamp::from_micros),
            });
            Ok(true)
        })?;
        Ok(rows)
    }
}
