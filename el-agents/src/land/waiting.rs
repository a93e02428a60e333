//! The branches that wait to be landed, for the boards. The rules are those of `el land`, within
//! the time that a board can wait.

use std::time::{Duration, Instant};

use el_core::Store;
use el_core::model::Status;
use el_core::ops::{self, BranchToLand};

use super::branch::Search;
use super::plan::{LandItem, plan_landing};
use super::{LandError, LandOutcome, LandSettings, Result};
use crate::git::Repository;

/// The longest that a board waits for git.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most branches that are looked at.
const MOST: usize = 200;

/// Returns the closed atoms whose branches the target lacks: those that `el land --all` would
/// bring in, and those that it would leave because of their worktrees. A branch that git cannot be
/// asked about in time is left out.
///
/// # Errors
/// If git or the store fails.
pub fn branches_to_land(
    store: &Store,
    repository: &Repository,
    settings: &LandSettings,
    target: &str,
) -> Result<Vec<BranchToLand>> {
    let until = Instant::now() + PATIENCE;
    let repository = &repository.with_deadline(until);
    let known = repository.known_tip(target)?;
    let lacking = format!("--no-merged={}", known.as_deref().unwrap_or(target));
    let form = "--format=%(refname:lstrip=2) %(objectname)";
    let names = repository.git().ask(&["for-each-ref", form, &lacking, "refs/heads"])?;
    let search = Search::new(store, repository, settings, known)?;
    let mut branches = Vec::new();
    for line in names.lines().take(MOST) {
        let Some((name, tip)) = line.split_once(' ') else { continue };
        let Some(id) = repository.atom_of(name) else { continue };
        let is_closed = |atom: el_core::model::Atom| {
            atom.id == id && atom.status == Status::Closed && atom.run_id.is_none()
        };
        // The plan would leave the branch out, so git need not be asked.
        if search.is_pulled(id, tip) || !ops::get_atom(store, id).is_ok_and(is_closed) {
            continue;
        }
        match search.atom_branch(id, name.to_owned(), tip.to_owned()) {
            Ok(branch) => branches.push(branch),
            Err(_) if Instant::now() > until => break,
            Err(LandError::Git(error)) if error.is_refusal() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(plan_landing(&branches, None).iter().filter_map(waiting_branch).collect())
}

fn waiting_branch(item: &LandItem) -> Option<BranchToLand> {
    let obstacle = match item.outcome {
        LandOutcome::ToLand => None,
        LandOutcome::Uncommitted => Some("its worktree has changes that no commit has"),
        LandOutcome::Astray => Some("not all of its commits are on its branch here"),
        _ => return None,
    };
    let (atom_id, title) = (item.atom_id.clone(), item.title.clone()?);
    Some(BranchToLand { atom_id, title, closed_at: item.closed_at?, obstacle })
}
