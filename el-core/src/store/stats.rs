//! The project in numbers.

use super::Tx;
use crate::Result;
use crate::error::Doing;
use crate::model::{Cost, Counts, RunStats};

pub(crate) fn count_atoms(tx: &Tx<'_>) -> Result<i64> {
    tx.query_row("SELECT count(*) FROM atoms", [], |row| row.get(0)).doing("count atoms")
}

pub(crate) fn atoms_by_status(tx: &Tx<'_>) -> Result<Counts> {
    query_counts(tx, "SELECT status, count(*) FROM atoms GROUP BY status ORDER BY status")
}

pub(crate) fn atoms_by_type(tx: &Tx<'_>) -> Result<Counts> {
    query_counts(
        tx,
        "SELECT issue_type, count(*) FROM atoms GROUP BY issue_type ORDER BY issue_type",
    )
}

/// Counts the atoms that are not over, by priority.
pub(crate) fn live_atoms_by_priority(tx: &Tx<'_>) -> Result<Counts> {
    query_counts(
        tx,
        "SELECT CAST(priority AS TEXT), count(*) FROM atoms
         WHERE status NOT IN ('closed','wont_do','discard') GROUP BY priority ORDER BY priority",
    )
}

pub(crate) fn count_runs(tx: &Tx<'_>) -> Result<RunStats> {
    let by_outcome = query_counts(
        tx,
        "SELECT outcome, count(*) FROM runs WHERE outcome IS NOT NULL
         GROUP BY outcome ORDER BY outcome",
    )?;
    tx.query_row(
        "SELECT count(*), count(*) FILTER (WHERE outcome IS NULL), coalesce(sum(turns), 0),
           coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0),
           coalesce(sum(cost_micros), 0), coalesce(sum(estimated_micros), 0),
           CAST(coalesce(sum(ended_at - started_at), 0) AS BIGINT) / 1000000
         FROM runs",
        [],
        |row| {
            Ok(RunStats {
                total: row.get(0)?,
                live: row.get(1)?,
                by_outcome,
                turns: row.get(2)?,
                tokens_in: row.get(3)?,
                tokens_out: row.get(4)?,
                cost: Cost { cost_micros: row.get(5)?, estimated_micros: row.get(6)? },
                seconds: row.get(7)?,
            })
        },
    )
    .doing("count runs")
}

fn query_counts(tx: &Tx<'_>, sql: &str) -> Result<Counts> {
    tx.read_all(sql, [], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))
        .doing("count records")
}
