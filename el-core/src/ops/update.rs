use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::bonds::{
    add_bond, ensure_epic_waits_for_nothing_of_its_own, ensure_parent_fits, tell_of_bond,
};
use super::change::{
    AtomEnd, ChangeDetails, end_atom, ensure_children_over, ensure_may_change_bounds,
    ensure_may_lift_review, ensure_may_set_status, resolved_all, set_status, take_claim,
};
use super::close::Guard;
use crate::model::{
    Atom, BondKind, EventKind, IssueType, Priority, Run, RunOptions, RunOptionsPatch, Status,
    Timestamp, limits, validate,
};
use crate::rules::budget;
use crate::store::{Store, Tx, atom, bond, event, label, run};
use crate::{Ctx, Error, Result};

/// The changes to an atom. `None` leaves a field; `Some(None)` empties a field.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AtomPatch {
    pub title: Option<String>,
    pub description: Option<String>,
    pub acceptance: Option<Option<String>>,
    pub issue_type: Option<IssueType>,
    pub priority: Option<Priority>,
    pub assignee: Option<Option<String>>,
    pub parent: Option<Option<String>>,
    pub add_labels: Vec<String>,
    pub remove_labels: Vec<String>,
    /// The labels that its worker must offer, in place of all before.
    pub needs: Option<Vec<String>>,
    /// Atoms that have to be over first, from now on.
    pub add_blockers: Vec<String>,
    /// Atoms that no longer have to be.
    pub remove_blockers: Vec<String>,
    /// The settings of its runs that outrank the agent's.
    pub run_options: RunOptionsPatch,
    pub status: Option<Status>,
    /// Goes with `status`.
    pub reason: Option<String>,
    /// Without `status`, setting a date defers an open atom.
    pub defer_until: Option<Option<Timestamp>>,
    /// Keys to set; `null` removes a key.
    pub metadata: Map<String, Value>,
}

/// The result of a call for an atom.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Updated {
    #[serde(flatten)]
    pub atom: Atom,
    /// By field: the old and the new value. Empty if nothing changed.
    pub changes: Map<String, Value>,
}

/// Changes atoms, all or none.
///
/// # Errors
///
/// If the guard or a rule refuses the change, a value is not legal, an id is unknown or ambiguous,
/// the caller's run is stale, or the database cannot be written.
pub fn update<S: AsRef<str>>(
    store: &mut Store,
    ctx: &Ctx<'_>,
    ids: &[S],
    patch: &AtomPatch,
    guard: &Guard,
) -> Result<Vec<Updated>> {
    if *patch == AtomPatch::default() {
        return Err(Error::invalid("update", "nothing to change was given"));
    }
    if patch.reason.is_some() && patch.status.is_none() {
        return Err(Error::invalid("reason", "a reason goes with a status"));
    }
    let reason = patch.reason.as_deref().map(validate::reason).transpose()?;
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        if let Some(date) = patch.defer_until.flatten() {
            validate::date(date, ctx.now)?;
        }
        let atoms = resolved_all(tx, ids)?;
        let change = Change { tx, ctx, session: session.as_ref(), patch, guard };
        let done = atoms
            .iter()
            .map(|found| change.update_atom(found, reason.as_deref()))
            .collect::<Result<Vec<_>>>()?;
        for atom in atoms
            .iter()
            .filter(|atom| patch.status == Some(Status::Closed) && atom.status != Status::Closed)
        {
            ensure_children_over(tx, session.as_ref(), atom, guard.force)?;
        }
        Ok(done)
    })
}

/// A call of [`update`], inside the transaction.
struct Change<'a> {
    tx: &'a Tx<'a>,
    ctx: &'a Ctx<'a>,
    session: Option<&'a Run>,
    patch: &'a AtomPatch,
    guard: &'a Guard,
}

