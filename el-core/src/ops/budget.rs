use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::change::{ChangeDetails, set_status};
use super::comment::insert_comment;
use crate::model::{Atom, CancelMode, EventKind, Progress, Run, Status, Timestamp};
use crate::model::{Pause, PauseKind};
use crate::rules::budget::{cap_of, day_number, format_usd, is_over, is_spent, next_day};
use crate::store::{Store, Tx, atom, budget, event, meta, run, worker};
use crate::{Ctx, Result};

/// The budgets of a claim, in millionths of a US dollar; `None`: no bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caps {
    /// The budget of the run.
    pub run: Option<i64>,
    /// The default budget of each epic without a budget.
    pub epic: Option<i64>,
}

/// A spent budget: nothing below the atom begins until a person raises the budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SpentBudget {
    /// The epic or other atom that has the budget.
    pub atom_id: String,
    pub spent_micros: i64,
    pub budget_micros: i64,
}

/// Sets the budget of all runs on a day (UTC) to that of a worker, or leaves a lower one, which
/// another worker has brought.
///
/// # Errors
///
/// If the database cannot be written.
pub fn share_budget_per_day(store: &mut Store, worker: &str, micros: Option<i64>) -> Result<()> {
    store.write(|tx| {
        let others = worker::list_workers(tx)?.iter().any(|other| other.id != worker);
        let shared = match others {
            true => meta::get(tx, meta::BUDGET_PER_DAY)?.and_then(|text| text.parse().ok()),
            false => None,
        };
        match shared.into_iter().chain(micros).min() {
            Some(micros) => meta::set(tx, meta::BUDGET_PER_DAY, &micros.to_string()),
            None => meta::remove(tx, meta::BUDGET_PER_DAY),
        }
    })
}

/// Records why, and until when at the latest, a worker holds back ready atoms; `None` clears the
/// record. The worker renews the record before the time runs out, since a worker may vanish without
/// clearing it.
///
/// # Errors
///
/// If the database cannot be written.
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

/// Returns the pause of a spent daily budget, unless a person lifted the budget for the day.
pub(super) fn day_pause(tx: &Tx<'_>, now: Timestamp) -> Result<Option<Pause>> {
    let number =
        |key| -> Result<Option<i64>> { Ok(meta::get(tx, key)?.and_then(|text| text.parse().ok())) };
    let Some(cap) = number(meta::BUDGET_PER_DAY)? else { return Ok(None) };
    let today = day_number(now);
    let spent = budget::spent_on(tx, today)?;
    if !is_spent(spent, cap) || number(meta::BUDGET_LIFTED)? == Some(today) {
        return Ok(None);
    }
    let reason = format!(
        "{} of the day's budget of {} are spent (budget_per_day)",
        format_usd(spent),
        format_usd(cap)
    );
    Ok(Some(Pause { until: Some(next_day(now)), reason, kind: PauseKind::Budget }))
}

/// Records the budgets of a run.
pub(super) fn record_caps(tx: &Tx<'_>, run: &str, caps: Caps) -> Result<()> {
    run::set_column(tx, run, "budget_micros", &caps.run)?;
    run::set_column(tx, run, "epic_budget_micros", &caps.epic)
}

/// Adds the cost since the last record, and ends the run if the run or an epic above is over
/// budget. Runs in the transaction that records the cost. `before` is the run before the change;
/// `is_working`: no other cause has ended the run. An estimate counts once the run is over
/// (`is_end`): until then, a result may correct it. Returns true if runs may have been ended.
pub(super) fn record_cost(
    tx: &Tx<'_>,
    before: &Run,
    progress: &Progress,
    now: Timestamp,
    is_working: bool,
    is_end: bool,
) -> Result<bool> {
    let own = if is_end { progress.cost.cost_micros } else { progress.cost.reported_micros() };
    // An agent may report a wrong cost; a lower cost never gives money back.
    let more = own.saturating_sub(before.progress.cost.reported_micros());
    if more <= 0 {
        return Ok(false);
    }
    budget::add_spent(tx, day_number(now), more)?;
    let kept = budget::of_run(tx, &before.id)?;
    // Most of the cost is reported after the agent has closed the atom. The run is over by then,
    // but the other runs of the epic must stop.
    let is_working = is_working && kept.over.is_none();
    let over_cap = kept.run.filter(|cap| is_working && is_over(own, *cap));
    let is_over_own = over_cap.is_some();
    if let Some(cap) = over_cap {
        // This counts as a failure of the run, with the usual retries.
        let why = format!(
            "over budget: this run cost {} of the {} that it may cost",
            format_usd(own),
            format_usd(cap)
        );
        run::set_column(tx, &before.id, "over_budget", &why)?;
    }
    let Some((epic, spent, cap)) = spent_epic(tx, &before.atom_id, kept.epic)? else {
        return Ok(is_over_own);
    };
    let is_held =
        hold_epic(tx, &Ctx { now, actor: &before.agent, session: None }, &epic, spent, cap)?;
    if !is_over(spent, cap) {
        return Ok(true);
    }
    // The other runs are ended too: cost is often reported at the end of a call, and each of those
    // runs spends money beyond the budget.
    let why = format!(
        "over budget: {} and what is below it cost {} of {}",
        epic.id,
        format_usd(spent),
        format_usd(cap)
    );
    for run in run::list_live(tx)? {
        let is_below =
            run.atom_id == epic.id || budget::parent_ids(tx, &run.atom_id)?.contains(&epic.id);
        let is_ended = run.cancel_requested.is_some()
            || if run.id == before.id {
                !is_working
            } else {
                budget::of_run(tx, &run.id)?.over.is_some()
            };
        if is_below && !is_ended {
            end_run(
                tx,
                &Ctx { now, actor: &run.agent, session: None },
                &run,
                &why,
                &epic.id,
                is_held,
            )?;
        }
    }
    Ok(true)
}

