//! A server that does not answer is waited for: its restart must not end a night's work. Other
//! failures of the store are tried again some times.

use std::time::{Duration, Instant};

use el_core::Error;

use super::WorkError;
use super::memory::Outage;
use super::state::State;
use crate::clock;
use crate::error_chain::error_chain;

/// Looks in a row that the store may fail, for other reasons, before the worker gives up.
const STORE_FAILURES: usize = 20;
/// The pause before the server is asked again: the first, and the longest.
const SHORTEST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(5);
/// How long a worker that is to come to an end by itself waits.
const LIMIT: Duration = Duration::from_secs(10 * 60);
/// After an outage, the silence of other workers says nothing for so long.
const GRACE: Duration = Duration::from_secs(60);

impl State<'_> {
    /// Returns true while the server is left alone.
    pub(super) fn is_server_left_alone(&self) -> bool {
        self.outage.ask_at.is_some_and(|at| at > Instant::now())
    }

    /// Returns true if nothing that the server may still tell holds the worker.
    pub(super) fn may_leave_unanswered(&self) -> bool {
        self.outage.since.is_some() && self.is_draining() && self.tracked.is_empty()
    }

    /// Returns true if the silence of another worker says that it is gone.
    pub(super) fn does_silence_count(&self) -> bool {
        self.outage.over_at.is_none_or(|at| at.elapsed() > GRACE)
    }

    pub(super) fn note_answer(&mut self) {
        self.outage.failures = 0;
        if self.outage.since.is_some() {
            self.outage = Outage { over_at: Some(Instant::now()), ..Outage::default() };
            self.warn("the server answers again".to_owned());
        }
    }

    /// Decides about a failure of a look. Returns it if the worker gives up.
    pub(super) fn note_failure(&mut self, error: Error) -> Result<(), WorkError> {
        let why = error_chain(&error);
        if !error.is_server_away() {
            self.outage.failures += 1;
            if self.outage.failures > STORE_FAILURES {
                return Err(error.into());
            }
            self.warn(format!("the store failed and is tried again: {why}"));
            return Ok(());
        }
        match self.outage.since {
            Some(since) if self.comes_to_an_end() && since.elapsed() > LIMIT => {
                return Err(error.into());
            }
            Some(_) => self.outage.pause = (self.outage.pause * 2).min(LONGEST),
            None => {
                self.outage.since = Some(Instant::now());
                self.outage.pause = SHORTEST;
                self.warn(format!("waiting for the server: {why}"));
            }
        }
        // Many workers do not come at the same moment.
        let share = 1.0 - clock::jitter() / 4.0;
        self.outage.ask_at = Some(Instant::now() + self.outage.pause.mul_f64(share));
        Ok(())
    }

    fn comes_to_an_end(&self) -> bool {
        let options = self.options;
        options.drain
            || options.max_claims.is_some()
            || options.drive.is_some()
            || self.is_draining()
    }
}
