//! Prepares the agent's folder and context before the start.

use std::ffi::OsString;
use std::fs::File;
use std::process::Stdio;
use std::time::{Duration, Instant};

use el_core::model::{EndKind, ExitRecord, Fault};
use el_core::ops::{self, BranchConflict};
use el_core::{Ctx, Error};

use super::run_branch::BranchPush;
use super::watch::CallEnd;
use super::watchdog::Bounds;
use super::{SuperviseError, Supervisor, agent};
use crate::claude::one_line;
use crate::clock;
use crate::error_chain::{error_chain, machine_fault};
use crate::git::has_branch;
use crate::preparation::{MergeConflict, PreparationFailure, Workplace, context_file};
use crate::rundir::{private_folder, write_private};
use crate::sandbox::Sandbox;
use crate::summary_file::{as_seen_from, summary_file};

impl Supervisor {
    /// Prepares the agent's folder and context.
    ///
    /// # Errors
    /// The exit record of a run that ended before the agent could start.
    pub(super) async fn prepare_start(&mut self) -> Result<File, ExitRecord> {
        let agent = &mut self.spec.agent;
        if let Some(isolation) = agent.task_isolation.take()
            && has_branch(&agent.working_directory, &self.spec.atom)
        {
            // Commits of earlier attempts are on the atom's branch, and not in the checkout.
            agent.isolation = Some(isolation);
        }
        let workplace = match self.spec.agent.isolation {
            Some(_) => {
                let workplace = self.prepare_worktree().await?;
                for told in &workplace.told {
                    self.watcher.pane.show(&one_line(told, 300));
                }
                Some(workplace)
            }
            None => None,
        };
        self.write_context(workplace.as_ref()).map_err(|error| self.not_launched(&error))
    }

    async fn prepare_worktree(&mut self) -> Result<Workplace, ExitRecord> {
        self.watcher.pane.show("el: the worktree is prepared");
        let unbounded = Bounds {
            execution_timeout: Duration::MAX,
            stall_timeout: Duration::MAX,
            ..self.watcher.bounds
        };
        let bounds = std::mem::replace(&mut self.watcher.bounds, unbounded);
        let end = match self.start_preparation() {
            Ok(child) => Ok(self.watcher.watch_call(child).await),
            Err(error) => Err(error),
        };
        self.watcher.bounds = bounds;
        // The agent's time begins now.
        self.watcher.began = Instant::now();
        let prepared = match end {
            Ok(CallEnd { kind: EndKind::Exited, .. }) => {
                self.folder.read_workplace().unwrap_or_else(|| {
                    let unfinished = std::io::Error::other("it was not finished");
                    Err(PreparationFailure::new(&unfinished))
                })
            }
            Ok(CallEnd { kind, .. }) => return Err(self.ended_early(kind)),
            Err(error) => Err(PreparationFailure::new(&error)),
        };
        match prepared {
            Ok(workplace) => {
                self.move_to(&workplace).map_err(|error| self.not_launched(&error))?;
                Ok(workplace)
            }
            Err(failure) => Err(self.not_prepared(failure)),
        }
    }

    fn start_preparation(&self) -> std::io::Result<agent::Agent> {
        let places = &self.spec.places;
        let argv: Vec<OsString> = vec![
            places.el.clone().into(),
            "supervise".into(),
            self.spec.run.clone().into(),
            "--workplace".into(),
            "--db".into(),
            places.database.clone().into(),
        ];
        let log = self.folder.open_to_append(&self.folder.preparation_log());
        let log = log.map_err(std::io::Error::other)?;
        self.folder.write_server(places.server.as_ref()).map_err(std::io::Error::other)?;
        agent::start_logged(&argv, &self.environment, &self.spec.agent.working_directory, || {
            log.try_clone().map(Stdio::from)
        })
    }

    /// Moves the agent to the worktree, here and in the store.
    fn move_to(&mut self, workplace: &Workplace) -> Result<(), SuperviseError> {
        let folder = workplace.folder.display().to_string();
        let (store, run, token) = self.watcher.lease.store_and_token();
        ops::place_run(store, clock::now(), run, token, &folder)?;
        self.claimed.workdir = folder;
        self.spec.agent.working_directory.clone_from(&workplace.folder);
        self.spec.branch = Some(workplace.branch.clone());
        let remote = self.spec.agent.isolation.as_ref().and_then(|chosen| chosen.remote.as_ref());
        self.watcher.branch.push = remote.map(|remote| {
            let shared = (remote.as_str(), self.spec.atom.as_str());
            BranchPush::new(&workplace.folder, &workplace.branch, shared, self.spec.rules.lease)
        });
        Ok(())
    }

