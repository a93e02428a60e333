//! Branches that contain work which the pull request of another atom is to bring in.

use std::collections::HashSet;

use el_core::Store;
use el_core::model::{PullRequest, PullRequestState, Status};
use el_core::ops;

use super::LandError;
use crate::git::Repository;

/// Another atom, commits of which a branch contains, and which lands by a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PulledBelow {
    pub atom_id: String,
    /// The pull request, in words.
    pub state: String,
}

/// The branch of a pull request, with the commits that the target lacks.
pub(super) struct PulledBranch {
    atom: String,
    tip: String,
    state: String,
    commits: HashSet<String>,
}

/// Finds the branches here that land by the given pull requests, and those whose pull request was
/// refused.
pub(super) fn find_pulled<'a>(
    store: &Store,
    repository: &Repository,
    target: &str,
    pulls: impl Fn(&str) -> Option<&'a PullRequest>,
) -> Result<Vec<PulledBranch>, LandError> {
    let mut found = Vec::new();
    for atom in repository.atoms_with_branch()? {
        let Some(pull) = pulls(&atom) else { continue };
        let Some(tip) = repository.tip_of(&atom)? else { continue };
        // After the word of a person it lands as any other does.
        let is_refused = pull.state == PullRequestState::Closed
            && !ops::get_atom(store, &atom).is_ok_and(|atom| atom.status == Status::Closed);
        if !pull.carries(&tip) && !is_refused {
            continue;
        }
        let state = match pull.state {
            PullRequestState::Merged => "is merged, but not here yet",
            PullRequestState::Closed => "was closed without being merged",
            _ => "is open",
        };
        let number = pull.number.map(|number| format!(" #{number}")).unwrap_or_default();
        let commits = repository.git().ask(&["rev-list", &format!("{target}..{tip}")])?;
        found.push(PulledBranch {
            atom,
            tip,
            state: format!("pull request{number} {state}"),
            commits: commits.lines().map(str::to_owned).collect(),
        });
    }
    Ok(found)
}

/// Returns those of which a branch has commits that the target lacks.
pub(super) fn find_below(
    store: &Store,
    repository: &Repository,
    target: &str,
    pulled: &[PulledBranch],
    (id, tip): (&str, &str),
) -> Result<Vec<PulledBelow>, LandError> {
    let others: Vec<&PulledBranch> = pulled.iter().filter(|one| one.atom != id).collect();
    if others.is_empty() {
        return Ok(Vec::new());
    }
    let own = repository.git().ask(&["rev-list", &format!("{target}..{tip}")])?;
    let mut found = Vec::new();
    for one in others {
        if own.lines().any(|commit| one.commits.contains(commit))
            // The commits are those of this branch, if the other builds on it.
            && !ops::builds_on(store, &one.atom)?.iter().any(|below| below == id)
            && !repository.has_landed(target, &one.atom, &one.tip)?
        {
            found.push(PulledBelow { atom_id: one.atom.clone(), state: one.state.clone() });
        }
    }
    Ok(found)
}
