//! Work that builds on other work waits until the other is merged, so that its difference is its
//! own.

use el_core::Store;
use el_core::ops;

use super::push::move_up;
use super::{PullError, PullRun};
use crate::git::{MergedPull, StepOver};
use crate::land::{LandItem, LandOutcome};

/// Finds the branches that have commits of an atom whose work the base lacks. They are taken out of
/// the plan; returns the index and the reason of each.
pub(super) fn hold_stacked(
    run: &PullRun<'_>,
    store: &Store,
    items: &mut [LandItem],
) -> Result<Vec<(usize, String)>, PullError> {
    let repository = run.repository;
    let mut waits = Vec::new();
    for (at, item) in items.iter_mut().enumerate() {
        let Some(tip) = item.tip.clone().filter(|_| item.outcome == LandOutcome::ToLand) else {
            continue;
        };
        for below in ops::builds_on(store, &item.atom_id)? {
            let Some(other) = repository.tip_of(&below)? else { continue };
            if repository.has_landed(run.base_commit, &below, &other)? {
                continue;
            }
            if shares_work(run, &tip, &other)? {
                waits.push((at, format!("it builds on {below}, which is not merged yet")));
                item.outcome = LandOutcome::Held;
                break;
            }
        }
    }
    Ok(waits)
}

/// Returns true if both commits have work that the base has not as such.
fn shares_work(run: &PullRun<'_>, one: &str, other: &str) -> Result<bool, PullError> {
    let common = run.repository.git().ask_optional(&["merge-base", one, other])?;
    let is_in_base = |common| run.repository.contains(run.base_commit, common);
    Ok(common.as_deref().map(is_in_base).transpose()?.is_some_and(|is_in_base| !is_in_base))
}

/// Takes the base into branches that build on work which the base got as a squash, so that their
/// difference is their own. The branch moves up; with `--dry-run` only the plan does.
pub(super) fn step_over(run: &PullRun<'_>, items: &mut [LandItem]) -> Result<(), PullError> {
    let repository = run.repository;
    let mut squashes = None;
    for item in items.iter_mut().filter(|item| item.outcome == LandOutcome::ToLand) {
        let (Some(tip), Some(branch)) = (item.tip.clone(), item.branch.clone()) else { continue };
        let all = match &squashes {
            Some(all) => all,
            None => squashes.insert(merged_into_base(run)?),
        };
        let mut below = Vec::new();
        // What a review asked for may have come after this branch had begun to build on the other.
        let mut whole = tip.clone();
        for pull in all {
            if !repository.contains(&whole, &pull.commit)?
                && shares_work(run, &whole, &pull.head)?
                && let Ok(merged) = repository.merge_in_memory(&whole, &pull.head)?
            {
                whole = merged;
                below.push(pull.clone());
            }
        }
        if below.is_empty() {
            continue;
        }
        let message = format!("Merge {} into {branch}", run.place.base_name());
        let result = repository.step_over_squashes(&whole, &below, run.base_commit, &message)?;
        // A conflict is found again, and told, by the check of the branch.
        let StepOver::Joined(commit) = result else { continue };
        if !run.options.dry_run {
            move_up(repository, &branch, &tip, &commit)?;
        }
        item.tip = Some(commit);
    }
    Ok(())
}

/// The merged pull requests of all atoms that the base has as other commits.
fn merged_into_base(run: &PullRun<'_>) -> Result<Vec<MergedPull>, PullError> {
    let mut found = Vec::new();
    for atom in run.repository.atoms_with_branch()? {
        for pull in run.repository.merged_pulls(&atom)? {
            if run.repository.contains(run.base_commit, &pull.commit)?
                && !run.repository.contains(run.base_commit, &pull.head)?
            {
                found.push(pull);
            }
        }
    }
    Ok(found)
}
