use serde_json::json;

use super::change::{To, set_status};
use super::pause::pause_in;
use crate::model::{Atom, EventKind, ExitRecord, Outcome, Run, Stamp, Status, Timestamp};
use crate::rules::retry::RetryPolicy;
use crate::rules::verdict::{AtomChange, Facts, decide};
use crate::store::{Store, atom, comment, event, run};
use crate::{Ctx, Error, Result};

/// How a run was settled.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    pub run: Run,
    /// The atom as it is now; `None` if it is gone.
    pub atom: Option<Atom>,
    pub outcome: Outcome,
    /// It had been settled before; nothing was written now.
    pub was_settled: bool,
}

/// Ends a run: re-reads the atom, decides, and writes outcome, atom and events in one transaction. Called once the exit record is there and
/// nothing of the agent's tree is left. Settling again changes nothing.
pub fn settle(store: &mut Store, ctx: &Ctx<'_>, exit: &ExitRecord, policy: &RetryPolicy, jitter: f64) -> Result<Settled> {
    settle_if(store, ctx, exit, policy, jitter, |_| Ok(()))
}

/// [`settle`] by somebody else than the run's supervisor, which was seen to be gone, or never to have come: `seen`. Refused if one has
/// registered since then, for its agent may be at work.
pub fn settle_lost(
    store: &mut Store,
    ctx: &Ctx<'_>,
    exit: &ExitRecord,
    policy: &RetryPolicy,
    jitter: f64,
    seen: Option<&Stamp>,
) -> Result<Settled> {
    settle_if(store, ctx, exit, policy, jitter, |run| match &run.supervisor {
        Some(now) if Some(now) != seen => {
            Err(Error::conflict("claimed", format!("{} has got a supervisor meanwhile, process {}", run.id, now.pid)))
        }
        _ => Ok(()),
    })
}

fn settle_if(
    store: &mut Store,
    ctx: &Ctx<'_>,
    exit: &ExitRecord,
    policy: &RetryPolicy,
    jitter: f64,
    may: impl FnOnce(&Run) -> Result<()>,
) -> Result<Settled> {
    store.write(|tx| {
        let before = run::get(tx, &exit.run)?;
        if let Some(outcome) = before.outcome {
            let atom = atom::find(tx, &before.atom_id)?;
            return Ok(Settled { run: before, atom, outcome, was_settled: true });
        }
        may(&before)?;
        let found = atom::find(tx, &before.atom_id)?;
        let status = atom::status(tx, &before.atom_id)?;
        let fresh_since = atom::fresh_since(tx, &before.atom_id)?;
        let verdict = decide(&Facts {
            atom: status.map(|(status, by_run)| (status, by_run.as_deref() == Some(before.id.as_str()))),
            exit,
            cancel: before.cancel_requested,
            earlier: &run::outcomes_since(tx, &before.atom_id, fresh_since)?,
            policy,
            jitter,
            now: ctx.now,
        });
        run::end(tx, exit, ctx.now, verdict.outcome, &verdict.detail)?;
        let data = json!({ "outcome": verdict.outcome, "detail": verdict.detail, "attempt": before.attempt });
        event::insert(tx, ctx, EventKind::RunEnded, Some(&before.atom_id), Some(&before.id), &data)?;
        if let Some(found) = &found {
            match &verdict.atom {
                AtomChange::Keep => {}
                AtomChange::Reopen { retry_at } => {
                    set_status(tx, ctx, found, Status::Open, To { retry_at: *retry_at, ..To::default() })?
                }
                AtomChange::Hold => set_status(tx, ctx, found, Status::Deferred, To::default())?,
                AtomChange::Block { comment } => {
                    set_status(tx, ctx, found, Status::Blocked, To::default())?;
                    let added = comment::insert(tx, ctx, &found.id, comment)?;
                    event::insert(
                        tx,
                        ctx,
                        EventKind::Commented,
                        Some(&found.id),
                        Some(&before.id),
                        &json!({ "comment": added.id }),
                    )?;
                }
            }
        }
        if let Some(until) = verdict.pause_until {
            pause_in(tx, until, &verdict.detail)?;
        }
        Ok(Settled {
            run: run::get(tx, &before.id)?,
            atom: atom::find(tx, &before.atom_id)?,
            outcome: verdict.outcome,
            was_settled: false,
        })
    })
}

impl Settled {
    /// When the atom will be tried again, if it will.
    pub fn retry_at(&self) -> Option<Timestamp> {
        self.atom.as_ref().filter(|a| a.status == Status::Open).and_then(|a| a.retry_at)
    }
}
