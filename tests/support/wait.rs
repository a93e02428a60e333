//! Waits for a state, never for a moment: looks repeatedly until the state is reached or the time
//! is over.

use std::time::{Duration, Instant};

/// Returns the value found by `look`; panics with `what` after `timeout`.
#[track_caller]
pub(crate) fn wait_until<T>(what: &str, timeout: Duration, look: impl FnMut() -> Option<T>) -> T {
    look_until(timeout, look).unwrap_or_else(|| panic!("waited {timeout:?} in vain for: {what}"))
}

/// Returns the value found by `look`; `None` after `timeout`.
#[track_caller]
pub(crate) fn look_until<T>(timeout: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + timeout;
    loop {
        // The time is read before the look, so the last look comes after the limit, and a slow look
        // cannot cause a miss.
        let over = Instant::now() >= end;
        let found = look();
        if found.is_some() || over {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
