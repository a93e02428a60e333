use super::Streamed;
use crate::model::Event;
use crate::store::{Store, Tx, atom, event};
use crate::{Error, Result};

/// Returns the events of an atom, oldest first. A pruned atom is found by the whole id.
///
/// # Errors
///
/// If the id is unknown or ambiguous, or the database cannot be read.
pub fn history(store: &Store, id: &str) -> Result<(String, Vec<Event>)> {
    store.read(|tx| {
        let id = known_id(tx, id)?;
        let events = event::list(tx, Some(&id), 0, i64::MAX)?;
        Ok((id, events))
    })
}

/// Visits the latest events of an atom or of the project, oldest first, at most `limit`, in
/// constant memory: `passes` times the same, each time after their total.
///
/// # Errors
///
/// If there is no such atom, the database cannot be read, or `visit` fails.
pub fn history_each(
    store: &Store,
    id: Option<&str>,
    limit: Option<i64>,
    passes: usize,
    mut visit: impl FnMut(Streamed<Event>) -> Result<()>,
) -> Result<()> {
    store.read(|tx| {
        let id = id.map(|id| known_id(tx, id)).transpose()?;
        let total = event::count(tx, id.as_deref())?;
        let after = match limit {
            Some(limit) if limit < total => event::before_latest(tx, id.as_deref(), limit)?,
            _ => 0,
        };
        for _ in 0..passes {
            visit(Streamed::Total(total))?;
            event::visit_each(tx, id.as_deref(), after, -1, |event| visit(Streamed::Item(event)))?;
        }
        Ok(())
    })
}

/// Returns the whole id of an atom, pruned atoms included.
///
/// # Errors
///
/// If the id is ambiguous, or no atom ever had the id.
pub fn history_id(store: &Store, id: &str) -> Result<String> {
    store.read(|tx| known_id(tx, id))
}

fn known_id(tx: &Tx<'_>, id: &str) -> Result<String> {
    match atom::resolve(tx, id) {
        Err(Error::NotFound { .. }) => {
            let id = id.trim().to_ascii_lowercase();
            match event::count(tx, Some(&id))? {
                0 => Err(Error::not_found("atom", id)),
                _ => Ok(id),
            }
        }
        found => found,
    }
}

/// Returns the number of the project's last event, by a single question; 0 if there is none.
///
/// # Errors
///
/// If the database cannot be read.
pub fn last_event(store: &Store) -> Result<i64> {
    event::last_alone(store)
}
