//! Waiting for events without notification.

use std::time::{Duration, Instant};

/// Polls until `look` returns a value, for at most `limit`. The last poll comes after the limit.
/// Blocks.
pub(crate) fn poll_until<T>(
    limit: Duration,
    every: Duration,
    mut look: impl FnMut() -> Option<T>,
) -> Option<T> {
    let until = Instant::now() + limit;
    loop {
        let is_last = Instant::now() >= until;
        let found = look();
        if found.is_some() || is_last {
            return found;
        }
        std::thread::sleep(every);
    }
}
