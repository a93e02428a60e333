//! Branches that contain work which the pull request of another atom is to bring in.

use std::cell::OnceCell;
use std::collections::HashSet;

use el_core::model::{PullRequest, PullRequestState, Status};
use el_core::{Store, ops};

use super::Result;
use crate::git::Repository;

/// Another atom, commits of which a branch contains, and which lands by a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PulledBelow {
    pub atom_id: String,
    /// The pull request, in words.
    pub state: String,
}

/// All that pull requests are to bring in.
pub(super) struct Pulled {
    branches: Vec<PulledBranch>,
    /// The commits of all of them that the target lacks.
    commits: HashSet<String>,
}

struct PulledBranch {
    atom: String,
    /// The last commit that was pushed, or is being pushed.
    tip: String,
    state: String,
    is_merged: bool,
    /// Its commits that the target lacks. Asked for once.
    commits: OnceCell<HashSet<String>>,
}

/// Finds the work of these pull requests that are open, merged or refused. Git is asked once for
/// all of them.
pub(super) fn find_pulled<'a>(
    store: &Store,
    repository: &Repository,
    target: &str,
    pulls: impl Iterator<Item = &'a PullRequest>,
) -> Result<Pulled> {
    let mut branches = Vec::new();
    for pull in pulls {
        let Some(tip) = pull.pushed.clone().or_else(|| pull.pushing.clone()) else { continue };
        // After the word of a person it lands as any other does.
        let is_refused = pull.state == PullRequestState::Closed
            && !ops::get_atom(store, &pull.atom_id).is_ok_and(|atom| atom.status == Status::Closed);
        if !pull.carries(&tip) && !is_refused {
            continue;
        }
        let state = match pull.state {
            PullRequestState::Merged => "is merged, but not here yet",
            PullRequestState::Closed => "was closed without being merged",
            _ => "is open",
        };
        let number = pull.number.map(|number| format!(" #{number}")).unwrap_or_default();
        branches.push(PulledBranch {
            atom: pull.atom_id.clone(),
            tip,
            state: format!("pull request{number} {state}"),
            is_merged: pull.state == PullRequestState::Merged,
            commits: OnceCell::new(),
        });
    }
    branches.sort_by(|one, other| one.atom.cmp(&other.atom));
    let tips: Vec<&str> = branches.iter().map(|one| one.tip.as_str()).collect();
    let commits = lacking_commits(repository, target, &tips)?;
    Ok(Pulled { branches, commits })
}

/// Returns those of which a branch has commits that the target lacks.
pub(super) fn find_below(
    store: &Store,
    repository: &Repository,
    target: &str,
    pulled: &Pulled,
    (id, tip): (&str, &str),
) -> Result<Vec<PulledBelow>> {
    let mut found = Vec::new();
    if pulled.commits.is_empty() {
        return Ok(found);
    }
    let own = lacking_commits(repository, target, &[tip])?;
    if own.is_disjoint(&pulled.commits) {
        return Ok(found);
    }
    for one in pulled.branches.iter().filter(|one| one.atom != id) {
        if one.commits.get().is_none() {
            let _ = one.commits.set(lacking_commits(repository, target, &[&one.tip])?);
        }
        if one.commits.get().is_none_or(|commits| own.is_disjoint(commits))
            // The commits are those of this branch, if the other builds on it.
            || ops::builds_on(store, &one.atom)?.iter().any(|below| below == id)
            // The branch of one that has landed was taken away.
            || one.is_merged && repository.tip_of(&one.atom)?.is_none()
            || repository.has_landed(target, &one.atom, &one.tip)?
        {
            continue;
        }
        found.push(PulledBelow { atom_id: one.atom.clone(), state: one.state.clone() });
    }
    Ok(found)
}

/// The given commits that the target lacks, without commits that the repository does not have.
fn lacking_commits(
    repository: &Repository,
    target: &str,
    tips: &[&str],
) -> Result<HashSet<String>> {
    if tips.is_empty() {
        return Ok(HashSet::new());
    }
    let mut words = vec!["rev-list", "--ignore-missing"];
    words.extend(tips);
    words.extend(["--not", target]);
    Ok(repository.git().ask(&words)?.lines().map(str::to_owned).collect())
}
