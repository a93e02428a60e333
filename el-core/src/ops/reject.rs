use serde_json::json;

use super::approve::waits;
use super::change::{To, resolved, set_status};
use crate::model::{Atom, EventKind, ReviewVerdict, Status, validate};
use crate::store::{Store, Tx, atom, comment, event, review, run};
use crate::{Ctx, Result};

/// Sends back what waits for review: the atom is open, with fresh attempts, and the reason reaches
/// the next one.
pub fn reject(store: &mut Store, ctx: &Ctx<'_>, id: &str, reason: &str) -> Result<Atom> {
    let reason = validate::reason(reason)?;
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        let before = resolved(tx, id)?;
        waits(session.as_ref(), &before)?;
        reject_one(tx, ctx, &before, &reason)?;
        atom::get(tx, &before.id)
    })
}

pub(super) fn reject_one(tx: &Tx<'_>, ctx: &Ctx<'_>, before: &Atom, reason: &str) -> Result<()> {
    if !review::decide(tx, ctx, &before.id, ReviewVerdict::Rejected, Some(reason))? {
        // It was put into review by hand, without a report: the decision is kept all the same.
        review::insert(tx, ctx, &before.id, &serde_json::Value::Null)?;
        review::decide(tx, ctx, &before.id, ReviewVerdict::Rejected, Some(reason))?;
    }
    let said = comment::insert(tx, ctx, &before.id, &format!("Rejected: {reason}"))?;
    set_status(tx, ctx, before, Status::Open, To { fresh: true, ..To::default() })?;
    let data = json!({ "reason": reason, "comment": said.id });
    event::insert(tx, ctx, EventKind::Rejected, Some(&before.id), None, &data)
}
