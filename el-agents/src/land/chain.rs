//! Puts branches on top of each other, in a scratch checkout or in memory alone.

use super::plan::{hold_refused, to_land};
use super::{LandError, LandItem, Result};
use crate::git::{GitError, JoinMode, Merged, Repository, ScratchCheckout};

/// A branch on top of all earlier branches of the chain.
#[derive(Debug)]
pub(super) struct Link {
    /// The index among the items.
    pub(super) item: usize,
    /// The commit that contains this branch and all earlier branches.
    pub(super) commit: String,
}

/// A branch in conflict with the chain below.
#[derive(Debug)]
pub(super) struct Conflict {
    /// The index among the items.
    pub(super) item: usize,
    pub(super) files: Vec<String>,
}

/// Joins branches. Without a scratch checkout it foretells a landing: what it makes has the files
/// of a landing, but not its commits.
#[derive(Debug)]
pub(super) struct ChainBuilder<'a> {
    pub(super) repository: &'a Repository,
    pub(super) scratch: Option<&'a ScratchCheckout>,
    pub(super) mode: JoinMode,
}

impl ChainBuilder<'_> {
    /// Puts each branch on top of the earlier branches. Leaves out a branch in conflict, and holds
    /// one that git refuses. `is_interrupted` is called before each branch.
    pub(super) fn build(
        &self,
        head: &str,
        items: &mut [LandItem],
        mut is_interrupted: impl FnMut() -> bool,
    ) -> Result<(Vec<Link>, Vec<Conflict>)> {
        let (mut chain, mut conflicts) = (Vec::new(), Vec::new());
        let mut top = head.to_owned();
        let mut joined: Vec<String> = Vec::new();
        for at in to_land(items) {
            if is_interrupted() {
                return Err(LandError::Interrupted);
            }
            let known: Vec<&str> = joined.iter().map(String::as_str).collect();
            match self.join_item(&top, &items[at], &known) {
                Ok(Ok(commit)) => {
                    top.clone_from(&commit);
                    joined.extend(items[at].tip.clone());
                    chain.push(Link { item: at, commit });
                }
                Ok(Err(files)) => conflicts.push(Conflict { item: at, files }),
                Err(error) => hold_refused(items, at, error)?,
            }
        }
        // A later branch may contain a branch in conflict, and resolve the conflict.
        let mut left = Vec::new();
        for conflict in conflicts {
            let (_, tip) = items[conflict.item].atom_and_tip();
            match self.repository.contains(&top, tip)? {
                true => chain.push(Link { item: conflict.item, commit: top.clone() }),
                false => left.push(conflict),
            }
        }
        Ok((chain, left))
    }

    /// `joined`: the tips of the earlier branches.
    fn join_item(&self, top: &str, item: &LandItem, joined: &[&str]) -> Result<Merged, GitError> {
        let (atom, tip) = item.atom_and_tip();
        let mut top = top.to_owned();
        // The newest revert is reverted first.
        for revert in &item.brings_back {
            let brought = match self.scratch {
                // Git writes the message.
                Some(scratch) => scratch.bring_back(&top, revert),
                None => self.repository.bring_back_in_memory(&top, revert),
            };
            match brought? {
                Ok(commit) => top = commit,
                conflict => return Ok(conflict),
            }
        }
        let has_landed = |top: &str| self.repository.has_landed(top, atom, tip);
        if !item.brings_back.is_empty() && has_landed(&top)? {
            return Ok(Ok(top));
        }
        let landed = self.repository.landed_below(&top, (atom, tip), joined)?;
        if let Some(scratch) = self.scratch
            && self.mode == JoinMode::Rebase
            && landed.len() <= 1
        {
            let since = landed.first().map(String::as_str);
            // A rebase would lose merges in the branch, such as a resolved conflict.
            let range = format!("{}..{tip}", since.unwrap_or(&top));
            let words = ["rev-list", "--merges", "--max-count=1", &range, "--not", &top];
            if self.repository.git().ask(&words)?.is_empty() {
                let rebased = scratch.rebase(&top, since, tip)?;
                // Commits one by one may meet a conflict that the whole does not have.
                if rebased.is_ok() {
                    return Ok(rebased);
                }
            }
        }
        let title = item.title.as_deref().unwrap_or_default();
        let message = format!("Land {atom}: {title}");
        match self.repository.merge_in_memory(&top, tip, &landed, &message)? {
            // The target had its own part already, and got the rest with an earlier branch.
            Err(_) if has_landed(&top)? => Ok(Ok(top)),
            merged => Ok(merged),
        }
    }
}
