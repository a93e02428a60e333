//! A usage limit belongs to an account, not to a project: what a project's pause and the account's
//! common record make of each other.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Timestamp;

/// Nothing is claimed for now: the account's usage limit was reached, or the day's budget is spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Pause {
    pub until: Timestamp,
    pub reason: String,
    /// It is the day's budget, which nobody gets back by waiting a while.
    #[serde(skip)]
    pub is_budget: bool,
}

/// The longest pause that is believed: a weekly limit, and a day for clocks that differ.
pub const LONGEST: Duration = Duration::from_secs(8 * 24 * 3600);

/// What is known of an account's pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    pub until: Timestamp,
    pub learnt_at: Timestamp,
    pub reason: String,
}

/// The account's common record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    #[serde(default)]
    pub pause: Option<Known>,
    /// When a person last said that claiming goes on: what was learnt before is void.
    #[serde(default)]
    pub cleared_at: Option<Timestamp>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Nothing,
    /// Somebody else learnt of a pause: it is this project's too.
    Adopt(Known),
    /// This project learnt of it: the others are told.
    Publish(Known),
    /// A person cleared it, perhaps in another project.
    Clear,
}

/// Decides. Carrying the step out leads to [`Step::Nothing`], so two projects never pass a pause
/// back and forth.
///
/// A pause that reaches further than any can is one of a clock that was wrong, and is not believed.
pub fn reconcile(own: Option<&Known>, shared: &Shared, now: Timestamp) -> Step {
    let is_void = |known: &Known| {
        shared.cleared_at.filter(|at| *at <= now).is_some_and(|at| at >= known.learnt_at)
    };
    let holds = |known: &&Known| known.until > now && known.until <= now.plus(LONGEST);
    if own.is_some_and(is_void) {
        return Step::Clear;
    }
    let theirs = shared.pause.as_ref().filter(holds).filter(|known| !is_void(known));
    match (own.filter(holds), theirs) {
        (Some(own), Some(theirs)) if own.until >= theirs.until => {
            if own.until > theirs.until {
                Step::Publish(own.clone())
            } else {
                Step::Nothing
            }
        }
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

    fn known() -> impl Strategy<Value = Option<Known>> {
        prop::option::of((-20_i64..2_000_000, -50_i64..50).prop_map(|(until, learnt)| Known {
            until: Timestamp::from_micros(NOW + until * 1_000_000),
            learnt_at: Timestamp::from_micros(NOW + learnt * 1_000_000),
            reason: "limit".to_owned(),
        }))
    }

    proptest! {
        #[test]
        fn one_step_and_all_is_said(own in known(), pause in known(), cleared in prop::option::of(-60_i64..60)) {
            let now = Timestamp::from_micros(NOW);
            let cleared_at = cleared.map(|s| Timestamp::from_micros(NOW + s * 1_000_000));
            let mut shared = Shared { pause, cleared_at };
            let mut own = own;
            // A project that clears may adopt next what was learnt after the clearing.
            for _ in 0..2 {
                match reconcile(own.as_ref(), &shared, now) {
                    Step::Nothing => {}
                    Step::Adopt(known) => {
                        prop_assert!(known.until > now && known.until <= now.plus(LONGEST));
                        own = Some(known);
                    }
                    Step::Publish(known) => shared.pause = Some(known),
                    Step::Clear => own = None,
                }
            }
            prop_assert_eq!(reconcile(own.as_ref(), &shared, now), Step::Nothing);
        }

        #[test]
        fn what_was_cleared_holds_nobody(until in 1_i64..600_000, learnt in -100_i64..0, later in 0_i64..100) {
            let known = Known {
                until: Timestamp::from_micros(NOW + until * 1_000_000),
                learnt_at: Timestamp::from_micros(NOW + learnt * 1_000_000),
                reason: String::new(),
            };
            let shared = Shared { pause: Some(known.clone()), cleared_at: Some(Timestamp::from_micros(NOW)) };
            let now = Timestamp::from_micros(NOW + later * 1_000_000);
            prop_assert_eq!(reconcile(Some(&known), &shared, now), Step::Clear);
            prop_assert_eq!(reconcile(None, &shared, now), Step::Nothing);
        }
    }
}
