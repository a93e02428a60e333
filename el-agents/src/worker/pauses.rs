//! Handles the pauses of a worker's accounts: shares and reports pauses, and decides if the worker
//! leaves. Also tells the store which runs failed without doing anything.

use std::time::Duration;

use el_core::Error;
use el_core::model::{Outcome, Pause, PauseKind, Run, Takes, Timestamp};
use el_core::ops::{self, WorkerView};
use el_core::rules::plan::Phase;

use super::report::Report;
use super::state::State;
use crate::clock;
use crate::error_chain::error_chain;

/// A failed program that reports no tokens did nothing if the run was shorter than this.
const QUICK: Duration = Duration::from_secs(60);
impl State<'_> {
    /// Shares pauses between all projects of an account. Each faulty account record causes a single
    /// warning.
    pub(super) fn share_pause(&mut self, now: Timestamp) {
        let mut messages = Vec::new();
        for account in &self.accounts {
            match account.reconcile_pause(&mut self.store, now) {
                Ok(warning) => messages.extend(warning),
                Err(error) if self.warned_of_account => drop(error),
                Err(error) => {
                    self.warned_of_account = true;
                    messages.push(error_chain(&error));
                }
            }
        }
        for message in messages {
            self.warn(message);
        }
    }

    /// Reports new pauses, for all agents or for some, and their end.
    pub(super) fn report_pauses(&mut self, view: &WorkerView) {
        let pauses: Vec<Option<Pause>> =
            view.agents.iter().map(|agent| agent.pause.clone()).collect();
        if pauses == self.told_pauses {
            return;
        }
        let was_paused = self.told_pauses.iter().any(Option::is_some);
        let mut told: Vec<&Pause> = Vec::new();
        for pause in pauses.iter().flatten() {
            if !told.contains(&pause) && !self.told_pauses.contains(&Some(pause.clone())) {
                told.push(pause);
                self.listener.report(&Report::Paused {
                    until: pause.until,
                    reason: pause.reason.clone(),
                    kind: pause.kind,
                });
            }
        }
        if was_paused && pauses.iter().all(Option::is_none) {
            self.listener.report(&Report::Resumed {});
        }
        self.told_pauses = pauses;
    }

    /// Counts failures without any work, after which claiming waits.
    pub(super) fn count_failure(
        &mut self,
        run: &Run,
        outcome: Outcome,
        took: Duration,
    ) -> Result<(), Error> {
        // A run that was ended from outside says nothing about the agent.
        if outcome == Outcome::Lost || outcome.is_external() {
            return Ok(());
        }
        let did_nothing = match run.executor.as_str() {
            "command" => took <= QUICK && !has_changed_files(run),
            _ => is_empty(run),
        };
        let is_empty = outcome.is_failure() && did_nothing;
        ops::count_empty_run(&mut self.store, clock::now(), &run.id, is_empty)
    }

    /// Returns the pause for which a worker with an end leaves, because waiting does not end the
    /// pause. A drain waits neither for another day nor for a log-in; a worker with a single claim
    /// does not wait at all, unless asked to. A worker relied on for handed-over tasks, and a
    /// worker that drives a plan, wait for the next day.
    pub(super) fn leaves_for(&self, view: &WorkerView) -> Option<Pause> {
        let options = &self.options;
        let is_bounded = options.drain || options.drive.is_some();
        if !is_bounded
            || self.phase != Phase::Working
            || !self.tracked.is_empty()
            || view.has_work()
        {
            return None;
        }
        let waits_for_day = options.drive.is_some() || options.takes() == Takes::Assigned;
        let leaves = |pause: &Pause| match pause.kind {
            PauseKind::Account => true,
            PauseKind::Budget => !waits_for_day,
            PauseKind::UsageLimit | PauseKind::Outage | PauseKind::EmptyRuns => {
                options.max_claims == Some(1) && !options.waits
            }
        };
        let mut holding = view.holding_pauses();
        let first = holding.next()?;
        (leaves(first) && holding.all(leaves)).then(|| first.clone())
    }
}

/// Returns true if the run changed files, according to its summary or the fallback.
fn has_changed_files(run: &Run) -> bool {
    run.summary.as_ref().is_some_and(|summary| !summary.deliverables.is_empty())
}

/// Returns true if a run did nothing: no tokens, and at most a single turn, which the client counts
/// for a failed request.
fn is_empty(run: &Run) -> bool {
    let progress = &run.progress;
    progress.tokens_in == 0 && progress.tokens_out == 0 && progress.turns <= 1
}
