//! Builds the base of a new branch: the finished work that the atom builds on and that has not
//! landed. The merge happens in memory and moves no reference, so the branch is made at the known
//! base or not at all.

use super::repository::Repository;
use super::request::WorktreeRequest;
use super::{GitError, Result};

/// Returns a commit that contains `base` and the branches of all dependencies. The nearest
/// dependency is merged first, since most others are then contained already.
///
/// # Errors
/// If two dependencies conflict, unless merging dependencies is the atom's own work; or if git
/// fails. Nothing is changed then.
pub(super) fn merge_dependencies(
    repository: &Repository,
    base: &str,
    wanted: &WorktreeRequest<'_>,
) -> Result<String> {
    let (mut top, mut with) = (base.to_owned(), Vec::new());
    for atom in unmerged_dependencies(repository, base, base, wanted.builds_on)? {
        let branch = repository.branch_of(&atom)?;
        let Some(tip) = repository.branch_tip(&branch)? else { continue };
        if repository.contains(&tip, &top)? {
            top = tip;
        } else if !repository.contains(&top, &tip)? {
            let message = format!("Join {branch}, which this builds on");
            top = match repository.merge_branch(&top, (&atom, &tip), &message)? {
                Ok(commit) => commit,
                Err(_) if wanted.joins => continue,
                Err(files) => {
                    let with = if with.is_empty() {
                        "what it begins at".to_owned()
                    } else {
                        with.join(", ")
                    };
                    return Err(GitError::MergeConflict { branch, with, files });
                }
            };
        }
        with.push(branch);
    }
    Ok(top)
}

/// Names the damaged branch that an error of git comes from: of the atom itself, or of work that it
/// builds on. Any other error stays as it is.
pub(super) fn name_damaged(
    repository: &Repository,
    wanted: &WorktreeRequest<'_>,
    error: GitError,
) -> GitError {
    let GitError::Failed { said, .. } = &error else { return error };
    let dependencies = wanted.builds_on.iter().map(String::as_str);
    for atom in dependencies.chain(wanted.parent).chain([wanted.atom]) {
        let Ok(branch) = repository.branch_of(atom) else { continue };
        let reads_all = |tip: &String| {
            // Git checks that each commit, folder and file is there.
            repository.git().ask(&["rev-list", "--objects", "--quiet", tip, "--not", "HEAD"])
        };
        let read =
            repository.branch_tip(&branch).and_then(|tip| tip.as_ref().map(reads_all).transpose());
        if read.is_err_and(|error| error.is_refusal()) {
            return GitError::Damaged { branch, said: said.clone() };
        }
    }
    error
}

/// Takes the shared commits of other machines on the branches of the atom, parent and dependencies.
///
/// # Errors
/// [`GitError::OnOtherHost`] if work that is needed lies on another host; [`GitError::Diverged`];
/// or if git fails. Returns what was set aside, in sentences.
pub(super) fn follow_shared(
    repository: &Repository,
    target: &str,
    wanted: &WorktreeRequest<'_>,
) -> Result<Vec<String>> {
    let dependencies = wanted.builds_on.iter().map(String::as_str);
    let mut told = Vec::new();
    for atom in dependencies.chain(wanted.parent).chain([wanted.atom]) {
        match (repository.follow_shared(atom, target), wanted.lost.iter().find(|l| l.atom == atom))
        {
            (Err(GitError::Diverged { branch }), Some(lost)) => {
                let Some(kept) = repository.set_lost_aside(lost)? else {
                    return Err(GitError::Diverged { branch });
                };
                told.push(format!(
                    "commits of {} on {branch}, which was lost, are set aside as {kept}, and the \
                     branch follows the remote",
                    lost.run
                ));
            }
            (done, _) => done?,
        }
    }
    for (atom, host) in wanted.elsewhere {
        if repository.find_shared(atom)?.is_none() && repository.tip_of(atom)?.is_none() {
            return Err(GitError::OnOtherHost { atom: atom.clone(), host: host.clone() });
        }
    }
    Ok(told)
}

/// Makes sure that the work of finished dependencies is on their branches.
///
/// # Errors
/// [`GitError::Astray`] if commits of a dependency were left elsewhere; or if git fails.
pub(super) fn ensure_on_branches(
    repository: &Repository,
    target: &str,
    builds_on: &[String],
) -> Result<()> {
    for atom in builds_on {
        let Some(left) = repository.resolve_commit(&format!("refs/el/astray/{atom}"))? else {
            continue;
        };
        let branch = repository.branch_of(atom)?;
        let is_there = match repository.branch_tip(&branch)? {
            Some(tip) => repository.contains(&tip, &left)?,
            None => false,
        };
        if !is_there && !repository.has_work(target, &left)? {
            return Err(GitError::Astray { atom: atom.clone(), branch });
        }
    }
    Ok(())
}

/// Returns the dependencies whose branches have work that neither `commit` nor `target` contains,
/// not even as other commits.
pub(super) fn unmerged_dependencies(
    repository: &Repository,
    commit: &str,
    target: &str,
    builds_on: &[String],
) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for atom in builds_on {
        let Some(tip) = repository.tip_of(atom)? else { continue };
        if !repository.has_landed(target, atom, &tip)? && !repository.has_work(commit, &tip)? {
            found.push(atom.clone());
        }
    }
    Ok(found)
}
