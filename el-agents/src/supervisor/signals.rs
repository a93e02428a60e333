//! The signals that end a supervisor's run.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGHUP (the session or the server ended), SIGTERM, and SIGINT (`C-c` in the attached session).
#[derive(Debug)]
pub(crate) struct Signals {
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
    hung_up: Option<&'static str>,
    interrupted: bool,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Signals> {
        Ok(Signals {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hung_up: None,
            interrupted: false,
        })
    }

    /// Waits for a signal and records the signal.
    pub(crate) async fn wait_for_signal(&mut self) {
        tokio::select! {
            _ = self.hangup.recv() => self.hung_up = Some("the session was ended from outside"),
            _ = self.terminate.recv() => {
                self.hung_up = Some("the supervisor was asked to end (SIGTERM)");
            },
            _ = self.interrupt.recv() => self.interrupted = true,
        }
    }

    pub(crate) fn hung_up(&self) -> bool {
        self.hung_up.is_some()
    }

    /// Returns why the run is to end, in words.
    pub(crate) fn hangup_reason(&self) -> Option<&'static str> {
        self.hung_up
    }

    /// Returns true once if `C-c` was pressed since the last call.
    pub(crate) fn take_interrupt(&mut self) -> bool {
        std::mem::take(&mut self.interrupted)
    }
}
