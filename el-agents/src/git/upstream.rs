//! The branch of a remote that a person set for a branch of theirs.

use super::{Repository, Result};

/// The branch that a branch follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Upstream {
    /// The remote of the upstream; `.`: this repository.
    pub(crate) remote: String,
    /// Its name there.
    pub(crate) branch: String,
    /// The reference with the commit that was last fetched, such as `refs/remotes/origin/main`.
    pub(crate) tracking: String,
}

impl Repository {
    /// Returns the upstream of a branch.
    ///
    /// # Errors
    /// If git fails.
    pub(crate) fn find_upstream(&self, branch: &str) -> Result<Option<Upstream>> {
        let form = "--format=%(upstream:remotename)%00%(upstream:remoteref)%00%(upstream)";
        let said = self.git().ask(&["for-each-ref", form, &format!("refs/heads/{branch}")])?;
        let parts: Vec<&str> = said.lines().next().unwrap_or_default().split('\0').collect();
        let [remote, branch, tracking] = parts[..] else { return Ok(None) };
        let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
        let found = Upstream {
            remote: remote.to_owned(),
            branch: branch.to_owned(),
            tracking: tracking.to_owned(),
        };
        Ok(Some(found).filter(|found| !found.remote.is_empty()))
    }

    /// The commit of a branch, or of its fetched upstream if that is ahead: in a team that merges
    /// pull requests, work is in the remote's branch first. A branch that follows none has the one
    /// of the same name, if a single remote has it.
    ///
    /// # Errors
    /// If git fails.
    pub fn known_tip(&self, branch: &str) -> Result<Option<String>> {
        let Some(tip) = self.branch_tip(branch)? else { return Ok(None) };
        let upstream = match self.upstream_of(branch)? {
            Some(name) => self.resolve_commit(&format!("refs/remotes/{name}"))?,
            None => {
                let form = "--format=%(objectname)";
                let name = format!("refs/remotes/*/{branch}");
                let said = self.git().ask(&["for-each-ref", form, &name])?;
                let mut all = said.lines();
                all.next().filter(|_| all.next().is_none()).map(str::to_owned)
            }
        };
        match upstream {
            Some(upstream) if self.contains(&upstream, &tip)? => Ok(Some(upstream)),
            _ => Ok(Some(tip)),
        }
    }

    /// The remote, and its branch, that a branch is pushed to: its upstream, or the branch of the
    /// same name of the only remote.
    ///
    /// # Errors
    /// If git fails.
    pub fn push_target(&self, branch: &str) -> Result<Option<(String, String)>> {
        if let Some(followed) = self.find_upstream(branch)? {
            return Ok((followed.remote != ".").then_some((followed.remote, followed.branch)));
        }
        let remotes = self.remotes()?;
        let [only] = &remotes[..] else { return Ok(None) };
        Ok(Some((only.name.clone(), branch.to_owned())))
    }

    /// The branch of a remote that a branch follows, such as `origin/main`. A branch that follows
    /// another branch of this repository has none in this sense.
    ///
    /// # Errors
    /// If git fails.
    pub(super) fn upstream_of(&self, branch: &str) -> Result<Option<String>> {
        let followed = self.find_upstream(branch)?;
        Ok(followed.and_then(|it| it.tracking.strip_prefix("refs/remotes/").map(str::to_owned)))
    }
}
