//! When a server is asked again for changes.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// The shortest time between two questions.
const LOOK: Duration = Duration::from_secs(1);
/// At ease: this part of the time since the last change, up to this long.
const SHARE: u32 = 10;
const LONGEST: Duration = Duration::from_secs(5);

/// The changes that a connection has seen.
#[derive(Debug, Default)]
pub(super) struct Looks {
    seen: Cell<Option<Seen>>,
    is_at_ease: Cell<bool>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    version: i64,
    asked_at: Instant,
    changed_at: Instant,
}

impl Looks {
    /// The version that was seen last, while it is too early for another question.
    pub(super) fn known(&self) -> Option<i64> {
        let seen = self.seen.get()?;
        (seen.asked_at.elapsed() < self.wait_after(seen.changed_at.elapsed()))
            .then_some(seen.version)
    }

    pub(super) fn note(&self, version: i64) {
        let asked_at = Instant::now();
        let same = self.seen.get().filter(|seen| seen.version == version);
        let changed_at = same.map_or(asked_at, |seen| seen.changed_at);
        self.seen.set(Some(Seen { version, asked_at, changed_at }));
    }

    pub(super) fn take_ease(&self) {
        self.is_at_ease.set(true);
    }

    fn wait_after(&self, quiet: Duration) -> Duration {
        let longest = if self.is_at_ease.get() { LONGEST } else { LOOK };
        (quiet / SHARE).clamp(LOOK, longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_at_ease_asks_less_often_the_longer_nothing_changes() {
        let looks = Looks::default();
        let waits = || [0, 20, 3600].map(|quiet| looks.wait_after(Duration::from_secs(quiet)));
        assert_eq!(looks.known(), None);
        looks.note(7);
        assert_eq!(looks.known(), Some(7));
        assert_eq!(waits(), [1, 1, 1].map(Duration::from_secs));
        looks.take_ease();
        assert_eq!(waits(), [1, 2, 5].map(Duration::from_secs));
    }
}
