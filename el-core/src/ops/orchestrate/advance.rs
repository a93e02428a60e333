use std::time::Duration;

use super::conclude::conclude;
use super::file;
use super::flow::{LoadedPlan, load_orchestration, load_plan};
use crate::model::WholeCheck;
use crate::rules::orchestrate::{Step, next_step, spent_reason};
use crate::store::orchestration;
use crate::store::{Store, run};
use crate::{Ctx, Error, Result};

/// The most steps in a row; more would be a bug.
const STEPS_MAX: usize = 100;
/// Bytes of a check's output that are kept, from the end.
const OUTPUT_MAX: usize = 64 << 10;

/// The state of an orchestration after its automatic steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Advanced {
    /// The first step that needs a worker, an agent or a person.
    pub step: Step,
    /// Why no new work may begin while running work goes on: money or time is used up.
    pub used_up: Option<String>,
}

/// Takes every step that needs nobody, and returns the first step that does: pending work or
/// answers, a check to run, a stop, or the end. `worked` is the time in which the caller drove the
/// plan since the last call.
///
/// Each call is one transaction: an interrupted call changes nothing, and two calls at a time file
/// nothing twice.
///
/// # Errors
///
/// If the atom is not orchestrated, an id is unknown or ambiguous, the caller's run is stale, or
/// the database cannot be written.
pub fn advance(
    store: &mut Store,
    ctx: &Ctx<'_>,
    epic: &str,
    plan_only: bool,
    worked: Duration,
) -> Result<Advanced> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let id = load_orchestration(tx, epic)?.0.id;
        orchestration::add_worked(tx, &id, i64::try_from(worked.as_micros()).unwrap_or(i64::MAX))?;
        for _ in 0..STEPS_MAX {
            let loaded = load_plan(tx, &id)?;
            if let Some(why) = held_reason(&loaded) {
                return Ok(Advanced { step: Step::Stop { question: None, why }, used_up: None });
            }
            let settings = loaded.settings.to_rules(plan_only, loaded.budget);
            let step = next_step(&loaded.flow, &settings);
            if !matches!(step, Step::Done { .. }) && loaded.own.ended_at.is_some() {
                orchestration::set_ended(tx, &id, None)?;
            }
            if let Step::AwaitAnswer { question } = step
                && file::bind_anew(tx, ctx, &loaded, question)?
            {
                continue;
            }
            match step {
                Step::Ask { question } => file::file_question(tx, ctx, &loaded, question)?,
                Step::File { round, tasks } => file::file_tasks(tx, ctx, &loaded, round, &tasks)?,
                Step::MarkFiled { round } => {
                    orchestration::set_filed(tx, &id, &file::list_of(round).storage_name())?
                }
                Step::Done { missing } => {
                    conclude(tx, ctx, &loaded, &missing)?;
                    return Ok(Advanced { step: Step::Done { missing }, used_up: None });
                }
                step => {
                    return Ok(Advanced { step, used_up: spent_reason(&loaded.flow, &settings) });
                }
            }
        }
        Err(Error::conflict(
            "no_end",
            format!("{id} has taken {STEPS_MAX} steps without an end; this is a fault of el"),
        ))
    })
}

/// Returns why nothing below the epic goes on, whatever the next step is.
pub(super) fn held_reason(loaded: &LoadedPlan) -> Option<String> {
    let epic = &loaded.epic;
    let settings = loaded.settings.to_rules(false, loaded.budget);
    let what = if epic.status.holds_children() {
        // Money that is used up defers its epic.
        let spent = spent_reason(&loaded.flow, &settings)
            .map_or_else(String::new, |spent| format!(" ({spent})"));
        format!("{spent}, which holds everything below it")
    } else if !epic.status.is_over() {
        return None;
    } else if loaded.own.ended_at.is_none() {
        ", and was not brought to its end".to_owned()
    } else if !matches!(next_step(&loaded.flow, &settings), Step::Done { .. }) {
        ", and something below it is not over".to_owned()
    } else {
        return None;
    };
    Some(format!("{} is {}{what}; el reopen {} lets it go on", epic.id, epic.status, epic.id))
}

/// Records the result of the command that checks the whole plan. An existing result of the round
/// stands.
///
/// # Errors
///
/// If the atom is not orchestrated, an id is unknown or ambiguous, the caller's run is stale, or
/// the database cannot be written.
pub fn record_whole_check(
    store: &mut Store,
    ctx: &Ctx<'_>,
    epic: &str,
    round: usize,
    passed: bool,
    output: &str,
) -> Result<()> {
    let output = crate::text::tail_bytes(output, OUTPUT_MAX).to_owned();
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let id = load_orchestration(tx, epic)?.0.id;
        let check = WholeCheck { round, passed, output, at: ctx.now };
        orchestration::put_check(tx, &id, &check)
    })
}
