//! The actions of the plan, carried out.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use el_core::model::{Run, fresh_run_id, fresh_token, fresh_uuid};
use el_core::ops::{self, Apart, Caps, Check, ClaimRequest, WorkerView};
use el_core::rules::budget::micros;
use el_core::{Ctx, Error};

use super::report::Report;
use super::state::{Mine, State};
use super::{Served, WorkError};
use crate::clock;
use crate::git::GitError;
use crate::launch::{LaunchError, Launcher};
use crate::process::ProcessId;
use crate::recover::{NotLaunched, settle_lost, sweep, tell_lost};

/// Launches that may fail in a row before the worker gives up.
const LAUNCH_FAILURES: usize = 3;
/// Sessions in one folder above which a person is warned.
const SHARED_FOLDER: usize = 2;
/// Between two tries to recover a run that could not be.
const RECOVER_AGAIN: Duration = Duration::from_secs(2);

impl State<'_> {
    pub(super) async fn recover(&mut self, view: &WorkerView, id: &str) -> Result<(), WorkError> {
        let Some(run) = view.live.iter().find(|run| run.id == id) else { return Ok(()) };
        let is_waiting = self
            .mine
            .get(id)
            .and_then(|mine| mine.recover_after)
            .is_some_and(|at| at > Instant::now());
        if is_waiting {
            return Ok(());
        }
        let owned = id.to_owned();
        let swept = tokio::task::spawn_blocking(move || sweep(&owned)).await;
        let swept = swept.unwrap_or_else(|error| Err(std::io::Error::other(error).into()));
        let settled = swept.and_then(|()| {
            let launcher = launcher_of(&self.launchers, &run.agent);
            let (places, rules, preserve) =
                (&self.options.places, &self.options.rules, launcher.agent.preserve_sessions);
            settle_lost(&mut self.store, &launcher.tmux, run, places, rules, preserve, None)
        });
        // From now on its end is ours to report.
        self.remember(run);
        match settled {
            Ok(settled) => {
                tell_lost(
                    &settled,
                    &self.options.places,
                    &self.launcher(&run.agent).agent,
                    &self.options.environment,
                );
                self.listener
                    .report(&Report::Recovered { run: run.id.clone(), atom: run.atom_id.clone() });
            }
            Err(error) => {
                self.remember(run).recover_after = Some(Instant::now() + RECOVER_AGAIN);
                self.listener.report(&Report::Warning {
                    message: format!("{} cannot be settled yet: {error}", run.id),
                });
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
            self.remember(run);
            self.listener
                .report(&Report::Adopted { run: run.id.clone(), atom: run.atom_id.clone() });
        }
    }

    /// Claims and launches up to `at_most`; whether any was.
    pub(super) async fn claim(&mut self, at_most: usize, live: usize) -> Result<bool, WorkError> {
        let mut any = false;
        for n in 0..at_most {
            if !self.may_start(live + n) || !self.plan_goes_on()? {
                break;
            }
            let requests: Vec<ClaimRequest> =
                self.options.agents.iter().map(|served| self.request(served)).collect();
            let ctx = Ctx { now: clock::now(), actor: &self.id, session: None };
            let claimed = match ops::claim_best(&mut self.store, &ctx, &requests) {
                Ok(Some(claimed)) => claimed,
                Ok(None) | Err(Error::Paused { .. }) => break,
                Err(error) => return Err(error.into()),
            };
            any = true;
            self.started();
            self.summary.claimed += 1;
            let (run, atom) = (claimed.run.id.clone(), claimed.atom.id.clone());
            let launcher = launcher_of(&self.launchers, &claimed.run.agent);
            match launcher.launch(&mut self.store, &claimed) {
                Ok((session, ids)) => {
                    self.launch_failures = 0;
                    self.remember(&claimed.run).pane = ProcessId::of(ids.pane_pid).ok().flatten();
                    self.listener.report(&Report::Launched {
                        run,
                        atom,
                        title: claimed.atom.title.clone(),
                        attempt: claimed.run.attempt,
                        session,
                    });
                }
                // A folder that the atom names is the atom's own fault: it says nothing of the
                // others.
                Err(error @ (LaunchError::Folder(_) | LaunchError::Held(_))) => {
                    self.remember(&claimed.run).is_own_fault = true;
                    let not_launched = match &error {
                        LaunchError::Held(apart) => self.held(&claimed.run, apart)?,
                        other => NotLaunched { why: in_one_line(other), is_hopeless: false },
                    };
                    self.not_launched(&claimed.run, not_launched).await?;
                }
                Err(error) => self.launch_failed(&claimed.run, &in_one_line(&error)).await?,
            }
        }
        self.warn_of_shared_folder();
        Ok(any)
    }

    /// What a run builds on does not fit together. In a plan, bringing it together becomes an atom
    /// that it waits for; elsewhere it is a person's.
    fn held(&mut self, run: &Run, error: &GitError) -> Result<NotLaunched, WorkError> {
        let why = in_one_line(error);
        let GitError::Apart { branch, with, files } = error else {
            return Ok(NotLaunched { why, is_hopeless: true });
        };
        let ctx = Ctx { now: clock::now(), actor: &self.id, session: None };
        let joining =
            ops::file_joining(&mut self.store, &ctx, &run.atom_id, &Apart { branch, with, files })?;
        Ok(match joining {
            None => NotLaunched { why, is_hopeless: true },
            Some(known) if !known.is_new && known.atom.status.is_over() => {
                let id = known.atom.id;
                let why = format!(
                    "{why}; {id} was to bring it together, and its branch does not (`el reopen {id}` has it done anew)"
                );
                NotLaunched { why, is_hopeless: true }
            }
            Some(joining) => {
                let why =
                    format!("{why}; it waits for {}, which brings it together", joining.atom.id);
                NotLaunched { why, is_hopeless: false }
            }
        })
    }

    /// The launcher of this agent, or else the first: for what any of them can do.
    fn launcher(&self, agent: &str) -> &Launcher {
        launcher_of(&self.launchers, agent)
    }

    fn request(&self, served: &Served) -> ClaimRequest {
        let agent = &served.agent;
        ClaimRequest {
            run_id: fresh_run_id(),
            token: fresh_token(),
            worker_id: self.id.clone(),
            agent: agent.name.clone(),
            agent_limit: Some(served.at_most),
            executor: agent.executor.name().to_owned(),
            conversation: fresh_uuid(),
            workdir: agent.working_directory.display().to_string(),
            check: Some(Check {
                command: agent.verify.clone(),
                required: agent.require_verify,
                timeout: agent.verify_timeout,
            }),
            review: agent.review,
            filter: self.options.filter.clone(),
            caps: Caps {
                run: agent.max_budget_usd.and_then(micros),
                epic: self.options.resources.budget_per_epic.and_then(micros),
            },
            lease: self.options.rules.lease,
            policy: self.options.rules.retry_policy(),
        }
    }

    /// From now on the run is ours to report.
    fn remember(&mut self, run: &Run) -> &mut Mine {
        self.mine.entry(run.id.clone()).or_default()
    }

    async fn launch_failed(&mut self, run: &Run, error: &str) -> Result<(), WorkError> {
        self.launch_failures += 1;
        self.not_launched(run, NotLaunched { why: error.to_owned(), is_hopeless: false }).await?;
        if self.launch_failures >= LAUNCH_FAILURES {
            return Err(WorkError::CannotLaunch {
                attempts: self.launch_failures,
                message: error.to_owned(),
            });
        }
        Ok(())
    }

    async fn not_launched(&mut self, run: &Run, error: NotLaunched) -> Result<(), WorkError> {
        self.remember(run);
        self.listener.report(&Report::LaunchFailed {
            run: run.id.clone(),
            atom: run.atom_id.clone(),
            message: error.why.clone(),
        });
        // After a time-out the session may be there after all. If its supervisor has the run, all
        // is well; else the session is ended before the run is settled.
        let fresh = ops::run(&self.store, &run.id)?;
        if fresh.supervisor.is_some() {
            return Ok(());
        }
        let id = run.id.clone();
        let swept = tokio::task::spawn_blocking(move || sweep(&id)).await;
        if matches!(swept, Ok(Ok(()))) {
            let tmux = &launcher_of(&self.launchers, &run.agent).tmux;
            let (places, rules, why) = (&self.options.places, &self.options.rules, Some(error));
            // Should it fail, it is recovered when its lease is over.
            if let Ok(settled) =
                settle_lost(&mut self.store, tmux, &fresh, places, rules, false, why)
            {
                tell_lost(
                    &settled,
                    &self.options.places,
                    &self.launcher(&run.agent).agent,
                    &self.options.environment,
                );
            }
        }
        Ok(())
    }

    fn warn_of_shared_folder(&mut self) {
        if self.warned_of_folder || self.mine.len() <= SHARED_FOLDER {
            return;
        }
        // As it stands in the store: an agent may have got a worktree of its own since its claim.
        let mut folders: HashMap<String, usize> = HashMap::new();
        for run in self.mine.keys().filter_map(|id| ops::run(&self.store, id).ok()) {
            *folders.entry(run.workdir).or_default() += 1;
        }
        let shared = folders
            .into_iter()
            .filter(|(_, many)| *many > SHARED_FOLDER)
            .max_by_key(|(_, many)| *many);
        if let Some((folder, many)) = shared {
            let message = format!(
                "{many} sessions share the folder {folder}: they see, and may undo, each other's changes"
            );
            self.warned_of_folder = true;
            self.warn(message);
        }
    }
}

fn launcher_of<'l>(launchers: &'l [Launcher], agent: &str) -> &'l Launcher {
    let named = launchers.iter().find(|launcher| launcher.agent.name == agent);
    named.or(launchers.first()).expect("a worker serves one agent at least")
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
