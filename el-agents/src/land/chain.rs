//! Branches put on top of each other, in a checkout of our own.

use super::{LandError, LandItem};
use crate::git::{GitError, JoinResult, Mode, Repository, ScratchCheckout};

/// One branch on top of those before it.
#[derive(Debug)]
pub(super) struct Link {
    /// Its index among the items.
    pub(super) item: usize,
    /// The commit that has it and all before it.
    pub(super) commit: String,
}

/// A branch that does not fit on those before it.
#[derive(Debug)]
pub(super) struct Conflict {
    /// Its index among the items.
    pub(super) item: usize,
    pub(super) files: Vec<String>,
}

/// Joins branches.
#[derive(Debug)]
pub(super) struct ChainBuilder<'a> {
    pub(super) repository: &'a Repository,
    pub(super) scratch: &'a ScratchCheckout,
    pub(super) mode: Mode,
}

impl ChainBuilder<'_> {
    /// Puts each branch on top of those before it; a branch in conflict is left out.
    /// `is_interrupted` is asked before each.
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
            match self.join(&top, &items[at])? {
                JoinResult::Joined(commit) => {
                    top.clone_from(&commit);
                    chain.push(Link { item: at, commit });
                }
                JoinResult::Conflict(files) => conflicts.push(Conflict { item: at, files }),
            }
        }
        // A branch in conflict by itself comes with a later one that resolved the conflict.
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

    fn join(&self, top: &str, item: &LandItem) -> Result<JoinResult, GitError> {
        let tip = item.tip.as_deref().unwrap_or_default();
        let mut top = top.to_owned();
        // The last revert is taken back first.
        for revert in &item.brings_back {
            match self.scratch.bring_back(&top, revert)? {
                JoinResult::Joined(commit) => top = commit,
                conflict @ JoinResult::Conflict(_) => return Ok(conflict),
            }
        }
        let title = item.title.as_deref().unwrap_or_default();
        let message = format!("Land {}: {title}", item.atom_id);
        let since = self.own_base(&top, &item.atom_id, tip)?;
        // A rebase would lose a merge in the branch, such as one that resolved a conflict.
        let range = format!("{}..{tip}", since.as_ref().unwrap_or(&top));
        let words = ["rev-list", "--merges", "--max-count=1", &range, "--not", &top];
        let has_merges = !self.repository.git().ask(&words)?.is_empty();
        let mode = if has_merges { Mode::Merge } else { self.mode };
        self.scratch.join(&top, since.as_deref(), tip, mode, &message)
    }

    /// Where a branch's own commits begin, if what it began with was brought in as other commits:
    /// the work of others that it builds on is not put on top a second time. `None`: at whatever
    /// `top` does not have.
    fn own_base(&self, top: &str, atom: &str, tip: &str) -> Result<Option<String>, GitError> {
        let Some(base) = self.repository.base_of(atom)? else { return Ok(None) };
        let is_other =
            self.repository.contains(tip, &base)? && !self.repository.contains(top, &base)?;
        Ok(if is_other && self.repository.has_work(top, &base)? { Some(base) } else { None })
    }
}
