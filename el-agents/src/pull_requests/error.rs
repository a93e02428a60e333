use crate::forge::ForgeError;
use crate::git::GitError;
use crate::land::LandError;

/// Why pull requests could not be opened or watched.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Tracker(#[from] el_core::Error),
    #[error(transparent)]
    Land(#[from] LandError),
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// It is not clear where to, or there is no such place.
    #[error("{message}")]
    Place { message: String, hint: String },
}

impl PullError {
    pub(super) fn place(message: impl Into<String>, hint: impl Into<String>) -> PullError {
        PullError::Place { message: message.into(), hint: hint.into() }
    }
}
