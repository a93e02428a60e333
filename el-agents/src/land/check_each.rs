//! Checks each branch alone on a base that others move, as for a pull request.

use std::time::Duration;

use el_core::Store;

use super::chain::Conflict;
use super::check::CheckRunner;
use super::commit_check::CommitCheck;
use super::plan::to_land;
use super::{LandContext, LandError, LandItem, LandOutcome, Result, conflict_atom};
use crate::git::{Repository, ScratchCheckout};

/// The commit that branches are tried on.
#[derive(Debug, Clone, Copy)]
pub struct Base<'a> {
    pub commit: &'a str,
    /// For sentences: `origin/main`.
    pub name: &'a str,
}

/// Finds the branches that are in conflict with the base, in memory.
///
/// # Errors
/// If git fails.
pub fn predict_each(repository: &Repository, base: Base<'_>, items: &mut [LandItem]) -> Result<()> {
    for at in to_land(items) {
        let merged = repository.merge_branch(base.commit, items[at].atom_and_tip(), "Predicted")?;
        if let Err(files) = merged {
            items[at].set_conflict(files);
        }
    }
    Ok(())
}

/// Files an atom for each branch in conflict, and runs the check on the others. The caller holds
/// [`super::lock_landing`].
///
/// # Errors
/// If git, the store or the check command fails, or the base alone fails the check.
pub fn check_each(
    store: &mut Store,
    repository: &Repository,
    context: &LandContext<'_>,
    base: Base<'_>,
    items: &mut [LandItem],
) -> Result<()> {
    predict_each(repository, base, items)?;
    let conflicts = items
        .iter_mut()
        .enumerate()
        .filter(|(_, item)| item.outcome == LandOutcome::Conflict)
        .map(|(at, item)| Conflict { item: at, files: std::mem::take(&mut item.files) })
        .collect();
    conflict_atom::file_all(store, &context.ctx(), repository, base.name, items, conflicts)?;
    let todo = to_land(items);
    if todo.is_empty() || context.settings.check.is_empty() {
        return Ok(());
    }
    let runner = CheckRunner::new(context, format!("{}:land", context.tracker_name()))?;
    let folder = context.scratch_folder("landing", "")?;
    let scratch = ScratchCheckout::new(repository, &folder, base.commit)?;
    let silent = |_: &str, _: &str, _: Duration| {};
    let mut check = CommitCheck::new(context, repository, runner, &silent);
    for at in todo {
        if check.runner.is_interrupted() {
            return Err(LandError::Interrupted);
        }
        let Ok(merged) =
            repository.merge_branch(base.commit, items[at].atom_and_tip(), "Predicted")?
        else {
            continue;
        };
        let Some(output) = check.find_failure(&scratch, &merged)? else { continue };
        if let Some(output) = check.find_failure(&scratch, base.commit)? {
            return Err(LandError::TargetFails { onto: base.name.to_owned(), output });
        }
        items[at].outcome = LandOutcome::CheckFailed;
        items[at].detail = Some(output);
    }
    Ok(())
}
