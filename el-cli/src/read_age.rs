//! The age of what was read of the tracker, which decides when to read again.

use std::time::{Duration, Instant};

use el_core::{Store, ops};

use crate::Result;

/// The tracker as it was when something was read.
#[derive(Debug)]
pub(crate) struct ReadAge {
    pub(crate) read_at: Instant,
    /// The last event.
    pub(crate) seq: i64,
    version: i64,
    /// The version of which it is known that it has no later event.
    without_event: i64,
}

impl ReadAge {
    /// Version and event are those from before the reading.
    pub(crate) fn new(version: i64, seq: i64) -> ReadAge {
        ReadAge { read_at: Instant::now(), seq, version, without_event: version }
    }

    /// Returns true at this version of the database if there was an event, or any other change that
    /// has waited for `pulse`: heartbeats and costs write no event.
    pub(crate) fn is_over(&mut self, store: &Store, version: i64, pulse: Duration) -> Result<bool> {
        if version == self.version {
            return Ok(false);
        }
        if self.read_at.elapsed() >= pulse {
            return Ok(true);
        }
        if version == self.without_event {
            return Ok(false);
        }
        self.without_event = version;
        Ok(ops::last_event(store)? != self.seq)
    }
}
