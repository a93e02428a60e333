use serde_json::json;

use crate::model::{EventKind, Status, Verify};
use crate::store::{Store, atom, event, orchestration, run};
use crate::{Ctx, Error, Result};

/// What the Stop hook answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gate {
    /// The session may end its turn.
    Pass,
    /// It is sent back to its work on this atom.
    SendBack {
        /// The atom that is still open.
        atom_id: String,
        /// The check of its work, if there is one.
        verify: Option<Box<Verify>>,
    },
}

/// An agent that ends its turn with its atom still in progress is sent back, at most `times` a run.
/// Sessions that are not (or no longer) a live run's are never bothered.
pub fn stop_gate(store: &mut Store, ctx: &Ctx<'_>, times: i64) -> Result<Gate> {
    store.write(|tx| {
        let live = match run::fence(tx, ctx) {
            Ok(Some(live)) => live,
            Ok(None) | Err(Error::StaleRun { .. }) => return Ok(Gate::Pass),
            Err(other) => return Err(other),
        };
        let status = atom::status(tx, &live.atom_id)?.map(|(status, _)| status);
        if status != Some(Status::InProgress)
            || live.stop_blocks >= times
            || live.cancel_requested.is_some()
        {
            return Ok(Gate::Pass);
        }
        // Its answer ends it, once the turn has ended.
        if orchestration::asks(tx, &live.atom_id)? {
            return Ok(Gate::Pass);
        }
        run::set(tx, &live.id, "stop_blocks", &(live.stop_blocks + 1))?;
        event::insert(
            tx,
            ctx,
            EventKind::Nudged,
            Some(&live.atom_id),
            Some(&live.id),
            &json!({ "by": "stop hook" }),
        )?;
        Ok(Gate::SendBack { atom_id: live.atom_id, verify: live.verify.map(Box::new) })
    })
}
