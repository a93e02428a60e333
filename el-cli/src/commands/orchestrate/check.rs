//! Shows the check at the end of a plan while the check runs.

use el_agents::land::{LandContext, PlanCheck, PlanCheckEnd, PlanCheckEvent, check_plan};
use el_core::ops;
use el_core::protocol::words;

use super::begin::StartedPlan;
use super::tell::PlanReporter;
use crate::{App, CommandError, Result};

pub(super) fn run(
    app: &App,
    began: &StartedPlan,
    teller: &mut PlanReporter<'_>,
    round: usize,
) -> Result<PlanCheckEnd> {
    let epic = &began.epic.id;
    let overview = ops::plan_overview(&app.open_for_reading()?, epic)?;
    let agent = &began.options.agents[0].agent;
    let settings = began.settings.land_settings()?;
    let context = LandContext {
        settings: &settings,
        database: &began.options.places.database,
        el: began.options.places.el.clone(),
        environment: &began.options.environment,
        actor: app.actor(),
        session: app.session(),
    };
    let plan = PlanCheck {
        overview: &overview,
        folder: &agent.working_directory,
        base: agent.isolation.as_ref().and_then(|isolation| isolation.base.as_deref()),
        limit: began.settings.whole_check_limit()?,
    };
    let check = words::join_command(&overview.settings.check);
    let ended = check_plan(&context, &plan, &mut |event| match event {
        PlanCheckEvent::Begins(folder) => teller.check_begins(round, &check, folder),
        PlanCheckEvent::GoesOn(command, elapsed) => {
            teller.check_goes_on(&words::join_command(command), elapsed);
        }
    });
    teller.clear_live_lines();
    let ended = ended.map_err(|error| {
        CommandError::from(error).with_hint(format!(
            "el orchestrate resume {epic} --check 'CMD' goes on with another one"
        ))
    })?;
    if let PlanCheckEnd::Ended { passed, output } = &ended {
        teller.check_ended(round, *passed, output);
    }
    Ok(ended)
}
