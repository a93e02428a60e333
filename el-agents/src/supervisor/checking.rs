//! The check of the agent's work, once the agent has ended.

use std::time::Duration;

use el_core::model::{Status, Verify, VerifyStatus};
use el_core::ops::{self, RunSignal};
use el_core::protocol::words;
use tokio::time::MissedTickBehavior;

use super::Supervisor;
use crate::claude::one_line;
use crate::verify;

/// Between two looks at a check that runs.
const TICK: Duration = Duration::from_millis(100);

impl Supervisor {
    /// Returns the run's check as now stored.
    pub(super) fn stored_verify(&mut self) -> Option<Verify> {
        let (store, run, _) = self.watcher.lease.store_and_token();
        ops::get_run(store, run).ok()?.verify
    }

    /// Runs the check if there is one and the agent has finished the work. The result is recorded
    /// and decides nothing: a required check was already run by `el close`.
    pub(super) async fn check_work(&mut self) {
        // A run keeps the check that it was claimed with, or none.
        if self.claimed.verify.is_none() {
            return;
        }
        let Some(verify) = self.stored_verify() else { return };
        let progress = self.watcher.reader.progress();
        let is_known = self.watcher.lease.beat(None, &progress).is_ok();
        let is_done = matches!(
            self.watcher.lease.last_signal(),
            RunSignal::Finished(Status::Closed | Status::Review)
        );
        if !is_known || !is_done || (verify.required && verify.status == VerifyStatus::Passed) {
            return;
        }
        self.watcher.pane.show(&format!(
            "el: the work is checked: {}",
            one_line(&words::join_command(&verify.command), 160)
        ));
        let result = self.run_check(&verify).await;
        self.watcher.pane.show(&format!("el: the check ended as {}", result.status));
        let (store, run, token) = self.watcher.lease.store_and_token();
        if let Err(error) = ops::record_verify(store, &self.spec.ctx(), run, token, &result) {
            self.watcher.pane.show(&format!("! the result of the check is not kept: {error}"));
        }
    }

    async fn run_check(&mut self, verify: &Verify) -> Verify {
        let mut running = match verify::start_check(
            verify,
            &self.spec.agent.working_directory,
            &self.environment,
            self.spec.confinement(),
        ) {
            Ok(running) => running,
            Err(not_run) => return *not_run,
        };
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = self.watcher.signals.wait_for_signal() => {}
                _ = tick.tick() => {}
            }
            if let Some(ended) = running.poll() {
                return ended;
            }
            if self.watcher.signals.hung_up() || self.watcher.signals.take_interrupt() {
                return running.end_early("the session was ended before the check was");
            }
            // The lease goes on. If the atom was opened again, there is no work to check.
            let watch = self.watcher.lease.tick(None, &self.watcher.reader.progress());
            if !matches!(watch, RunSignal::Finished(_)) {
                return running.end_early("the work was taken up again before the check had ended");
            }
        }
    }
}
