//! Waiting for events: by repeated looks, or for open files.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, Timespec};
use rustix::io::Errno;

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

/// Waits until an entry is readable; `false` if the deadline came first. The entries then show the
/// readable ones.
pub(crate) fn wait_readable(entries: &mut [PollFd<'_>], deadline: Instant) -> io::Result<bool> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec {
            tv_sec: left.as_secs().min(3600) as i64,
            tv_nsec: left.subsec_nanos().into(),
        };
        match rustix::event::poll(entries, Some(&left)) {
            Ok(0) if Instant::now() >= deadline => return Ok(false),
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}
