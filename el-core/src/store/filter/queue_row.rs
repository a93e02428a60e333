//! The short rows of a queue. Descriptions and metadata of thousands would cost most of the time.

use std::collections::HashSet;

use super::{AssigneeFilter, AtomFilter, Query};
use crate::Result;
use crate::error::Doing;
use crate::model::{Priority, Status, Timestamp};
use crate::store::Tx;
use crate::store::engine::{self, Row};

/// The part of an atom that a queue shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueueRow {
    seq: i64,
    is_open: bool,
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) priority: Priority,
    pub(crate) created_at: Timestamp,
    pub(crate) assignee: Option<String>,
    pub(crate) retry_at: Option<Timestamp>,
}

/// The columns that [`QueueRow::from_row`] reads, after the parent.
const COLUMNS: &str = "a.parent_id, a.id, a.title, a.priority, a.created_at, a.assignee, \
     a.retry_at, a.seq AS seq, a.status = 'open'";

impl QueueRow {
    fn from_row(row: &Row<'_>) -> engine::Result<QueueRow> {
        Ok(QueueRow {
            seq: row.get(7)?,
            is_open: row.get(8)?,
            id: row.get(1)?,
            title: row.get(2)?,
            priority: Priority::new(row.get(3)?).unwrap_or(Priority::DEFAULT),
            created_at: Timestamp::from_micros(row.get(4)?),
            assignee: row.get(5)?,
            retry_at: row.time_or_none(6)?,
        })
    }
}

impl Query {
    /// Returns the atoms in the order of the queue.
    pub(crate) fn queue_rows(&self, tx: &Tx<'_>) -> Result<Vec<QueueRow>> {
        let select = self.select_sql(tx, COLUMNS);
        let sql = format!("{select} ORDER BY priority, created_at, seq");
        let doing = "read the queue";
        let mut rows = Vec::new();
        self.visit_sql(tx, &sql, 0, doing, |row| {
            rows.push(QueueRow::from_row(row).doing(doing)?);
            Ok(true)
        })?;
        Ok(rows)
    }
}

/// Returns the open atoms of an agent that are not among these, in the order of the queue. Those
/// that are among them are found by an index alone.
pub(crate) fn open_rows_beside(
    tx: &Tx<'_>,
    agent: &str,
    rows: &[QueueRow],
) -> Result<Vec<QueueRow>> {
    let doing = "read the queue";
    let known = || rows.iter().map(|row| row.seq).collect::<HashSet<i64>>();
    if !tx.is_sqlite() {
        // A server is asked once.
        let own = Some(AssigneeFilter::Is(agent.to_owned()));
        let statuses = vec![Status::Open];
        let open = AtomFilter { assignee: own, statuses, ..AtomFilter::default() };
        let mut held = Query::new(&open).queue_rows(tx)?;
        let known = known();
        held.retain(|row| !known.contains(&row.seq));
        return Ok(held);
    }
    let free = "FROM atoms a INDEXED BY atoms_queue_of
        WHERE a.assignee = ?1 AND a.status IN ('open','deferred') AND a.blocked_by = 0
          AND a.status = 'open'";
    let blocked = "SELECT a.seq FROM atoms a INDEXED BY atoms_blocked_by
        WHERE a.assignee = ?1 AND a.status IN ('open','deferred') AND a.blocked_by > 0
          AND a.status = 'open'";
    let read_all =
        |sql: &str| tx.read_all::<i64, Vec<_>>(sql, [agent], |row| row.get(0)).doing(doing);
    let mut held = read_all(blocked)?;
    let is_own = |row: &&QueueRow| row.is_open && row.assignee.as_deref() == Some(agent);
    let own = i64::try_from(rows.iter().filter(is_own).count()).unwrap_or(i64::MAX);
    // Mostly they are all there.
    if read_all(&format!("SELECT count(*) {free}"))? != [own] {
        let known = known();
        held.extend(read_all(&format!("SELECT a.seq {free}"))?);
        held.retain(|seq| !known.contains(seq));
    }
    let sql = format!("SELECT {COLUMNS} FROM atoms a WHERE a.seq = ?1");
    let mut statement = tx.prepare_cached(&sql).doing(doing)?;
    let read = |seq| statement.query_row([seq], QueueRow::from_row).doing(doing);
    let mut held = held.into_iter().map(read).collect::<Result<Vec<_>>>()?;
    held.sort_by_key(|row| (row.priority, row.created_at, row.seq));
    Ok(held)
}
