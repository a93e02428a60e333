//! The ways in which a worker comes to its end.

use el_core::model::Takes;
use el_core::ops::{self, AgentView, WorkerView};
use el_core::rules::plan::Phase;

use super::WorkError;
use super::report::{Report, StoppedBy, Summary};
use super::state::State;
use crate::clock;

impl State<'_> {
    /// Stops claiming and waits for running sessions.
    pub(super) fn begin_drain(&mut self, by: StoppedBy) {
        if self.phase == Phase::Working {
            self.phase = Phase::Draining;
            self.summary.stopped_by = Some(by);
            // On failure, a task that comes now waits for the next worker.
            let _ = ops::worker_retires(&mut self.store, &self.id);
            self.listener.report(&Report::Draining { running: self.tracked.len() });
        }
    }

    pub(super) fn is_draining(&self) -> bool {
        self.phase == Phase::Draining
    }

    /// Leaves running sessions to their supervisors.
    pub(super) fn detach_runs(&mut self, by: StoppedBy) {
        self.summary.stopped_by.get_or_insert(by);
        let mut running: Vec<String> = self.tracked.keys().cloned().collect();
        running.sort();
        self.summary.left_running = running.len();
        if !running.is_empty() {
            self.listener.report(&Report::Detached { running });
        }
    }

    /// Signs off.
    pub(super) fn sign_off(mut self) -> Summary {
        // On failure, the next worker finds this worker dead.
        let _ = ops::worker_leave(&mut self.store, &self.id);
        if let Some(launcher) = self.launchers.first() {
            let _ = launcher.tmux.release_server();
        }
        self.summary.seconds = self.began.elapsed().as_secs();
        self.listener.report(&Report::Finished { summary: self.summary.clone() });
        self.summary
    }

    /// Returns true if nothing is left to do. A worker that others rely on signs off in the
    /// transaction that finds no waiting work.
    pub(super) fn may_leave(&mut self, view: &WorkerView) -> Result<bool, WorkError> {
        // An answer to a review goes out first. Who does not want to wait for that ends it twice.
        if self.watching.holds_worker() {
            return Ok(false);
        }
        if let Some(pause) = self.leaves_for(view) {
            self.summary.pause = Some(pause);
            return Ok(true);
        }
        if !self.is_done(view) {
            return Ok(false);
        }
        if let Some(drive) = &self.options.drive {
            return self.is_plan_at_rest(&drive.epic);
        }
        if self.phase == Phase::Draining || self.options.takes() == Takes::Some {
            // Explains why nothing, or not everything, was done.
            if self.summary.claimed == 0 || self.summary.has_met_pause() {
                self.summary.pause = view.holding_pauses().next().cloned();
            }
            return Ok(true);
        }
        let agents: Vec<String> = self.agents.iter().map(|(name, _)| name.clone()).collect();
        Ok(ops::worker_leave_if_idle(
            &mut self.store,
            &self.id,
            &agents,
            &self.options.claim_filter(),
            clock::now(),
        )?)
    }

    fn is_done(&self, view: &WorkerView) -> bool {
        if !self.tracked.is_empty() || !self.recoveries.is_empty() {
            return false;
        }
        let claims_are_up = self.options.max_claims.is_some_and(|max| self.summary.claimed >= max);
        // With a bound on claims, no ready work means nothing to wait for. A drain also waits for
        // back-offs and pauses.
        let has_ready = view.agents.iter().any(|agent| agent.has_ready);
        let nothing_left = !view.agents.iter().any(AgentView::has_work);
        self.phase == Phase::Draining
            || self.driven.holds
            || claims_are_up
            || (self.options.drain && nothing_left)
            || (self.options.max_claims == Some(1) && !has_ready)
    }
}
