//! Puts branches on top of each other in a scratch checkout.

use super::{LandError, LandItem};
use crate::git::{GitError, JoinMode, JoinResult, Repository, ScratchCheckout};

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

/// Joins branches.
#[derive(Debug)]
pub(super) struct ChainBuilder<'a> {
    pub(super) repository: &'a Repository,
    pub(super) scratch: &'a ScratchCheckout,
    pub(super) mode: JoinMode,
}

impl ChainBuilder<'_> {
    /// Puts each branch on top of the earlier branches, and leaves out a branch in conflict.
    /// `is_interrupted` is called before each branch.
    pub(super) fn build(
        &self,
        head: &str,
        items: &[LandItem],
        todo: &[usize],
        mut is_interrupted: impl FnMut() -> bool,
    ) -> Result<(Vec<Link>, Vec<Conflict>), LandError> {
        let (mut chain, mut conflicts) = (Vec::new(), Vec::new());
        let mut top = head.to_owned();
        for &at in todo {
            if is_interrupted() {
                return Err(LandError::Interrupted);
            }
            match self.join_item(&top, &items[at])? {
                JoinResult::Joined(commit) => {
                    top.clone_from(&commit);
                    chain.push(Link { item: at, commit });
                }
                JoinResult::Conflict(files) => conflicts.push(Conflict { item: at, files }),
            }
        }
        // A later branch may contain a branch in conflict, and resolve the conflict.
        let mut left = Vec::new();
        for conflict in conflicts {
            let tip = items[conflict.item].tip.as_deref().unwrap_or_default();
            match self.repository.contains(&top, tip)? {
                true => chain.push(Link { item: conflict.item, commit: top.clone() }),
                false => left.push(conflict),
            }
        }
        Ok((chain, left))
    }

    fn join_item(&self, top: &str, item: &LandItem) -> Result<JoinResult, GitError> {
        let tip = item.tip.as_deref().unwrap_or_default();
        let mut top = top.to_owned();
        // The newest revert is reverted first.
        for revert in &item.brings_back {
            match self.scratch.bring_back(&top, revert)? {
                JoinResult::Joined(commit) => top = commit,
                conflict @ JoinResult::Conflict(_) => return Ok(conflict),
            }
        }
        let title = item.title.as_deref().unwrap_or_default();
        let message = format!("Land {}: {title}", item.atom_id);
        let since = self.own_base(&top, &item.atom_id, tip)?;
        // A rebase would lose merges in the branch, such as a resolved conflict.
        let range = format!("{}..{tip}", since.as_ref().unwrap_or(&top));
        let words = ["rev-list", "--merges", "--max-count=1", &range, "--not", &top];
        let has_merges = !self.repository.git().ask(&words)?.is_empty();
        let mode = if has_merges { JoinMode::Merge } else { self.mode };
        self.scratch.join_branch(&top, since.as_deref(), tip, mode, &message)
    }

    /// Returns the base of a branch if the target has the content of the base as other commits. The
    /// work of others below the base is then not put on top a second time. `None`: the branch
    /// begins at the first commit that `top` does not have.
    fn own_base(&self, top: &str, atom: &str, tip: &str) -> Result<Option<String>, GitError> {
        let Some(base) = self.repository.base_of(atom)? else { return Ok(None) };
        let is_other =
            self.repository.contains(tip, &base)? && !self.repository.contains(top, &base)?;
        Ok(if is_other && self.repository.has_work(top, &base)? { Some(base) } else { None })
    }
}
