//! Predicts what a landing would come to, in memory.

use super::carry_out::{begin_landing, hold_items};
use super::plan::to_land;
use super::{LandError, LandItem, LandOutcome, LandSettings};
use crate::git::{GitError, Merged, Repository, find_files_in_the_way};

/// Predicts conflicts by merging one branch after another in memory. Nothing is changed.
///
/// # Errors
/// If git fails.
pub fn predict_conflicts(
    repository: &Repository,
    settings: &LandSettings,
    onto: &str,
    items: &mut [LandItem],
) -> Result<(), LandError> {
    let Some((head, todo)) = begin_landing(repository, settings, onto, items)? else {
        return Ok(());
    };
    let mut foreseen = foresee_all(repository, &head, items, &todo)?;
    // A later branch may remove files that an earlier one puts in the way of the files here.
    if find_files_in_the_way(repository, onto, &head, &foreseen.top)?.is_some() {
        for (at, [before, after]) in &foreseen.links {
            if let Some(why) = find_files_in_the_way(repository, onto, before, after)? {
                hold_items(items, &[*at], &why);
            }
        }
        foreseen = foresee_all(repository, &head, items, &to_land(items))?;
    }
    for (at, files) in foreseen.conflicts {
        // A later branch that contains this one may resolve the conflict.
        if !repository.contains(&foreseen.top, items[at].tip.as_deref().unwrap_or_default())? {
            items[at].outcome = LandOutcome::Conflict;
            items[at].detail = Some(files.join("\n"));
            items[at].files = files;
        }
    }
    Ok(())
}

/// The foreseen result of a landing.
struct Foreseen {
    top: String,
    /// The index of each item that could be joined, with the commits before and after that.
    links: Vec<(usize, [String; 2])>,
    /// The index of each item in conflict, with the files.
    conflicts: Vec<(usize, Vec<String>)>,
}

/// Puts the branches on top of each other in memory.
fn foresee_all(
    repository: &Repository,
    head: &str,
    items: &[LandItem],
    todo: &[usize],
) -> Result<Foreseen, GitError> {
    let top = head.to_owned();
    let mut foreseen = Foreseen { top, links: Vec::new(), conflicts: Vec::new() };
    for &at in todo {
        let tip = items[at].tip.as_deref().unwrap_or_default();
        match foresee(repository, &foreseen.top, &items[at], tip)? {
            Ok(commit) => {
                let before = std::mem::replace(&mut foreseen.top, commit.clone());
                foreseen.links.push((at, [before, commit]));
            }
            Err(files) => foreseen.conflicts.push((at, files)),
        }
    }
    Ok(foreseen)
}

/// Puts a branch on top of a target in memory, after the reverts of its reverts.
fn foresee(
    repository: &Repository,
    top: &str,
    item: &LandItem,
    tip: &str,
) -> Result<Merged, GitError> {
    let mut top = top.to_owned();
    for revert in &item.brings_back {
        match repository.bring_back_in_memory(&top, revert)? {
            Ok(commit) => top = commit,
            conflict => return Ok(conflict),
        }
    }
    let has_landed = |top: &str| repository.has_landed(top, &item.atom_id, tip);
    if !item.brings_back.is_empty() && has_landed(&top)? {
        return Ok(Ok(top));
    }
    match repository.merge_branch(&top, (&item.atom_id, tip), "Foreseen")? {
        Err(_) if has_landed(&top)? => Ok(Ok(top)),
        merged => Ok(merged),
    }
}
