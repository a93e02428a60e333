//! The actions of the plan, carried out.

use std::collections::HashMap;
use std::path::Path;

use el_core::model::Run;
use el_core::ops::{self, Caps, Check, ClaimRequest, WorkerView};
use el_core::rules::budget::usd_to_micros;
use el_core::{Ctx, Error};

use super::memory::TrackedRun;
use super::report::Report;
use super::state::State;
use super::{Served, WorkError};
use crate::clock;
use crate::error_chain::{error_chain, machine_fault};
use crate::launch::{LaunchError, Launcher};
use crate::process::ProcessId;
use crate::recover::NotLaunched;

/// The number of sessions in a folder above which the worker warns.
const SHARED_FOLDER: usize = 2;

impl State<'_> {
    pub(super) fn adopt_run(&mut self, view: &WorkerView, id: &str) {
        let Some(run) = view.live.iter().find(|run| run.id == id) else { return };
        // Another worker may be faster and then has the run.
        if ops::adopt(&mut self.store, id, run.worker_id.as_deref(), &self.id).is_ok() {
            self.track_run(run);
            self.listener
                .report(&Report::Adopted { run: run.id.clone(), atom: run.atom_id.clone() });
        }
    }

    /// Claims and launches up to `at_most` atoms. Returns true if any was claimed.
    pub(super) fn claim_atoms(&mut self, at_most: usize, live: usize) -> Result<bool, WorkError> {
        let mut any = false;
        for n in 0..at_most {
            if !self.may_start(live + n) || !self.plan_goes_on()? {
                break;
            }
            let requests: Vec<ClaimRequest> =
                self.options.agents.iter().map(|served| self.claim_request(served)).collect();
            let ctx = Ctx { now: clock::now(), actor: &self.id, session: None };
            let claimed = match ops::claim_best(&mut self.store, &ctx, &requests) {
                Ok(Some(claimed)) => claimed,
                Ok(None) | Err(Error::Paused { .. }) => break,
                Err(error) => return Err(error.into()),
            };
            any = true;
            self.note_start();
            self.summary.claimed += 1;
            let (run, atom) = (claimed.run.id.clone(), claimed.atom.id.clone());
            let launcher = launcher_of(&self.launchers, &claimed.run.agent);
            match launcher.launch_run(&mut self.store, &claimed) {
                Ok((session, ids)) => {
                    if launcher.agent.isolation.is_none() {
                        self.launch_failures = 0;
                    }
                    self.track_run(&claimed.run).pane =
                        ProcessId::of_pid(ids.pane_pid).ok().flatten();
                    self.listener.report(&Report::Launched {
                        run,
                        atom,
                        title: claimed.atom.title.clone(),
                        attempt: claimed.run.attempt,
                        session,
                    });
                }
                Err(error) => {
                    // A bad folder named by an atom does not affect other atoms.
                    let is_own_fault = matches!(error, LaunchError::Folder(_));
                    let (why, fault) = (error_chain(&error), machine_fault(&error));
                    self.not_launched(&claimed.run, NotLaunched { why, fault }, is_own_fault)?;
                    break;
                }
            }
        }
        self.warn_of_shared_folder();
        Ok(any)
    }

    /// Returns true if the run has an agent with worktrees and no worktree yet.
    fn is_unplaced(&self, run: &Run) -> bool {
        let agent = &launcher_of(&self.launchers, &run.agent).agent;
        agent.isolation.is_some() && Path::new(&run.workdir) == agent.working_directory
    }

    fn claim_request(&self, served: &Served) -> ClaimRequest {
        let agent = &served.agent;
        let workdir = agent.working_directory.display().to_string();
        ClaimRequest {
            account: self.account_of(&agent.name),
            agent_limit: Some(served.at_most),
            executor: agent.executor.name().to_owned(),
            check: Some(Check {
                command: agent.verify.clone(),
                required: agent.require_verify,
                timeout: agent.verify_timeout,
            }),
            review: agent.review,
            filter: self.options.claim_filter(),
            caps: Caps {
                run: agent.budget_per_run.and_then(usd_to_micros),
                epic: self.options.resources.budget_per_epic.and_then(usd_to_micros),
            },
            policy: self.options.rules.retry_policy(),
            ..ClaimRequest::new(&self.id, &agent.name, workdir, self.options.rules.lease)
        }
    }

    fn account_of(&self, agent: &str) -> Option<String> {
        self.agents.iter().find(|(name, _)| name == agent).and_then(|(_, account)| account.clone())
    }

    /// Tracks the run: from now on this worker reports the end of the run.
    pub(super) fn track_run(&mut self, run: &Run) -> &mut TrackedRun {
        self.tracked.entry(run.id.clone()).or_default()
    }

    fn warn_of_shared_folder(&mut self) {
        if self.warned_of_folder || self.tracked.len() <= SHARED_FOLDER {
            return;
        }
        // Read from the store: an agent gets a worktree only after the claim.
        let mut folders: HashMap<String, usize> = HashMap::new();
        for run in self.tracked.keys().filter_map(|id| ops::get_run(&self.store, id).ok()) {
            if self.is_unplaced(&run) {
                continue;
            }
            *folders.entry(run.workdir).or_default() += 1;
        }
        let shared = folders
            .into_iter()
            .filter(|(_, many)| *many > SHARED_FOLDER)
            .max_by_key(|(_, many)| *many);
        if let Some((folder, many)) = shared {
            let message = format!(
                "{many} sessions share the folder {folder}: they see, and may undo, each other's \
                 changes"
            );
            self.warned_of_folder = true;
            self.warn(message);
        }
    }
}

pub(super) fn launcher_of<'l>(launchers: &'l [Launcher], agent: &str) -> &'l Launcher {
    let named = launchers.iter().find(|launcher| launcher.agent.name == agent);
    named.or(launchers.first()).expect("a worker serves one agent at least")
}
