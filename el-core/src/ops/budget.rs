use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::change::{To, set_status};
use crate::model::{Atom, CancelMode, EventKind, Progress, Run, Status, Timestamp};
use crate::model::{Pause, PauseKind};
use crate::rules::budget::{cap_of, day, is_over, is_spent, next_day, usd};
use crate::store::{Store, Tx, atom, budget, comment, event, meta, run};
use crate::{Ctx, Result};

/// What a claim may cost, in millionths of a US dollar; `None`: no bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caps {
    /// This one run.
    pub run: Option<i64>,
    /// Everything below each epic that names no budget of its own.
    pub epic: Option<i64>,
}

/// A budget that is spent: nothing below its atom begins until a person raises it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SpentBudget {
    /// The epic, or whatever atom names the budget.
    pub atom_id: String,
    pub spent_micros: i64,
    pub budget_micros: i64,
}

/// What all runs may cost on one day (UTC); the last word of any worker holds for all.
pub fn set_budget_per_day(store: &mut Store, micros: Option<i64>) -> Result<()> {
    store.write(|tx| match micros {
        Some(micros) => meta::set(tx, meta::BUDGET_PER_DAY, &micros.to_string()),
        None => meta::remove(tx, meta::BUDGET_PER_DAY),
    })
}

/// Says why, and until when at the most, a worker holds back what is ready; or that it no longer
/// does. One that goes on holding back says so again before that: it may be gone without a word.
pub fn set_held_back(store: &mut Store, held: Option<(Timestamp, &str)>) -> Result<()> {
    store.write(|tx| match held {
        Some((until, reason)) => {
            meta::set(tx, meta::HELD_BACK, &format!("{} {reason}", until.as_micros()))
        }
        None => meta::remove(tx, meta::HELD_BACK),
    })
}

pub(super) fn held_back(tx: &Tx<'_>, now: Timestamp) -> Result<Option<String>> {
    let Some(text) = meta::get(tx, meta::HELD_BACK)? else { return Ok(None) };
    let Some((until, reason)) = text.split_once(' ') else { return Ok(None) };
    let is_fresh = until.parse::<i64>().is_ok_and(|until| now.as_micros() < until);
    Ok(is_fresh.then(|| reason.to_owned()))
}

/// The pause that a day's budget makes, once it is spent and until a person lifts it.
pub(super) fn day_pause(tx: &Tx<'_>, now: Timestamp) -> Result<Option<Pause>> {
    let number =
        |key| -> Result<Option<i64>> { Ok(meta::get(tx, key)?.and_then(|text| text.parse().ok())) };
    let Some(cap) = number(meta::BUDGET_PER_DAY)? else { return Ok(None) };
    let today = day(now);
    let spent = budget::spent_on(tx, today)?;
    if !is_spent(spent, cap) || number(meta::BUDGET_LIFTED)? == Some(today) {
        return Ok(None);
    }
    let reason =
        format!("{} of the day's budget of {} are spent (budget_per_day)", usd(spent), usd(cap));
    Ok(Some(Pause { until: Some(next_day(now)), reason, kind: PauseKind::Budget }))
}

/// Keeps what a run may cost with its record.
pub(super) fn keep(tx: &Tx<'_>, run: &str, caps: Caps) -> Result<()> {
    run::set(tx, run, "budget_micros", &caps.run)?;
    run::set(tx, run, "epic_budget_micros", &caps.epic)
}

/// Counts what a run has cost since it was last recorded, and ends it if it, or an epic that it
/// belongs to, has cost more than it may. Called in the transaction that records the cost, with the
/// run as it was before; `is_working`: nobody else has ended it.
pub(super) fn record(
    tx: &Tx<'_>,
    before: &Run,
    progress: &Progress,
    now: Timestamp,
    is_working: bool,
) -> Result<()> {
    // What an agent says of its cost may be wrong; it never gives money back.
    let more = progress.cost_micros.saturating_sub(before.progress.cost_micros);
    if more <= 0 {
        return Ok(());
    }
    budget::add(tx, day(now), more)?;
    let kept = budget::of_run(tx, &before.id)?;
    // Most of a call's cost is told after its agent has closed: nothing ends that run, but the
    // others spend what there is not.
    let is_working = is_working && kept.over.is_none();
    if let Some(cap) = kept.run.filter(|cap| is_working && is_over(progress.cost_micros, *cap)) {
        // A failure of the run, tried again as others are.
        let why = format!(
            "over budget: this run cost {} of the {} that it may cost",
            usd(progress.cost_micros),
            usd(cap)
        );
        run::set(tx, &before.id, "over_budget", &why)?;
    }
    let Some((epic, spent, cap)) = spent_epic(tx, &before.atom_id, kept.epic)? else {
        return Ok(());
    };
    let is_held =
        hold_epic(tx, &Ctx { now, actor: &before.agent, session: None }, &epic, spent, cap)?;
    if !is_over(spent, cap) {
        return Ok(());
    }
    // The others too: what an agent costs is often told only at the end of its call, and each of
    // them spends what there is not.
    let why = format!(
        "over budget: {} and what is below it cost {} of {}",
        epic.id,
        usd(spent),
        usd(cap)
    );
    for run in run::live(tx)? {
        let is_below =
            run.atom_id == epic.id || budget::parents(tx, &run.atom_id)?.contains(&epic.id);
        let is_ended = run.cancel_requested.is_some()
            || if run.id == before.id {
                !is_working
            } else {
                budget::of_run(tx, &run.id)?.over.is_some()
            };
        if is_below && !is_ended {
            end(tx, &Ctx { now, actor: &run.agent, session: None }, &run, &why, &epic.id, is_held)?;
        }
    }
    Ok(())
}

