//! Waiting for what nobody announces.

use std::time::{Duration, Instant};

/// Looks until something is found, at most for `limit`; the last look is taken when that is over.
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
