//! `el work --stop`.

use el_agents::tmux::{Tmux, socket_name};
use el_agents::worker::{self, Silence, Stop, Which};
use el_core::model::{Run, Timestamp, Worker};
use serde_json::json;

use super::frozen::frozen_processes;
use super::{STOP_LIMIT, project_places};
use crate::output::{runs, style, time};
use crate::settings::{Settings, WorkSettings};
use crate::{App, CommandError, Exit, Result};

pub(super) fn run(app: &App, which: &Which) -> Result<Exit> {
    // The tracker names the processes to end.
    app.refuse_foreign()?;
    let work = worker_settings(app)?;
    let places = project_places(app, &work)?;
    let environment: Vec<_> = std::env::vars_os().collect();
    let is_elsewhere = which.host.as_ref().is_some_and(|host| *host != worker::this_host());
    let tmux = match Tmux::discover(&socket_name(&places.database), &environment) {
        // Who stops another host needs no tmux.
        Err(_) if is_elsewhere => None,
        found => Some(found?),
    };
    let mut store = app.open_for_writing()?;
    let limit = STOP_LIMIT.as_secs();
    let mut tell = |runs: &[Run], workers: &[Worker]| {
        let frozen = frozen_processes(runs, workers);
        let runs: Vec<&str> = runs.iter().map(|run| run.atom_id.as_str()).collect();
        let mut waits: Vec<String> =
            workers.iter().map(|worker| format!("the worker {}", place_of(worker))).collect();
        if !runs.is_empty() {
            waits.push(format!("the agents on {}, which have five seconds", runs.join(", ")));
        }
        app.printer.note(&format!("waiting for at most {limit} s: {}", waits.join("; ")));
        for (what, way) in frozen {
            app.printer.warn(&format!("{what}: {way}"));
        }
    };
    let stop = Stop {
        actor: app.actor(),
        tmux: tmux.as_ref(),
        places: &places,
        rules: &work.rules,
        limit: STOP_LIMIT,
        which,
    };
    let stopped = worker::stop_all(&mut store, &stop, &mut tell)?;
    let is_all = *which == Which::default();
    if !is_all && stopped.ended.is_empty() && stopped.workers.is_empty() {
        let text = "no worker is there of that host or name, and no run";
        return Err(CommandError::not_found(text).with_hint("el workers lists them"));
    }
    if !stopped.left.is_empty() {
        let ids: Vec<&str> = stopped.left.iter().map(|run| run.id.as_str()).collect();
        return Err(timed_out_error(format!("still running after {limit} s: {}", ids.join(", ")))
            .with_hint(frozen_hint(&stopped.left, &[]).unwrap_or_else(|| {
                "el runs show RUN tells more; el doctor looks for what is wrong".to_owned()
            })));
    }
    if !stopped.workers_left.is_empty() {
        return Err(left_error(&stopped.workers_left, app.now()));
    }
    let ended: Vec<_> = stopped
        .ended
        .iter()
        .map(|run| json!({ "run_id": run.id, "atom_id": run.atom_id }))
        .collect();
    let workers: Vec<_> = stopped.workers.iter().map(|worker| worker.process.pid).collect();
    let places: Vec<String> = stopped.workers.iter().map(place_of).collect();
    app.printer.emit(&json!({ "ended": ended, "workers": workers }), |page| {
        for run in &stopped.ended {
            page.push_line(format!(
                "Ended {} of {}; its atom is open again unless the agent had ended it",
                page.paint(style::ID, &run.id),
                page.paint(style::ID, &run.atom_id)
            ));
        }
        for place in &places {
            page.push_line(format!("The worker with pid {place} is gone"));
        }
        if stopped.ended.is_empty() && workers.is_empty() {
            page.push_line("Nothing was running");
        }
    })
}

/// The pid, and the host if it is another one.
fn place_of(worker: &Worker) -> String {
    runs::name_and_host(&worker.process.pid.to_string(), worker.process.host())
}

/// The error of workers that are still there.
fn left_error(left: &[Worker], now: Timestamp) -> CommandError {
    let named: Vec<String> = left.iter().map(|worker| named_worker(worker, now)).collect();
    let message = format!("all runs have ended, but workers are still there: {}", named.join(", "));
    let hint = frozen_hint(&[], left)
        .or_else(|| silent_hint(left, now))
        .unwrap_or_else(|| "el work --status says what they do".into());
    timed_out_error(message).with_hint(hint)
}

/// The hint that has stopped processes go on; `None` if none is stopped.
fn frozen_hint(runs: &[Run], workers: &[Worker]) -> Option<String> {
    let told = frozen_processes(runs, workers).into_iter();
    let told: Vec<String> = told.map(|(what, way)| format!("{what}: {way}")).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// The pid of a worker, its host if it is another one, and since when it says nothing.
pub(in crate::commands) fn named_worker(worker: &Worker, now: Timestamp) -> String {
    let place = format!("pid {}", place_of(worker));
    match worker::silence_of(worker, now) {
        None => place,
        Some(Silence { since, gone_at }) => format!(
            "{place} (silent since {}, counts as gone at {})",
            time::time_of_day(now, since),
            time::time_of_day(now, gone_at)
        ),
    }
}

/// The hint that ends workers at once that were killed on other hosts; `None` if none is silent.
pub(in crate::commands) fn silent_hint(workers: &[Worker], now: Timestamp) -> Option<String> {
    let silent = workers.iter().filter(|worker| worker::silence_of(worker, now).is_some());
    let mut hosts: Vec<String> = silent.map(|worker| worker::host_of(&worker.process)).collect();
    hosts.sort();
    hosts.dedup();
    (!hosts.is_empty()).then(|| {
        let hosts = hosts.join(" and ");
        format!("if it was killed there, el work --once on {hosts} signs it off at once")
    })
}

fn timed_out_error(message: String) -> CommandError {
    CommandError::new(Exit::TimedOut, "timed_out", message).with_retryable(true)
}

/// The worker's settings, or the defaults if the settings are faulty: workers can always be
/// stopped.
fn worker_settings(app: &App) -> Result<WorkSettings> {
    let settings = app.settings_with_warnings()?;
    settings.work_settings().or_else(|error| {
        app.printer.warn(&format!("{error}; going on with what holds where nothing is set"));
        Settings::defaults(&app.project()?.root).work_settings()
    })
}
