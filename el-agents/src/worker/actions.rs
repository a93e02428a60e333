//! The actions of the plan, carried out.

use std::time::{Duration, Instant};

use el_core::model::{Run, fresh_run_id, fresh_token, fresh_uuid};
use el_core::ops::{self, ClaimRequest, WorkerView};
use el_core::{Ctx, Error};

use super::WorkError;
use super::report::Report;
use super::state::{Mine, State};
use crate::clock;
use crate::process::ProcessId;
use crate::recover::{settle_lost, sweep};

/// Launches that may fail in a row before the worker gives up.
const LAUNCH_FAILURES: usize = 3;
/// Sessions in one folder above which a person is warned.
const SHARED_FOLDER: usize = 2;
/// Between two tries to recover a run that could not be.
const RECOVER_AGAIN: Duration = Duration::from_secs(2);

impl State<'_> {
    pub(super) async fn recover(&mut self, view: &WorkerView, id: &str) -> Result<(), WorkError> {
        let Some(run) = view.live.iter().find(|run| run.id == id) else { return Ok(()) };
        let is_waiting = self.mine.get(id).and_then(|mine| mine.recover_after).is_some_and(|at| at > Instant::now());
        if is_waiting {
            return Ok(());
        }
        let owned = id.to_owned();
        let swept = tokio::task::spawn_blocking(move || sweep(&owned)).await;
        let swept = swept.unwrap_or_else(|error| Err(std::io::Error::other(error).into()));
        let settled = swept.and_then(|()| {
            let (places, rules) = (&self.options.places, &self.options.rules);
            settle_lost(&mut self.store, &self.launcher.tmux, run, places, rules, self.options.agent.preserve_sessions, None)
        });
        let mine = self.mine.entry(run.id.clone()).or_default();
        match settled {
            Ok(_) => self.listener.report(&Report::Recovered { run: run.id.clone(), atom: run.atom_id.clone() }),
            Err(error) => {
                mine.recover_after = Some(Instant::now() + RECOVER_AGAIN);
                self.listener.report(&Report::Warning { message: format!("{} cannot be settled yet: {error}", run.id) });
            }
        }
        // Its end is reported with the others', at the next look.
        self.seen_version = None;
        Ok(())
    }

    pub(super) fn adopt(&mut self, view: &WorkerView, id: &str) {
        let Some(run) = view.live.iter().find(|run| run.id == id) else { return };
        // Another worker may be faster; then it is that one's.
        if ops::adopt(&mut self.store, id, run.worker_id.as_deref(), &self.id).is_ok() {
            self.mine.entry(run.id.clone()).or_default();
            self.listener.report(&Report::Adopted { run: run.id.clone(), atom: run.atom_id.clone() });
        }
    }

    /// Claims and launches up to `at_most`; whether any was.
    pub(super) async fn claim(&mut self, at_most: usize) -> Result<bool, WorkError> {
        let mut any = false;
        for _ in 0..at_most {
            let agent = &self.options.agent;
            let request = ClaimRequest {
                run_id: fresh_run_id(),
                token: fresh_token(),
                worker_id: self.id.clone(),
                agent: agent.name.clone(),
                executor: agent.executor.name().to_owned(),
                conversation: fresh_uuid(),
                workdir: agent.working_directory.display().to_string(),
                filter: self.options.filter.clone(),
                lease: self.options.rules.lease,
            };
            let ctx = Ctx { now: clock::now(), actor: &agent.name, session: None };
            let claimed = match ops::claim_run(&mut self.store, &ctx, &request) {
                Ok(Some(claimed)) => claimed,
                Ok(None) | Err(Error::Paused { .. }) => break,
                Err(error) => return Err(error.into()),
            };
            any = true;
            self.summary.claimed += 1;
            let (run, atom) = (claimed.run.id.clone(), claimed.atom.id.clone());
            match self.launcher.launch(&mut self.store, &claimed) {
                Ok((session, ids)) => {
                    self.launch_failures = 0;
                    self.mine.insert(run.clone(), Mine { pane: ProcessId::of(ids.pane_pid).ok().flatten(), recover_after: None });
                    self.listener.report(&Report::Launched {
                        run,
                        atom,
                        title: claimed.atom.title.clone(),
                        attempt: claimed.run.attempt,
                        session,
                    });
                }
                Err(error) => self.launch_failed(&claimed.run, &in_one_line(&error)).await?,
            }
        }
        self.warn_of_shared_folder();
        Ok(any)
    }

    async fn launch_failed(&mut self, run: &Run, error: &str) -> Result<(), WorkError> {
        self.launch_failures += 1;
        self.mine.insert(run.id.clone(), Mine::default());
        self.listener.report(&Report::LaunchFailed { run: run.id.clone(), atom: run.atom_id.clone(), message: error.to_owned() });
        // After a time-out the session may be there after all. If its supervisor has the run, all is well; else the session is ended before
        // the run is settled.
        let fresh = ops::run(&self.store, &run.id)?;
        let id = run.id.clone();
        let swept = if fresh.supervisor.is_none() { tokio::task::spawn_blocking(move || sweep(&id)).await } else { Ok(Ok(())) };
        if fresh.supervisor.is_none() && matches!(swept, Ok(Ok(()))) {
            let (places, rules) = (&self.options.places, &self.options.rules);
            // Should it fail, it is recovered when its lease is over.
            let _ = settle_lost(&mut self.store, &self.launcher.tmux, &fresh, places, rules, false, Some(error.to_owned()));
        }
        if self.launch_failures >= LAUNCH_FAILURES {
            return Err(WorkError::CannotLaunch { attempts: self.launch_failures, message: error.to_owned() });
        }
        Ok(())
    }

    fn warn_of_shared_folder(&mut self) {
        if self.mine.len() > SHARED_FOLDER && !self.warned_of_folder {
            self.warned_of_folder = true;
            let folder = self.options.agent.working_directory.display();
            let message =
                format!("{} agents share the folder {folder}: they see, and may undo, each other's changes", self.mine.len());
            self.listener.report(&Report::Warning { message });
        }
    }
}

/// An error with all of its causes.
pub(super) fn in_one_line(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}
