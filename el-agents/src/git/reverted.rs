//! Finds landed work that was reverted since. Git counts such work as merged: neither a merge nor a
//! rebase brings the work again.

use std::collections::HashSet;

use super::{GitError, Repository};

/// A commit of the target that reverts an atom's work and is not reverted itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revert {
    pub commit: String,
    /// The commit time, in seconds since 1970.
    pub at: i64,
    /// A commit that it reverts had brought all of the work.
    pub is_of_all: bool,
}

/// The words before a commit's id in the message of `git revert`.
const SIGN: &str = "This reverts commit ";

impl Repository {
    /// Lists the reverts of an atom's work in the target that the branch does not contain, newest
    /// first.
    ///
    /// # Errors
    /// If git fails.
    pub fn find_reverts(
        &self,
        target: &str,
        atom: &str,
        tip: &str,
    ) -> Result<Vec<Revert>, GitError> {
        let Some(base) = self.base_of(atom)? else { return Ok(Vec::new()) };
        let grep = format!("--grep=^{SIGN}");
        let range = format!("{base}..{target}");
        let words =
            ["log", "--no-merges", "--topo-order", "-z", "--format=%H %ct%n%B", &grep, &range];
        let said = self.git().ask(&words)?;
        let (mut found, mut undone) = (Vec::new(), HashSet::new());
        for one in said.split('\0').filter(|one| !one.is_empty()) {
            let (head, body) = one.split_once('\n').unwrap_or((one, ""));
            let (commit, at) = head.split_once(' ').unwrap_or((head, ""));
            if undone.contains(commit) {
                continue;
            }
            let taken_back: Vec<String> =
                body.split(SIGN).skip(1).map(leading_hex).filter(|name| name.len() >= 40).collect();
            let (mut is_of_it, mut is_of_all) = (false, false);
            for commit in &taken_back {
                if self.is_work_of(atom, &base, tip, commit)? {
                    is_of_it = true;
                    is_of_all = is_of_all || self.is_merge_empty(commit, tip)?;
                }
            }
            undone.extend(taken_back);
            if is_of_it && !self.contains(tip, commit)? {
                let at = at.parse().unwrap_or_default();
                found.push(Revert { commit: commit.to_owned(), at, is_of_all });
            }
        }
        Ok(found)
    }

    /// Returns true if a commit carries work of the branch: a commit of the branch, a copy of such
    /// a commit, or the merge or squash that landed the branch.
    fn is_work_of(
        &self,
        atom: &str,
        base: &str,
        tip: &str,
        commit: &str,
    ) -> Result<bool, GitError> {
        if self.resolve_commit(commit)?.is_none() {
            return Ok(false);
        }
        if self.contains(tip, commit)? {
            return Ok(!self.contains(base, commit)?);
        }
        if self.refs_below(&format!("refs/el/brought/{atom}/"))?.iter().any(|(_, at)| at == commit)
        {
            return Ok(true);
        }
        if self.merged_pulls(atom)?.iter().any(|pull| pull.commit == commit) {
            return Ok(true);
        }
        // The commit is a copy of a branch commit if removing the commit makes that branch commit
        // unmerged; so it is with a squash and the whole branch. What the branch began on is the
        // work of others.
        let Some(before) = self.resolve_commit(&format!("{commit}^"))? else { return Ok(false) };
        Ok(self.git().ask(&["cherry", commit, tip, base])?
            != self.git().ask(&["cherry", &before, tip, base])?
            || (self.is_merge_empty(commit, tip)? && !self.is_merge_empty(&before, tip)?))
    }
}

/// The hexadecimal digits at the beginning of a text.
fn leading_hex(text: &str) -> String {
    text.chars().take_while(char::is_ascii_hexdigit).collect()
}
