//! Lets an idle worker rest until the server tells of work. The worker still asks a single question
//! now and then, since a message may be lost.

use std::time::{Duration, Instant};

use el_core::model::Run;
use el_core::ops::{self, WorkerView};
use el_core::rules::plan::Phase;

use super::memory::Resting;
use super::state::State;
use crate::{clock, machine};

/// The shortest time between two questions: at most three a minute.
const BETWEEN: Duration = Duration::from_secs(24);
/// The random part of the time between questions, which spreads those of many workers.
const SPREAD: Duration = Duration::from_secs(6);

fn next_question() -> Instant {
    Instant::now() + BETWEEN + SPREAD.mul_f64(clock::jitter())
}

impl State<'_> {
    /// Waits until the next look: for `pace`, or, if the worker rests, until news or a due time
    /// comes. Returns true if news came.
    pub(super) async fn wait_for_look(&self, pace: Duration) -> bool {
        let Some(resting) = &self.rest.resting else {
            tokio::time::sleep(pace).await;
            return false;
        };
        let until = resting.due_at.map_or(resting.ask_at, |due| due.min(resting.ask_at));
        tokio::time::timeout_at(until.into(), self.rest.told.notified()).await.is_ok()
    }

    /// Asks the question of a resting worker if it is due. Returns true if the worker
    /// has to look.
    pub(super) fn is_rest_over(&mut self) -> bool {
        let now = self.now();
        let Some(resting) = &mut self.rest.resting else { return true };
        if resting.due_at.is_some_and(|due| due <= Instant::now()) {
            return true;
        }
        if resting.ask_at > Instant::now() {
            return false;
        }
        resting.ask_at = next_question();
        // On a fault, the worker looks: a look reports the fault and makes a new connection.
        let asked = ops::worker_pulse(&self.store, &self.id, now, machine::load_milli());
        let Ok(Some(pulse)) = asked else { return true };
        self.beat_at = Instant::now();
        // Whoever asks when the first lease is over takes over the work of a lost host at once.
        // While its host lives, a lease is extended long before.
        if let Some(end) = pulse.lease_end {
            resting.ask_at = resting.ask_at.min(Instant::now() + end.since(now));
        }
        pulse.stop_requested
            || pulse.last_event != resting.last_event
            || pulse.lease_end.is_some_and(|end| end <= now)
    }

    pub(super) fn end_rest(&mut self) {
        self.rest.resting = None;
    }

    /// Begins to rest if the last look found nothing to do here.
    pub(super) fn rest_if_idle(&mut self, view: &WorkerView) {
        if !self.may_rest(view) {
            return;
        }
        let now = self.now();
        // If the date cannot be read, the next look tries again.
        let Ok(date) = ops::next_date(&self.store, now) else { return };
        let retries = view.agents.iter().filter_map(|agent| agent.next_retry_at);
        let due_at = retries.chain(date).min().map(|due| Instant::now() + due.since(now));
        self.rest.resting = Some(Resting {
            ask_at: next_question(),
            due_at: due_at.into_iter().chain(self.watching.next_look()).min(),
            last_event: view.last_event,
        });
    }

    fn may_rest(&self, view: &WorkerView) -> bool {
        self.rest.is_told()
            && self.phase == Phase::Working
            && self.options.drive.is_none()
            && self.tracked.is_empty()
            && self.recoveries.is_empty()
            && !self.watching.is_looking()
            && !self.watching.holds_worker()
            && !view.agents.iter().any(|agent| agent.has_ready)
            && !view.live.iter().any(|run| self.is_of_this_host(run))
    }

    /// Returns true if this worker can see the end of the run before its lease is over.
    fn is_of_this_host(&self, run: &Run) -> bool {
        run.supervisor.as_ref().is_none_or(|stamp| stamp.host() == self.host.as_deref())
    }
}
