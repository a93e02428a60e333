//! Hands a task over: files the task, and sees to a worker.

use std::path::Path;

use el_agents::worker;
use el_core::Store;
use el_core::model::TaskStatus;
use el_core::ops::{self, Delegated, NewTask, Task};

use super::start::{self, BackgroundWorker};
use super::{absolute_folder, wait};
use crate::commands::work::Started;
use crate::settings::{Settings, WorkSettings};
use crate::{App, CommandError, Result};

/// More parallel runs cause a warning.
const MANY: usize = 2;

/// A delegated task, and its worker.
pub(crate) struct FiledTask {
    pub(crate) delegated: Delegated,
    /// The worker that was started for the task; `None` if a worker was there or may not be started
    /// here.
    pub(crate) started: Option<Started>,
    pub(crate) warnings: Vec<String>,
    pub(super) store: Store,
    pub(super) background: BackgroundWorker,
}

/// Hands over a plain task to the first of the setting 'agent', as `el run PROMPT --workdir DIR`
/// does.
pub(crate) fn hand_over_plain(
    app: &App,
    prompt: String,
    workdir: Option<&Path>,
) -> Result<FiledTask> {
    let settings = app.settings_for_agents()?;
    let work = settings.work_settings()?;
    let new = NewTask {
        prompt,
        agent: work.agents[0].clone(),
        workdir: workdir.map(absolute_folder).transpose()?,
        ..NewTask::default()
    };
    hand_over(app, &settings, &work, &new)
}

/// Files the task, and starts a worker if no worker serves the agent.
pub(super) fn hand_over(
    app: &App,
    settings: &Settings,
    work: &WorkSettings,
    new: &NewTask,
) -> Result<FiledTask> {
    let agent = &new.agent;
    // The very path that is stored, since a session can replace folders meanwhile.
    crate::commands::in_session::may_work_in(app, new.workdir.as_deref().map(Path::new))?;
    let allowed = settings.allowed_delegates()?;
    let background = BackgroundWorker::new(app, settings, work, agent)?;
    let mut store = app.open_for_writing()?;
    let lacks = background.find_lack(&new.needs);
    if app.session().is_none() && lacks.is_none() && !start::is_served(&store, agent, &new.needs)? {
        // No task is filed that no worker could begin.
        background.ensure_can_work()?;
    }
    refuse_too_deep(app, settings, &store)?;
    let ctx = app.ctx();
    let delegated = ops::delegate(&mut store, &ctx, new, &allowed, &worker::is_there)
        .map_err(|error| delegation_refused(error, &allowed))?;
    let mut warnings: Vec<String> = settings.inert_sentence().into_iter().collect();
    warnings.extend(self::delegation_warnings(&delegated));
    let started = match (delegated.queue.is_served, app.session()) {
        (true, _) => None,
        (false, None) if lacks.is_some() => {
            let why = lacks.unwrap_or_default();
            warnings.push(format!("no worker that is there can take it, and {why}"));
            None
        }
        (false, None) => background
            .start_worker(&store, &new.needs)
            .map_err(|error| error.with_detail("task_id", delegated.task.id.as_str()))?,
        (false, Some(_)) => {
            warnings.push(format!(
                "no worker of {agent} is there to take it, and an agent's session does not start \
                 one: el work does"
            ));
            None
        }
    };
    Ok(FiledTask { delegated, started, warnings, store, background })
}

/// Refuses to wait for a task that cannot begin while the caller waits.
pub(crate) fn may_wait_for(app: &App, task: &Task) -> Result<()> {
    match task.agent.as_deref().filter(|_| task.status == TaskStatus::Queued) {
        Some(agent) => refuse_to_wait_for_itself(app, &app.settings()?, agent),
        None => Ok(()),
    }
}

/// Starts a worker again if the task's worker is gone. Called while a caller waits.
pub(crate) fn keep_served(app: &App, store: &Store, task: &Task) -> Result<()> {
    let Some(agent) = wait::agent_without_worker(app, store, task)? else { return Ok(()) };
    let settings = app.settings_for_agents()?;
    BackgroundWorker::new(app, &settings, &settings.work_settings()?, agent)?
        .serve_task(store, task)
}

/// Refuses delegation beyond the depth limit. Agents that delegate delegated tasks could go on for
/// ever, at a cost.
fn refuse_too_deep(app: &App, settings: &Settings, store: &Store) -> Result<()> {
    let Some(session) = app.session() else { return Ok(()) };
    let most = settings.delegation_max_depth()?;
    if ops::delegation_depth(store, &session.run)? < i64::from(most) {
        return Ok(());
    }
    Err(CommandError::refused(
        "too_deep",
        format!(
            "this session's work is the last of {most} tasks within each other, each handed over \
             by the agent of the one before"
        ),
    )
    .with_detail("delegation_max_depth", most)
    .with_hint("do it in this session, or say in its summary what is left")
    .with_hint("a person may allow more: el config set delegation_max_depth N"))
}

/// Refuses a wait that cannot end: an agent with a limit of a single run would wait for its own
/// second run.
pub(super) fn refuse_to_wait_for_itself(app: &App, settings: &Settings, agent: &str) -> Result<()> {
    if let Some(session) = app.session()
        && ops::get_run(&app.open_for_reading()?, &session.run).is_ok_and(|run| run.agent == agent)
        && settings.agent_settings(agent)?.max_parallel.unwrap_or(1) == 1
    {
        return Err(CommandError::conflict(
            "in_session",
            format!("{agent} does one thing at a time, and that is this session"),
        )
        .with_hint(
            "do not wait: the task begins when this session has ended; or name another agent",
        ));
    }
    Ok(())
}

fn delegation_refused(error: el_core::Error, allowed: &[String]) -> CommandError {
    let is_policy = matches!(error, el_core::Error::Refused(_));
    let error = CommandError::from(error);
    if !is_policy {
        return error;
    }
    error.with_detail("delegates", allowed.to_vec()).with_hint(
        "the setting 'delegates' lists who may hand over tasks: el config set delegates \
         NAME,NAME; empty means everyone",
    )
}

fn delegation_warnings(delegated: &Delegated) -> Vec<String> {
    let mut warnings = Vec::new();
    let place = &delegated.queue;
    let begins_now =
        place.position == Some(1) && place.executing.is_empty() && place.pause.is_none();
    let at_once = delegated.running + usize::from(begins_now);
    if at_once > MANY {
        warnings.push(format!(
            "{at_once} runs are at work at once; they may get into each other's way"
        ));
    }
    warnings
}
