use crate::model::Event;
use crate::store::{Store, atom, event};
use crate::{Error, Result};

/// Who changed what when, oldest first. Works for atoms that were pruned too, by their whole id.
pub fn history(store: &Store, id: &str) -> Result<(String, Vec<Event>)> {
    store.read(|tx| {
        let (id, is_there) = match atom::resolve(tx, id) {
            Ok(id) => (id, true),
            Err(Error::NotFound { .. }) => (id.trim().to_ascii_lowercase(), false),
            Err(other) => return Err(other),
        };
        let events = event::list(tx, Some(&id), 0, -1)?;
        if events.is_empty() && !is_there {
            return Err(Error::not_found("atom", id));
        }
        Ok((id, events))
    })
}

/// The project's events after number `after`, oldest first, at most `limit` (negative: all).
pub fn events(store: &Store, after: i64, limit: i64) -> Result<Vec<Event>> {
    store.read(|tx| event::list(tx, None, after, limit))
}
