//! `el work --stop`: every worker leaves, every run is ended cleanly, whether or not its worker or
//! supervisor still lives.

use std::time::{Duration, Instant};

use el_core::model::{CancelMode, Run};
use el_core::ops;
use el_core::{Ctx, Error, Store};

use crate::clock;
use crate::process::Liveness;
use crate::recover::{settle_lost, sweep};
use crate::settings::{Places, RunRules};
use crate::supervisor::process_of;
use crate::tmux::Tmux;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// Asks all to stop, and waits until nothing runs any more, or `limit` is over. Gives the runs that
/// were live, and those that still are.
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
) -> Result<(Vec<Run>, Vec<Run>), Error> {
    let ctx = Ctx { now: clock::now(), actor, session: None };
    let before = ops::live_runs(store)?;
    ops::request_stop(store)?;
    ops::cancel_all(store, &ctx, CancelMode::Requeue)?;
    let until = Instant::now() + limit;
    loop {
        let live = ops::live_runs(store)?;
        let orphans = live.iter().filter(|run| is_orphan(run));
        for run in orphans {
            // What cannot be ended now is tried again until the limit.
            if sweep(&run.id).is_ok() {
                let _ = settle_lost(store, tmux, run, places, rules, false, None);
            }
        }
        if live.is_empty() || Instant::now() > until {
            // Both may have nothing to release.
            let _ = tmux.release_server();
            return Ok((before, live));
        }
        std::thread::sleep(LOOK);
    }
}

fn is_orphan(run: &Run) -> bool {
    match run.supervisor.as_ref().and_then(process_of) {
        Some(process) => process.liveness() == Liveness::Absent,
        None => run.lease_until <= clock::now(),
    }
}
