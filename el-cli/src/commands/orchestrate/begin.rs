//! Begins a plan: makes an epic of the goal, or finds the existing epic with its settings.

use el_agents::file_lock::FileLock;
use el_agents::settings::Executor;
use el_agents::verify;
use el_agents::worker::{Drive, Served, WorkOptions};
use el_core::model::{Atom, Status};
use el_core::ops::{self, AtomFilter, Begin, Goal, Overview, PlanSettings};
use el_core::rules::budget::EPIC_KEY;

use super::goal::PlanGoal;
use super::{DriveArgs, PlanArgs, ending, lock};
use crate::commands::work;
use crate::pull_watch::watch_for_work;
use crate::settings::Settings;
use crate::{App, CommandError, Exit, Result};

/// The epic, the settings and the lock of a plan that is driven.
pub(super) struct StartedPlan {
    pub(super) epic: Atom,
    pub(super) plan_only: bool,
    pub(super) options: WorkOptions,
    pub(super) settings: Settings,
    /// True if the plan had ended before and nothing has changed since.
    pub(super) is_over: bool,
    /// Held for as long as this process drives the plan.
    pub(super) _lock: FileLock,
}

pub(super) fn begin_plan(target: &PlanGoal, args: &DriveArgs, app: &App) -> Result<StartedPlan> {
    let settings = args.overrides.apply_to(args.plan.apply_flags(app.settings_for_agents()?));
    settings.ensure_trusted(&["orchestrate_check"], None)?;
    app.warn_of_inert(&settings);
    // Faults of the configuration are reported before anything is filed.
    let mut options = work_options(args, app, &settings)?;
    el_agents::worker::preflight(&options).map_err(CommandError::from)?;
    let (epic, is_over, lock) = match &target.goal {
        Goal::Words(_) => {
            let goal = target.goal.clone();
            let plan = settings.plan_settings()?;
            check_is_there(&plan, &options)?;
            let begin = Begin {
                goal,
                settings: plan,
                budget_usd: settings.amount("budget_per_epic", None)?,
            };
            let epic = ops::begin_orchestration(&mut app.open_for_writing()?, &app.ctx(), &begin)?;
            let lock = lock::acquire_plan_lock(app, &epic.id)?;
            (epic, false, lock)
        }
        Goal::Atom(id) => {
            let lock = lock::acquire_plan_lock(app, id)?;
            let (epic, is_over) = begin_existing(target, args, app, &settings, &options, id)?;
            (epic, is_over, lock)
        }
    };
    if !is_over {
        work::preflight::print_preflight(app, &options);
    }
    let plan_only = args.plan.plan_only;
    // Existing tasks must not begin before a person has seen the plan.
    options.filter =
        AtomFilter { below: Some(epic.id.clone()), asks: plan_only, ..AtomFilter::default() };
    options.drive = Some(Drive { epic: epic.id.clone(), actor: app.actor().to_owned(), plan_only });
    Ok(StartedPlan { epic, plan_only, options, settings, is_over, _lock: lock })
}

/// Begins the plan of an existing atom, or resumes the plan with its stored settings.
fn begin_existing(
    target: &PlanGoal,
    args: &DriveArgs,
    app: &App,
    settings: &Settings,
    options: &WorkOptions,
    id: &str,
) -> Result<(Atom, bool)> {
    let store = app.open_for_reading()?;
    let known: Option<Overview> = match ops::plan_overview(&store, id) {
        Ok(overview) => Some(overview),
        Err(error) if !target.is_resumed && error.code() == "not_orchestrated" => None,
        Err(error) => return Err(error.into()),
    };
    if let Some(known) = &known
        && known.epic.status.is_over()
        && known.ended_at.is_some()
    {
        return Ok((known.epic.clone(), true));
    }
    let plan = match &known {
        Some(known) => merge_plan_settings(&known.settings, settings, &args.plan)?,
        None => settings.plan_settings()?,
    };
    check_is_there(&plan, options)?;
    // The epic's own settings outrank the configuration, and flags outrank both.
    let is_said = match &known {
        Some(_) => true,
        None => ops::get_atom(&store, id)?.metadata.get(EPIC_KEY).is_some(),
    };
    let budget_usd = if args.plan.budget_per_epic.is_some() || !is_said {
        settings.amount("budget_per_epic", None)?
    } else {
        None
    };
    drop(store);
    let begin = Begin { goal: target.goal.clone(), settings: plan, budget_usd };
    let mut store = app.open_for_writing()?;
    let epic = ops::begin_orchestration(&mut store, &app.ctx(), &begin)?;
    // A higher budget means that the plan goes on; an epic deferred by a person stays deferred.
    let was_spent = known.is_some_and(|known| ending::is_spent(&known));
    if args.plan.budget_per_epic.is_some() && was_spent && epic.status == Status::Deferred {
        let reopened = ops::reopen(&mut store, &app.ctx(), std::slice::from_ref(&epic.id))?;
        return Ok((reopened.into_iter().next().unwrap_or(epic), false));
    }
    Ok((epic, false))
}

/// Refuses a check command that cannot be run: the fault would show only after all the work is paid
/// for. A path is accepted, since the plan may create the file.
fn check_is_there(plan: &PlanSettings, options: &WorkOptions) -> Result<()> {
    let Some(name) = plan.check.first().filter(|name| !name.contains('/')) else { return Ok(()) };
    match verify::find_program(
        &plan.check,
        &options.agents[0].agent.working_directory,
        &options.environment,
    ) {
        Ok(_) => Ok(()),
        Err(_) => Err(CommandError::invalid_value(
            "check",
            format!("check: there is no program '{name}' on PATH"),
        )
        .with_hint("it is a program and its arguments; sh -c '…' gives it a shell")
        .with_hint("--check 'CMD' names another one; nothing was begun")),
    }
}

/// The stored settings of the epic, overridden by flags.
fn merge_plan_settings(
    kept: &PlanSettings,
    settings: &Settings,
    flags: &PlanArgs,
) -> Result<PlanSettings> {
    let said = settings.plan_settings()?;
    let mut plan = kept.clone();
    if flags.plan_timeout.is_some() {
        plan.time_s = said.time_s;
    }
    if flags.max_tasks.is_some() {
        plan.tasks_max = said.tasks_max;
    }
    if flags.check.is_some() {
        plan.check = said.check;
    }
    if flags.check_rounds.is_some() {
        plan.check_rounds = said.check_rounds;
    }
    if flags.asks_again.is_some() {
        plan.asks_again = said.asks_again;
    }
    Ok(plan)
}

fn work_options(args: &DriveArgs, app: &App, settings: &Settings) -> Result<WorkOptions> {
    let (work, agents) = args.overrides.find_agents(app, settings, settings.work_on_plan()?)?;
    let is_interactive = |served: &&Served| served.agent.executor == Executor::Interactive;
    if let Some(served) = agents.iter().find(is_interactive) {
        let name = &served.agent.name;
        return Err(CommandError::new(
            Exit::Configuration,
            "interactive",
            format!(
                "{name} works in Claude Code's own screen (executor = interactive), whose \
                 answers cannot be read"
            ),
        )
        .with_detail("field", "executor")
        .with_hint(format!(
            "name an agent with another executor with --agent, or run el config set \
             agents.{name}.executor claude"
        )));
    }
    Ok(WorkOptions {
        pulls: watch_for_work(app, work::this_program()?)?,
        ..work::draining_worker(app, settings, &work, agents)?
    })
}
