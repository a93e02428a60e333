//! What can go wrong with a session.

use thiserror::Error;

/// An operation on a session that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("could not {operation} {}: {message}", named(session))]
pub struct SessionError {
    /// The session's name; empty if the operation was for all of them.
    pub session: String,
    /// What was tried, as a verb: `create`, `capture`, `end`, …
    pub operation: &'static str,
    /// What kind of failure it was.
    pub failure: Failure,
    /// What tmux, or the system, said.
    pub message: String,
}

/// Why tmux did not do what it was asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// It did not answer in time. What it did is unknown.
    TimedOut,
    /// The program could not be run.
    NotRun,
    /// There is no server, or none that could be reached.
    NoServer,
    /// A session of that name exists.
    Exists,
    /// There is no such session.
    Missing,
    /// Anything else.
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
