//! Drives a plan until the plan can go no further by itself.

use el_agents::land::{PlanCheckEnd, check as land_check, plan_check_owner};
use el_agents::worker;
use el_agents::worker::{StoppedBy, Summary};
use el_core::ops;
use el_core::rules::orchestrate::Step;
use serde::Serialize;

use super::begin::StartedPlan;
use super::ending::{Ending, ending_of_step};
use super::state::State;
use super::tell::PlanReporter;
use super::{branches, check};
use crate::commands::work;
use crate::{App, CommandError, Exit, Result};

/// The final answer of the command.
#[derive(Debug, Serialize)]
struct Driven<'a> {
    epic_id: &'a str,
    #[serde(flatten)]
    ending: &'a Ending,
    overview: &'a ops::Overview,
}

pub(super) fn drive_plan(app: &App, began: StartedPlan) -> Result<Exit> {
    let epic = began.epic.id.clone();
    if began.is_over {
        return report_end(app, &began, None, None);
    }
    // A check of a process that was killed.
    land_check::end_leftovers(&plan_check_owner(&app.project()?.db, &epic));
    work::tell_of_inert(app)?;
    work::tell_of_folders(app, &began.options);
    let mut teller = PlanReporter::new(app, &began)?;
    loop {
        let worked = worker::work(&began.options, &mut teller);
        teller.clear_live_lines();
        let Summary { step, stopped_by, pause, .. } = worked.map_err(work::work_failure)?;
        if let Some(pause) = pause {
            return Err(work::pause_error(&pause)
                .with_hint(format!("el orchestrate resume {epic} drives the plan on")));
        }
        let goes_on = matches!(
            step,
            None | Some(Step::Check { .. } | Step::AwaitWork { .. } | Step::AwaitAnswer { .. })
        );
        let stopped_by = stopped_by.filter(|_| goes_on);
        let round = match step {
            Some(Step::Check { round }) if stopped_by.is_none() => round,
            _ => return report_end(app, &began, step, stopped_by),
        };
        match check::run(app, &began, &mut teller, round)? {
            PlanCheckEnd::Ended { passed, output } => {
                ops::record_whole_check(
                    &mut app.open_for_writing()?,
                    &app.ctx(),
                    &epic,
                    round,
                    passed,
                    &output,
                )?;
            }
            // Every signal breaks a check off.
            PlanCheckEnd::Interrupted => {
                return report_end(app, &began, step, Some(StoppedBy::Signal));
            }
        }
    }
}

/// Reports the state of the plan and the next commands.
fn report_end(
    app: &App,
    began: &StartedPlan,
    step: Option<Step>,
    stopped_by: Option<StoppedBy>,
) -> Result<Exit> {
    let (epic, plan_only) = (began.epic.id.as_str(), began.plan_only);
    let overview = ops::plan_overview(&app.open_for_reading()?, epic)?;
    let step = step.unwrap_or_else(|| overview.next.clone());
    let ending = stopped_by
        .map_or_else(|| ending_of_step(&overview, &step), |by| Ending::broken_off(&overview, by));
    let ending = branches::add_branch_remarks(
        &overview,
        &began.options.agents[0].agent.working_directory,
        ending,
    )?;
    let exit = match ending.state {
        State::Done => Exit::Done,
        State::Planned if plan_only => Exit::Done,
        State::TimeOver => Exit::TimedOut,
        State::BudgetUsedUp => Exit::Refused,
        _ => Exit::Conflict,
    };
    if exit != Exit::Done && app.printer.is_robot() {
        let driven = Driven { epic_id: epic, ending: &ending, overview: &overview };
        let details = serde_json::to_value(&driven).unwrap_or_default();
        let error = CommandError::new(exit, ending.state.word(), ending.says.clone())
            .with_hint(ending.commands.join("\n"));
        let details = details.as_object().cloned().unwrap_or_default();
        return Err(details
            .into_iter()
            .fold(error, |error, (key, value)| error.with_detail(&key, value)));
    }
    let driven = Driven { epic_id: epic, ending: &ending, overview: &overview };
    app.printer.emit_and_exit(&driven, exit, |page| {
        if page.is_quiet() {
            page.push_line(epic);
        } else {
            ending.print_ending(page);
        }
    })
}
