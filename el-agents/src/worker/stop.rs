//! `el work --stop`: ends workers and runs cleanly, with or without a living worker or supervisor,
//! and from any host.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use el_core::model::{CancelMode, Run, Timestamp, Worker};
use el_core::{Ctx, Error, Store, ops};

use super::presence::{host_of, liveness_of, silence_of, supervisor_liveness};
use crate::clock;
use crate::process::Liveness;
use crate::recover::{settle_lost, sweep_run};
use crate::rundir::RunDir;
use crate::settings::{Places, RunRules};
use crate::tmux::Tmux;
use crate::worker::is_there;

/// The interval between looks.
const LOOK: Duration = Duration::from_millis(100);

/// A request to stop workers and their runs.
#[derive(Debug, Clone, Copy)]
pub struct Stop<'a> {
    pub actor: &'a str,
    /// `None` if another host is meant: that host settles runs that lost their supervisor.
    pub tmux: Option<&'a Tmux>,
    pub places: &'a Places,
    pub rules: &'a RunRules,
    /// The longest wait for the ends of the runs.
    pub limit: Duration,
    pub which: &'a Which,
}

/// The workers that are meant, with their runs; by default, all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Which {
    /// Only the workers of this host, and its other runs.
    pub host: Option<String>,
    /// Only the worker with this name or id.
    pub name: Option<String>,
}

impl Which {
    fn takes_worker(&self, worker: &Worker) -> bool {
        let is_called = |name: &String| worker.id == *name || worker.name.as_ref() == Some(name);
        self.name.as_ref().is_none_or(is_called)
            && self.host.as_ref().is_none_or(|host| host_of(&worker.process) == *host)
    }

    /// `workers`: the ids of the meant workers.
    fn takes_run(&self, run: &Run, workers: &HashSet<String>) -> bool {
        if run.worker_id.as_ref().is_some_and(|id| workers.contains(id)) {
            return true;
        }
        let is_on = |host: &String| {
            run.supervisor.as_ref().is_some_and(|supervisor| host_of(supervisor) == *host)
        };
        self.name.is_none() && self.host.as_ref().is_none_or(is_on)
    }
}

/// The result of `el work --stop`.
#[derive(Debug)]
pub struct Stopped {
    /// The runs that were live.
    pub ended: Vec<Run>,
    /// The runs that are still live.
    pub left: Vec<Run>,
    /// The workers that were there.
    pub workers: Vec<Worker>,
    /// The workers that are still there.
    pub workers_left: Vec<Worker>,
}

/// Requests a stop, and waits until none of the runs is live and none of the workers is there, but
/// for silent ones of other hosts.
/// Calls `tell` once with the live runs and the workers that are waited for.
///
/// # Errors
/// If the store fails.
pub fn stop_all(
    store: &mut Store,
    stop: &Stop<'_>,
    tell: &mut dyn FnMut(&[Run], &[Worker]),
) -> Result<Stopped, Error> {
    let ctx = Ctx { now: clock::now(), actor: stop.actor, session: None };
    let which = stop.which;
    let known = ops::list_workers(store)?.into_iter().filter(|worker| which.takes_worker(worker));
    let ids: HashSet<String> = known.map(|worker| worker.id).collect();
    let is_meant = |run: &Run| which.takes_run(run, &ids);
    let ended = live_runs(store, &is_meant)?;
    let workers = meant_of(workers_there(store)?, which);
    ops::request_stop(store, &|worker| which.takes_worker(worker))?;
    ops::cancel_all(store, &ctx, CancelMode::Requeue, &is_meant)?;
    let until = Instant::now() + stop.limit;
    if !ended.is_empty() || !workers.is_empty() {
        tell(&ended, &workers);
    }
    loop {
        // Workers first: a worker that is gone starts no session any more.
        let there = workers_there(store)?;
        let live = live_runs(store, &is_meant)?;
        let now = store.lease_time(clock::now());
        if let Some(tmux) = stop.tmux {
            for run in live.iter().filter(|run| is_orphan(run, &there, now)) {
                // Survivors are tried again until the limit.
                if sweep_run(&RunDir::new(&stop.places.runs, &run.id)).is_ok() {
                    let _ = settle_lost(store, tmux, run, stop.places, stop.rules, false, None);
                }
            }
        }
        let mut workers_left = meant_of(there, which);
        // A worker leaves the list shortly before its process ends.
        for known in workers.iter().filter(|known| runs_here(known)) {
            if workers_left.iter().all(|left| left.id != known.id) {
                workers_left.push(known.clone());
            }
        }
        // A worker that says nothing may never end.
        let is_done =
            live.is_empty() && workers_left.iter().all(|left| silence_of(left, now).is_some());
        if is_done || Instant::now() > until {
            // Ignored: the server may be gone already.
            let _ = stop.tmux.map(Tmux::release_server);
            return Ok(Stopped { ended, left: live, workers, workers_left });
        }
        std::thread::sleep(LOOK);
    }
}

fn live_runs(store: &Store, is_meant: &dyn Fn(&Run) -> bool) -> Result<Vec<Run>, Error> {
    Ok(ops::live_runs(store)?.into_iter().filter(is_meant).collect())
}

fn workers_there(store: &Store) -> Result<Vec<Worker>, Error> {
    Ok(ops::list_workers(store)?.into_iter().filter(is_there).collect())
}

fn runs_here(worker: &Worker) -> bool {
    liveness_of(&worker.process) == Liveness::Alive
}

fn meant_of(workers: Vec<Worker>, which: &Which) -> Vec<Worker> {
    workers.into_iter().filter(|worker| which.takes_worker(worker)).collect()
}

fn is_orphan(run: &Run, workers: &[Worker], now: Timestamp) -> bool {
    let has_worker = || workers.iter().any(|worker| run.worker_id.as_ref() == Some(&worker.id));
    match &run.supervisor {
        Some(stamp) => supervisor_liveness(stamp, run, now) == Liveness::Absent,
        None => run.lease_until <= now || (run.session.is_none() && !has_worker()),
    }
}
