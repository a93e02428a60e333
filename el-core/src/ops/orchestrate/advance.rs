use std::time::Duration;

use super::conclude::conclude;
use super::file;
use super::flow::{Loaded, known, load};
use crate::rules::orchestrate::{Step, next, spent};
use crate::store::orchestration::{self, WholeCheck};
use crate::store::{Store, run};
use crate::{Ctx, Error, Result};

/// More steps than this in a row are a mistake of ours.
const STEPS_MAX: usize = 100;
/// Bytes of a check's output that are kept, from its end.
const OUTPUT_MAX: usize = 64 << 10;

/// Where an orchestration has got to.
#[derive(Debug, Clone, PartialEq)]
pub struct Advanced {
    /// The first step that needs somebody.
    pub step: Step,
    /// Why nothing new may begin, though what runs goes on: money or time is used up.
    pub used_up: Option<String>,
}

/// Takes every step that needs nobody, and gives the first that does: work or an answer that is
/// awaited, a check that is to be run, a stop, or the end. `worked`: time in which the caller has
/// driven it since it last said so.
///
/// Each call is one transaction: whoever is broken off before its end has done nothing, and two at
/// a time do not file anything twice.
pub fn advance(
    store: &mut Store,
    ctx: &Ctx<'_>,
    epic: &str,
    plan_only: bool,
    worked: Duration,
) -> Result<Advanced> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let id = known(tx, epic)?.0.id;
        orchestration::add_worked(tx, &id, i64::try_from(worked.as_micros()).unwrap_or(i64::MAX))?;
        for _ in 0..STEPS_MAX {
            let loaded = load(tx, &id)?;
            if let Some(why) = held(&loaded) {
                return Ok(Advanced { step: Step::Stop { question: None, why }, used_up: None });
            }
            let settings = loaded.settings.rules(plan_only, loaded.budget);
            let step = next(&loaded.flow, &settings);
            if !matches!(step, Step::Done { .. }) && loaded.own.ended_at.is_some() {
                orchestration::set_ended(tx, &id, None)?;
            }
            match step {
                Step::AwaitAnswer { question } if file::bind_anew(tx, ctx, &loaded, question)? => {}
                Step::Ask { question } => file::ask(tx, ctx, &loaded, question)?,
                Step::File { round, tasks } => file::tasks(tx, ctx, &loaded, round, &tasks)?,
                Step::MarkFiled { round } => {
                    orchestration::set_filed(tx, &id, &file::list_of(round).name())?
                }
                Step::Done { missing } => {
                    conclude(tx, ctx, &loaded, &missing)?;
                    return Ok(Advanced { step: Step::Done { missing }, used_up: None });
                }
                step => return Ok(Advanced { step, used_up: spent(&loaded.flow, &settings) }),
            }
        }
        Err(Error::conflict(
            "no_end",
            format!("{id} has taken {STEPS_MAX} steps without an end; this is a fault of el"),
        ))
    })
}

/// Why nothing below the epic goes on, whatever the next step would be.
pub(super) fn held(loaded: &Loaded) -> Option<String> {
    let epic = &loaded.epic;
    let settings = loaded.settings.rules(false, loaded.budget);
    let what = if epic.status.holds_children() {
        // Money that is used up defers its epic.
        let spent =
            spent(&loaded.flow, &settings).map_or_else(String::new, |spent| format!(" ({spent})"));
        format!("{spent}, which holds everything below it")
    } else if !epic.status.is_over() {
        return None;
    } else if loaded.own.ended_at.is_none() {
        ", and was not brought to its end".to_owned()
    } else if !matches!(next(&loaded.flow, &settings), Step::Done { .. }) {
        ", and something below it is not over".to_owned()
    } else {
        return None;
    };
    Some(format!("{} is {}{what}; el reopen {} lets it go on", epic.id, epic.status, epic.id))
}

/// Keeps how the command that checks the whole ended. What was kept of that round before stands.
pub fn record_whole_check(
    store: &mut Store,
    ctx: &Ctx<'_>,
    epic: &str,
    round: usize,
    passed: bool,
    output: &str,
) -> Result<()> {
    let output = crate::text::tail(output, OUTPUT_MAX).to_owned();
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let id = known(tx, epic)?.0.id;
        let check = WholeCheck { round, passed, output, at: ctx.now };
        orchestration::put_check(tx, &id, &check)
    })
}
