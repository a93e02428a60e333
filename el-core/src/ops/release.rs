use serde_json::json;

use super::cancel::request_cancel;
use super::change::{ChangeDetails, resolve_atom, set_status, taken_claim};
use crate::model::{Atom, CancelMode, EventKind, Status};
use crate::store::{Store, atom, event, run};
use crate::{Ctx, Error, Result};

/// Releases a claim: the atom is open for anyone. The supervisor ends a live run cleanly. Releasing
/// an unclaimed atom is no error; another actor's claim is released only with `force`.
///
/// # Errors
///
/// If another actor has the claim, the atom is over, an id is unknown or ambiguous, the caller's
/// run is stale, or the database cannot be written.
pub fn release(store: &mut Store, ctx: &Ctx<'_>, id: &str, force: bool) -> Result<Atom> {
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        let before = resolve_atom(tx, id)?;
        if before.status.is_over() {
            return Err(Error::conflict("over", format!("{} is {}", before.id, before.status)));
        }
        if session.is_some() {
            return Err(Error::conflict(
                "in_session",
                format!(
                    "a session ends its work with `el close {0}`, or `el update {0} --status \
                     deferred` if it cannot be done now",
                    before.id
                ),
            ));
        }
        taken_claim(ctx, session.as_ref(), &before, force)?;
        if let Some(live) = run::live_of(tx, &before.id)? {
            request_cancel(tx, ctx, &live, CancelMode::Requeue, None)?;
        } else if before.status == Status::InProgress {
            let freed = Atom { assignee: None, updated_at: ctx.now, ..before.clone() };
            atom::update_fields(tx, &before, &freed)?;
            set_status(tx, ctx, &before, Status::Open, ChangeDetails::default())?;
            let data = json!({ "was": before.assignee });
            event::insert(tx, ctx, EventKind::Released, Some(&before.id), None, &data)?;
        }
        atom::get(tx, &before.id)
    })
}
