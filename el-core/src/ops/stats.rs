use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::AtomFilter;
use crate::Result;
use crate::error::Doing;
use crate::model::Timestamp;
use crate::store::filter::Query;
use crate::store::{Store, Tx};

/// Word → how many. In the order of the words, as the queries give them.
pub type Counts = BTreeMap<String, i64>;

/// The project in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Stats {
    pub total: i64,
    pub ready: i64,
    pub by_status: Counts,
    pub by_type: Counts,
    /// Of what is not over.
    pub by_priority: Counts,
    pub runs: RunStats,
}

/// The runs in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunStats {
    pub total: i64,
    pub live: i64,
    pub by_outcome: Counts,
    pub turns: i64,
    pub tokens_in: i64,
    pub tokens_out: i64,
    pub cost_micros: i64,
    /// Run time in seconds, of the runs that have ended.
    pub seconds: i64,
}

/// Counts everything.
pub fn stats(store: &Store, now: Timestamp) -> Result<Stats> {
    store.read(|tx| {
        let (total, live, turns, tokens_in, tokens_out, cost_micros, seconds) = tx
            .query_row(
                "SELECT count(*), count(*) FILTER (WHERE outcome IS NULL), coalesce(sum(turns), 0), coalesce(sum(tokens_in), 0),
                    coalesce(sum(tokens_out), 0), coalesce(sum(cost_micros), 0), coalesce(sum(ended_at - started_at), 0) / 1000000 FROM runs",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?)),
            )
            .doing("count runs")?;
        Ok(Stats {
            total: tx.query_row("SELECT count(*) FROM atoms", [], |row| row.get(0)).doing("count atoms")?,
            ready: Query::ready(&AtomFilter::default(), now).count(tx)?,
            by_status: counts(tx, "SELECT status, count(*) FROM atoms GROUP BY status ORDER BY status")?,
            by_type: counts(tx, "SELECT issue_type, count(*) FROM atoms GROUP BY issue_type ORDER BY issue_type")?,
            by_priority: counts(
                tx,
                "SELECT CAST(priority AS TEXT), count(*) FROM atoms WHERE status NOT IN ('closed','wont_do','discard') GROUP BY priority ORDER BY priority",
            )?,
            runs: RunStats {
                total,
                live,
                by_outcome: counts(tx, "SELECT outcome, count(*) FROM runs WHERE outcome IS NOT NULL GROUP BY outcome ORDER BY outcome")?,
                turns,
                tokens_in,
                tokens_out,
                cost_micros,
                seconds,
            },
        })
    })
}

fn counts(tx: &Tx<'_>, sql: &str) -> Result<Counts> {
    let mut statement = tx.prepare(sql).doing("count")?;
    let rows = statement
        .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))
        .doing("count")?;
    rows.collect::<rusqlite::Result<_>>().doing("count")
}
