//! Merges the target into a branch that builds on work which the target got as a squash.
//!
//! A plain merge would bring that work a second time, with a conflict where either side changed the
//! same lines since. Stepping over merges the target up to the squash, then records the squash as
//! merged without its changes, which the branch has already, and then merges the rest. The result
//! is that of `git rebase --onto`, but the branch's commits stay, so no push has to be forced.

use super::foundation::merge_commits;
use super::{GitError, MergedPull, Repository};

/// The result of stepping over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepOver {
    /// The commit that has the branch and the target.
    Joined(String),
    /// The files in conflict.
    Conflict(Vec<String>),
    /// A squash brought more than the head of its pull request, such as the resolution of a
    /// conflict. Leaving out its changes would lose that.
    NotAlone(MergedPull),
}

impl Repository {
    /// Merges a target into a branch's tip, stepping over the squashes of work on which the branch
    /// builds. Moves no reference.
    ///
    /// # Errors
    /// If git fails otherwise.
    pub fn step_over_squashes(
        &self,
        tip: &str,
        squashes: &[MergedPull],
        target: &str,
        message: &str,
    ) -> Result<StepOver, GitError> {
        let git = self.git().without_hooks().as_committer();
        let mut top = tip.to_owned();
        for pull in self.oldest_first(squashes, target)? {
            // Only changes that the branch has may be left out.
            if self.contains(&top, &pull.commit)? || !self.contains(&top, &pull.head)? {
                continue;
            }
            let before = format!("{}^1", pull.commit);
            if !self.brings_just_head(&before, pull)? {
                return Ok(StepOver::NotAlone(pull.clone()));
            }
            let before = self.git().ask(&["rev-parse", &before])?;
            if !self.contains(&top, &before)? {
                top = match merge_commits(&git, &top, &before, message)? {
                    Ok(commit) => commit,
                    Err(files) => return Ok(StepOver::Conflict(files)),
                };
            }
            let tree = format!("{top}^{{tree}}");
            let words = ["commit-tree", &tree, "-p", &top, "-p", &pull.commit, "-m", message];
            top = git.ask(&words)?;
        }
        if self.contains(&top, target)? {
            return Ok(StepOver::Joined(top));
        }
        Ok(match merge_commits(&git, &top, target, message)? {
            Ok(commit) => StepOver::Joined(commit),
            Err(files) => StepOver::Conflict(files),
        })
    }

    /// Returns the squashes that a target contains, oldest first.
    fn oldest_first<'a>(
        &self,
        squashes: &'a [MergedPull],
        target: &str,
    ) -> Result<Vec<&'a MergedPull>, GitError> {
        let mut found = Vec::new();
        for pull in squashes {
            if self.contains(target, &pull.commit)? {
                let words = ["rev-list", "--count", "--first-parent", &pull.commit];
                let depth: u64 = self.git().ask(&words)?.parse().unwrap_or(0);
                found.push((depth, pull));
            }
        }
        found.sort_by_key(|(depth, _)| *depth);
        Ok(found.into_iter().map(|(_, pull)| pull).collect())
    }

    /// Returns true if a merge added exactly the head of its pull request to `before`.
    fn brings_just_head(&self, before: &str, pull: &MergedPull) -> Result<bool, GitError> {
        let words = ["merge-tree", "--write-tree", "--no-messages", before, &pull.head];
        let merged = self.git().ask_optional(&words)?;
        let tree = self.git().ask(&["rev-parse", &format!("{}^{{tree}}", pull.commit)])?;
        Ok(merged.as_deref() == Some(tree.as_str()))
    }
}

#[cfg(test)]
#[path = "step_over_tests.rs"]
mod tests;
