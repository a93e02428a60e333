//! The pace of a polling loop: fast right after a change, slow without changes.

use std::time::{Duration, Instant};

/// The part of the time since the last change that may pass until the next look.
const SHARE: u32 = 10;

/// The pace of a loop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    changed_at: Instant,
    shortest: Duration,
    longest: Duration,
}

impl Pace {
    /// Starts as if a change had just happened.
    pub(crate) fn new(shortest: Duration, longest: Duration) -> Pace {
        Pace { changed_at: Instant::now(), shortest, longest }
    }

    /// Notes a change.
    pub(crate) fn note_change(&mut self) {
        self.changed_at = Instant::now();
    }

    /// How long to wait until the next look.
    pub(crate) fn next_wait(&self) -> Duration {
        self.wait_at(Instant::now())
    }

    fn wait_at(&self, now: Instant) -> Duration {
        let share = now.saturating_duration_since(self.changed_at) / SHARE;
        share.clamp(self.shortest, self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_frequent_after_a_change_and_bounded_both_ways() {
        let millis = Duration::from_millis;
        let pace = Pace::new(millis(10), millis(150));
        let wait = |after| pace.wait_at(pace.changed_at + millis(after));
        assert_eq!([0, 100, 500, 1_500, 60_000].map(wait), [10, 10, 50, 150, 150].map(millis));
    }
}