    /// Writes the context to its file, and a copy to the run's folder.
    fn write_context(&mut self, workplace: Option<&Workplace>) -> Result<File, SuperviseError> {
        let (places, agent) = (&self.spec.places, &self.spec.agent);
        let store = self.watcher.lease.store();
        let run = &self.claimed;
        let preamble = [
            compose_preamble(self.spec.preamble.as_deref(), workplace),
            self.spec.sandbox.as_ref().map(Sandbox::advice),
        ];
        let preamble = preamble.into_iter().flatten().reduce(|one, more| one + "\n\n" + &more);
        let mut context = ops::build_context(store, run, preamble.as_deref())?;
        context.review |= agent.review;
        let summary = summary_file(places, &run.atom_id);
        context.summary_path = Some(as_seen_from(&summary, &agent.working_directory));
        let text = context.render();
        private_folder(&places.contexts)?;
        write_private(&context_file(places, &run.atom_id), text.as_bytes())?;
        let prompt = self.folder.prompt_path();
        write_private(&prompt, text.as_bytes())?;
        File::open(prompt)
            .map_err(|source| SuperviseError::System { doing: "read the prompt", source })
    }

    fn not_launched(&mut self, error: &SuperviseError) -> ExitRecord {
        let fault = machine_fault(error);
        ExitRecord { fault, ..self.launch_failed(error_chain(error), false) }
    }

    /// Returns the exit record of a run that ended during the preparation.
    fn ended_early(&self, kind: EndKind) -> ExitRecord {
        let mut record = ExitRecord::new(&self.spec.run, kind, clock::now());
        if kind == EndKind::Hangup {
            record.message = self.watcher.signals.hangup_reason().map(str::to_owned);
        }
        record
    }

    fn not_prepared(&mut self, failure: PreparationFailure) -> ExitRecord {
        let PreparationFailure { why, conflict, is_permanent, lacks_branches, .. } = failure;
        if lacks_branches {
            let fault = Some(Fault::Branches);
            return ExitRecord { fault, ..self.launch_failed(why, false) };
        }
        let Some(conflict) = conflict else { return self.launch_failed(why, is_permanent) };
        match self.file_joining_atom(&conflict) {
            Ok((more, is_permanent)) => self.launch_failed(why + &more, is_permanent),
            Err(error) => self.launch_failed(format!("{why}: {}", error_chain(&error)), false),
        }
    }

    /// Files an atom for merging conflicting dependencies, in a plan; outside of a plan a person
    /// has to merge. Returns the text for the user, and true if a person has to act.
    fn file_joining_atom(&mut self, conflict: &MergeConflict) -> Result<(String, bool), Error> {
        let MergeConflict { branch, with, files } = conflict;
        let store = self.watcher.lease.store();
        // The worker that claimed the run is the actor.
        let actor = self.claimed.worker_id.as_deref().unwrap_or(&self.spec.agent.name);
        let ctx = Ctx { now: clock::now(), actor, session: None };
        let apart = BranchConflict { branch, with, files };
        Ok(match ops::file_joining(store, &ctx, &self.spec.atom, &apart)? {
            None => (String::new(), true),
            Some(known) if !known.is_new && known.atom.status.is_over() => {
                let id = known.atom.id;
                let more = format!(
                    "; {id} was to bring it together, and its branch does not \
                     (`el reopen {id}` has it done anew)"
                );
                (more, true)
            }
            Some(joining) => {
                let id = joining.atom.id;
                (format!("; it waits for {id}, which brings it together"), false)
            }
        })
    }

    fn launch_failed(&mut self, why: String, is_permanent: bool) -> ExitRecord {
        self.watcher.pane.show(&format!("! {}", one_line(&why, 500)));
        ExitRecord {
            message: Some(why),
            is_permanent,
            ..ExitRecord::new(&self.spec.run, EndKind::LaunchFailed, clock::now())
        }
    }
}

/// Composes the head of the context.
fn compose_preamble(given: Option<&str>, workplace: Option<&Workplace>) -> Option<String> {
    let of_worktree = workplace.map(|workplace| {
        let head = format!(
            "You work in a git worktree of your own, on the branch {}. Others work elsewhere at \
             the same time. Commit your finished work on this branch before you end the atom; \
             what is not committed is not brought in. Do not switch branches, and do not push.",
            workplace.branch
        );
        if workplace.unmerged.is_empty() {
            return head;
        }
        let merges: Vec<String> =
            workplace.unmerged.iter().map(|branch| format!(" `git merge {branch}`")).collect();
        format!(
            "{head} Finished work that this builds on is not in your branch yet. Bring it in \
             first, one after another, and settle what is in conflict:{}",
            merges.join(",")
        )
    });
    match (given, of_worktree) {
        (Some(given), Some(more)) => Some(format!("{given}\n\n{more}")),
        (given, more) => more.or_else(|| given.map(str::to_owned)),
    }
}
