//! Records of merged pull requests. After a squash, git alone cannot always tell that a branch
//! landed: the target may have gone on in the same lines, or a reviewer's commit came along.

use super::{GitError, Repository, Result};

/// A pull request that was merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedPull {
    /// The last commit of the pull request.
    pub head: String,
    /// The commit that brought the head into its base.
    pub commit: String,
}

impl Repository {
    /// Records that a pull request with an atom's work was merged. The head stays reachable.
    ///
    /// # Errors
    /// If one of the commits is not in this repository, or git refuses.
    pub fn record_merged(&self, atom: &str, pull: &MergedPull) -> Result<()> {
        for commit in [&pull.head, &pull.commit] {
            if self.resolve_commit(commit)?.is_none() {
                return Err(GitError::NoRevision(commit.clone()));
            }
        }
        let name = format!("refs/el/merged/{atom}/{}", pull.commit);
        self.git().without_hooks().ask(&["update-ref", &name, &pull.head]).map(drop)
    }

    /// Lists the merged pull requests of an atom.
    ///
    /// # Errors
    /// If git fails.
    pub fn merged_pulls(&self, atom: &str) -> Result<Vec<MergedPull>> {
        let found = self.refs_below(&format!("refs/el/merged/{atom}/"))?.into_iter();
        Ok(found
            .filter_map(|(name, head)| {
                let commit = name.rsplit('/').next()?.to_owned();
                Some(MergedPull { head, commit })
            })
            .collect())
    }
}
