use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::change::ensure_may_open;
use crate::model::{CancelMode, EventKind, Run};
use crate::store::{Store, Tx, comment, event, run};
use crate::{Ctx, Error, Result};

/// A run that was asked to end.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Cancelled {
    pub run_id: String,
    pub atom_id: String,
    pub mode: CancelMode,
}

/// Asks a live run to end, by the id of the run or of the atom. The supervisor ends the agent
/// cleanly and settles the run. Asking again is no error. A session can only hold a cancelled atom:
/// put back into the queue, the atom would be started again.
///
/// # Errors
///
/// If no live run matches, the session may not cancel the run, or the database cannot be written.
pub fn cancel(
    store: &mut Store,
    ctx: &Ctx<'_>,
    target: &str,
    mode: CancelMode,
    reason: Option<&str>,
) -> Result<Cancelled> {
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        let found = super::runs::resolve_target(tx, target)?;
        if let Some(session) = session.filter(|_| mode == CancelMode::Requeue) {
            ensure_may_open(&session, &found.atom_id)?;
            return Err(Error::Refused(format!(
                "a session does not put a cancelled atom back into the queue: `el cancel {0}` \
                 holds it, and a person decides",
                found.atom_id
            )));
        }
        if !found.is_live() {
            return Err(Error::conflict(
                "over",
                format!(
                    "{} ended already, as {}",
                    found.id,
                    found.outcome.map_or("unknown", |o| o.as_str())
                ),
            ));
        }
        request_cancel(tx, ctx, &found, mode, reason)?;
        Ok(Cancelled { run_id: found.id, atom_id: found.atom_id, mode })
    })
}

/// Asks every live run that `is_meant` selects to end, as `el work --stop` does with
/// [`CancelMode::Requeue`]. An earlier request to a run still holds.
///
/// # Errors
///
/// If the caller's run is stale, or the database cannot be written.
pub fn cancel_all(
    store: &mut Store,
    ctx: &Ctx<'_>,
    mode: CancelMode,
    is_meant: &dyn Fn(&Run) -> bool,
) -> Result<Vec<Cancelled>> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let mut cancelled = Vec::new();
        for live in run::list_live(tx)?.into_iter().filter(is_meant) {
            let mode = live.cancel_requested.unwrap_or(mode);
            request_cancel(tx, ctx, &live, mode, None)?;
            cancelled.push(Cancelled { run_id: live.id, atom_id: live.atom_id, mode });
        }
        Ok(cancelled)
    })
}

pub(super) fn request_cancel(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    live: &Run,
    mode: CancelMode,
    reason: Option<&str>,
) -> Result<()> {
    if live.cancel_requested == Some(mode) {
        return Ok(());
    }
    run::set_column(tx, &live.id, "cancel_requested", &mode.as_str())?;
    if let Some(reason) = reason {
        comment::insert(tx, ctx, &live.atom_id, &format!("Cancelled: {reason}"))?;
    }
    let data = json!({ "mode": mode, "reason": reason });
    event::insert(tx, ctx, EventKind::CancelRequested, Some(&live.atom_id), Some(&live.id), &data)
}
