//! The facts for a forecast: past runs, and the work under way.

use super::Tx;
use super::engine::{self, Row, params};
use crate::Result;
use crate::error::Doing;
use crate::model::{AtWork, IssueType, Outcome, PastRun, Timestamp};

/// The runs that ended by themselves among the last `most` runs.
pub(crate) fn list_past(tx: &Tx<'_>, most: i64) -> Result<Vec<PastRun>> {
    let sql = "SELECT r.outcome, r.ended_at - r.started_at, r.cost_micros, a.issue_type
               FROM (SELECT * FROM runs ORDER BY seq DESC LIMIT ?1) r
               LEFT JOIN atoms a ON a.id = r.atom_id
               WHERE r.outcome IS NOT NULL";
    let mut found: Vec<(Outcome, PastRun)> =
        tx.read_all(sql, [most], past_from_row).doing("read how runs went")?;
    found.retain(|(outcome, _)| outcome.is_said_by_agent() || outcome.is_failure());
    Ok(found.into_iter().map(|(_, past)| past).collect())
}

/// The estimated part of the spending since a time, over the last `most` runs.
pub(crate) fn estimated_since(tx: &Tx<'_>, since: Timestamp, most: i64) -> Result<i64> {
    tx.read_one(
        "SELECT coalesce(sum(estimated_micros), 0) FROM (
           SELECT estimated_micros, heartbeat_at FROM runs ORDER BY seq DESC LIMIT ?2) last
         WHERE heartbeat_at >= ?1",
        params![since.as_micros(), most],
        |row| row.get(0),
    )
    .doing("add up what is estimated")
}

fn past_from_row(row: &Row<'_>) -> engine::Result<(Outcome, PastRun)> {
    let outcome: String = row.get(0)?;
    let outcome = outcome.parse().unwrap_or(Outcome::Failed);
    let took: i64 = row.get(1)?;
    let past = PastRun {
        issue_type: type_of(row.get(3)?),
        took: std::time::Duration::from_micros(u64::try_from(took).unwrap_or(0)),
        cost_micros: row.get(2)?,
        asked: matches!(outcome, Outcome::Review | Outcome::Deferred | Outcome::Blocked),
    };
    Ok((outcome, past))
}

fn type_of(word: Option<String>) -> IssueType {
    word.and_then(|word| word.parse().ok()).unwrap_or(IssueType::Task)
}

/// The runs at work, no more than `most`, with the ids of the runs.
pub(crate) fn list_at_work(tx: &Tx<'_>, most: i64) -> Result<Vec<(String, AtWork)>> {
    tx.read_all(
        "SELECT r.id, r.atom_id, r.agent, a.issue_type, r.started_at, r.cost_micros, r.review
             FROM runs r INDEXED BY runs_live LEFT JOIN atoms a ON a.id = r.atom_id
             WHERE r.outcome IS NULL ORDER BY r.seq LIMIT ?1",
        [most],
        |row| {
            let work = AtWork {
                atom: row.get(1)?,
                agent: row.get(2)?,
                issue_type: type_of(row.get(3)?),
                started: Timestamp::from_micros(row.get(4)?),
                cost_micros: row.get(5)?,
                is_reviewed: row.get(6)?,
            };
            Ok((row.get(0)?, work))
        },
    )
    .doing("read what is at work")
}
