//! Finds out if workers and supervisors are still there.

use std::time::Duration;

use el_core::model::{Run, Stamp, Timestamp, Worker};

use crate::clock;
use crate::process::{Liveness, host_name};
use crate::supervisor::process_of;

/// The silence after which a worker of another host is gone. Workers send a beat every 20 seconds.
const SILENCE: Duration = Duration::from_secs(5 * 60);

/// The name of this machine.
pub fn this_host() -> String {
    host_name()
}

/// The host of a process. With a tracker in a file, that is always this machine.
pub fn host_of(process: &Stamp) -> String {
    process.host().map_or_else(host_name, str::to_owned)
}

/// Returns true if a worker's process still runs, or cannot be seen from here. For a worker of
/// another host, its last sign of life decides.
pub fn is_there(worker: &Worker) -> bool {
    match liveness_of(&worker.process) {
        Liveness::Alive => true,
        Liveness::Absent => false,
        Liveness::Unknown => {
            worker.process.host().is_none() || worker.heartbeat_at.plus(SILENCE) > clock::now()
        }
    }
}

/// The silence after which a worker of another host is told to be silent: three beats.
const MANY_BEATS: Duration = Duration::from_secs(60);

/// A worker of another host that says nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silence {
    pub since: Timestamp,
    /// When it counts as gone.
    pub gone_at: Timestamp,
}

/// Since when a worker of another host that is still there has been silent.
pub fn silence_of(worker: &Worker, now: Timestamp) -> Option<Silence> {
    let since = worker.heartbeat_at;
    let is_elsewhere = liveness_of(&worker.process) == Liveness::Unknown;
    let is_silent = is_elsewhere && worker.process.host().is_some();
    (is_silent && since.plus(MANY_BEATS) <= now)
        .then(|| Silence { since, gone_at: since.plus(SILENCE) })
}

/// Returns true if a run's supervisor still runs, or cannot be seen from here. A run without a
/// supervisor counts as supervised until its first lease is over.
pub fn is_supervised(run: &Run, now: Timestamp) -> bool {
    match &run.supervisor {
        Some(stamp) => supervisor_liveness(stamp, run, now) != Liveness::Absent,
        None => run.lease_until > now,
    }
}

/// The liveness of a run's supervisor. A supervisor on another host counts as alive until its lease
/// is over, since it ends its agent before then.
pub(super) fn supervisor_liveness(stamp: &Stamp, run: &Run, now: Timestamp) -> Liveness {
    match liveness_of(stamp) {
        Liveness::Unknown if stamp.host().is_some() && run.lease_until <= now => Liveness::Absent,
        known => known,
    }
}

/// The pids to be continued for this process to go on; empty: it is not stopped, or not of this
/// host.
pub fn stopped_pids(stamp: &Stamp) -> Vec<u32> {
    process_of(stamp).map_or_else(Vec::new, |process| process.stopped_pids())
}

pub(super) fn liveness_of(stamp: &Stamp) -> Liveness {
    process_of(stamp).map_or(Liveness::Unknown, |process| process.liveness())
}
