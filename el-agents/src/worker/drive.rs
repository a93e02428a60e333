//! Drives a plan: besides claiming work below the epic, the worker takes the steps that need no
//! person and no agent.

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
    /// The full id of the plan's epic.
    pub epic: String,
    /// The actor that files the plan's atoms.
    pub actor: String,
    /// Stop when the tasks are filed.
    pub plan_only: bool,
}

/// Interval between looks at a plan that changes.
const LOOK: Duration = Duration::from_millis(500);
/// Interval between looks at a plan without changes, since the plan's time limit passes too.
const FULL_LOOK: Duration = Duration::from_secs(2);
/// The most time that is counted as worked between two looks: a machine that slept has not
/// worked.
const GAP_MAX: Duration = Duration::from_secs(30);

impl State<'_> {
    /// Takes the plan's next steps if a look is due. Runs before any claim: a step may hold back an
    /// atom that is ready now.
    pub(super) fn drive_plan(&mut self, now: Timestamp) -> Result<(), WorkError> {
        if self.options.drive.is_none() || !self.is_due()? {
            return Ok(());
        }
        self.advance_plan(now).map(drop)
    }

    fn is_due(&self) -> Result<bool, WorkError> {
        let Some(since) = self.driven.looked_at.map(|at| at.elapsed()) else { return Ok(true) };
        Ok(since >= FULL_LOOK || (since >= LOOK && self.has_plan_changed()?))
    }

    fn has_plan_changed(&self) -> Result<bool, WorkError> {
        Ok(self.driven.is_stale || self.driven.seen_version != Some(self.store.data_version()?))
    }

    /// Returns true if the plan permits new work. A person may have ended the plan a moment ago.
    pub(super) fn plan_goes_on(&mut self) -> Result<bool, WorkError> {
        if self.options.drive.is_some() && self.has_plan_changed()? {
            self.advance_plan(clock::now())?;
        }
        Ok(!self.driven.holds)
    }

    /// Reads the plan and takes the possible steps. Returns true if the plan goes on without a
    /// person.
    fn advance_plan(&mut self, now: Timestamp) -> Result<bool, WorkError> {
        let drive = self.options.drive.as_ref().expect("only called where there is one");
        let worked = self
            .driven
            .looked_at
            .replace(Instant::now())
            .map_or(Duration::ZERO, |at| at.elapsed().min(GAP_MAX));
        // Read before the plan, so that later changes are seen at the next look.
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

    /// Returns true if no part of the plan goes on. Takes the plan's steps once more first, since a
    /// run's end or a person may have caused a new step.
    pub(super) fn is_plan_at_rest(&mut self, epic: &str) -> Result<bool, WorkError> {
        if self.is_draining() || !self.advance_plan(clock::now())? {
            return Ok(true);
        }
        let seen = self.read_view(clock::now())?;
        let waits = !self.driven.holds && seen.agents.iter().any(AgentView::has_work);
        Ok(!waits && !ops::is_below_running(&self.store, epic)?)
    }
}

/// Returns true if two steps need no new report: changes within a step have reports of their own.
fn is_same_kind(before: &Step, after: &Step) -> bool {
    match (before, after) {
        (Step::AwaitWork { .. }, Step::AwaitWork { .. }) => true,
        (before, after) => before == after,
    }
}
