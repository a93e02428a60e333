use serde_json::json;

use crate::model::{EventKind, Status, Verify};
use crate::store::{Store, atom, event, orchestration, run};
use crate::{Ctx, Error, Result};

/// The answer of the Stop hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gate {
    /// The session may end the turn.
    Pass,
    /// The session is sent back to the atom.
    SendBack {
        /// The atom that is still open.
        atom_id: String,
        /// The check of the work.
        verify: Option<Box<Verify>>,
    },
}

/// Decides at the end of an agent's turn. A session with an atom still in progress is sent back, at
/// most `times` a run. Other sessions, without a live run, pass.
///
/// # Errors
///
/// If the database cannot be written.
pub fn stop_gate(store: &mut Store, ctx: &Ctx<'_>, times: i64) -> Result<Gate> {
    store.write(|tx| {
        let live = match run::fence(tx, ctx) {
            Ok(Some(live)) => live,
            Ok(None) | Err(Error::StaleRun { .. }) => return Ok(Gate::Pass),
            Err(other) => return Err(other),
        };
        let state = atom::state_of(tx, &live.atom_id)?;
        if state.is_none_or(|state| state.status != Status::InProgress)
            || live.stop_blocks >= times
            || live.cancel_requested.is_some()
        {
            return Ok(Gate::Pass);
        }
        // The answer ends the atom after the turn.
        if orchestration::is_question(tx, &live.atom_id)? {
            return Ok(Gate::Pass);
        }
        run::set_column(tx, &live.id, "stop_blocks", &(live.stop_blocks + 1))?;
        let data = json!({ "by": "stop hook" });
        event::insert(tx, ctx, EventKind::Nudged, Some(&live.atom_id), Some(&live.id), &data)?;
        Ok(Gate::SendBack { atom_id: live.atom_id, verify: live.verify.map(Box::new) })
    })
}
