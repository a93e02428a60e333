use schemars::JsonSchema;
use serde::Serialize;

use super::cancel::request_cancel;
use super::change::{ChangeDetails, set_status};
use super::tasks::{Task, of_atom, resolve_task};
use crate::model::{CancelMode, Status, TaskStatus};
use crate::store::{Store, comment, run};
use crate::{Ctx, Error, Result};

/// A task that was called off.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CancelledTask {
    #[serde(flatten)]
    pub task: Task,
    /// The state before: a `running` task is ended by the supervisor, a `queued` task never begins.
    pub was: TaskStatus,
}

/// Cancels a task, waiting or running, and holds the atom until `el reopen`. The transaction
/// decides between the two, so a claim at the same moment cannot slip through. Cancelling again is
/// no error.
///
/// # Errors
///
/// If the atom is no task or is over, the id is unknown or ambiguous, or the database cannot be
/// written.
pub fn cancel_task(
    store: &mut Store,
    ctx: &Ctx<'_>,
    id: &str,
    reason: Option<&str>,
) -> Result<CancelledTask> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let found = resolve_task(tx, id)?;
        let was = match run::live_of(tx, &found.id)? {
            Some(live) => {
                request_cancel(tx, ctx, &live, CancelMode::Hold, reason)?;
                TaskStatus::Running
            }
            None if found.status.is_over() => {
                return Err(Error::conflict(
                    "over",
                    format!("{} is {} already", found.id, found.status),
                ));
            }
            None => {
                if found.status != Status::Deferred || found.defer_until.is_some() {
                    set_status(tx, ctx, &found, Status::Deferred, ChangeDetails::default())?;
                }
                if let Some(reason) = reason {
                    comment::insert(tx, ctx, &found.id, &format!("Cancelled: {reason}"))?;
                }
                TaskStatus::Queued
            }
        };
        Ok(CancelledTask { task: of_atom(tx, resolve_task(tx, &found.id)?)?, was })
    })
}
