//! Work that builds on other work waits until the other is merged, or has the branch of the other
//! as base, so that each shows only its own difference.

use el_core::model::PullRequest;
use el_core::{Store, ops};

use super::{PullRun, Result};
use crate::forge::{Forge, RepoName};
use crate::land::{AtomBranch, LandItem, LandOutcome};

/// The relation of a branch to the open work that it builds on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stacked {
    /// It waits for the merge, for the given reason.
    Waits(String),
    /// The branch of this atom is its base.
    On(String),
}

/// Finds the branches that have commits of an atom whose work the base lacks. Those that wait are
/// taken out of the plan, and so are those with work that is still open, unless it is wanted, too.
/// Returns the index of each of the others.
pub(super) fn find_stacked(
    run: &PullRun<'_>,
    store: &Store,
    (branches, wanted): (&[AtomBranch], Option<&[String]>),
    items: &mut [LandItem],
) -> Result<Vec<(usize, Stacked)>> {
    let repository = run.repository;
    let mut found = Vec::new();
    for (at, item) in items.iter_mut().enumerate() {
        let Some(tip) = item.tip.clone().filter(|_| item.outcome == LandOutcome::ToLand) else {
            continue;
        };
        let builds_on = ops::builds_on(store, &item.atom_id)?;
        let branch = branches.iter().find(|branch| branch.atom_id == item.atom_id);
        let open_work = branch.into_iter().flat_map(|branch| &branch.work_below);
        item.wait_for(open_work.filter(|one| !builds_on.contains(&one.atom_id)), wanted, "pr");
        if item.outcome == LandOutcome::Waits {
            continue;
        }
        let mut open = Vec::new();
        for below in builds_on {
            let Some(other) = repository.tip_of(&below)? else { continue };
            if !repository.has_landed(run.base_commit, &below, &other)?
                && shares_work(run, &tip, &other)?
            {
                open.push((below, other));
            }
        }
        if open.is_empty() {
            continue;
        }
        let tips: Vec<String> = open.iter().map(|(_, tip)| tip.clone()).collect();
        // Of several in a row, the last has the work of all.
        let last = repository.independent_commits(&tips)?;
        let is_fork = !run.place.head.owner.eq_ignore_ascii_case(&run.place.repo.owner);
        let base = open.iter().find(|(_, tip)| last.len() == 1 && last.first() == Some(tip));
        match base.filter(|_| run.options.stacks && !is_fork) {
            Some((below, _)) => found.push((at, Stacked::On(below.clone()))),
            None => {
                let names: Vec<&str> = open.iter().map(|(below, _)| below.as_str()).collect();
                let why = match names.as_slice() {
                    [one] => format!("it builds on {one}, which is not merged yet"),
                    all => format!("it builds on work that is not merged yet: {}", all.join(", ")),
                };
                found.push((at, Stacked::Waits(why)));
                item.outcome = LandOutcome::Held;
            }
        }
    }
    Ok(found)
}

/// The branch of the open pull request of the atom below.
pub(super) fn stack_base(run: &PullRun<'_>, store: &Store, below: &str) -> Result<Option<String>> {
    let last = ops::pull_requests_of(store, below)?.pop();
    let is_base = |one: &PullRequest| {
        one.state.is_live() && one.number.is_some() && one.repo == run.place.repo.to_string()
    };
    Ok(last.filter(is_base).map(|one| one.head_ref))
}

/// Gives the pull requests that have this one's branch as their base the base of this one, before
/// it is merged: where the branch is deleted then, they would be closed for good.
pub(super) fn retarget_children(
    store: &Store,
    forge: &dyn Forge,
    repo: &RepoName,
    record: &PullRequest,
) -> Result<()> {
    for child in ops::pull_requests(store, true)? {
        if let Some(number) = child.number
            && (&child.repo, &child.base_ref) == (&record.repo, &record.head_ref)
        {
            forge.edit_request(repo, number, Some(&record.base_ref), None)?;
        }
    }
    Ok(())
}

/// Returns true if both commits have work that the base has not as such.
fn shares_work(run: &PullRun<'_>, one: &str, other: &str) -> Result<bool> {
    // Where the base was taken into both, the nearest common commits are several.
    let common = run.repository.git().ask_optional(&["merge-base", "--all", one, other])?;
    for common in common.unwrap_or_default().lines() {
        if !run.repository.contains(run.base_commit, common)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Takes the base into branches that build on work which the base has as other commits, so that
/// their difference is their own, and into those that have to be up to date with it. The branch
/// moves up; with `--dry-run` only the plan does.
pub(super) fn step_over(run: &PullRun<'_>, store: &Store, items: &mut [LandItem]) -> Result<()> {
    let repository = run.repository;
    for item in items.iter_mut().filter(|item| item.outcome == LandOutcome::ToLand) {
        let (Some(tip), Some(branch)) = (item.tip.clone(), item.branch.clone()) else { continue };
        let landed = repository.landed_below(run.base_commit, (&item.atom_id, &tip), &[])?;
        let last = ops::pull_requests_of(store, &item.atom_id)?.pop();
        let is_behind = last.is_some_and(|one| one.waits_for() == Some("behind"));
        if landed.is_empty() && !is_behind {
            continue;
        }
        let message = format!("Merge {} into {branch}", run.place.base_name());
        // A conflict is found again, and told, by the check of the branch.
        let Ok(commit) = repository.take_in(&tip, run.base_commit, &landed, &message)? else {
            continue;
        };
        if !run.options.dry_run {
            repository.move_branch_up(&branch, &tip, &commit)?;
        }
        item.tip = Some(commit);
    }
    Ok(())
}
