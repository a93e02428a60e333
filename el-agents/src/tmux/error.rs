//! Errors of sessions.

use thiserror::Error;

/// An operation on a session that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("could not {operation} {}: {message}", named(session))]
pub struct SessionError {
    /// The session's name; empty for an operation on all sessions.
    pub session: String,
    /// The operation, as a verb: `create`, `capture`, `end`, …
    pub operation: &'static str,
    /// The kind of failure.
    pub failure: Failure,
    /// The message of tmux or of the system.
    pub message: String,
}

/// The kinds of failures of tmux.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// tmux did not answer in time; the effect is unknown.
    TimedOut,
    /// The program could not be run.
    NotRun,
    /// There is no server, or none that could be reached.
    NoServer,
    /// A session of that name exists.
    Exists,
    /// There is no such session.
    Missing,
    /// Any other failure.
    Refused,
}

impl SessionError {
    pub(super) fn new(
        session: &str,
        operation: &'static str,
        failure: Failure,
        message: String,
    ) -> Self {
        Self { session: session.to_owned(), operation, failure, message }
    }
}

fn named(session: &str) -> String {
    if session.is_empty() {
        "the tmux sessions".to_owned()
    } else {
        format!("tmux session {session}")
    }
}
