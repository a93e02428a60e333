//! Waiting for a state, never for a moment: look, and look again, until it is so or the time is
//! over.

use std::time::{Duration, Instant};

/// Returns what `look` finds; panics with `what` if it found nothing within `timeout`.
#[track_caller]
pub(crate) fn wait_until<T>(what: &str, timeout: Duration, look: impl FnMut() -> Option<T>) -> T {
    look_until(timeout, look).unwrap_or_else(|| panic!("waited {timeout:?} in vain for: {what}"))
}

/// Returns what `look` finds; nothing if it found nothing within `timeout`.
#[track_caller]
pub(crate) fn look_until<T>(timeout: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + timeout;
    loop {
        // The time is read first: one more look is taken after it is over, so a slow look cannot
        // cause a miss.
        let over = Instant::now() >= end;
        let found = look();
        if found.is_some() || over {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
