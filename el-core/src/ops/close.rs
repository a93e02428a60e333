use super::change::{AtomEnd, end_atom, ensure_children_over, resolved_all, take_claim};
use crate::model::{Atom, Status, validate};
use crate::store::{Store, atom, run};
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
            let end = AtomEnd {
                status: Status::Closed,
                reason: reason.as_deref(),
                review: guard.review,
                was_checked: true,
                via: None,
            };
            take_claim(tx, ctx, session.as_ref(), atom, guard.force)?;
            end_atom(tx, ctx, session.as_ref(), atom, end)?;
        }
        for atom in atoms.iter().filter(|atom| !atom.status.is_over()) {
            ensure_children_over(tx, session.as_ref(), atom, guard.force)?;
        }
        atoms.iter().map(|a| atom::get(tx, &a.id)).collect()
    })
}