impl Change<'_> {
    fn update_atom(&self, found: &Atom, reason: Option<&str>) -> Result<Updated> {
        let (tx, ctx, patch) = (self.tx, self.ctx, self.patch);
        // Read again, since earlier ids of this call may have changed the atom.
        let before = &atom::get(tx, &found.id)?;
        self.guard.ensure_status(before)?;
        ensure_may_have_date(before, patch)?;
        let ended_by_this_call = before.status.is_over() && !found.status.is_over();
        let change = status_change(before, patch, reason)
            .filter(|(status, _)| !(ended_by_this_call && status.is_over()));
        let reassigned = patch.assignee.as_ref().is_some_and(|to| *to != before.assignee);
        if reassigned || change.is_some() {
            take_claim(tx, ctx, self.session, before, self.guard.force)?;
        }
        let changes = apply_fields(tx, ctx, self.session, before, patch)?;
        if !changes.is_empty() {
            let data = Value::Object(changes);
            event::insert(tx, ctx, EventKind::Updated, Some(&before.id), None, &data)?;
        }
        if let Some((status, to)) = change {
            self.change_status(before, status, to)?;
        }
        let blockers = change_blockers(tx, ctx, &before.id, patch)?;
        let atom = atom::get(tx, &before.id)?;
        let mut changes = changed_fields(before, &atom);
        changes.extend(blockers.map(|change| ("blocked_by".to_owned(), change)));
        Ok(Updated { atom, changes })
    }

    fn change_status<'c>(
        &'c self,
        before: &Atom,
        status: Status,
        mut to: ChangeDetails<'c>,
    ) -> Result<()> {
        let begins = status == Status::InProgress;
        if begins
            && self.session.is_none()
            && let Some(run) = &before.run_id
        {
            return Err(Error::conflict(
                "claimed",
                format!(
                    "{0} is being worked on by {run}, whose end decides its status; \
                     `el cancel {0}` ends the run first",
                    before.id
                ),
            ));
        }
        if status.is_over() {
            let end = AtomEnd {
                status,
                reason: to.reason,
                review: self.guard.review,
                was_checked: false,
                via: None,
            };
            return end_atom(self.tx, self.ctx, self.session, before, end);
        }
        ensure_may_put_off(self.ctx, self.session, before, to.defer_until)?;
        ensure_may_set_status(self.tx, self.session, before, status)?;
        if status == Status::Review
            && self.session.is_some_and(|session| session.atom_id != before.id)
        {
            return Err(Error::Refused(format!(
                "a review begins with a report of the work: el submit {} --report FILE",
                before.id
            )));
        }
        if begins && before.assignee.is_none() && self.patch.assignee.is_none() {
            to.assignee = Some(self.ctx.actor);
        }
        set_status(self.tx, self.ctx, before, status, to)
    }
}

/// Adds and removes blockers. Returns the old and the new list if they differ.
fn change_blockers(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    target: &str,
    patch: &AtomPatch,
) -> Result<Option<Value>> {
    if patch.add_blockers.is_empty() && patch.remove_blockers.is_empty() {
        return Ok(None);
    }
    let before = blockers(tx, target)?;
    for text in &patch.remove_blockers {
        let source = atom::resolve(tx, text)?;
        for bond in bond::remove(tx, &source, target, Some(BondKind::Blocks))? {
            let ends = (source.as_str(), target);
            tell_of_bond(tx, ctx, EventKind::BondRemoved, ends, bond.dependency_type)?;
        }
    }
    for text in &patch.add_blockers {
        add_bond(tx, ctx, &atom::resolve(tx, text)?, target, BondKind::Blocks)?;
    }
    let after = blockers(tx, target)?;
    Ok((before != after).then(|| json!({ "from": before, "to": after })))
}

fn blockers(tx: &Tx<'_>, target: &str) -> Result<Vec<String>> {
    let bonds = bond::list_into(tx, target)?.into_iter();
    let blocking = bonds.filter(|bond| bond.dependency_type == BondKind::Blocks);
    Ok(blocking.map(|bond| bond.source_id).collect())
}

/// The shortest time for which a run may defer its own atom: a minute, without the time that passes
/// between the reading of `1m` and this look.
const PUT_OFF: Duration = Duration::from_secs(50);

/// Refuses to let a run defer its own atom for a moment: the atom would be started again and again.
fn ensure_may_put_off(
    ctx: &Ctx<'_>,
    session: Option<&Run>,
    before: &Atom,
    until: Option<Timestamp>,
) -> Result<()> {
    match until {
        Some(until)
            if session.is_some_and(|own| own.atom_id == before.id)
                && until < ctx.now.plus(PUT_OFF) =>
        {
            Err(Error::invalid(
                "defer-until",
                format!(
                    "{until} is less than a minute away, for which no session puts its work off: \
                     --defer-until 1m is the least"
                ),
            ))
        }
        _ => Ok(()),
    }
}

/// Without a status, a date goes with an open or deferred atom alone: no other would keep it.
fn ensure_may_have_date(before: &Atom, patch: &AtomPatch) -> Result<()> {
    let Atom { id, status, .. } = before;
    let is_kept = matches!(status, Status::Open | Status::Deferred);
    if is_kept || patch.status.is_some() || patch.defer_until.flatten().is_none() {
        return Ok(());
    }
    let way = match status.is_over() {
        true => format!("`el reopen {id}` comes first"),
        false => "--status deferred goes with it".to_owned(),
    };
    Err(Error::conflict("not_open", format!("{id} is {status}, and keeps no date: {way}")))
}

