use serde_json::{Value, json};

use super::change::{ChangeDetails, resolved_all, set_status};
use crate::model::{Atom, EventKind, Review, ReviewVerdict, Run, Status, validate};
use crate::store::{Store, Tx, atom, event, review, run};
use crate::{Ctx, Error, Result};

/// Approves atoms that wait for review, all or none: the atoms are closed.
///
/// # Errors
///
/// If a session calls, an atom does not wait for review, an id is unknown or ambiguous,
/// or the database cannot be written.
pub fn approve<S: AsRef<str>>(
    store: &mut Store,
    ctx: &Ctx<'_>,
    ids: &[S],
    reason: Option<&str>,
) -> Result<Vec<Atom>> {
    let reason = reason.map(validate::reason).transpose()?;
    store.write(|tx| {
        ensure_no_session(run::fence(tx, ctx)?.as_ref(), "approves")?;
        let atoms = resolved_all(tx, ids)?;
        for before in &atoms {
            ensure_waits_for_review(before)?;
            approve_one(tx, ctx, before, reason.as_deref())?;
        }
        atoms.iter().map(|a| atom::get(tx, &a.id)).collect()
    })
}

pub(super) fn approve_one(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    before: &Atom,
    reason: Option<&str>,
) -> Result<()> {
    let last = review::last_review(tx, &before.id)?.filter(|review| review.verdict.is_none());
    review::record_verdict(tx, ctx, &before.id, ReviewVerdict::Approved, reason)?;
    // The word comes first: a reason that begins with "fail" would release what waits for a
    // failure.
    let said = reason.map(str::to_owned).or_else(|| last.as_ref().and_then(report_summary));
    let closing = said.map_or_else(|| "Approved".to_owned(), |said| format!("Approved: {said}"));
    set_status(tx, ctx, before, Status::Closed, ChangeDetails::with_reason(&closing))?;
    let data = json!({ "review": last.map(|review| review.id), "reason": reason });
    event::insert(tx, ctx, EventKind::Approved, Some(&before.id), None, &data)
}

/// Returns the summary of the work from the report, cut to the length of a reason.
fn report_summary(review: &Review) -> Option<String> {
    let text = review.report.get("summary").and_then(Value::as_str)?.trim();
    if text.is_empty() { None } else { Some(text.chars().take(2_000).collect()) }
}

/// Refuses sessions: only a person decides about handed-over work.
pub(super) fn ensure_no_session(session: Option<&Run>, verb: &str) -> Result<()> {
    match session {
        None => Ok(()),
        Some(_) => Err(Error::Refused(format!("only a person {verb} work, not a session"))),
    }
}

/// Refuses a decision about an atom that does not wait for review.
pub(super) fn ensure_waits_for_review(atom: &Atom) -> Result<()> {
    if atom.status != Status::Review {
        return Err(Error::conflict(
            "not_in_review",
            format!(
                "{} is {}, and only what is in review can be approved or rejected",
                atom.id, atom.status
            ),
        ));
    }
    Ok(())
}
