use std::io;
use std::path::PathBuf;

use crate::git::GitError;

pub type Result<T, E = LandError> = std::result::Result<T, E>;

/// Why a landing, or the check of a plan, could not go on.
#[derive(Debug, thiserror::Error)]
pub enum LandError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Tracker(#[from] el_core::Error),
    #[error("cannot {doing} {}", path.display())]
    File {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Another process holds the lock.
    #[error("another el land or el pr is at work")]
    Busy,
    /// Work is landed from an agent's branch, never onto such a branch.
    #[error("{0} is a branch of an agent: work is brought from it, not to it")]
    AgentBranch(String),
    #[error("cannot listen for signals")]
    Signals(#[source] io::Error),
    /// The target was not moved.
    #[error("the check fails on {onto} already")]
    TargetFails {
        onto: String,
        /// The end of the check's output.
        output: String,
    },
    #[error("the {name} cannot be run: {said}")]
    CannotRun {
        /// The setting that names the command.
        key: &'static str,
        name: &'static str,
        said: String,
    },
    /// A signal came.
    #[error("a signal ended it")]
    Interrupted,
}
