//! Waiting for a state, never for a moment: look, and look again, until it is so or the time is over.

use std::time::{Duration, Instant};

/// Returns what `look` finds; panics with `what` if it found nothing within `timeout`.
#[track_caller]
pub(crate) fn wait_until<T>(what: &str, timeout: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + timeout;
    loop {
        // The time is read first: one more look is taken after it is over, so a slow look cannot cause a miss.
        let over = Instant::now() >= end;
        if let Some(found) = look() {
            return found;
        }
        assert!(!over, "waited {timeout:?} in vain for: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
