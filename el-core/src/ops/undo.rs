//! Takes back a person's changes, one call at a time, by their events. A step is refused if anybody
//! changed the same field since, so nothing is overwritten.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

mod words;

use self::words::{describe, is_remark, obstacle};
use super::bonds::{ensure_no_cycle, ensure_parent_fits};
use crate::model::{Atom, BondKind, Event, EventKind, RunOptions, Status, Timestamp};
use crate::store::{Store, Tx, atom, bond, comment, event, label, run};
use crate::{Ctx, Error, Result};

/// The number of steps that an error searches for one that can be taken back.
const STEPS_NEAR: usize = 50;

/// The changes that one call of a person made.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// For `el undo STEP`.
    pub step: i64,
    pub at: Timestamp,
    pub changes: Vec<StepChange>,
    /// Why the step cannot be taken back, and the other way; `null` if it can, unless somebody
    /// changed the same field since.
    pub cannot: Option<String>,
}

/// One change of a step.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepChange {
    pub atom_id: Option<String>,
    pub what: String,
}

/// The events of one call: they share actor and time.
struct Call {
    events: Vec<Event>,
}

impl Call {
    fn number(&self) -> i64 {
        self.events.first().map_or(0, |event| event.seq)
    }

    fn last(&self) -> i64 {
        self.events.last().map_or(0, |event| event.seq)
    }

    fn creates(&self, atom: &str) -> bool {
        self.events
            .iter()
            .any(|e| e.kind == EventKind::Created && e.atom_id.as_deref() == Some(atom))
    }

    fn step(&self) -> Step {
        let changes = self
            .events
            .iter()
            .filter(|event| !is_remark(event))
            .map(|event| StepChange { atom_id: event.atom_id.clone(), what: describe(event) });
        Step {
            step: self.number(),
            at: self.events.first().map_or(Timestamp::from_micros(0), |event| event.at),
            changes: changes.collect(),
            cannot: self.events.iter().find_map(obstacle),
        }
    }
}

/// The actor's steps that were not taken back, newest first.
///
/// # Errors
/// If the database cannot be read.
pub fn undo_steps(store: &Store, actor: &str, limit: usize) -> Result<Vec<Step>> {
    store.read(|tx| Ok(calls(tx, actor, limit)?.iter().map(Call::step).collect()))
}

/// Takes back the actor's last step that was not taken back, or the one with this number.
/// `dry_run`: the answer is the same, and nothing changes.
///
/// # Errors
/// If there is no such step, it cannot be taken back, or somebody changed the same since.
pub fn undo(store: &mut Store, ctx: &Ctx<'_>, step: Option<i64>, dry_run: bool) -> Result<Step> {
    let work = |tx: &Tx<'_>| {
        run::fence(tx, ctx)?;
        let limit = if step.is_some() { usize::MAX } else { 1 };
        let found = calls(tx, ctx.actor, limit)?
            .into_iter()
            .find(|call| step.is_none_or(|number| call.number() == number));
        let Some(call) = found else {
            return Err(match step {
                Some(number) => Error::not_found("step", number.to_string()),
                None => Error::conflict(
                    "nothing_to_undo",
                    format!("{} has changed nothing that was not taken back", ctx.actor),
                ),
            });
        };
        let told = call.step();
        if let Some(why) = &told.cannot {
            return Err(Error::conflict(
                "cannot_undo",
                format!(
                    "step {} cannot be taken back: {why}{}",
                    told.step,
                    name_step_before(tx, ctx, told.step)?
                ),
            ));
        }
        take_call_back(tx, ctx, &call)?;
        let mut atoms: Vec<&String> =
            call.events.iter().filter_map(|event| event.atom_id.as_ref()).collect();
        atoms.sort();
        atoms.dedup();
        for atom in atoms {
            let changes = told.changes.iter().filter(|c| c.atom_id.as_ref() == Some(atom));
            let what: Vec<&String> = changes.map(|change| &change.what).collect();
            let data = json!({ "step": told.step, "undone": what });
            event::insert(tx, ctx, EventKind::Undone, Some(atom), None, &data)?;
        }
        Ok(told)
    };
    if dry_run { store.rehearse(work) } else { store.write(work) }
}

/// The words for the newest earlier step that can be taken back, if there is one near. Tries it:
/// the caller fails, so that the transaction leaves nothing.
fn name_step_before(tx: &Tx<'_>, ctx: &Ctx<'_>, step: i64) -> Result<String> {
    let mut earlier = calls(tx, ctx.actor, STEPS_NEAR)?.into_iter();
    let found = earlier.find(|call| call.number() < step && call.step().cannot.is_none());
    Ok(match found {
        Some(call) if take_call_back(tx, ctx, &call).is_ok() => {
            format!("; el undo {} takes back the step before it", call.number())
        }
        _ => String::new(),
    })
}

