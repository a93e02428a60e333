//! A worker that drives a plan on: beside claiming what is below its epic, it takes the steps that
//! need nobody.

use std::time::{Duration, Instant};

use el_core::Ctx;
use el_core::model::Timestamp;
use el_core::ops::{self, Advanced, AgentView};
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

/// Between two looks at the plan while something changes.
const LOOK: Duration = Duration::from_millis(500);
/// Looks at it, changed or not: its time passes.
const FULL_LOOK: Duration = Duration::from_secs(2);
/// Time that is counted as worked between two looks, at the most: a machine that slept has not
/// worked.
const GAP_MAX: Duration = Duration::from_secs(30);

impl State<'_> {
    /// Drives the plan on, if it is time to. Before anything is claimed: what is ready now may not
    /// be to begin.
    pub(super) fn drive(&mut self, now: Timestamp) -> Result<(), WorkError> {
        if self.options.drive.is_none() || !self.is_due()? {
            return Ok(());
        }
        self.advance(now).map(drop)
    }

    fn is_due(&self) -> Result<bool, WorkError> {
        let Some(since) = self.driven.looked_at.map(|at| at.elapsed()) else { return Ok(true) };
        Ok(since >= FULL_LOOK || (since >= LOOK && self.has_plan_changed()?))
    }

    fn has_plan_changed(&self) -> Result<bool, WorkError> {
        Ok(self.driven.is_stale || self.driven.seen_version != Some(self.store.data_version()?))
    }

    /// Whether something may be begun: a person may have ended the plan a moment ago.
    pub(super) fn plan_goes_on(&mut self) -> Result<bool, WorkError> {
        if self.options.drive.is_some() && self.has_plan_changed()? {
            self.advance(clock::now())?;
        }
        Ok(!self.driven.holds)
    }

    /// Looks at the plan and takes what steps there are; whether it goes on by itself.
    fn advance(&mut self, now: Timestamp) -> Result<bool, WorkError> {
        let drive = self.options.drive.as_ref().expect("only called where there is one");
        let worked = self
            .driven
            .looked_at
            .replace(Instant::now())
            .map_or(Duration::ZERO, |at| at.elapsed().min(GAP_MAX));
        // Before what is read: a change after this is seen the next time.
        self.driven.seen_version = Some(self.store.data_version()?);
        self.driven.is_stale = false;
        let ctx = Ctx { now, actor: &drive.actor, session: None };
        let Advanced { step, used_up } =
            ops::advance(&mut self.store, &ctx, &drive.epic, drive.plan_only, worked)?;
        let is_same = self.driven.step.as_ref().is_some_and(|before| is_same_kind(before, &step));
        if !is_same {
            self.listener.report(&Report::Step { epic: drive.epic.clone(), step: step.clone() });
        }
        let goes_on = matches!(step, Step::AwaitAnswer { .. } | Step::AwaitWork { .. });
        self.driven.holds = !goes_on || used_up.is_some();
        if let Some(why) = used_up.filter(|_| goes_on && !self.driven.is_used_up) {
            self.driven.is_used_up = true;
            self.warn(format!("{why}; nothing more is begun"));
        }
        self.driven.step = Some(step.clone());
        self.summary.step = Some(step);
        Ok(goes_on)
    }

    /// Whether nothing of the plan goes on by itself, or through this worker, which has nothing to
    /// do. Looks once more first: the last run's end, or a person, may have led to a new step.
    pub(super) fn is_plan_at_rest(&mut self, epic: &str) -> Result<bool, WorkError> {
        if self.is_draining() || !self.advance(clock::now())? {
            return Ok(true);
        }
        let seen = ops::worker_view(
            &self.store,
            &self.id,
            &self.agents,
            &self.options.filter,
            clock::now(),
        )?;
        let waits = !self.driven.holds && seen.agents.iter().any(AgentView::has_work);
        Ok(!waits && !ops::is_below_running(&self.store, epic)?)
    }
}

/// Whether two steps are the same for whoever is told of them: what changes as work goes on has its
/// own reports.
fn is_same_kind(before: &Step, after: &Step) -> bool {
    match (before, after) {
        (Step::AwaitWork { .. }, Step::AwaitWork { .. }) => true,
        (before, after) => before == after,
    }
}
