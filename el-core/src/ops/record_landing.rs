use serde_json::json;

use crate::model::{Event, EventKind, PullRequestState};
use crate::store::{Store, atom, event, pull_request, run, unmerged};
use crate::{Ctx, Result};

/// The result of landing an atom's branch.
#[derive(Debug, Clone, Copy)]
pub struct LandingRecord<'a> {
    /// The branch that work is brought to.
    pub onto: &'a str,
    /// The commit of the atom's branch.
    pub tip: &'a str,
    /// The outcome word of `el land`.
    pub outcome: &'a str,
    pub has_landed: bool,
    /// Why the landing failed.
    pub detail: Option<&'a str>,
    /// The atom that was filed to resolve a conflict.
    pub conflict_atom: Option<&'a str>,
}

/// Records in an atom's history that the branch was landed, or could not be landed. The same
/// outcome of the same commit is recorded once.
///
/// # Errors
///
/// If there is no such atom, or the store fails.
pub fn record_landing(
    store: &mut Store,
    ctx: &Ctx<'_>,
    id: &str,
    record: &LandingRecord<'_>,
) -> Result<()> {
    let LandingRecord { onto, tip, outcome, has_landed, detail, conflict_atom } = *record;
    let kind = if has_landed { EventKind::Landed } else { EventKind::LandFailed };
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let id = atom::resolve(tx, id)?;
        if has_landed {
            unmerged::forget(tx, &id)?;
        }
        let events = event::list(tx, Some(&id), 0, i64::MAX)?;
        let is_known = events.iter().rev().find(is_landing).is_some_and(|last| {
            last.kind == kind
                && last.data["onto"] == onto
                && last.data["tip"] == tip
                && last.data["fate"] == outcome
                && last.data["conflict_atom"].as_str() == conflict_atom
        });
        if is_known {
            return Ok(());
        }
        let data = json!({
            "onto": onto, "tip": tip, "fate": outcome, "detail": detail,
            "conflict_atom": conflict_atom,
        });
        event::insert(tx, ctx, kind, Some(&id), None, &data)
    })
}

fn is_landing(event: &&Event) -> bool {
    matches!(event.kind, EventKind::Landed | EventKind::LandFailed)
}

/// The last landing of an atom's branch, done or failed.
///
/// # Errors
///
/// If there is no such atom, or the store fails.
pub fn last_landing(store: &Store, id: &str) -> Result<Option<Event>> {
    store.read(|tx| {
        let id = atom::resolve(tx, id)?;
        Ok(event::list(tx, Some(&id), 0, i64::MAX)?.into_iter().rev().find(|one| is_landing(&one)))
    })
}

/// Returns true if the last landing of an atom's branch, or its last pull request, brought the work
/// in.
///
/// # Errors
///
/// If there is no such atom, or the store fails.
pub fn has_landed(store: &Store, id: &str) -> Result<bool> {
    store.read(|tx| {
        let id = atom::resolve(tx, id)?;
        let events = event::list(tx, Some(&id), 0, i64::MAX)?;
        let last = events.iter().rev().find(is_landing);
        let is_merged = pull_request::of_atom(tx, &id)?
            .last()
            .is_some_and(|request| request.state == PullRequestState::Merged);
        Ok(is_merged || last.is_some_and(|event| event.kind == EventKind::Landed))
    })
}
