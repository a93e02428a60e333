//! How often an atom is tried again, and how long to wait before.

use std::time::Duration;

use crate::model::Outcome;

/// How many attempts of each kind an atom gets before it is `blocked`, and the back-off between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts that crash, report an error, or stall.
    pub failures: u32,
    /// Attempts that end without saying how the atom ends (each has had the Stop hook and one resume).
    pub violations: u32,
    /// Attempts that run out of time.
    pub timeouts: u32,
    /// Attempts that never start, or lose their supervisor: faults of the machine rather than the work.
    pub machine: u32,
    /// The wait after the first failure; it doubles with each further one.
    pub base: Duration,
    /// The longest wait.
    pub cap: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy {
            failures: 3,
            violations: 2,
            timeouts: 2,
            machine: 5,
            base: Duration::from_secs(30),
            cap: Duration::from_secs(15 * 60),
        }
    }
}

/// What follows a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Again, after this wait.
    Retry(Duration),
    /// No more: this many attempts of the same kind failed.
    GiveUp(u32),
}

impl RetryPolicy {
    /// Decides after an attempt ended as `outcome`. `earlier`: how the attempts before it ended, since the atom last got a fresh start.
    /// `jitter`, from 0 to 1, spreads the wait over its upper half, so that atoms that failed together do not return together.
    pub fn next(&self, outcome: Outcome, earlier: &[Outcome], jitter: f64) -> Next {
        let kind = Kind::of(outcome);
        let same = earlier.iter().filter(|o| o.is_failure() && Kind::of(**o) == kind).count();
        let same = u32::try_from(same).unwrap_or(u32::MAX).saturating_add(1);
        if same >= kind.limit(self).max(1) {
            return Next::GiveUp(same);
        }
        let failed = u32::try_from(earlier.iter().filter(|o| o.is_failure()).count()).unwrap_or(u32::MAX);
        let full = self.base.saturating_mul(2_u32.saturating_pow(failed.min(20))).min(self.cap);
        let jitter = if jitter.is_finite() { jitter.clamp(0.0, 1.0) } else { 1.0 };
        Next::Retry(full.mul_f64(0.5 + jitter / 2.0))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Failure,
    Violation,
    Timeout,
    Machine,
}

impl Kind {
    fn of(outcome: Outcome) -> Kind {
        match outcome {
            Outcome::Violation => Kind::Violation,
            Outcome::TimedOut => Kind::Timeout,
            Outcome::Lost | Outcome::LaunchFailed => Kind::Machine,
            _ => Kind::Failure,
        }
    }

    fn limit(self, policy: &RetryPolicy) -> u32 {
        match self {
            Kind::Failure => policy.failures,
            Kind::Violation => policy.violations,
            Kind::Timeout => policy.timeouts,
            Kind::Machine => policy.machine,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_kind_of_failure_has_its_own_count() {
        let policy = RetryPolicy::default();
        assert!(matches!(policy.next(Outcome::Violation, &[Outcome::Failed, Outcome::TimedOut], 0.5), Next::Retry(_)));
        assert_eq!(policy.next(Outcome::Violation, &[Outcome::Failed, Outcome::Violation], 0.5), Next::GiveUp(2));
        assert_eq!(policy.next(Outcome::Failed, &[Outcome::Failed, Outcome::Stalled], 0.5), Next::GiveUp(3));
        assert!(matches!(policy.next(Outcome::Lost, &[Outcome::Lost, Outcome::Lost], 0.5), Next::Retry(_)));
    }

    #[test]
    fn what_is_no_failure_does_not_lengthen_the_wait() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.next(Outcome::Failed, &[Outcome::UsageLimit, Outcome::Cancelled], 1.0), Next::Retry(policy.base));
    }

    proptest! {
        #[test]
        fn a_wait_is_bounded_and_an_atom_is_given_up_in_the_end(count in 0_usize..40, jitter in any::<f64>()) {
            let policy = RetryPolicy::default();
            let earlier = vec![Outcome::Failed; count];
            match policy.next(Outcome::Failed, &earlier, jitter) {
                Next::Retry(wait) => prop_assert!(wait >= policy.base / 2 && wait <= policy.cap),
                Next::GiveUp(_) => prop_assert!(count >= 2),
            }
        }
    }
}
