//! A worker that drives a plan on: beside claiming what is below its epic, it takes the steps that need nobody.

use std::time::{Duration, Instant};

use el_core::Ctx;
use el_core::model::Timestamp;
use el_core::ops::{self, Advanced};
use el_core::rules::orchestrate::Step;

use super::WorkError;
use super::report::Report;
use super::state::State;
use crate::clock;

/// A plan that a worker drives on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drive {
    /// The whole id of its epic.
    pub epic: String,
    /// Who files its atoms.
    pub actor: String,
    /// Stop when the tasks are filed.
    pub plan_only: bool,
}

/// Between two looks at the plan while something runs.
const LOOK: Duration = Duration::from_millis(500);
/// Time that is counted as worked between two looks, at the most: a machine that slept has not worked.
const GAP_MAX: Duration = Duration::from_secs(30);

/// What a worker remembers of the plan.
#[derive(Debug, Default)]
pub(super) struct Driven {
    looked_at: Option<Instant>,
    step: Option<Step>,
    is_used_up: bool,
}

impl State<'_> {
    /// Drives the plan on, if it is time to.
    pub(super) fn drive(&mut self, now: Timestamp) -> Result<(), WorkError> {
        if self.options.drive.is_none() || self.driven.looked_at.is_some_and(|at| at.elapsed() < LOOK) {
            return Ok(());
        }
        let advanced = self.advance(now)?;
        let goes_on = matches!(advanced.step, Step::AwaitAnswer { .. } | Step::AwaitWork { .. });
        if !goes_on {
            // Before anything is claimed: what is ready now is not to begin.
            self.claim_no_more();
        }
        if let Some(why) = advanced.used_up.filter(|_| goes_on && !self.driven.is_used_up) {
            self.driven.is_used_up = true;
            self.warn(format!("{why}; nothing more is begun"));
            self.drain();
        }
        Ok(())
    }

    fn advance(&mut self, now: Timestamp) -> Result<Advanced, WorkError> {
        let drive = self.options.drive.as_ref().expect("only called where there is one");
        let worked = self.driven.looked_at.replace(Instant::now()).map_or(Duration::ZERO, |at| at.elapsed().min(GAP_MAX));
        let ctx = Ctx { now, actor: &drive.actor, session: None };
        let advanced = ops::advance(&mut self.store, &ctx, &drive.epic, drive.plan_only, worked)?;
        let is_same = self.driven.step.as_ref().is_some_and(|before| is_same_kind(before, &advanced.step));
        if !is_same {
            self.listener.report(&Report::Step { epic: drive.epic.clone(), step: advanced.step.clone() });
        }
        self.driven.step = Some(advanced.step.clone());
        self.summary.step = Some(advanced.step.clone());
        Ok(advanced)
    }

    /// Whether nothing of the plan goes on by itself, or through this worker, which has nothing to do. Looks once more first: the last run's end may have
    /// led to a new step.
    pub(super) fn has_driven(&mut self, epic: &str) -> Result<bool, WorkError> {
        if !self.driven.is_used_up && self.is_draining() {
            return Ok(true);
        }
        let step = self.advance(clock::now())?.step;
        if !matches!(step, Step::AwaitAnswer { .. } | Step::AwaitWork { .. }) {
            return Ok(true);
        }
        let seen = ops::worker_view(&self.store, &self.id, &self.agents, &self.options.filter, clock::now())?;
        let waits = !self.is_draining() && (seen.has_ready || seen.next_retry_at.is_some());
        Ok(!waits && !ops::is_below_running(&self.store, epic)?)
    }
}

/// Whether two steps are the same for whoever is told of them: what changes as work goes on has its own reports.
fn is_same_kind(before: &Step, after: &Step) -> bool {
    match (before, after) {
        (Step::AwaitWork { .. }, Step::AwaitWork { .. }) => true,
        (before, after) => before == after,
    }
}
