use serde_json::json;

use crate::model::EventKind;
use crate::store::{Store, event, run};
use crate::{Ctx, Result};

/// What the reminder is recorded as.
const BY: &str = "close";

/// Records that a live run was told of work in its worktree that is not committed, or is on another
/// branch. Whether that was the first time: a run is told once, and then does as it thinks right.
///
/// # Errors
/// If the run is over or the token is not its own, or the store cannot be used.
pub fn remind_of_uncommitted(
    store: &mut Store,
    ctx: &Ctx<'_>,
    run_id: &str,
    token: &str,
    files: usize,
) -> Result<bool> {
    store.write(|tx| {
        let live = run::live_with_token(tx, run_id, Some(token))?;
        if event::was_nudged(tx, &live.atom_id, &live.id, BY)? {
            return Ok(false);
        }
        let data = json!({ "by": BY, "uncommitted": files });
        event::insert(tx, ctx, EventKind::Nudged, Some(&live.atom_id), Some(&live.id), &data)?;
        Ok(true)
    })
}
