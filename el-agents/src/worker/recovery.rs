//! Recovers runs without a supervisor: sweeps and settles each beside the worker's loop.

use std::time::{Duration, Instant};

use el_core::model::{Outcome, Run};
use el_core::ops::{self, WorkerView};

use super::WorkError;
use super::actions::launcher_of;
use super::memory::{LaunchFailure, Recovery};
use super::report::Report;
use super::state::State;
use crate::recover::{Abandoned, NotLaunched, recover_run};
use crate::rundir::RunDir;

/// The failed launches in a row after which the worker gives up.
const LAUNCH_FAILURES: usize = 3;
/// The pause after a failed recovery of a run.
const RECOVER_AGAIN: Duration = Duration::from_secs(2);

impl State<'_> {
    pub(super) fn try_recovery(&mut self, view: &WorkerView, id: &str) {
        let Some(run) = view.live.iter().find(|run| run.id == id) else { return };
        let waits_until = self.tracked.get(id).and_then(|mine| mine.recover_after);
        // A supervisor may have registered since the look.
        let is_as_seen = ops::get_run(&self.store, id)
            .is_ok_and(|fresh| fresh.supervisor == run.supervisor && fresh.session == run.session);
        if is_as_seen && waits_until.is_none_or(|at| at <= Instant::now()) {
            self.begin_recovery(run, None);
        }
    }

    /// Begins a recovery and tracks the run, so that this worker reports the end.
    fn begin_recovery(&mut self, run: &Run, why: Option<NotLaunched>) {
        if self.recoveries.iter().any(|recovery| recovery.run == run.id) {
            return;
        }
        self.track_run(run);
        let launcher = launcher_of(&self.launchers, &run.agent);
        let was_launched = why.is_none();
        let abandoned = Abandoned {
            run: run.clone(),
            why,
            tmux: launcher.tmux.clone(),
            places: self.options.places.clone(),
            durability: self.options.durability,
            rules: self.options.rules,
            preserve: was_launched && launcher.agent.preserve_sessions,
        };
        let (agent, environment) = (launcher.agent.clone(), self.options.environment.clone());
        self.recoveries.push(Recovery {
            run: run.id.clone(),
            atom: run.atom_id.clone(),
            was_launched,
            task: tokio::task::spawn_blocking(move || recover_run(abandoned, &agent, &environment)),
        });
    }

    /// Reports finished recoveries. A failed recovery is tried again later.
    pub(super) async fn collect_recoveries(&mut self) {
        while let Some(at) = self.recoveries.iter().position(|each| each.task.is_finished()) {
            let Recovery { run, atom, was_launched, task } = self.recoveries.swap_remove(at);
            let result =
                task.await.unwrap_or_else(|panic| Err(std::io::Error::other(panic).into()));
            match result {
                Ok(()) if was_launched => self.listener.report(&Report::Recovered { run, atom }),
                Ok(()) => {}
                Err(error) => {
                    let mine = self.tracked.entry(run.clone()).or_default();
                    mine.recover_after = Some(Instant::now() + RECOVER_AGAIN);
                    let message = format!("{run} cannot be settled yet: {error}");
                    self.listener.report(&Report::Warning { message });
                }
            }
        }
    }

    pub(super) fn not_launched(
        &mut self,
        run: &Run,
        NotLaunched { why, fault }: NotLaunched,
        is_own_fault: bool,
    ) -> Result<(), WorkError> {
        self.listener.report(&Report::LaunchFailed {
            run: run.id.clone(),
            atom: run.atom_id.clone(),
            message: why.clone(),
        });
        let failure = LaunchFailure { why: why.clone(), is_own_fault };
        self.track_run(run).launch_failure = Some(failure);
        // After a time-out the session may exist. With a registered supervisor all is well; else
        // the session is ended before the run is settled.
        let fresh = ops::get_run(&self.store, &run.id)?;
        if fresh.supervisor.is_none() {
            self.begin_recovery(&fresh, Some(NotLaunched { why, fault }));
        }
        Ok(())
    }

    /// Counts consecutive launch failures; too many end the worker. Returns true if the run's own
    /// atom caused the failure.
    pub(super) fn count_launch_failure(
        &mut self,
        run: &Run,
        told: Option<LaunchFailure>,
    ) -> Result<bool, WorkError> {
        let failure = match run.outcome {
            Some(Outcome::LaunchFailed) => told.or_else(|| self.preparation_failure(run)),
            _ => None,
        };
        let Some(LaunchFailure { why, is_own_fault }) = failure else {
            self.launch_failures = 0;
            return Ok(false);
        };
        if is_own_fault {
            return Ok(true);
        }
        self.launch_failures += 1;
        if self.launch_failures >= LAUNCH_FAILURES {
            return Err(WorkError::CannotLaunch { attempts: self.launch_failures, message: why });
        }
        Ok(false)
    }

    /// Returns the failure that the run's supervisor met while preparing the worktree.
    fn preparation_failure(&mut self, run: &Run) -> Option<LaunchFailure> {
        let folder = RunDir::new(&self.options.places.runs, &run.id);
        let failure = folder.read_workplace()?.err()?;
        let record = folder.read_exit();
        let message = record.and_then(|exit| exit.message).unwrap_or_else(|| failure.why.clone());
        self.listener.report(&Report::LaunchFailed {
            run: run.id.clone(),
            atom: run.atom_id.clone(),
            message,
        });
        Some(LaunchFailure { why: failure.why, is_own_fault: failure.is_own_fault })
    }
}
