//! Changes of status with rules, events and consequences, for all verbs.

use serde_json::json;

use crate::model::{Atom, BondKind, EventKind, ReviewVerdict, Status, Timestamp};
use crate::rules::ready;
use crate::store::{Tx, atom, bond, epic, event, meta, review};
use crate::{Ctx, Result};

mod ending;
mod permitted;

pub(super) use ending::{AtomEnd, end_atom, take_claim};
pub(super) use permitted::{
    ensure_check_passed, ensure_children_over, ensure_may_change_bounds, ensure_may_claim,
    ensure_may_close, ensure_may_lift_review, ensure_may_open, ensure_may_set_environment,
    ensure_may_set_status, only_its_own, taken_claim,
};

/// Resolves an id as a person types ids, and reads the atom.
pub(super) fn resolve_atom(tx: &Tx<'_>, id: &str) -> Result<Atom> {
    let id = atom::resolve(tx, id)?;
    atom::get(tx, &id)
}

/// Resolves several ids in order, without duplicates.
pub(super) fn resolved_all<S: AsRef<str>>(tx: &Tx<'_>, ids: &[S]) -> Result<Vec<Atom>> {
    let mut atoms: Vec<Atom> = Vec::with_capacity(ids.len());
    for id in ids {
        let id = atom::resolve(tx, id.as_ref())?;
        if !atoms.iter().any(|a| a.id == id) {
            atoms.push(atom::get(tx, &id)?);
        }
    }
    Ok(atoms)
}

/// How a status is to change.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct ChangeDetails<'a> {
    pub(super) reason: Option<&'a str>,
    pub(super) defer_until: Option<Timestamp>,
    pub(super) retry_at: Option<Timestamp>,
    pub(super) fresh: bool,
    /// The new assignee; `None` leaves the assignee.
    pub(super) assignee: Option<&'a str>,
    /// The cause in the event, if the change was not the actor's own command.
    pub(super) via: Option<&'static str>,
}

impl ChangeDetails<'_> {
    /// Details with nothing but a reason.
    pub(super) fn with_reason(reason: &str) -> ChangeDetails<'_> {
        ChangeDetails { reason: Some(reason), ..ChangeDetails::default() }
    }
}

/// Sets a status, writes the event, and marks targets of `conditional_blocks` as not needed if the
/// atom did not fail.
pub(super) fn set_status(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    before: &Atom,
    status: Status,
    to: ChangeDetails<'_>,
) -> Result<()> {
    // The status counts as set by the run only if the atom is the run's own. A change by anyone
    // else outranks the run.
    let own_run =
        ctx.session.map(|s| s.run.as_str()).filter(|run| before.run_id.as_deref() == Some(run));
    let change = atom::StatusChange {
        reason: to.reason,
        defer_until: to.defer_until,
        retry_at: to.retry_at,
        by_run: own_run,
        // Only a person gives fresh attempts: agents that open each other's work would go on for
        // ever.
        fresh: to.fresh && ctx.session.is_none(),
        assignee: to.assignee,
    };
    if before.status == Status::Review && status != Status::Review {
        // A new status supersedes an undecided hand-over.
        review::record_verdict(tx, ctx, &before.id, ReviewVerdict::Superseded, to.reason)?;
    }
    let was = super::undo::status_before(tx, before, to.fresh, to.assignee.is_some())?;
    atom::set_status(tx, &before.id, status, change, ctx.now)?;
    let mut data = json!({ "from": before.status, "to": status });
    if let Some(reason) = to.reason {
        data["reason"] = reason.into();
    }
    if let Some(until) = to.defer_until {
        data["defer_until"] = json!(until);
    }
    if let Some(via) = to.via {
        data["via"] = via.into();
    }
    data["was"] = was;
    event::insert(tx, ctx, EventKind::Status, Some(&before.id), None, &data)?;
    if status.is_over() && !before.status.is_over() {
        if !ready::has_failed(status, to.reason) {
            mark_not_needed(tx, ctx, &before.id)?;
        }
        close_finished_parent(tx, ctx, before)?;
    }
    Ok(())
}

/// Marks the targets of `conditional_blocks` as not needed, since the source ended without failing.
pub(super) fn mark_not_needed(tx: &Tx<'_>, ctx: &Ctx<'_>, source: &str) -> Result<()> {
    for bond in bond::list_touching(tx, source)? {
        if bond.source_id != source || bond.dependency_type != BondKind::ConditionalBlocks {
            continue;
        }
        let target = atom::get(tx, &bond.target_id)?;
        if matches!(target.status, Status::Open | Status::Blocked | Status::Deferred)
            && target.run_id.is_none()
        {
            let reason = format!("not needed: {source} did not fail");
            set_status(tx, ctx, &target, Status::WontDo, ChangeDetails::with_reason(&reason))?;
        }
    }
    Ok(())
}

/// The reason of an epic that was closed by the setting.
const ALL_IS_OVER: &str = "all that it contains is over";

/// Returns true if the project closes epics once all contents are over.
pub(super) fn closes_epics(tx: &Tx<'_>) -> Result<bool> {
    Ok(meta::get(tx, meta::EPIC_AUTOCLOSE)?.as_deref() == Some("1"))
}

/// Closes the parent of an atom that has just ended, if all contents are over and the setting says
/// so.
fn close_finished_parent(tx: &Tx<'_>, ctx: &Ctx<'_>, child: &Atom) -> Result<()> {
    let Some(parent) = child.parent_id.as_deref() else { return Ok(()) };
    if !closes_epics(tx)? {
        return Ok(());
    }
    let Some(epic) = epic::finished(tx, parent)? else { return Ok(()) };
    let to = ChangeDetails {
        reason: Some(ALL_IS_OVER),
        via: Some("epic_autoclose"),
        ..ChangeDetails::default()
    };
    set_status(tx, ctx, &epic, Status::Closed, to)
}
