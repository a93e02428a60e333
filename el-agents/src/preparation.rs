//! The result of preparing a run's worktree, as stored in the run's folder, and the place of the
//! run's context.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error_chain::error_chain;
use crate::git::GitError;
use crate::settings::Places;

/// Returns the name of an atom's text in a folder of texts. Characters of the id that are unsafe in
/// a file name are replaced.
pub(crate) fn text_name(atom: &str) -> String {
    let safe: String = atom
        .chars()
        .map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' })
        .collect();
    format!("{}.md", safe.trim_start_matches('.'))
}

/// Returns the path of an atom's context file.
pub(crate) fn context_file(places: &Places, atom: &str) -> PathBuf {
    places.contexts.join(text_name(atom))
}

/// A prepared worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Workplace {
    /// The folder that the agent works in.
    pub(crate) folder: PathBuf,
    pub(crate) branch: String,
    /// Branches of finished dependencies that this branch lacks.
    pub(crate) unmerged: Vec<String>,
    /// Further news of the preparation, in lines for the pane.
    #[serde(default)]
    pub(crate) told: Vec<String>,
}

/// Why there is no worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PreparationFailure {
    /// In words.
    pub(crate) why: String,
    /// The atom is at fault; other atoms are unaffected.
    pub(crate) is_own_fault: bool,
    /// Another attempt would fail in the same way until a person acts.
    pub(crate) is_permanent: bool,
    pub(crate) conflict: Option<MergeConflict>,
    /// Branches are on another host, or out of reach: no attempt is charged.
    #[serde(default)]
    pub(crate) lacks_branches: bool,
}

/// Finished work that the atom builds on and that cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MergeConflict {
    /// The branch that could not be merged.
    pub(crate) branch: String,
    /// The branches merged before.
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
            lacks_branches: false,
        }
    }

    /// `is_own_base`: the atom itself names the base of its branch.
    pub(crate) fn of_git(error: GitError, is_own_base: bool) -> PreparationFailure {
        let of_atom = PreparationFailure {
            why: error_chain(&error),
            is_own_fault: true,
            is_permanent: false,
            conflict: None,
            lacks_branches: false,
        };
        match error {
            GitError::MergeConflict { branch, with, files } => PreparationFailure {
                is_permanent: true,
                conflict: Some(MergeConflict { branch, with, files }),
                ..of_atom
            },
            GitError::Astray { .. } | GitError::Damaged { .. } | GitError::LockedAway(_) => {
                PreparationFailure { is_permanent: true, ..of_atom }
            }
            GitError::NoRevision(_) if is_own_base => {
                PreparationFailure { is_permanent: true, ..of_atom }
            }
            GitError::BranchElsewhere { .. } | GitError::InTheWay(_) => of_atom,
            // The trouble of this host: another one may have what is needed.
            GitError::OnOtherHost { .. }
            | GitError::NotFetched { .. }
            | GitError::NotReached { .. }
            | GitError::Diverged { .. } => PreparationFailure { lacks_branches: true, ..of_atom },
            other => PreparationFailure::new(&other),
        }
    }
}
