use super::engine::{self, Row, params};
use serde_json::Value;

use super::Tx;
use crate::error::Doing;
use crate::model::{Review, ReviewVerdict, Timestamp};
use crate::{Ctx, Result, model};

const COLUMNS: &str = "w.id, w.atom_id, w.run_id, w.author, w.report, w.created_at, w.verdict, \
    w.decided_by, w.reason, w.decided_at";

fn from_row(row: &Row<'_>) -> engine::Result<Review> {
    let report: String = row.get(4)?;
    Ok(Review {
        record_type: Review::RECORD_TYPE,
        id: row.get(0)?,
        atom_id: row.get(1)?,
        run_id: row.get(2)?,
        author: row.get(3)?,
        report: serde_json::from_str(&report).unwrap_or(Value::Null),
        created_at: Timestamp::from_micros(row.get(5)?),
        // A verdict that a newer el wrote is a decision all the same.
        verdict: row
            .get::<_, Option<String>>(6)?
            .map(|word| word.parse().unwrap_or(ReviewVerdict::Superseded)),
        decided_by: row.get(7)?,
        reason: row.get(8)?,
        decided_at: row.time_or_none(9)?,
    })
}

/// Records a hand-over. A hand-over that still waits is superseded.
pub(crate) fn insert(tx: &Tx<'_>, ctx: &Ctx<'_>, atom: &str, report: &Value) -> Result<Review> {
    record_verdict(tx, ctx, atom, ReviewVerdict::Superseded, None)?;
    let review = Review {
        record_type: Review::RECORD_TYPE,
        id: model::fresh_uuid(),
        atom_id: atom.to_owned(),
        run_id: ctx.session.map(|s| s.run.clone()),
        author: ctx.actor.to_owned(),
        report: report.clone(),
        created_at: ctx.now,
        verdict: None,
        decided_by: None,
        reason: None,
        decided_at: None,
    };
    tx.execute(
        "INSERT INTO reviews (id, atom_id, run_id, author, report, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            review.id,
            atom,
            review.run_id,
            review.author,
            report.to_string(),
            ctx.now.as_micros()
        ],
    )
    .doing("record a hand-over")?;
    Ok(review)
}

/// Decides the waiting hand-over of an atom. Returns false if no hand-over waits.
pub(crate) fn record_verdict(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    atom: &str,
    verdict: ReviewVerdict,
    reason: Option<&str>,
) -> Result<bool> {
    let changed = tx
        .execute(
            "UPDATE reviews SET verdict = ?2, decided_by = ?3, reason = ?4, decided_at = ?5
             WHERE atom_id = ?1 AND verdict IS NULL",
            params![atom, verdict.as_str(), ctx.actor, reason, ctx.now.as_micros()],
        )
        .doing("decide a review")?;
    Ok(changed > 0)
}

/// The last hand-over of an atom.
pub(crate) fn last_review(tx: &Tx<'_>, atom: &str) -> Result<Option<Review>> {
    tx.read_optional(
        &format!(
            "SELECT {COLUMNS} FROM reviews w WHERE w.atom_id = ?1 ORDER BY w.seq DESC LIMIT 1"
        ),
        [atom],
        from_row,
    )
    .doing("read a review")
}

/// Every hand-over of an atom, oldest first.
pub(crate) fn of_atom(tx: &Tx<'_>, atom: &str) -> Result<Vec<Review>> {
    tx.read_all(
        &format!("SELECT {COLUMNS} FROM reviews w WHERE w.atom_id = ?1 ORDER BY w.seq"),
        [atom],
        from_row,
    )
    .doing("read reviews")
}
