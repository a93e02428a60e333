use std::time::Duration;

use serde_json::json;

use crate::model::{CancelMode, EventKind, Progress, Run, Stamp, Status, Timestamp};
use crate::store::{Store, Tx, atom, event, run};
use crate::{Ctx, Error, Result};

/// The store's answer to a supervisor about the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunSignal {
    /// Go on.
    Work,
    /// The agent set a status that ends the run; the agent may finish the last turn.
    Finished(Status),
    /// Another actor changed the atom's status, or removed the atom. That change stands.
    Superseded,
    /// The run was asked to end.
    Cancelled(CancelMode),
    /// The run is over budget.
    OverBudget,
    /// The run is not live any more, because it was settled or deleted. Nothing that the run does
    /// counts.
    Over,
}

/// A supervisor's heartbeat.
#[derive(Debug, Clone, Copy)]
pub struct Beat<'a> {
    pub run_id: &'a str,
    pub token: &'a str,
    pub now: Timestamp,
    pub lease: Duration,
    /// The time of the last output in the agent's stream.
    pub active_at: Option<Timestamp>,
    pub progress: &'a Progress,
}

/// Registers the supervisor of a run: from now on, the process stands for the run.
///
/// # Errors
///
/// If the run is no longer live, so that a late session does nothing; if another process has
/// registered; or if the database cannot be written.
pub fn register_supervisor(
    store: &mut Store,
    run_id: &str,
    token: &str,
    stamp: &Stamp,
    now: Timestamp,
    lease: Duration,
) -> Result<Run> {
    store.write(|tx| {
        let found = run::live_with_token(tx, run_id, Some(token))?;
        if let Some(other) = found.supervisor.filter(|s| s != stamp) {
            return Err(Error::conflict(
                "claimed",
                format!("{run_id} has a supervisor already, process {}", other.pid),
            ));
        }
        run::set_supervisor(tx, run_id, stamp, now, tx.lease_time(now).plus(lease))?;
        run::get(tx, run_id)
    })
}

/// Records the agent's process, for people and for `el doctor`.
///
/// # Errors
///
/// If the run is over or the token is not the run's, or the database cannot be written.
pub fn set_agent_pid(store: &mut Store, run_id: &str, token: &str, pid: i64) -> Result<()> {
    store.write(|tx| {
        run::live_with_token(tx, run_id, Some(token))?;
        run::set_column(tx, run_id, "agent_pid", &pid)
    })
}

/// Records that the supervisor sends the agent back to an atom left open.
///
/// # Errors
///
/// If the run is over or the token is not the run's, or the database cannot be written.
pub fn record_nudge(store: &mut Store, ctx: &Ctx<'_>, run_id: &str, token: &str) -> Result<()> {
    store.write(|tx| {
        let live = run::live_with_token(tx, run_id, Some(token))?;
        run::set_column(tx, run_id, "resumes", &(live.resumes + 1))?;
        let data = json!({ "by": "supervisor" });
        event::insert(tx, ctx, EventKind::Nudged, Some(&live.atom_id), Some(run_id), &data)
    })
}

/// Extends the lease, reports progress, and answers as [`watch_run`].
///
/// # Errors
///
/// If the database cannot be written.
pub fn extend_lease(store: &mut Store, beat: &Beat<'_>) -> Result<RunSignal> {
    let written = run::Heartbeat {
        run: beat.run_id,
        now: beat.now,
        active_at: beat.active_at,
        progress: beat.progress,
    };
    let lease = i64::try_from(beat.lease.as_micros()).unwrap_or(i64::MAX);
    // After a failure, the transaction makes a connection anew, or fails.
    if store.is_on_server() && written.write_alone(store, beat.token, lease).unwrap_or(false) {
        return Ok(RunSignal::Work);
    }
    store.write(|tx| {
        let Some(before) = live_run(tx, beat.run_id, beat.token)? else {
            return Ok(RunSignal::Over);
        };
        let said = signal_of(tx, &before)?;
        written.write(tx, tx.lease_time(beat.now).plus(beat.lease))?;
        super::pause::note_answer(tx, &before, beat.progress)?;
        let is_working = said == RunSignal::Work;
        let has_ended_runs =
            super::budget::record_cost(tx, &before, beat.progress, beat.now, is_working, false)?;
        if has_ended_runs { run_signal(tx, beat.run_id, beat.token) } else { Ok(said) }
    })
}

/// Reads the run and the atom at one moment.
///
/// # Errors
///
/// If the database cannot be read.
pub fn watch_run(store: &Store, run_id: &str, token: &str) -> Result<RunSignal> {
    if store.is_on_server() && run::is_at_work(store, run_id, token).unwrap_or(false) {
        return Ok(RunSignal::Work);
    }
    store.read(|tx| run_signal(tx, run_id, token))
}

fn run_signal(tx: &Tx<'_>, run_id: &str, token: &str) -> Result<RunSignal> {
    live_run(tx, run_id, token)?.map_or(Ok(RunSignal::Over), |found| signal_of(tx, &found))
}

/// Returns the run if it is live, and of that token.
fn live_run(tx: &Tx<'_>, run_id: &str, token: &str) -> Result<Option<Run>> {
    match run::live_with_token(tx, run_id, Some(token)) {
        Ok(found) => Ok(Some(found)),
        Err(Error::StaleRun { .. }) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Returns the signal of a run that was just read, and is live.
pub(super) fn signal_of(tx: &Tx<'_>, found: &Run) -> Result<RunSignal> {
    let run_id = found.id.as_str();
    let Some(state) = atom::state_of(tx, &found.atom_id)? else {
        return Ok(RunSignal::Superseded);
    };
    let by_this_run = state.by_run.as_deref() == Some(run_id);
    let on = match found.cancel_requested {
        Some(mode) => RunSignal::Cancelled(mode),
        None if super::budget::overrun_reason(tx, run_id)?.is_some() => RunSignal::OverBudget,
        None => RunSignal::Work,
    };
    Ok(match state.status {
        status if by_this_run && status.ends_run() => RunSignal::Finished(status),
        Status::InProgress => on,
        status if by_this_run && status.is_report() => on,
        _ => RunSignal::Superseded,
    })
}
