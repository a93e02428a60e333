use serde_json::json;

use crate::model::{Atom, EventKind};
use crate::store::{Store, atom, event};
use crate::{Ctx, Result};

/// Returns true if the conversation claimed an atom that is still in progress, has no run, and was
/// not mentioned in a reminder since.
///
/// # Errors
///
/// If the database cannot be read.
pub fn has_unfinished(store: &Store, conversation: &str) -> Result<bool> {
    Ok(store.read(|tx| event::claimed_by(tx, conversation))?.is_some())
}

/// Returns the atom of [`has_unfinished`], for the Stop hook. Each atom is returned once after each
/// claim, so a person who talks with the agent is not interrupted at every turn.
///
/// # Errors
///
/// If the database cannot be written.
pub fn take_unfinished(
    store: &mut Store,
    ctx: &Ctx<'_>,
    conversation: &str,
) -> Result<Option<Atom>> {
    store.write(|tx| {
        let Some(id) = event::claimed_by(tx, conversation)? else { return Ok(None) };
        let data = json!({ "by": "stop hook", "conversation": conversation });
        event::insert(tx, ctx, EventKind::Nudged, Some(&id), None, &data)?;
        Ok(Some(atom::get(tx, &id)?))
    })
}
