//! What comes of the preparation of a run's worktree, as it is written into the run's folder.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error_chain::error_chain;
use crate::git::GitError;

/// A prepared worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Workplace {
    /// The folder that the agent works in.
    pub(crate) folder: PathBuf,
    pub(crate) branch: String,
    /// Branches with finished work that this one builds on and does not have.
    pub(crate) unmerged: Vec<String>,
}

/// Why there is no worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PreparationFailure {
    /// In words.
    pub(crate) why: String,
    /// The atom's own fault: it says nothing of other atoms.
    pub(crate) is_own_fault: bool,
    /// Another attempt would meet the same until a person has done something.
    pub(crate) is_permanent: bool,
    pub(crate) conflict: Option<MergeConflict>,
}

/// Finished work that the atom builds on and that cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MergeConflict {
    /// The branch that could not be merged.
    pub(crate) branch: String,
    /// What had been merged before.
    pub(crate) with: String,
    /// The files in conflict.
    pub(crate) files: Vec<String>,
}

impl PreparationFailure {
    pub(crate) fn new(error: &dyn std::error::Error) -> PreparationFailure {
        PreparationFailure {
            why: format!("the worktree could not be prepared: {}", error_chain(error)),
            is_own_fault: false,
            is_permanent: false,
            conflict: None,
        }
    }

    pub(crate) fn of_git(error: GitError) -> PreparationFailure {
        match error {
            GitError::MergeConflict { ref branch, ref with, ref files } => PreparationFailure {
                why: error_chain(&error),
                is_own_fault: true,
                is_permanent: true,
                conflict: Some(MergeConflict {
                    branch: branch.clone(),
                    with: with.clone(),
                    files: files.clone(),
                }),
            },
            GitError::BranchElsewhere { .. } | GitError::InTheWay(_) | GitError::Astray { .. } => {
                PreparationFailure {
                    why: error_chain(&error),
                    is_own_fault: true,
                    is_permanent: matches!(error, GitError::Astray { .. }),
                    conflict: None,
                }
            }
            other => PreparationFailure::new(&other),
        }
    }
}
