//! How often an atom is tried again, and how long to wait before.

use std::time::Duration;

use super::ready::CLOCK_SKEW;
use crate::model::{Attempt, Outcome, Timestamp};

/// The least wait after a second interruption, and the least limit of those that follow.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// The attempts of each kind before an atom becomes `blocked`, and the back-off between attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts that crash, report an error, or stall.
    pub failures: u32,
    /// Attempts that end without a terminal status (each had the Stop hook and a resume).
    pub violations: u32,
    /// Attempts that run out of time.
    pub timeouts: u32,
    /// Attempts that never start, or lose the supervisor: faults of the machine, not of the work.
    pub machine: u32,
    /// The wait after the first failure; each further failure doubles the wait.
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

/// The consequence of a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Try again after the wait.
    Retry(Duration),
    /// Give up after this many failures of the same kind.
    GiveUp(u32),
}

impl RetryPolicy {
    /// Decides after an attempt that ended as `outcome`. `earlier`: the outcomes of earlier
    /// attempts since the last fresh start. `jitter`, from 0 to 1, spreads the wait over the upper
    /// half, so that atoms that failed together do not return together.
    pub fn next_attempt(&self, outcome: Outcome, earlier: &[Outcome], jitter: f64) -> Next {
        let same = count_alike(outcome, earlier).saturating_add(1);
        if same >= self.attempts_of(outcome) {
            return Next::GiveUp(same);
        }
        let failed =
            u32::try_from(earlier.iter().filter(|o| o.is_failure()).count()).unwrap_or(u32::MAX);
        let full = self.wait_after(failed);
        let jitter = if jitter.is_finite() { jitter.clamp(0.0, 1.0) } else { 1.0 };
        Next::Retry(full.mul_f64(0.5 + jitter / 2.0))
    }
}

/// The time at which a ready atom may begin again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStart {
    Now,
    /// The atom waits until this time.
    Later(Timestamp),
    /// The atom does not start again, after this many quick attempts in a row that left it ready.
    Never(u32),
}

/// A shorter attempt has hardly done any work.
const QUICK: Duration = Duration::from_secs(60);
/// An atom that begins again sooner after an attempt (and the back-off) is going round in circles.
const AT_ONCE: Duration = Duration::from_secs(5 * 60);

impl RetryPolicy {
    /// Stops an atom from going round in circles, whatever makes the atom ready again. Attempts
    /// shorter than a minute that begin again within minutes get waits and a limit, as failures do.
    /// `earlier`: the attempts since the last fresh start, oldest first. Failures do not count here
    /// ([`RetryPolicy::next_attempt`] decides about failures), nor do attempts ended by a person,
    /// the account, the service or the machine.
    pub fn next_start(&self, earlier: &[Attempt], now: Timestamp) -> NextStart {
        let is_free = |outcome: Outcome| {
            outcome.is_failure() || outcome.is_external() || outcome == Outcome::Cancelled
        };
        let mut round = 0_u32;
        let mut free_at = None;
        // An attempt with an end in the future dates from before the clock went back, and holds
        // nothing.
        let counts = |a: &&Attempt| !is_free(a.outcome) && a.ended <= now.plus(CLOCK_SKEW);
        for attempt in earlier.iter().filter(counts) {
            if free_at.is_some_and(|at: Timestamp| attempt.started > at.plus(AT_ONCE)) {
                round = 0;
            }
            round = if attempt.ended.since(attempt.started) < QUICK {
                round.saturating_add(1)
            } else {
                0
            };
            free_at = (round > 0).then(|| attempt.ended.plus(self.wait_after(round - 1)));
        }
        match free_at {
            Some(at) if now <= at.plus(AT_ONCE) => {
                if round >= self.failures.max(1) {
                    NextStart::Never(round)
                } else if now < at {
                    NextStart::Later(at)
                } else {
                    NextStart::Now
                }
            }
            _ => NextStart::Now,
        }
    }

    /// Returns the number of attempts with this outcome after which the atom is given up.
    pub fn attempts_of(&self, outcome: Outcome) -> u32 {
        Kind::of_outcome(outcome).attempt_limit(self).max(1)
    }

    /// Returns the wait of an atom after an interruption from outside, by the number of earlier
    /// interruptions. There is no wait the first time, and later always one: no attempt is charged,
    /// so nothing else would end a loop.
    pub fn after_interruption(&self, earlier: &[Outcome]) -> Duration {
        let before = earlier.iter().filter(|o| **o == Outcome::Interrupted).count();
        let (base, cap) = (self.base.max(SHORTEST), self.cap.max(LONGEST));
        let patient = RetryPolicy { base, cap, ..*self };
        before.checked_sub(1).map_or(Duration::ZERO, |waits| {
            patient.wait_after(u32::try_from(waits).unwrap_or(u32::MAX))
        })
    }

    /// The whole wait after as many earlier waits.
    pub(super) fn wait_after(&self, earlier: u32) -> Duration {
        self.base.saturating_mul(2_u32.saturating_pow(earlier.min(20))).min(self.cap)
    }
}

/// Counts the attempts that failed in the same way as `outcome`.
pub fn count_alike(outcome: Outcome, attempts: &[Outcome]) -> u32 {
    let same = attempts
        .iter()
        .filter(|o| o.is_failure() && Kind::of_outcome(**o) == Kind::of_outcome(outcome))
        .count();
    u32::try_from(same).unwrap_or(u32::MAX)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Failure,
    Violation,
    Timeout,
    Machine,
}

