//! Merges commits in memory. No reference names the result.
//!
//! A target may have work that a branch builds on as other commits: as the squash of a pull
//! request, or as copies. A plain merge would bring that work a second time, with a conflict where
//! either side changed the same lines since, and again where the target took it back. The merge
//! then has the landed work as its base, so that it brings the branch's own difference alone, as
//! `git rebase --onto` does. [`Repository::landed_below`] finds such work.

use super::call::failed_call;
use super::{Git, Repository, Result};

/// The message of [`Repository::stand_in`], as one word: git is asked once for each of them.
const STAND_IN: &str = "-mStand-in";

/// A commit or a tree, or the files in conflict.
pub type Merged = Result<String, Vec<String>>;

impl Repository {
    /// Merges a branch's tip into a target. Returns the merge commit, or the files in conflict.
    /// Nothing to bring: the target. `landed`: what [`Self::landed_below`] found.
    ///
    /// # Errors
    /// If git fails.
    pub fn merge_in_memory(
        &self,
        target: &str,
        tip: &str,
        landed: &[String],
        message: &str,
    ) -> Result<Merged> {
        if self.contains(target, tip)? {
            return Ok(Ok(target.to_owned()));
        }
        let tree = match self.merged_tree(target, tip, landed)? {
            Ok(tree) => tree,
            Err(files) => return Ok(Err(files)),
        };
        if !landed.is_empty() && tree == self.tree_of(target)? {
            return Ok(Ok(target.to_owned()));
        }
        self.commit_tree(&tree, &[target, tip], message).map(Ok)
    }

    /// Reverts a revert. Returns the commit on top of `target`, or the files in conflict.
    ///
    /// # Errors
    /// If git fails.
    pub fn bring_back_in_memory(&self, target: &str, revert: &str) -> Result<Merged> {
        let before = self.tree_of(&format!("{revert}^"))?;
        let undo = self.stand_in(&before, &[revert])?;
        match self.merged_tree(target, &undo, &[])? {
            Ok(tree) => self.commit_tree(&tree, &[target], "Reapply").map(Ok),
            Err(files) => Ok(Err(files)),
        }
    }

    /// Merges a target into a branch's tip. The result moves the branch up: no push is forced, and
    /// reviewers' comments stay.
    ///
    /// # Errors
    /// If git fails.
    pub(crate) fn take_in(
        &self,
        tip: &str,
        target: &str,
        landed: &[String],
        message: &str,
    ) -> Result<Merged> {
        if self.contains(tip, target)? {
            return Ok(Ok(tip.to_owned()));
        }
        match self.merged_tree(target, tip, landed)? {
            Ok(tree) => self.commit_tree(&tree, &[tip, target], message).map(Ok),
            Err(files) => Ok(Err(files)),
        }
    }

    /// The tree of a merge, or the files in conflict.
    pub(super) fn merged_tree(&self, target: &str, tip: &str, landed: &[String]) -> Result<Merged> {
        let git = self.git();
        if landed.is_empty() {
            return merge_trees(git, target, tip);
        }
        // Git takes the nearest common commits as the base: those of a commit with the target's
        // files that comes after the landed work.
        let mut parents = landed.to_vec();
        let common = git.ask_optional(&["merge-base", "--all", target, tip])?.unwrap_or_default();
        parents.extend(common.lines().map(str::to_owned));
        let parents = self.independent_commits(&parents)?;
        let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
        let stand_in = self.stand_in(&format!("{target}^{{tree}}"), &parents)?;
        merge_trees(git, &stand_in, tip)
    }

    pub(super) fn tree_of(&self, commit: &str) -> Result<String> {
        self.git().ask(&["rev-parse", &format!("{commit}^{{tree}}")])
    }

    /// A commit for a side or a base of a merge, which no reference will name. The same files and
    /// parents give the same one.
    pub(super) fn stand_in(&self, tree: &str, parents: &[&str]) -> Result<String> {
        let mut words = vec!["commit-tree", tree, STAND_IN];
        parents.iter().for_each(|parent| words.extend(["-p", parent]));
        self.git().as_el().ask(&words)
    }

    fn commit_tree(&self, tree: &str, parents: &[&str], message: &str) -> Result<String> {
        let mut words = vec!["commit-tree", tree, "-m", message];
        parents.iter().for_each(|parent| words.extend(["-p", parent]));
        self.git().as_committer().ask(&words)
    }
}

fn merge_trees(git: &Git, ours: &str, theirs: &str) -> Result<Merged> {
    let words = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs];
    let ran = git.run_once(&words, None, usize::MAX)?;
    // The output has the id of a tree, and after a conflict the names of the files.
    let said = String::from_utf8_lossy(&ran.stdout);
    let mut said = said.split('\0').filter(|word| !word.is_empty());
    let tree = said
        .next()
        .filter(|word| word.len() >= 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let files: Vec<String> = said.map(str::to_owned).collect();
    match tree {
        Some(tree) if ran.status.success() => Ok(Ok(tree.to_owned())),
        Some(_) if !files.is_empty() => Ok(Err(files)),
        _ => Err(failed_call(&words, &ran)),
    }
}
