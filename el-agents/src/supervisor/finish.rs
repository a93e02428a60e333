//! Ends a run: checks and collects the work, then decides and writes everything in a transaction.

use std::time::Duration;

use el_core::Error;
use el_core::model::{ExitRecord, Fault};
use el_core::ops::{self, Ending, Settled};

use super::Supervisor;
use super::run_branch::PUSH_LIMIT;
use crate::artifacts::{self, Collected};
use crate::claude::one_line;
use crate::merge_gate::open_without_commits;
use crate::output::RunOutput;
use crate::preparation::context_file;
use crate::run_files::note_tip;
use crate::settings::Executor;
use crate::{clock, handover, notify};

/// Between two tries to settle a run in a store that cannot be used.
const SETTLE_AGAIN: Duration = Duration::from_secs(2);
/// The number of tries before the settling is left to a worker, which uses the exit record.
const SETTLE_TRIES: u32 = 30;
/// The time limit for collecting. A hanging file system must not keep a run from its end, so the
/// run is then settled without artifacts.
const COLLECT_LIMIT: Duration = Duration::from_secs(15);
/// Between two heartbeats meanwhile.
const BEAT: Duration = Duration::from_millis(500);

impl Supervisor {
    /// Ends the run. A store that cannot be used now is tried again for a minute; then a worker
    /// settles the run, from the exit record.
    pub(super) async fn finish(mut self, mut record: ExitRecord) {
        if self.met_full_disk().await {
            record.fault.get_or_insert(Fault::FullDisk);
        }
        // On failure, a worker settles the run as lost, unless the store below can be told the
        // truth.
        if let Err(error) = self.folder.write_exit(&record) {
            self.watcher.pane.show(&format!("! {error}"));
        }
        self.check_work().await;
        let unpushed = self.push_branch().await;
        if self.spec.branch.is_some() && self.watcher.lease.store().is_on_server() {
            note_tip(&self.folder, &self.spec.agent.working_directory, &self.spec.atom);
        }
        let progress = self.watcher.progress();
        self.watcher.lease.catch_up(&progress);
        if !self.spec.agent.preserve_sessions {
            // Removed before the run is settled: afterwards the file may belong to the next run.
            let _ = std::fs::remove_file(context_file(&self.spec.places, &self.spec.atom));
        }
        let is_stream = !matches!(self.spec.agent.executor, Executor::Command(_));
        let output = RunOutput::from_folder(&self.folder, is_stream);
        // The agent is gone, so a long wait for the store does no harm.
        self.watcher.lease.store().limit_waits(None);
        self.open_gate();
        let mut collected = self.collect_handover(&record, &output, unpushed).await;
        let mut tries = 0;
        while tries < SETTLE_TRIES {
            match self.try_settle(&record, &output, collected.as_mut()) {
                Ok(settled) => return self.announce_end(&settled).await,
                Err(error) => {
                    self.watcher.pane.show(&format!("! {error}; trying again"));
                    // On a full disk there may be no exit record, and a worker could not settle the
                    // run either. This process can wait for room.
                    match error {
                        Error::Disk { .. } => drop(record.fault.get_or_insert(Fault::FullDisk)),
                        _ => tries += 1,
                    }
                }
            }
            tokio::time::sleep(SETTLE_AGAIN).await;
        }
    }

    /// Returns true if the tracker could not be written when the session last tried.
    async fn met_full_disk(&self) -> bool {
        let by_session = match &self.session {
            Some(session) => session.met_full_disk().await,
            None => false,
        };
        by_session || self.watcher.lease.met_full_disk()
    }

    fn try_settle(
        &mut self,
        record: &ExitRecord,
        output: &RunOutput,
        collected: Option<&mut Collected>,
    ) -> Result<Settled, Error> {
        let progress = self.watcher.progress();
        let policy = self.spec.rules.retry_policy();
        let ending = Ending {
            progress: Some(&progress),
            output: &output.output,
            error_lines: &output.error_lines,
            ..Ending::new(record, &policy, clock::jitter())
        };
        ops::settle(self.watcher.lease.store(), &self.spec.ctx(), &ending, |decided| {
            handover::write_documents(decided, record, &self.folder, collected)
        })
    }

