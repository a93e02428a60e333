use serde_json::json;

use crate::model::{Atom, EventKind};
use crate::store::{Store, atom, event};
use crate::{Ctx, Result};

/// Whether this conversation of an agent has claimed an atom that is still in progress and no
/// run's, and was not reminded of it since.
pub fn has_unfinished(store: &Store, conversation: &str) -> Result<bool> {
    Ok(store.read(|tx| event::claimed_by(tx, conversation))?.is_some())
}

/// The atom that [`has_unfinished`] found, as the Stop hook asks for it: each is named once after
/// each claim, and never again, so that a person who talks with the agent meanwhile is not
/// interrupted at every turn.
pub fn unfinished(store: &mut Store, ctx: &Ctx<'_>, conversation: &str) -> Result<Option<Atom>> {
    store.write(|tx| {
        let Some(id) = event::claimed_by(tx, conversation)? else { return Ok(None) };
        let data = json!({ "by": "stop hook", "conversation": conversation });
        event::insert(tx, ctx, EventKind::Nudged, Some(&id), None, &data)?;
        Ok(Some(atom::get(tx, &id)?))
    })
}