/// Ends a run for cost. The end counts as no failure. Below a held epic, the atom waits for the
/// epic; else the atom itself is held.
fn end_run(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    run: &Run,
    why: &str,
    epic: &str,
    is_held: bool,
) -> Result<()> {
    let mode = if is_held { CancelMode::Requeue } else { CancelMode::Hold };
    run::set_column(tx, &run.id, "over_budget", &why)?;
    run::set_column(tx, &run.id, "cancel_requested", &mode.as_str())?;
    let data = json!({ "mode": mode, "reason": why });
    event::insert(tx, ctx, EventKind::CancelRequested, Some(&run.atom_id), Some(&run.id), &data)?;
    add_comment(
        tx,
        ctx,
        &run.atom_id,
        &format!("Ended, {why}. {}", way_out(epic, is_held, &run.atom_id)),
    )
}

/// Returns true if an atom may begin. Otherwise holds the epic with the spent budget, or the atom
/// itself if the epic is over.
pub(super) fn may_begin(tx: &Tx<'_>, ctx: &Ctx<'_>, wanted: &str, caps: Caps) -> Result<bool> {
    let Some((epic, spent, cap)) = spent_epic(tx, wanted, caps.epic)? else { return Ok(true) };
    if !hold_epic(tx, ctx, &epic, spent, cap)? {
        set_status(tx, ctx, &atom::get(tx, wanted)?, Status::Deferred, ChangeDetails::default())?;
        let text = format!(
            "Held: {} of the budget of {} are spent. {}",
            format_usd(spent),
            format_usd(cap),
            way_out(&epic.id, false, wanted)
        );
        add_comment(tx, ctx, wanted, &text)?;
    }
    Ok(false)
}

fn way_out(epic: &str, is_held: bool, wanted: &str) -> String {
    let reopened = if is_held { epic } else { wanted };
    format!(
        "Raise it (el update {epic} --metadata '{{\"budget_usd\": …}}', or budget_per_epic), then \
         el reopen {reopened}."
    )
}

fn add_comment(tx: &Tx<'_>, ctx: &Ctx<'_>, about: &str, text: &str) -> Result<()> {
    insert_comment(tx, ctx, about, None, text).map(drop)
}

/// Returns the budget that holds an atom. Epics without a budget have the default of the last
/// claim.
pub(super) fn spent_budget(tx: &Tx<'_>, atom: &str) -> Result<Option<SpentBudget>> {
    let default = budget::last_for_epics(tx)?;
    let found = match spent_at(tx, atom, default)? {
        Some(found) => Some(found),
        None => spent_epic(tx, atom, default)?,
    };
    Ok(found.map(SpentBudget::from_figures))
}

/// Returns the atom's own budget, if it is spent.
pub(super) fn spent_here(tx: &Tx<'_>, atom: &str) -> Result<Option<SpentBudget>> {
    let found = spent_at(tx, atom, budget::last_for_epics(tx)?)?;
    Ok(found.map(SpentBudget::from_figures))
}

impl SpentBudget {
    fn from_figures((epic, spent, cap): (Atom, i64, i64)) -> SpentBudget {
        SpentBudget { atom_id: epic.id, spent_micros: spent, budget_micros: cap }
    }
}

/// Returns the reason why a run was ended for cost.
pub(super) fn overrun_reason(tx: &Tx<'_>, run: &str) -> Result<Option<String>> {
    Ok(budget::of_run(tx, run)?.over)
}

/// Returns the nearest ancestor with a spent budget, the amount spent, and the budget.
fn spent_epic(tx: &Tx<'_>, atom: &str, default: Option<i64>) -> Result<Option<(Atom, i64, i64)>> {
    for parent in budget::parent_ids(tx, atom)? {
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

/// Holds an epic by deferring the epic, with a comment that says why. Returns false if the epic is
/// over, since such an epic holds nothing.
fn hold_epic(tx: &Tx<'_>, ctx: &Ctx<'_>, epic: &Atom, spent: i64, cap: i64) -> Result<bool> {
    if epic.status.is_over() {
        return Ok(false);
    }
    if !epic.status.holds_children() {
        set_status(tx, ctx, epic, Status::Deferred, ChangeDetails::default())?;
        let text = format!(
            "Held: {} of its budget of {} are spent. {}",
            format_usd(spent),
            format_usd(cap),
            way_out(&epic.id, true, &epic.id)
        );
        add_comment(tx, ctx, &epic.id, &text)?;
    }
    Ok(true)
}
