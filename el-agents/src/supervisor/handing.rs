//! Handing back what the run has made: the supervisor's side of it, which never waits for long.

use std::time::Duration;

use el_core::model::{ExitRecord, Progress};
use el_core::ops;

use super::Supervisor;
use super::status_file::StatusFile;
use crate::artifacts::{self, Collected, Job};
use crate::handover::HandOver;

/// How long the collecting may take before the run is settled without it: a file system that hangs
/// must not keep a run from its end.
const LIMIT: Duration = Duration::from_secs(15);
/// Between two heartbeats meanwhile.
const BEAT: Duration = Duration::from_millis(500);

impl Supervisor {
    /// Begins to keep `STATUS.txt`.
    pub(super) fn keep_status(&mut self) {
        let store = self.watcher.contact.store();
        let title = ops::brief(store, &self.spec.atom).map(|atom| atom.title).unwrap_or_default();
        let began = ops::run(store, &self.spec.run)
            .map_or_else(|_| crate::clock::now(), |run| run.started_at);
        let path = self.folder.status();
        let file = StatusFile::new(
            path,
            &self.spec.run,
            &self.spec.atom,
            &title,
            &self.spec.agent.name,
            began,
        );
        self.watcher.status = Some(file);
    }

    /// Collects and records what the run hands back. `None` if the store cannot be used now.
    pub(super) async fn hand_over(
        &mut self,
        record: &ExitRecord,
        progress: &Progress,
    ) -> Option<HandOver> {
        let policy = self.spec.rules.retry_policy();
        let mut hand_over =
            HandOver::begin(self.watcher.contact.store(), &self.folder, record, &policy).ok()?;
        let collected = match hand_over.job(&self.spec.places, Some(&self.spec)) {
            Some(job) => self.collect(job, progress).await,
            None => None,
        };
        if let Err(error) = hand_over.finish(self.watcher.contact.store(), collected) {
            self.watcher
                .pane
                .show(&format!("! what the run hands back could not be recorded: {error}"));
        }
        Some(hand_over)
    }

    /// In a thread of its own, while the heartbeat goes on. A thread that hangs ends with this
    /// process.
    async fn collect(&mut self, job: Job, progress: &Progress) -> Option<Collected> {
        let (done, mut collected) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            // Nobody waits any more if it took too long.
            let _ = done.send(artifacts::collect(&job));
        });
        let until = tokio::time::Instant::now() + LIMIT;
        loop {
            match tokio::time::timeout(BEAT, &mut collected).await {
                Ok(Ok(collected)) => return Some(collected),
                Ok(Err(_)) => break,
                Err(_) if tokio::time::Instant::now() < until => {
                    drop(self.watcher.contact.beat(None, progress))
                }
                Err(_) => break,
            }
        }
        self.watcher
            .pane
            .show("! what the run hands back could not be collected; it is settled without");
        None
    }
}
