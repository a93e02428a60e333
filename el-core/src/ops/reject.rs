use serde_json::json;

use super::approve::{ensure_no_session, ensure_waits_for_review};
use super::change::resolved_all;
use super::reopen::open_afresh;
use crate::model::{Atom, EventKind, ReviewVerdict, validate};
use crate::store::{Store, Tx, atom, comment, event, review, run};
use crate::{Ctx, Result};

/// Rejects an atom that waits for review: the atom is open again, with fresh attempts, and the next
/// attempt is told the reason.
///
/// # Errors
///
/// As for [`reject_all`].
pub fn reject(store: &mut Store, ctx: &Ctx<'_>, id: &str, reason: &str) -> Result<Atom> {
    Ok(reject_all(store, ctx, &[id], reason)?.remove(0))
}

/// Rejects several atoms, all or none.
///
/// # Errors
///
/// If a session calls, an atom does not wait for review, or the reason is empty.
pub fn reject_all<S: AsRef<str>>(
    store: &mut Store,
    ctx: &Ctx<'_>,
    ids: &[S],
    reason: &str,
) -> Result<Vec<Atom>> {
    let reason = validate::reason(reason)?;
    store.write(|tx| {
        ensure_no_session(run::fence(tx, ctx)?.as_ref(), "rejects")?;
        let atoms = resolved_all(tx, ids)?;
        for before in &atoms {
            ensure_waits_for_review(before)?;
            reject_one(tx, ctx, before, &reason)?;
        }
        atoms.iter().map(|before| atom::get(tx, &before.id)).collect()
    })
}

pub(super) fn reject_one(tx: &Tx<'_>, ctx: &Ctx<'_>, before: &Atom, reason: &str) -> Result<()> {
    if !review::record_verdict(tx, ctx, &before.id, ReviewVerdict::Rejected, Some(reason))? {
        // It was put into review by hand, without a report: the decision is kept all the same.
        review::insert(tx, ctx, &before.id, &serde_json::Value::Null)?;
        review::record_verdict(tx, ctx, &before.id, ReviewVerdict::Rejected, Some(reason))?;
    }
    let said = comment::insert(tx, ctx, &before.id, &format!("Rejected: {reason}"))?;
    open_afresh(tx, ctx, before)?;
    let data = json!({ "reason": reason, "comment": said.id });
    event::insert(tx, ctx, EventKind::Rejected, Some(&before.id), None, &data)
}
