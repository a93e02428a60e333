//! Tells whether a target has, or had, the work of a branch.

use super::{Repository, Result};

/// The work of a branch that a target has. The target may have taken the work out again:
/// [`Repository::find_reverts`] tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landing {
    /// It has not got the work.
    Missing,
    /// It has not got all of the work, but changed the same files.
    Partial,
    /// It has the branch's own commits.
    Contained,
    /// These commits brought the work, according to notes. None: it landed with a branch above.
    Noted(Vec<String>),
    /// It has copies of the commits.
    Copied,
    /// This commit brought exactly the work, as a squash does.
    Squashed(String),
    /// A merge of the branch would bring nothing.
    Empty,
}

impl Landing {
    /// The target got all of the work.
    pub fn has_landed(&self) -> bool {
        !matches!(self, Landing::Missing | Landing::Partial)
    }
}

impl Repository {
    /// Returns true if the target has the work of an atom's branch, or had it before a revert.
    ///
    /// # Errors
    /// If git fails.
    pub fn has_landed(&self, target: &str, atom: &str, tip: &str) -> Result<bool> {
        Ok(self.find_landing(target, atom, tip)?.has_landed())
    }

    /// Finds how the target got the work of an atom's branch. A note alone proves nothing: the
    /// target may be another branch, or have been reset since.
    ///
    /// # Errors
    /// If git fails.
    pub fn find_landing(&self, target: &str, atom: &str, tip: &str) -> Result<Landing> {
        if self.contains(target, tip)? {
            return Ok(Landing::Contained);
        }
        let noted = self.noted_landings(target, atom, tip)?;
        if !noted.is_empty() {
            return Ok(Landing::Noted(noted));
        }
        let touching = self.touching_work(target, tip)?;
        if touching.changes && !touching.is_any {
            return Ok(Landing::Missing);
        }
        if self.has_copies(target, tip, self.base_of(atom)?.as_deref())? {
            return Ok(Landing::Copied);
        }
        let below = self.landed_below(target, (atom, tip), &[])?;
        if let Some(squash) = self.squash_among(&touching.candidates, tip, &below)? {
            return Ok(Landing::Squashed(squash));
        }
        if let Some(above) = self.landing_above(target, tip)? {
            return Ok(above);
        }
        // A plain merge brings nothing, too, where the branch takes out what is below it.
        let is_empty = self.is_merge_empty(target, tip)?
            && (below.is_empty()
                || self.merged_tree(target, tip, &below)? == Ok(self.tree_of(target)?))
            && !self.changes_what_comes(target, (atom, tip), &below)?;
        Ok(if is_empty { Landing::Empty } else { Landing::Partial })
    }

    /// The commits of the target that brought this tip of the branch, by el's notes.
    fn noted_landings(&self, target: &str, atom: &str, tip: &str) -> Result<Vec<String>> {
        let notes = self.refs_below(&format!("refs/el/brought/{atom}/{tip}/"))?;
        let mut noted: Vec<String> = notes.into_iter().map(|(_, at)| at).collect();
        for pull in self.merged_pulls(atom)? {
            if self.contains(&pull.head, tip)? {
                noted.push(pull.commit);
            }
        }
        let mut found = Vec::new();
        for commit in noted {
            if self.contains(target, &commit)? {
                found.push(commit);
            }
        }
        Ok(found)
    }

    /// Finds the landing of a branch that contains this tip: the tip landed with it, or before.
    fn landing_above(&self, target: &str, tip: &str) -> Result<Option<Landing>> {
        let form = "--format=%(refname) %(objectname)";
        let words = ["for-each-ref", form, "--contains", tip, "refs/heads", "refs/el/merged"];
        let said = self.git().ask(&words)?;
        for (name, head) in said.lines().filter_map(|line| line.rsplit_once(' ')) {
            if head == tip {
                continue;
            }
            if let Some((_, commit)) =
                name.strip_prefix("refs/el/merged/").and_then(|name| name.split_once('/'))
            {
                if self.contains(target, commit)? {
                    return self.landed_with(tip, vec![commit.to_owned()]).map(Some);
                }
                continue;
            }
            let Some(atom) = name.strip_prefix("refs/heads/").and_then(|name| self.atom_of(name))
            else {
                continue;
            };
            let noted = self.noted_landings(target, atom, head)?;
            if !noted.is_empty() {
                return self.landed_with(tip, noted).map(Some);
            }
            let below = self.landed_below(target, (atom, head), &[])?;
            if let Some(squash) = self.find_squash(target, head, &below)?
                && self.shares_files(&squash, target, tip)?
            {
                return self.landed_with(tip, vec![squash]).map(Some);
            }
        }
        Ok(None)
    }

    /// Leaves out the commits before which the work was there already.
    fn landed_with(&self, tip: &str, commits: Vec<String>) -> Result<Landing> {
        let mut brought = Vec::new();
        for commit in commits {
            if !self.has_had(&format!("{commit}^"), tip, &[])? {
                brought.push(commit);
            }
        }
        Ok(Landing::Noted(brought))
    }

    /// Returns true if a commit of the target changed files that the work of `head` changes.
    fn shares_files(&self, commit: &str, target: &str, head: &str) -> Result<bool> {
        let Some(fork) = self.git().ask_optional(&["merge-base", target, head])? else {
            return Ok(false);
        };
        let ours = self.changed_files(&format!("{commit}^"), commit)?;
        Ok(!ours.is_disjoint(&self.changed_files(&fork, head)?))
    }

    /// Returns true if a target has copies of all commits of a branch since `base`, and the branch
    /// has no work besides.
    pub(super) fn has_copies(&self, target: &str, tip: &str, base: Option<&str>) -> Result<bool> {
        // A merge in the branch may hold changes of its own, such as the resolution of a conflict,
        // and no other commit shows them.
        let mut words = vec!["rev-list", "--merges", "--max-count=1", tip, "--not", target];
        words.extend(base);
        Ok(self.git().ask(&words)?.is_empty() && self.has_changes(target, tip)?)
    }

    /// Returns true if merging a commit would change nothing, as after a squash.
    ///
    /// # Errors
    /// If git fails.
    pub(super) fn is_merge_empty(&self, target: &str, commit: &str) -> Result<bool> {
        let merged = self.try_merge(target, commit)?;
        Ok(merged.is_some_and(|tree| self.tree_of(target).is_ok_and(|own| own == tree)))
    }

    /// The tree of a merge; `None` if it has conflicts.
    fn try_merge(&self, target: &str, commit: &str) -> Result<Option<String>> {
        let words = ["merge-tree", "--write-tree", "--no-messages", target, commit];
        self.git().ask_optional(&words)
    }
}

#[cfg(test)]
#[path = "landed_tests.rs"]
mod tests;