fn take_call_back(tx: &Tx<'_>, ctx: &Ctx<'_>, call: &Call) -> Result<()> {
    call.events.iter().rev().try_for_each(|event| take_back(tx, ctx, call, event))
}

fn calls(tx: &Tx<'_>, actor: &str, limit: usize) -> Result<Vec<Call>> {
    let mut undone: HashSet<i64> = HashSet::new();
    let mut calls: Vec<Call> = Vec::new();
    let mut current: Vec<Event> = Vec::new();
    let mut finish = |events: &mut Vec<Event>, undone: &HashSet<i64>| {
        let mut events = std::mem::take(events);
        events.reverse();
        let call = Call { events };
        let counts =
            call.events.iter().any(|event| !is_remark(event)) && !undone.contains(&call.number());
        if counts {
            calls.push(call);
        }
        calls.len() < limit
    };
    let mut goes_on = true;
    event::each_of_person(tx, actor, |event| {
        if event.kind == EventKind::Undone {
            undone.extend(event.data.get("step").and_then(Value::as_i64));
            return Ok(true);
        }
        if current.last().is_some_and(|last| last.at != event.at) {
            goes_on = finish(&mut current, &undone);
        }
        if goes_on {
            current.push(event);
        }
        Ok(goes_on)
    })?;
    if goes_on {
        finish(&mut current, &undone);
    }
    Ok(calls)
}

fn take_back(tx: &Tx<'_>, ctx: &Ctx<'_>, call: &Call, event: &Event) -> Result<()> {
    let Some(id) = event.atom_id.as_deref() else { return Ok(()) };
    if event.kind != EventKind::Created && call.creates(id) {
        // The whole atom is removed.
        return Ok(());
    }
    let changed = |field: &str| changed_since(tx, ctx, call, id, field);
    let Some(now) = atom::find(tx, id)? else { return Err(changed("the atom itself")) };
    let data = &event.data;
    match event.kind {
        EventKind::Created => {
            if event::other_since(tx, id, call.last())?.is_some() {
                return Err(changed("the atom"));
            }
            atom::delete(tx, id)
        }
        EventKind::Updated => take_fields_back(tx, ctx, &now, data, &changed),
        EventKind::Status => {
            let is_same = json!(now.status) == data["to"]
                && now.run_id.is_none()
                && json!(now.close_reason) == data["reason"];
            if !is_same {
                return Err(changed("the status"));
            }
            atom::restore_status(tx, id, &data["from"], &data["was"], ctx.now)
        }
        EventKind::Claimed | EventKind::Released => {
            let was = data["was"].as_str().map(str::to_owned);
            let after = Atom { assignee: was, updated_at: ctx.now, ..now.clone() };
            atom::update_fields(tx, &now, &after)
        }
        EventKind::Commented => {
            let comment = data["comment"].as_str().unwrap_or_default();
            if comment::remove(tx, comment)? { Ok(()) } else { Err(changed("the comment")) }
        }
        EventKind::BondAdded | EventKind::BondRemoved => {
            take_bond_back(tx, ctx, call, event, &now, &changed)
        }
        _ => Ok(()),
    }
}

fn take_bond_back(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    call: &Call,
    event: &Event,
    now: &Atom,
    changed: &dyn Fn(&str) -> Error,
) -> Result<()> {
    let (Some(source), Ok(kind)) = (
        event.data["source"].as_str(),
        event.data["type"].as_str().unwrap_or_default().parse::<BondKind>(),
    ) else {
        return Err(changed("the bond"));
    };
    if kind != BondKind::ParentChild {
        if event.kind == EventKind::BondRemoved {
            atom::find(tx, source)?.ok_or_else(|| changed("the other atom"))?;
            bond::add(tx, source, &now.id, kind, ctx.now)?;
            return if kind.is_blocking() { ensure_no_cycle(tx, &now.id) } else { Ok(()) };
        }
        let removed = bond::remove(tx, source, &now.id, Some(kind))?;
        return if removed.is_empty() { Err(changed("the bond")) } else { Ok(()) };
    }
    let told_as_field = call.events.iter().any(|other| {
        other.kind == EventKind::Updated
            && other.atom_id == event.atom_id
            && other.data.get("parent_id").is_some()
    });
    if told_as_field {
        return Ok(());
    }
    let (is, was) = match event.kind {
        EventKind::BondAdded => (Some(source), event.data["was"].as_str()),
        _ => (None, Some(source)),
    };
    if now.parent_id.as_deref() != is {
        return Err(changed("the parent"));
    }
    set_parent(tx, ctx, now, was)
}

