//! Which workers and supervisors are there.

use el_core::model::{Run, Timestamp, Worker};

use crate::process::Liveness;
use crate::supervisor::process_of;

/// Returns true if a worker's process still runs, or cannot be seen from here.
pub fn is_there(worker: &Worker) -> bool {
    process_of(&worker.process).is_none_or(|process| process.liveness() != Liveness::Absent)
}

/// Returns true if a run's supervisor still runs, or cannot be seen from here. A run that has none
/// yet gets one within its lease.
pub fn is_supervised(run: &Run, now: Timestamp) -> bool {
    match &run.supervisor {
        Some(stamp) => {
            process_of(stamp).is_none_or(|process| process.liveness() != Liveness::Absent)
        }
        None => run.lease_until > now,
    }
}
