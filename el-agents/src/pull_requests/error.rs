use crate::forge::ForgeError;
use crate::git::GitError;
use crate::land::LandError;

pub type Result<T, E = PullError> = std::result::Result<T, E>;

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
    /// There are several remotes with different repositories, and no setting chooses.
    #[error("this repository has {} remotes: {}", remotes.len(), name_remotes(remotes))]
    Remotes { remotes: Vec<(String, String)> },
    /// The repository behind the remote is a fork, and either may be meant.
    #[error("{fork} is a fork of {parent}, and either may be meant")]
    Fork { fork: String, parent: String },
}

fn name_remotes(remotes: &[(String, String)]) -> String {
    let named: Vec<String> = remotes.iter().map(|(name, to)| format!("{name} ({to})")).collect();
    named.join(", ")
}

impl PullError {
    pub(super) fn place(message: impl Into<String>, hint: impl Into<String>) -> PullError {
        PullError::Place { message: message.into(), hint: hint.into() }
    }
}