fn set_parent(tx: &Tx<'_>, ctx: &Ctx<'_>, now: &Atom, parent: Option<&str>) -> Result<()> {
    let after = Atom { parent_id: parent.map(str::to_owned), updated_at: ctx.now, ..now.clone() };
    if let Some(parent) = parent {
        atom::get(tx, parent)?;
    }
    atom::update_fields(tx, now, &after)?;
    parent.map_or(Ok(()), |parent| ensure_parent_fits(tx, &now.id, parent))
}

fn take_fields_back(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    now: &Atom,
    changes: &Value,
    changed: &dyn Fn(&str) -> Error,
) -> Result<()> {
    let row = serde_json::to_value(now).expect("an atom has string keys only");
    let mut after = Atom { updated_at: ctx.now, ..now.clone() };
    for (field, change) in changes.as_object().into_iter().flatten() {
        if row.get(field) != change.get("to") {
            return Err(changed(field));
        }
        let from = &change["from"];
        let text = || from.as_str().map(str::to_owned);
        let unreadable = || Error::conflict("cannot_undo", format!("{field} cannot be read back"));
        match field.as_str() {
            "title" => after.title = text().ok_or_else(unreadable)?,
            "description" => after.description = text().ok_or_else(unreadable)?,
            "acceptance" => after.acceptance = text(),
            "assignee" => after.assignee = text(),
            "parent_id" => after.parent_id = text(),
            "metadata" => after.metadata = from.clone(),
            "issue_type" => {
                after.issue_type = text().and_then(|t| t.parse().ok()).ok_or_else(unreadable)?;
            }
            "priority" => {
                after.priority = from
                    .as_i64()
                    .and_then(|number| crate::model::Priority::new(number).ok())
                    .ok_or_else(unreadable)?;
            }
            "defer_until" => {
                after.defer_until =
                    serde_json::from_value(from.clone()).map_err(|_| unreadable())?;
            }
            "run_options" => {
                after.run_options = serde_json::from_value::<Option<RunOptions>>(from.clone())
                    .map_err(|_| unreadable())?;
            }
            "needs" => {
                after.needs = serde_json::from_value(from.clone()).map_err(|_| unreadable())?;
            }
            "labels" => {
                let labels: Vec<String> =
                    serde_json::from_value(from.clone()).map_err(|_| unreadable())?;
                for old in now.labels.iter().filter(|label| !labels.contains(label)) {
                    label::remove(tx, &now.id, old)?;
                }
                for new in labels.iter().filter(|label| !now.labels.contains(label)) {
                    label::add(tx, &now.id, new)?;
                }
                after.labels = labels;
            }
            _ => return Err(unreadable()),
        }
    }
    atom::update_fields(tx, now, &after)?;
    match after.parent_id.as_deref().filter(|parent| now.parent_id.as_deref() != Some(parent)) {
        Some(parent) => ensure_parent_fits(tx, &now.id, parent),
        None => Ok(()),
    }
}

/// Returns the other values that a change of status overwrites: `el undo` sets them again.
pub(super) fn status_before(
    tx: &Tx<'_>,
    before: &Atom,
    is_fresh: bool,
    is_reassigned: bool,
) -> Result<Value> {
    let mut was = Map::new();
    let mut add = |key: &str, value: Value| {
        if !value.is_null() {
            was.insert(key.to_owned(), value);
        }
    };
    let micros = |time: Option<Timestamp>| json!(time.map(Timestamp::as_micros));
    add("close_reason", json!(before.close_reason));
    add("closed_at", micros(before.closed_at));
    add("defer_until", micros(before.defer_until));
    add("run", json!(before.run_id));
    let may_be_of_run = !matches!(before.status, Status::Open | Status::InProgress);
    if (may_be_of_run || before.retry_at.is_some() || is_fresh)
        && let Some(state) = atom::state_of(tx, &before.id)?
    {
        add("status_by_run", json!(state.by_run.filter(|_| may_be_of_run)));
        add("retry_at", micros(before.retry_at));
        add("retry_from", micros(state.retry_from.filter(|_| before.retry_at.is_some())));
        add("fresh_since", micros(Some(state.fresh_since).filter(|_| is_fresh)));
    }
    if is_reassigned {
        was.insert("assignee".to_owned(), json!(before.assignee));
    }
    Ok(Value::Object(was))
}

/// The error that names the person who changed the same field, and the time.
fn changed_since(tx: &Tx<'_>, ctx: &Ctx<'_>, call: &Call, atom: &str, field: &str) -> Error {
    let by = match event::other_since(tx, atom, call.last()) {
        Ok(Some(other)) => {
            let who = if other.actor == ctx.actor { "you" } else { other.actor.as_str() };
            format!("{who} changed {atom} at {}", other.at)
        }
        _ => format!("{atom} was changed"),
    };
    Error::conflict(
        "changed_since",
        format!(
            "{field} of {atom} is not as step {} left it: {by}; nothing was undone",
            call.number()
        ),
    )
}
