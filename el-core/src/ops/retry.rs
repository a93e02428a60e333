use serde_json::json;

use super::change::{To, may_set_status, resolved, set_status};
use crate::model::{Atom, EventKind, Status};
use crate::store::{Store, atom, event, run};
use crate::{Ctx, Error, Result};

/// Gives an atom fresh attempts: open, no back-off, the earlier failures counted no longer (if a
/// person asks; of an agent, they still count).
pub fn retry(store: &mut Store, ctx: &Ctx<'_>, id: &str) -> Result<Atom> {
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        let before = resolved(tx, id)?;
        may_set_status(tx, session.as_ref(), &before, Status::Open)?;
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
            _ => set_status(tx, ctx, &before, Status::Open, To { fresh: true, ..To::default() })?,
        }
        event::insert(tx, ctx, EventKind::Retried, Some(&before.id), None, &json!({}))?;
        atom::get(tx, &before.id)
    })
}