fn status_change<'a>(
    before: &Atom,
    patch: &'a AtomPatch,
    reason: Option<&'a str>,
) -> Option<(Status, ChangeDetails<'a>)> {
    let date = patch.defer_until.flatten();
    let status = match (patch.status, date) {
        (Some(status), _) => status,
        (None, Some(_)) if matches!(before.status, Status::Open | Status::Deferred) => {
            Status::Deferred
        }
        _ => return None,
    };
    let is_same = status == before.status
        && reason.is_none_or(|r| before.close_reason.as_deref() == Some(r))
        && (date.is_none() || date == before.defer_until);
    if is_same {
        return None;
    }
    let fresh = status == Status::Open;
    let defer_until = if status == Status::Deferred { date } else { None };
    Some((status, ChangeDetails { reason, defer_until, fresh, ..ChangeDetails::default() }))
}

/// Applies all changes but the status. Returns the changes.
fn apply_fields(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    session: Option<&Run>,
    before: &Atom,
    patch: &AtomPatch,
) -> Result<Map<String, Value>> {
    let mut after = before.clone();
    if let Some(title) = &patch.title {
        after.title = validate::title(title)?;
    }
    if let Some(description) = &patch.description {
        after.description = validate::text("description", description)?;
    }
    if let Some(acceptance) = &patch.acceptance {
        after.acceptance =
            acceptance.as_deref().map(|t| validate::text("acceptance", t)).transpose()?;
    }
    if let Some(assignee) = &patch.assignee {
        after.assignee = assignee.as_deref().map(|a| validate::name("assignee", a)).transpose()?;
    }
    if let Some(parent) = &patch.parent {
        after.parent_id = parent.as_deref().map(|p| atom::resolve(tx, p)).transpose()?;
    }
    if patch.defer_until == Some(None) {
        after.defer_until = None;
    }
    after.run_options = RunOptions::patched(before.run_options.as_ref(), &patch.run_options)?;
    after.issue_type = patch.issue_type.unwrap_or(before.issue_type);
    after.priority = patch.priority.unwrap_or(before.priority);
    for (key, value) in &patch.metadata {
        let map = after
            .metadata
            .as_object_mut()
            .ok_or_else(|| Error::invalid("metadata", "the stored metadata is not an object"))?;
        match value {
            Value::Null => map.shift_remove(key),
            value => map.insert(key.clone(), value.clone()),
        };
    }
    for text in &patch.add_labels {
        let new = validate::label(text)?;
        if !after.labels.contains(&new) {
            label::add(tx, &before.id, &new)?;
            after.labels.push(new);
        }
    }
    for text in &patch.remove_labels {
        label::remove(tx, &before.id, text.trim())?;
        after.labels.retain(|l| l != text.trim());
    }
    after.labels.sort();
    if let Some(needs) = &patch.needs {
        after.needs = validate::labels("needs", needs)?;
    }
    ensure_may_lift_review(session, before, &after)?;
    ensure_may_change_bounds(session, before, &after)?;
    if before.metadata != after.metadata {
        budget::ensure_valid_budget(&after.metadata)?;
    }
    if after.labels.len() > limits::LABELS {
        return Err(Error::invalid(
            "label",
            format!("an atom has at most {} labels", limits::LABELS),
        ));
    }
    let changes = changed_fields(before, &after);
    if !changes.is_empty() {
        after.updated_at = ctx.now;
        atom::update_fields(tx, before, &after)?;
    }
    if after.issue_type.is_abstract() && !before.issue_type.is_abstract() {
        ensure_epic_waits_for_nothing_of_its_own(tx, &before.id)?;
    }
    if before.parent_id != after.parent_id {
        if let Some(parent) = &after.parent_id {
            ensure_parent_fits(tx, &before.id, parent)?;
        }
        let (kind, parent) = if after.parent_id.is_some() {
            (EventKind::BondAdded, &after.parent_id)
        } else {
            (EventKind::BondRemoved, &before.parent_id)
        };
        let data = json!({ "source": parent, "target": before.id, "type": BondKind::ParentChild });
        event::insert(tx, ctx, kind, Some(&before.id), None, &data)?;
    }
    Ok(changes)
}

/// Fields that follow from others, and are not reported as changes.
const CONSEQUENCES: [&str; 3] = ["updated_at", "closed_at", "run_id"];

pub(super) fn changed_fields(before: &Atom, after: &Atom) -> Map<String, Value> {
    let row = |atom: &Atom| serde_json::to_value(atom).expect("an atom has string keys only");
    let (before, after) = (row(before), row(after));
    let (Value::Object(before), Value::Object(after)) = (before, after) else { return Map::new() };
    before
        .into_iter()
        .filter(|(key, old)| !CONSEQUENCES.contains(&key.as_str()) && after.get(key) != Some(old))
        .map(|(key, old)| {
            let new = after.get(&key).cloned().unwrap_or(Value::Null);
            (key, json!({ "from": old, "to": new }))
        })
        .collect()
}
