//! Branches that contain the work of another atom which is still open: a pull request is to bring
//! it in, or nobody has closed the atom.

use std::cell::OnceCell;
use std::collections::HashSet;

use el_core::model::{PullRequest, PullRequestState, Status};
use el_core::{Store, ops};

use super::{LandError, Result};
use crate::git::Repository;

/// Another atom, commits of which a branch contains, and which is not to land with the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkBelow {
    pub atom_id: String,
    /// The pull request, or the status, in words.
    pub state: String,
}

/// All that pull requests are to bring in, and the work of atoms that are not closed.
pub(super) struct OpenWork {
    branches: Vec<OpenBranch>,
    /// The commits of all of them that the target lacks.
    commits: HashSet<String>,
}

struct OpenBranch {
    atom: String,
    /// Of a pull request, the last commit that was pushed, or is being pushed.
    tip: String,
    /// The commit at which the branch of an atom that is not closed began. Later merges are not its
    /// own.
    base: Option<String>,
    state: String,
    is_merged: bool,
    /// Its commits that the target lacks, newest first. Asked for once.
    commits: OnceCell<Vec<String>>,
}

/// Finds the work of atoms that are not closed, and of these pull requests that are open, merged or
/// refused.
pub(super) fn find_open_work<'a>(
    store: &Store,
    repository: &Repository,
    target: &str,
    pulls: impl Iterator<Item = &'a PullRequest>,
) -> Result<OpenWork> {
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
        branches.push(OpenBranch {
            atom: pull.atom_id.clone(),
            tip,
            base: None,
            state: format!("pull request{number} {state}"),
            is_merged: pull.state == PullRequestState::Merged,
            commits: OnceCell::new(),
        });
    }
    for id in repository.atoms_with_branch()? {
        let Ok(atom) = ops::get_atom(store, &id) else { continue };
        if atom.id != id || atom.status == Status::Closed || branches.iter().any(|b| b.atom == id) {
            continue;
        }
        let (Some(tip), Some(base)) = (repository.tip_of(&id)?, repository.base_of(&id)?) else {
            continue;
        };
        let state = format!("status is {}", atom.status.as_str());
        let (base, is_merged, commits) = (Some(base), false, OnceCell::new());
        branches.push(OpenBranch { atom: id, tip, base, state, is_merged, commits });
    }
    branches.sort_by(|one, other| one.atom.cmp(&other.atom));
    let tips: Vec<&str> = branches.iter().map(|one| one.tip.as_str()).collect();
    let commits = match lacking_commits(repository, target, &tips) {
        Err(LandError::Git(error)) if error.is_refusal() => {
            // A branch that builds on a damaged one is damaged, too.
            branches.retain(|one| one.own_commits(repository, target).is_ok());
            let tips: Vec<&str> = branches.iter().map(|one| one.tip.as_str()).collect();
            lacking_commits(repository, target, &tips)?
        }
        done => done?,
    };
    Ok(OpenWork { branches, commits })
}

/// Returns the atoms that are not closed of which a branch has commits that the target lacks.
///
/// # Errors
/// If git or the store fails.
pub(crate) fn unfinished_below(
    store: &Store,
    repository: &Repository,
    target: &str,
    branch: (&str, &str),
) -> Result<Vec<WorkBelow>> {
    let open = find_open_work(store, repository, target, std::iter::empty())?;
    find_below(store, repository, target, &open, branch)
}

/// Returns those of which a branch has commits that the target lacks.
pub(super) fn find_below(
    store: &Store,
    repository: &Repository,
    target: &str,
    open: &OpenWork,
    (id, tip): (&str, &str),
) -> Result<Vec<WorkBelow>> {
    let mut found = Vec::new();
    if open.commits.is_empty() {
        return Ok(found);
    }
    let own: HashSet<String> = lacking_commits(repository, target, &[tip])?;
    if own.is_disjoint(&open.commits) {
        return Ok(found);
    }
    for one in open.branches.iter().filter(|one| one.atom != id) {
        if one.commits.get().is_none() {
            let _ = one.commits.set(one.own_commits(repository, target)?);
        }
        let mut commits = one.commits.get().into_iter().flatten();
        let Some(shared) = commits.find(|commit| own.contains(*commit)) else { continue };
        // One that is not closed may have gone on since its work landed.
        let shared = if one.base.is_some() { shared } else { &one.tip };
        // The commits are those of this branch, if the other builds on it.
        if ops::builds_on(store, &one.atom)?.iter().any(|below| below == id)
            // The branch of one that has landed was taken away.
            || one.is_merged && repository.tip_of(&one.atom)?.is_none()
            || repository.has_landed(target, &one.atom, shared)?
        {
            continue;
        }
        found.push(WorkBelow { atom_id: one.atom.clone(), state: one.state.clone() });
    }
    Ok(found)
}

impl OpenBranch {
    fn own_commits(&self, repository: &Repository, target: &str) -> Result<Vec<String>> {
        let Some(base) = &self.base else {
            return lacking_commits(repository, target, &[&self.tip]);
        };
        let words = ["rev-list", "--first-parent", &self.tip, "--not", target, base];
        Ok(repository.git().ask(&words)?.lines().map(str::to_owned).collect())
    }
}

/// The given commits that the target lacks, without commits that the repository does not have.
fn lacking_commits<C: FromIterator<String>>(
    repository: &Repository,
    target: &str,
    tips: &[&str],
) -> Result<C> {
    if tips.is_empty() {
        return Ok(C::from_iter([]));
    }
    let mut words = vec!["rev-list", "--ignore-missing"];
    words.extend(tips);
    words.extend(["--not", target]);
    Ok(repository.git().ask(&words)?.lines().map(str::to_owned).collect())
}
