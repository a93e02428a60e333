//! A running call of a tool: the project, and progress reports to the client.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::reply::AnswerSink;
use super::version::Version;
use super::wire;
use crate::{App, CommandError};

/// Progress is told at most so often.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// Flags that end a call early.
#[derive(Debug, Clone, Default)]
pub(super) struct Stops {
    /// Set when the client cancels the call.
    pub(super) cancelled: Arc<AtomicBool>,
    /// The server ends.
    pub(super) ending: Arc<AtomicBool>,
}

impl Stops {
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    pub(super) fn goes_on(&self) -> bool {
        !self.is_cancelled() && !self.ending.load(Ordering::SeqCst)
    }
}

/// Where a client wants to hear how far a call is.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    pub(super) out: Arc<AnswerSink>,
    pub(super) token: Value,
    pub(super) version: Version,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) app: App,
    stops: Stops,
    progress: Option<Progress>,
    began: Instant,
    told: Cell<Option<Instant>>,
}

impl Call {
    pub(super) fn new(app: App, stops: Stops, progress: Option<Progress>) -> Call {
        Call { app, stops, progress, began: Instant::now(), told: Cell::new(None) }
    }

    /// Returns true unless the call was cancelled or the server is ending.
    pub(super) fn goes_on(&self) -> bool {
        self.stops.goes_on()
    }

    /// Time since the call began.
    pub(super) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Sends a progress notification if the client asked for progress and the last notification is
    /// old enough. The progress value is the elapsed time in seconds: the protocol requires a
    /// growing number, and the total is unknown.
    pub(super) fn report_progress(&self, words: impl FnOnce() -> String) {
        let Some(progress) = &self.progress else { return };
        // The client wants no progress of a cancelled call.
        if self.stops.is_cancelled() || self.told.get().is_some_and(|at| at.elapsed() < TELL_EVERY)
        {
            return;
        }
        self.told.set(Some(Instant::now()));
        let seconds = (self.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        let mut params = json!({ "progressToken": progress.token, "progress": seconds });
        if progress.version.has_progress_messages() {
            params["message"] = words().into();
        }
        progress.out.send_message(&wire::notification("notifications/progress", params));
    }
}

/// The error that ends a cancelled call. Such a call has no answer, so the text is never shown.
pub(super) fn called_off() -> CommandError {
    CommandError::conflict("cancelled", "the call was called off; nothing was changed")
}
