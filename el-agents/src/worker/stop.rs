//! `el work --stop`: ends every worker and every run cleanly, with or without a living worker or
//! supervisor.

use std::time::{Duration, Instant};

use el_core::model::{CancelMode, Run, Timestamp, Worker};
use el_core::ops;
use el_core::{Ctx, Error, Store};

use crate::clock;
use crate::process::Liveness;
use crate::recover::{settle_lost, sweep_run};
use crate::rundir::RunDir;
use crate::settings::{Places, RunRules};
use crate::tmux::Tmux;
use crate::worker::is_there;
use crate::worker::presence::supervisor_liveness;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// The result of `el work --stop`.
#[derive(Debug)]
pub struct Stopped {
    /// The runs that were live.
    pub ended: Vec<Run>,
    /// The workers that are still there.
    pub left: Vec<Run>,
    /// The workers that were there.
    pub workers: Vec<Worker>,
    /// The workers that are still there.
    pub workers_left: Vec<Worker>,
}

/// Requests a stop, and waits until no run is live and every worker is gone, for at most `limit`.
/// `tell` hears, once, what is waited for: the live runs, and the workers.
///
/// # Errors
/// If the store fails.
pub fn stop_all(
    store: &mut Store,
    actor: &str,
    tmux: &Tmux,
    places: &Places,
    rules: &RunRules,
    limit: Duration,
    tell: &mut dyn FnMut(&[Run], &[Worker]),
) -> Result<Stopped, Error> {
    let ctx = Ctx { now: clock::now(), actor, session: None };
    let ended = ops::live_runs(store)?;
    let workers = workers_there(store)?;
    ops::request_stop(store)?;
    ops::cancel_all(store, &ctx, CancelMode::Requeue)?;
    let until = Instant::now() + limit;
    if !ended.is_empty() || !workers.is_empty() {
        tell(&ended, &workers);
    }
    loop {
        // Workers first: a worker that is gone starts no session any more.
        let workers_left = workers_there(store)?;
        let live = ops::live_runs(store)?;
        let now = store.lease_time(clock::now());
        let orphans = live.iter().filter(|run| is_orphan(run, &workers_left, now));
        for run in orphans {
            // Survivors are tried again until the limit.
            if sweep_run(&RunDir::new(&places.runs, &run.id)).is_ok() {
                let _ = settle_lost(store, tmux, run, places, rules, false, None);
            }
        }
        if (live.is_empty() && workers_left.is_empty()) || Instant::now() > until {
            // Ignored: the server may be gone already.
            let _ = tmux.release_server();
            return Ok(Stopped { ended, left: live, workers, workers_left });
        }
        std::thread::sleep(LOOK);
    }
}

fn workers_there(store: &Store) -> Result<Vec<Worker>, Error> {
    Ok(ops::list_workers(store)?.into_iter().filter(is_there).collect())
}

fn is_orphan(run: &Run, workers: &[Worker], now: Timestamp) -> bool {
    let has_worker = || workers.iter().any(|worker| run.worker_id.as_ref() == Some(&worker.id));
    match &run.supervisor {
        Some(stamp) => supervisor_liveness(stamp, run, now) == Liveness::Absent,
        None => run.lease_until <= now || (run.session.is_none() && !has_worker()),
    }
}
