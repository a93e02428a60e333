use serde_json::json;

use crate::model::EventKind;
use crate::store::{Store, event, run};
use crate::{Ctx, Result};

/// The reminder's name in the event.
const BY: &str = "close";

/// Records that a live run was told of uncommitted work in the worktree, or of work on another
/// branch. Returns true the first time: a run is told once, and then decides alone.
///
/// # Errors
///
/// If the run is over, the token is not the run's, or the store fails.
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