impl Kind {
    fn of_outcome(outcome: Outcome) -> Kind {
        match outcome {
            Outcome::Violation => Kind::Violation,
            Outcome::TimedOut => Kind::Timeout,
            Outcome::Lost | Outcome::LaunchFailed => Kind::Machine,
            _ => Kind::Failure,
        }
    }

    fn attempt_limit(self, policy: &RetryPolicy) -> u32 {
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
        assert!(matches!(
            policy.next_attempt(Outcome::Violation, &[Outcome::Failed, Outcome::TimedOut], 0.5),
            Next::Retry(_)
        ));
        assert_eq!(
            policy.next_attempt(Outcome::Violation, &[Outcome::Failed, Outcome::Violation], 0.5),
            Next::GiveUp(2)
        );
        assert_eq!(
            policy.next_attempt(Outcome::Failed, &[Outcome::Failed, Outcome::Stalled], 0.5),
            Next::GiveUp(3)
        );
        assert!(matches!(
            policy.next_attempt(Outcome::Lost, &[Outcome::Lost, Outcome::Lost], 0.5),
            Next::Retry(_)
        ));
    }

    #[test]
    fn what_is_no_failure_does_not_lengthen_the_wait() {
        let policy = RetryPolicy::default();
        assert_eq!(
            policy.next_attempt(Outcome::Failed, &[Outcome::UsageLimit, Outcome::Cancelled], 1.0),
            Next::Retry(policy.base)
        );
    }

    fn seconds(n: u64) -> Timestamp {
        Timestamp::from_micros(1_800_000_000_000_000).plus(Duration::from_secs(n))
    }

    /// Attempts that begin when they may and take as long as said.
    fn rounds(took: &[(u64, Outcome)], pause: u64) -> (Vec<Attempt>, Timestamp) {
        let mut at = seconds(0);
        let mut made = Vec::new();
        for (length, outcome) in took {
            let ended = at.plus(Duration::from_secs(*length));
            made.push(Attempt { started: at, ended, outcome: *outcome });
            at = ended.plus(Duration::from_secs(pause));
        }
        (made, at)
    }

    #[test]
    fn an_atom_that_comes_round_at_once_waits_and_is_given_up_like_one_that_fails() {
        let policy = RetryPolicy::default();
        for outcome in [
            Outcome::Superseded,
            Outcome::Deferred,
            Outcome::Closed,
            Outcome::Review,
            Outcome::Blocked,
        ] {
            let (once, now) = rounds(&[(1, outcome)], 0);
            assert_eq!(policy.next_start(&once, now), NextStart::Later(seconds(31)), "{outcome}");
            assert_eq!(policy.next_start(&once, seconds(31)), NextStart::Now, "{outcome}");
            let (twice, now) = rounds(&[(1, outcome); 2], 30);
            assert_eq!(
                policy.next_start(&twice, now),
                NextStart::Later(seconds(32 + 60)),
                "{outcome}"
            );
            let (thrice, now) = rounds(&[(1, outcome); 3], 60);
            assert_eq!(policy.next_start(&thrice, now), NextStart::Never(3), "{outcome}");
        }
    }

    #[test]
    fn an_attempt_that_takes_its_time_or_begins_later_is_no_round() {
        let policy = RetryPolicy::default();
        let (long, now) = rounds(&[(61, Outcome::Deferred); 9], 0);
        assert_eq!(policy.next_start(&long, now), NextStart::Now);
        let (polls, now) = rounds(&[(5, Outcome::Deferred); 9], 600);
        assert_eq!(
            policy.next_start(&polls, now),
            NextStart::Now,
            "put off for ten minutes each time"
        );
        let (others, now) = rounds(
            &[
                (1, Outcome::Failed),
                (1, Outcome::Cancelled),
                (1, Outcome::UsageLimit),
                (1, Outcome::Lost),
            ],
            0,
        );
        assert_eq!(
            policy.next_start(&others, now),
            NextStart::Now,
            "they have their own counts, or none"
        );
        assert_eq!(policy.next_start(&[], now), NextStart::Now);
    }

    proptest! {
        #[test]
        fn whatever_attempts_do_those_that_come_round_end(
            took in prop::collection::vec(0_u64..60, 0..60),
            most in 1_u32..40,
        ) {
            let policy = RetryPolicy { failures: most, ..RetryPolicy::default() };
            let (mut made, mut now) = (Vec::new(), seconds(0));
            for length in took {
                match policy.next_start(&made, now) {
                    NextStart::Now => {}
                    NextStart::Later(at) => {
                        prop_assert!(at > now && at <= now.plus(policy.cap));
                        now = at;
                    }
                    NextStart::Never(count) => {
                        prop_assert_eq!(count, most);
                        return Ok(());
                    }
                }
                let ended = now.plus(Duration::from_secs(length));
                made.push(Attempt { started: now, ended, outcome: Outcome::Superseded });
                now = ended;
            }
            prop_assert!(made.len() <= most as usize);
        }

        #[test]
        fn a_wait_is_bounded_and_an_atom_is_given_up_in_the_end(
            count in 0_usize..40,
            jitter in any::<f64>(),
        ) {
            let policy = RetryPolicy::default();
            let earlier = vec![Outcome::Failed; count];
            match policy.next_attempt(Outcome::Failed, &earlier, jitter) {
                Next::Retry(wait) => prop_assert!(wait >= policy.base / 2 && wait <= policy.cap),
                Next::GiveUp(_) => prop_assert!(count >= 2),
            }
        }
    }
}
