use serde_json::json;

use super::change::{
    ChangeDetails, ensure_check_passed, ensure_children_over, ensure_may_close,
    ensure_may_set_status, resolved_all, set_status, taken_claim,
};
use super::comment::insert_comment;
use crate::model::{Atom, EventKind, Status, validate};
use crate::store::{Store, atom, event, run};
use crate::{Ctx, Error, Result};

/// The conditions of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guard {
    /// The present status must be in the list; empty: any status.
    pub if_status: Vec<Status>,
    /// A session may not close its own atom but has to submit the atom for review.
    pub review: bool,
    /// A person insists: an epic is closed over open contents, and a claim is taken from the
    /// claimant.
    pub force: bool,
}

impl Guard {
    pub(super) fn ensure_status(&self, atom: &Atom) -> Result<()> {
        if self.if_status.is_empty() || self.if_status.contains(&atom.status) {
            return Ok(());
        }
        let wanted: Vec<_> = self.if_status.iter().map(|s| s.as_str()).collect();
        Err(Error::conflict(
            "guard",
            format!(
                "{} is {}, not {}; nothing was changed",
                atom.id,
                atom.status,
                wanted.join(" or ")
            ),
        ))
    }
}

/// Closes atoms, all or none. Closing again is no error: the first reason stands, and a further
/// reason becomes a comment.
///
/// # Errors
///
/// If the guard, a review, a required check or open contents forbid to close, an id is unknown or
/// ambiguous, the caller's run is stale, or the database cannot be written.
pub fn close<S: AsRef<str>>(
    store: &mut Store,
    ctx: &Ctx<'_>,
    ids: &[S],
    reason: Option<&str>,
    guard: &Guard,
) -> Result<Vec<Atom>> {
    let reason = reason.map(validate::reason).transpose()?;
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        let atoms = resolved_all(tx, ids)?;
        for found in &atoms {
            // Read again, since earlier ids of this call may have changed the atom.
            let atom = &atom::get(tx, &found.id)?;
            if atom.status.is_over() && !found.status.is_over() {
                continue;
            }
            guard.ensure_status(atom)?;
            ensure_may_set_status(tx, session.as_ref(), atom, Status::Closed)?;
            ensure_may_close(tx, session.as_ref(), atom, guard.review)?;
            ensure_check_passed(session.as_ref(), atom, true)?;
            if let Some(owner) = taken_claim(ctx, session.as_ref(), atom, guard.force)? {
                event::insert(
                    tx,
                    ctx,
                    EventKind::Released,
                    Some(&atom.id),
                    None,
                    &json!({ "was": owner }),
                )?;
            }
            match atom.status {
                Status::Closed => {
                    if let Some(reason) =
                        reason.as_deref().filter(|r| atom.close_reason.as_deref() != Some(r))
                    {
                        insert_comment(tx, ctx, &atom.id, None, reason)?;
                    }
                }
                Status::WontDo | Status::Discard => {
                    return Err(Error::conflict(
                        "over",
                        format!(
                            "{} is {}; reopen it before it can be closed",
                            atom.id, atom.status
                        ),
                    ));
                }
                _ => set_status(
                    tx,
                    ctx,
                    atom,
                    Status::Closed,
                    ChangeDetails { reason: reason.as_deref(), ..ChangeDetails::default() },
                )?,
            }
        }
        for atom in atoms.iter().filter(|atom| !atom.status.is_over()) {
            ensure_children_over(tx, session.as_ref(), atom, guard.force)?;
        }
        atoms.iter().map(|a| atom::get(tx, &a.id)).collect()
    })
}
