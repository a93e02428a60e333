use serde_json::json;

use super::change::{ensure_may_set_status, resolved_all};
use super::reopen::open_afresh;
use crate::model::{Atom, EventKind, Run, Status};
use crate::store::{Store, Tx, atom, event, run};
use crate::{Ctx, Error, Result};

/// Gives an atom fresh attempts; see [`retry_all`].
///
/// # Errors
///
/// As for [`retry_all`].
pub fn retry(store: &mut Store, ctx: &Ctx<'_>, id: &str) -> Result<Atom> {
    Ok(retry_all(store, ctx, &[id])?.remove(0))
}

/// Gives atoms fresh attempts, all or none: open, and without back-off. Earlier failures no longer
/// count if a person calls; they still count if an agent calls.
///
/// # Errors
///
/// If an atom is claimed, over, or has a live run, or this session may not open the atom.
pub fn retry_all<S: AsRef<str>>(store: &mut Store, ctx: &Ctx<'_>, ids: &[S]) -> Result<Vec<Atom>> {
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        let atoms = resolved_all(tx, ids)?;
        for before in &atoms {
            retry_one(tx, ctx, session.as_ref(), before)?;
        }
        atoms.iter().map(|before| atom::get(tx, &before.id)).collect()
    })
}

fn retry_one(tx: &Tx<'_>, ctx: &Ctx<'_>, session: Option<&Run>, before: &Atom) -> Result<()> {
    ensure_may_set_status(tx, session, before, Status::Open)?;
    if let Some(live) = &before.run_id {
        return Err(Error::conflict(
            "claimed",
            format!(
                "{} is being worked on by {live}; `el cancel {}` ends that first",
                before.id, before.id
            ),
        ));
    }
    match before.status {
        Status::Closed | Status::WontDo | Status::Discard => {
            return Err(Error::conflict(
                "over",
                format!(
                    "{} is {}; `el reopen {}` opens it again",
                    before.id, before.status, before.id
                ),
            ));
        }
        Status::InProgress => {
            return Err(Error::conflict(
                "claimed",
                format!(
                    "{} was claimed by {}; `el release {}` takes it back",
                    before.id,
                    before.assignee.as_deref().unwrap_or("someone"),
                    before.id
                ),
            ));
        }
        _ => open_afresh(tx, ctx, before)?,
    }
    event::insert(tx, ctx, EventKind::Retried, Some(&before.id), None, &json!({}))
}
