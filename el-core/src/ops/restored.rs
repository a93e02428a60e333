use serde_json::json;

use super::settle::{Ending, SettledBy, settle};
use crate::model::{EndKind, EventKind, ExitRecord, Run, Timestamp};
use crate::rules::retry::RetryPolicy;
use crate::store::{Store, event, run, worker};
use crate::{Ctx, Result};

/// Settles the state of a restored copy before it becomes the tracker. The runs that were live in
/// the backup are ended, so their tokens no longer count, and its workers are signed off. Returns
/// those runs.
///
/// # Errors
/// If the database cannot be written.
pub fn settle_restored(store: &mut Store, ctx: &Ctx<'_>, of: Timestamp) -> Result<Vec<Run>> {
    let live = store.read(run::list_live)?;
    let policy = RetryPolicy::default();
    for run in &live {
        let exit = ExitRecord {
            message: Some("the tracker was restored from a backup of then".to_owned()),
            ..ExitRecord::new(&run.id, EndKind::Hangup, ctx.now)
        };
        let by = SettledBy::Other { seen: run.supervisor.as_ref() };
        settle(store, ctx, &Ending { by, ..Ending::new(&exit, &policy, 0.0) }, |_| None)?;
    }
    store.write(|tx| {
        for gone in worker::list_workers(tx)? {
            worker::remove(tx, &gone.id)?;
        }
        let data = json!({ "backup_of": of, "runs_ended": live.len() });
        event::insert(tx, ctx, EventKind::Restored, None, None, &data)
    })?;
    Ok(live)
}
