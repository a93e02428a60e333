//! The worker waits while the store cannot be used for a reason outside of it: a server that is
//! restarted or full, a full disk. None of these may end a night's work. After other failures, the
//! worker tries again a limited number of times.

use std::time::{Duration, Instant};

use el_core::Error;

use super::WorkError;
use super::memory::Outage;
use super::state::State;
use crate::clock;
use crate::error_chain::error_chain;

/// The failures in a row, for other reasons, after which the worker gives up.
const STORE_FAILURES: usize = 20;
/// The pause before the store is asked again: the first, and the longest.
const SHORTEST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(5);
/// The longest wait of a worker that would end by itself (`--drain`, `--once`).
const LIMIT: Duration = Duration::from_secs(10 * 60);
/// The time after an outage in which the silence of other workers proves nothing.
const GRACE: Duration = Duration::from_secs(60);

impl State<'_> {
    /// Returns true while it is too early to ask the store again.
    pub(super) fn is_server_left_alone(&self) -> bool {
        self.outage.ask_at.is_some_and(|at| at > Instant::now())
    }

    /// Returns true if the worker can leave without the store's answer: it drains and has no run.
    pub(super) fn may_leave_unanswered(&self) -> bool {
        self.outage.since.is_some() && self.is_draining() && self.tracked.is_empty()
    }

    /// Returns true if the silence of another worker proves that it is gone.
    pub(super) fn does_silence_count(&self) -> bool {
        self.outage.over_at.is_none_or(|at| at.elapsed() > GRACE)
    }

    pub(super) fn note_answer(&mut self) {
        self.outage.failures = 0;
        if self.outage.since.is_some() {
            self.outage = Outage { over_at: Some(Instant::now()), ..Outage::default() };
            self.warn(format!("the {} answers again", self.store_name()));
        }
    }

    /// Decides about a failure of a look. Returns it if the worker gives up.
    pub(super) fn note_failure(&mut self, error: Error) -> Result<(), WorkError> {
        let why = error_chain(&error);
        if !error.may_pass() {
            self.outage.failures += 1;
            if self.outage.failures > STORE_FAILURES {
                return Err(error.into());
            }
            self.warn(format!("the store failed and is tried again: {why}"));
            return Ok(());
        }
        // A server that goes away fails in several ways, which are one outage.
        let reason = if error.is_server_away() { "away" } else { error.code() };
        if self.outage.since.is_none() || (self.outage.told != reason && reason != "away") {
            self.outage.told = reason;
            self.warn(format!("waiting for the {}: {why}", self.store_name()));
        }
        match self.outage.since {
            Some(since) if self.comes_to_an_end() && since.elapsed() > LIMIT => {
                return Err(error.into());
            }
            Some(_) => self.outage.pause = (self.outage.pause * 2).min(LONGEST),
            None => {
                self.outage.since = Some(Instant::now());
                self.outage.pause = SHORTEST;
            }
        }
        // The pauses differ, so that many workers do not ask at the same moment.
        let share = 1.0 - clock::jitter() / 4.0;
        self.outage.ask_at = Some(Instant::now() + self.outage.pause.mul_f64(share));
        Ok(())
    }

    fn store_name(&self) -> &'static str {
        if self.host.is_some() { "server" } else { "tracker" }
    }

    fn comes_to_an_end(&self) -> bool {
        let options = self.options;
        options.drain
            || options.max_claims.is_some()
            || options.drive.is_some()
            || self.is_draining()
    }
}
