//! The reason why the branch of a closed atom has not reached its target.

use el_agents::land::{LandItem, LandOutcome};
use el_core::model::{Atom, Event, EventKind, Status};
use el_core::{Store, ops};

use crate::commands::work::items_to_land;
use crate::{App, Result};

/// The branch of a closed atom, as `el land` would take it; `None` without a branch.
pub(super) fn item_to_land(app: &App, atom: &Atom) -> Option<LandItem> {
    if atom.status != Status::Closed {
        return None;
    }
    // Without a repository, nothing is landed.
    let items = items_to_land(app, Some(std::slice::from_ref(&atom.id))).ok()?;
    items.into_iter().find(|item| item.branch.is_some())
}

/// Says why the last landing of an atom failed, if the branch has not come in otherwise since.
pub(crate) fn describe_failed_landing(
    app: &App,
    store: &Store,
    atom: &Atom,
) -> Result<Option<String>> {
    let has_failed = atom.status == Status::Closed
        && ops::last_landing(store, &atom.id)?
            .is_some_and(|event| event.kind == EventKind::LandFailed);
    if !has_failed || !ops::pull_requests_of(store, &atom.id)?.is_empty() {
        return Ok(None);
    }
    describe_landing(store, atom, item_to_land(app, atom).as_ref())
}

/// Says what keeps the branch of a closed atom from its target.
pub(super) fn describe_landing(
    store: &Store,
    atom: &Atom,
    item: Option<&LandItem>,
) -> Result<Option<String>> {
    if atom.status != Status::Closed {
        return Ok(None);
    }
    let last = ops::last_landing(store, &atom.id)?;
    let failed = last.filter(|event| event.kind == EventKind::LandFailed);
    let is_filed = |id: &str| ops::get_atom(store, id).is_ok_and(|atom| !atom.status.is_over());
    Ok(landing_sentence(&atom.id, item, failed.as_ref(), is_filed))
}

/// A sentence with the next command. `failed`: the atom's last landing, if it failed.
fn landing_sentence(
    id: &str,
    item: Option<&LandItem>,
    failed: Option<&Event>,
    is_filed: impl Fn(&str) -> bool,
) -> Option<String> {
    let detail = item.and_then(|item| item.detail.as_deref()).unwrap_or_default();
    match item.map(|item| item.outcome) {
        Some(LandOutcome::Uncommitted) => {
            let folder = detail.lines().next().unwrap_or_default();
            Some(format!(
                "Its worktree has changes that are not committed: {folder}. el diff {id} shows \
                 them, el land {id} --commit commits them and brings them in."
            ))
        }
        Some(LandOutcome::TakenBack) => {
            Some(format!("Its work had landed, and was taken back {detail}."))
        }
        Some(LandOutcome::Astray | LandOutcome::Held | LandOutcome::Waits) => {
            let why = detail.lines().next_back().unwrap_or_default();
            Some(format!("el land leaves its branch out: {why}."))
        }
        Some(LandOutcome::ToLand) if failed.is_none() => {
            Some(format!("Its branch has not landed: el land {id} brings it in."))
        }
        Some(LandOutcome::ToLand) | None => {
            failed.map(|event| describe_failure(id, event, is_filed))
        }
        _ => None,
    }
}

fn describe_failure(id: &str, event: &Event, is_filed: impl Fn(&str) -> bool) -> String {
    let text = |key: &str| event.data[key].as_str().unwrap_or_default();
    let onto = text("onto");
    if text("fate") != "conflict" {
        let said = text("detail").trim().lines().next_back().unwrap_or_default();
        return format!(
            "Its branch did not land: with it, the check fails on {onto}: {said}. el reopen {id} \
             has an agent mend it, el land {id} checks it again."
        );
    }
    let conflict = text("conflict_atom");
    if !conflict.is_empty() && is_filed(conflict) {
        return format!(
            "Its branch did not land: it is in conflict with {onto}, and {conflict} is filed to \
             resolve that (el show {conflict})."
        );
    }
    format!(
        "Its branch did not land: it is in conflict with {onto}. el reopen {id} has an agent \
         resolve that, el land {id} tries again."
    )
}