    fn open_gate(&mut self) {
        let store = self.watcher.lease.store();
        let opened = match self.spec.branch {
            Some(_) => {
                open_without_commits(store, &self.spec.agent.working_directory, &self.spec.atom)
            }
            None => Ok(()),
        };
        if let Err(error) = opened {
            // Dependants wait until el work, el pr or a person looks at the branch.
            self.watcher.pane.show(&format!("! {error}"));
        }
    }

    /// Collects what the run hands back, with a warning if its branch could not be pushed; `None`:
    /// that took too long.
    async fn collect_handover(
        &mut self,
        record: &ExitRecord,
        output: &RunOutput,
        unpushed: Option<String>,
    ) -> Option<Collected> {
        let (run, spec) = (self.claimed.clone(), &self.spec);
        let atom = ops::get_atom(self.watcher.lease.store(), &run.atom_id).ok();
        let job = handover::collection_job(run, atom, record, output, &spec.places, Some(spec));
        let mut collected =
            self.while_beating(COLLECT_LIMIT, move || artifacts::collect(&job)).await;
        match &mut collected {
            Some(collected) => unpushed.iter().for_each(|why| collected.add_warning(why)),
            None => self
                .watcher
                .pane
                .show("! what the run hands back could not be collected; it is settled without"),
        }
        collected
    }

    /// Pushes the run's branch where hosts share branches. Returns why it could not.
    async fn push_branch(&mut self) -> Option<String> {
        let push = self.watcher.branch.push.take()?;
        let failed = self.while_beating(PUSH_LIMIT, move || push.push_finally()).await;
        let why = failed.unwrap_or_else(|| Some("the push of the branch took too long".into()))?;
        self.watcher.pane.show(&format!("! {why}"));
        let told = format!("{why}. The next run on this host tries it again.");
        let (store, spec) = (self.watcher.lease.store(), &self.spec);
        if let Err(error) = ops::add_comment(store, &spec.ctx(), &spec.atom, &told) {
            self.watcher.pane.show(&format!("! nobody is told of it: {error}"));
        }
        Some(why)
    }

    /// Works on another thread, while heartbeats continue; `None`: not in time. A hanging thread
    /// ends with this process.
    async fn while_beating<T: Send + 'static>(
        &mut self,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (done, mut result) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            // After the limit no receiver is left.
            let _ = done.send(work());
        });
        let progress = self.watcher.progress();
        let until = tokio::time::Instant::now() + limit;
        loop {
            match tokio::time::timeout(BEAT, &mut result).await {
                Ok(done) => return done.ok(),
                Err(_) if tokio::time::Instant::now() < until => {
                    drop(self.watcher.lease.beat(None, &progress))
                }
                Err(_) => return None,
            }
        }
    }

    /// Reports the end in `STATUS.txt`, by the notification command and on the pane.
    async fn announce_end(&mut self, settled: &Settled) {
        if let Some(file) = &mut self.watcher.status {
            file.write_end(settled);
        }
        if let Err(error) = self.watcher.lease.keep_files() {
            let told = format!("! other machines will not have all of the run's files: {error}");
            self.watcher.pane.show(&told);
        }
        // The session is over. The notification command is a person's, and not part of it.
        drop(self.session.take());
        // The notification command outlives this process.
        let (agent, places) = (&self.spec.agent, &self.spec.places);
        if let Err(error) = notify::start_notification(settled, agent, places, &self.environment) {
            self.watcher.pane.show(&format!("! {error}"));
        }
        let detail = settled.run.detail.as_deref().unwrap_or_default();
        let status = settled.atom.as_ref().map_or("gone", |atom| atom.status.as_str());
        self.watcher.pane.show(&format!(
            "el: {} ended as {} ({}); {} is {status}",
            self.spec.run,
            settled.outcome,
            one_line(detail, 160),
            self.spec.atom
        ));
        // The pane's thread needs a moment to write the last lines.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