/// Nobody's failure. Below a parent that is held a run's atom waits for that one; else it is held
/// itself.
fn end(tx: &Tx<'_>, ctx: &Ctx<'_>, run: &Run, why: &str, epic: &str, is_held: bool) -> Result<()> {
    let mode = if is_held { CancelMode::Requeue } else { CancelMode::Hold };
    run::set(tx, &run.id, "over_budget", &why)?;
    run::set(tx, &run.id, "cancel_requested", &mode.as_str())?;
    let data = json!({ "mode": mode, "reason": why });
    event::insert(tx, ctx, EventKind::CancelRequested, Some(&run.atom_id), Some(&run.id), &data)?;
    say(tx, ctx, &run.atom_id, &format!("Ended, {why}. {}", way_out(epic, is_held, &run.atom_id)))
}

/// Whether an atom may be begun; the epic whose money is spent is held, or, where that is over, the
/// atom itself.
pub(super) fn may_begin(tx: &Tx<'_>, ctx: &Ctx<'_>, wanted: &str, caps: Caps) -> Result<bool> {
    let Some((epic, spent, cap)) = spent_epic(tx, wanted, caps.epic)? else { return Ok(true) };
    if !hold_epic(tx, ctx, &epic, spent, cap)? {
        set_status(tx, ctx, &atom::get(tx, wanted)?, Status::Deferred, To::default())?;
        let text = format!(
            "Held: {} of the budget of {} are spent. {}",
            usd(spent),
            usd(cap),
            way_out(&epic.id, false, wanted)
        );
        say(tx, ctx, wanted, &text)?;
    }
    Ok(false)
}

fn way_out(epic: &str, is_held: bool, wanted: &str) -> String {
    let reopened = if is_held { epic } else { wanted };
    format!(
        "Raise it (el update {epic} --metadata '{{\"budget_usd\": …}}', or budget_per_epic), then el reopen {reopened}."
    )
}

fn say(tx: &Tx<'_>, ctx: &Ctx<'_>, about: &str, text: &str) -> Result<()> {
    let added = comment::insert(tx, ctx, about, text)?;
    event::insert(tx, ctx, EventKind::Commented, Some(about), None, &json!({ "comment": added.id }))
}

/// The budget that holds an atom, if one does. For epics that name none of their own, what the last
/// claim was told counts.
pub(super) fn spent(tx: &Tx<'_>, atom: &str) -> Result<Option<SpentBudget>> {
    let default = budget::last_for_epics(tx)?;
    let found = match spent_at(tx, atom, default)? {
        Some(found) => Some(found),
        None => spent_epic(tx, atom, default)?,
    };
    Ok(found.map(|(epic, spent, cap)| SpentBudget {
        atom_id: epic.id,
        spent_micros: spent,
        budget_micros: cap,
    }))
}

/// Why a run was ended for its cost.
pub(super) fn over(tx: &Tx<'_>, run: &str) -> Result<Option<String>> {
    Ok(budget::of_run(tx, run)?.over)
}

/// The nearest parent that has nothing left: with what was spent, and what may be.
fn spent_epic(tx: &Tx<'_>, atom: &str, default: Option<i64>) -> Result<Option<(Atom, i64, i64)>> {
    for parent in budget::parents(tx, atom)? {
        let found = spent_at(tx, &parent, default)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn spent_at(tx: &Tx<'_>, id: &str, default: Option<i64>) -> Result<Option<(Atom, i64, i64)>> {
    let Some(found) = atom::find(tx, id)? else { return Ok(None) };
    let Some(cap) = cap_of(found.issue_type, &found.metadata, default) else { return Ok(None) };
    let spent = budget::spent_below(tx, id)?;
    Ok(is_spent(spent, cap).then_some((found, spent, cap)))
}

/// A deferred parent holds what is in it; the comment says why. Whether it is held now: one that is
/// over holds nothing.
fn hold_epic(tx: &Tx<'_>, ctx: &Ctx<'_>, epic: &Atom, spent: i64, cap: i64) -> Result<bool> {
    if epic.status.is_over() {
        return Ok(false);
    }
    if !epic.status.holds_children() {
        set_status(tx, ctx, epic, Status::Deferred, To::default())?;
        let text = format!(
            "Held: {} of its budget of {} are spent. {}",
            usd(spent),
            usd(cap),
            way_out(&epic.id, true, &epic.id)
        );
        say(tx, ctx, &epic.id, &text)?;
    }
    Ok(true)
}
