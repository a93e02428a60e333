//! Pauses of claims. A pause belongs to an account, not to a project. The rules reconcile a
//! project's pause with the shared record of the account, and set how long an outage lasts.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::retry::RetryPolicy;
use crate::model::{Pause, PauseKind, Timestamp};

/// The longest pause that is believed: a weekly limit, and a day for clocks that differ.
pub const LONGEST: Duration = Duration::from_secs(8 * 24 * 3600);

/// The shortest wait for a service that is out of order.
const SHORTEST_OUTAGE: Duration = Duration::from_secs(1);

/// The record of an account's pause. The record of an outage stays after the pause, until a run
/// that began later has come to its end: the next pause lasts longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownPause {
    pub kind: PauseKind,
    /// `None`: until a person says so.
    pub until: Option<Timestamp>,
    pub learnt_at: Timestamp,
    pub reason: String,
    /// How often in a row the service was found out of order.
    #[serde(default)]
    pub strikes: u32,
    /// The single run that tests whether the service is back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<String>,
    /// The service has answered since then. The strikes count until a run has come to its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_answered: bool,
}

impl KnownPause {
    /// Returns true if the pause holds claims now. A pause beyond the longest possible comes from a
    /// wrong clock and does not count.
    pub fn holds_at(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| until > now && until <= now.plus(LONGEST))
    }

    /// Returns true if the pause ends later than the other.
    pub fn outlasts(&self, other: &KnownPause) -> bool {
        match (self.until, other.until) {
            (None, until) => until.is_some(),
            (Some(_), None) => false,
            (Some(own), Some(other)) => own > other,
        }
    }

    /// Returns true if the service may be back: a single run at a time tests the service.
    pub fn is_probed(&self, now: Timestamp) -> bool {
        self.kind == PauseKind::Outage && !self.is_answered && !self.holds_at(now)
    }

    /// Returns the pause for people and programs.
    pub fn to_pause(&self) -> Pause {
        Pause { until: self.until, reason: self.reason.clone(), kind: self.kind }
    }
}

/// Returns the record after a run that the service failed. `known`: the record before. A run that
/// began before the outage was known changes nothing; each later run doubles the wait.
pub fn after_outage(
    known: Option<&KnownPause>,
    began: Timestamp,
    now: Timestamp,
    policy: &RetryPolicy,
    message: &str,
) -> KnownPause {
    let before = known.filter(|known| known.kind == PauseKind::Outage);
    if let Some(known) = before.filter(|known| began < known.learnt_at) {
        return known.clone();
    }
    let strikes = before.map_or(0, |known| known.strikes).saturating_add(1);
    // Even where atoms are tried again at once, a service that is down is not asked all the time.
    let policy = RetryPolicy { base: policy.base.max(SHORTEST_OUTAGE), ..*policy };
    let wait = policy.wait_after(strikes - 1).max(SHORTEST_OUTAGE);
    KnownPause {
        kind: PauseKind::Outage,
        until: Some(now.plus(wait)),
        learnt_at: now,
        reason: message.to_owned(),
        strikes,
        probe: None,
        is_answered: false,
    }
}

/// The account's common record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    #[serde(default)]
    pub pause: Option<KnownPause>,
    /// When a person last ended the pause: older records are void.
    #[serde(default)]
    pub cleared_at: Option<Timestamp>,
}

/// The step to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Nothing,
    /// Another project recorded a pause: the pause holds this project too.
    Adopt(KnownPause),
    /// This project has a new pause: share the pause.
    Publish(KnownPause),
    /// A person ended the pause, perhaps in another project.
    Clear,
}

/// Decides. Carrying the step out leads to [`Step::Nothing`], so two projects never pass a pause
/// back and forth.
pub fn reconcile(own: Option<&KnownPause>, shared: &Shared, now: Timestamp) -> Step {
    let is_void = |known: &KnownPause| {
        shared.cleared_at.filter(|at| *at <= now).is_some_and(|at| at >= known.learnt_at)
    };
    let holds = |known: &&KnownPause| known.holds_at(now);
    if own.is_some_and(is_void) {
        return Step::Clear;
    }
    let theirs = shared.pause.as_ref().filter(holds).filter(|known| !is_void(known));
    match (own.filter(holds), theirs) {
        (Some(own), Some(theirs)) if own.outlasts(theirs) => Step::Publish(own.clone()),
        (Some(own), Some(theirs)) if own.until == theirs.until => Step::Nothing,
        (_, Some(theirs)) => Step::Adopt(theirs.clone()),
        (Some(own), None) => Step::Publish(own.clone()),
        (None, None) => Step::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: i64 = 1_800_000_000_000_000;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(NOW + seconds * 1_000_000)
    }

    fn limit(until: Option<i64>, learnt: i64) -> KnownPause {
        KnownPause {
            kind: if until.is_some() { PauseKind::UsageLimit } else { PauseKind::Account },
            until: until.map(at),
            learnt_at: at(learnt),
            reason: "limit".to_owned(),
            strikes: 0,
            probe: None,
            is_answered: false,
        }
    }

    fn known() -> impl Strategy<Value = Option<KnownPause>> {
        let until = prop::option::weighted(0.8, -20_i64..2_000_000);
        prop::option::of((until, -50_i64..50).prop_map(|(until, learnt)| limit(until, learnt)))
    }

    #[test]
    fn each_probe_that_fails_doubles_the_wait_and_runs_of_the_same_outage_do_not() {
        let policy = RetryPolicy::default();
        let first = after_outage(None, at(-100), at(0), &policy, "529");
        assert_eq!((first.strikes, first.until), (1, Some(at(30))));
        // It was on already when the outage was learnt of.
        assert_eq!(after_outage(Some(&first), at(-50), at(10), &policy, "529"), first);
        assert!(first.is_probed(at(31)) && !first.is_probed(at(29)));
        let second = after_outage(Some(&first), at(31), at(33), &policy, "529");
        assert_eq!((second.strikes, second.until), (2, Some(at(33 + 60))));
        let mut last = second;
        for n in 0..20 {
            let now = at(1_000 + n * 1_000);
            last = after_outage(Some(&last), now, now, &policy, "529");
        }
        assert_eq!(last.until, Some(last.learnt_at.plus(policy.cap)), "the wait is bounded");
    }

    proptest! {
        #[test]
        fn one_step_and_all_is_said(
            own in known(),
            pause in known(),
            cleared in prop::option::of(-60_i64..60),
        ) {
            let now = at(0);
            let mut shared = Shared { pause, cleared_at: cleared.map(at) };
            let mut own = own;
            // A project that clears may adopt next what was learnt after the clearing.
            for _ in 0..2 {
                match reconcile(own.as_ref(), &shared, now) {
                    Step::Nothing => {}
                    Step::Adopt(known) => {
                        prop_assert!(known.holds_at(now));
                        own = Some(known);
                    }
                    Step::Publish(known) => shared.pause = Some(known),
                    Step::Clear => own = None,
                }
            }
            prop_assert_eq!(reconcile(own.as_ref(), &shared, now), Step::Nothing);
        }

        #[test]
        fn what_was_cleared_holds_nobody(
            until in prop::option::of(1_i64..600_000),
            learnt in -100_i64..0,
            later in 0_i64..100,
        ) {
            let known = limit(until, learnt);
            let shared = Shared { pause: Some(known.clone()), cleared_at: Some(at(0)) };
            prop_assert_eq!(reconcile(Some(&known), &shared, at(later)), Step::Clear);
            prop_assert_eq!(reconcile(None, &shared, at(later)), Step::Nothing);
        }
    }
}
