//! The branch of a remote that a person set for a branch of theirs.

use super::{GitError, Repository};

impl Repository {
    /// The commit of a branch, or of its fetched upstream if that is ahead: in a team that merges
    /// pull requests, work is in the remote's branch first. A branch that follows none has the one
    /// of the same name, if a single remote has it.
    ///
    /// # Errors
    /// If git fails.
    pub fn known_tip(&self, branch: &str) -> Result<Option<String>, GitError> {
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
    pub fn push_target(&self, branch: &str) -> Result<Option<(String, String)>, GitError> {
        let form = "--format=%(upstream:remotename)%00%(upstream:remoteref)";
        let said = self.git().ask(&["for-each-ref", form, &format!("refs/heads/{branch}")])?;
        let upstream = said.trim_end().split_once('\0');
        // A branch of this repository has the remote `.`, and no name for it here.
        if let Some((remote, there)) = upstream.filter(|(remote, _)| !remote.is_empty()) {
            let there = there.strip_prefix("refs/heads/").unwrap_or(there);
            return Ok((remote != ".").then(|| (remote.to_owned(), there.to_owned())));
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
    pub(super) fn upstream_of(&self, branch: &str) -> Result<Option<String>, GitError> {
        let name = format!("refs/heads/{branch}");
        let said = self.git().ask(&["for-each-ref", "--format=%(upstream)", &name])?;
        Ok(said.lines().next().and_then(|name| name.strip_prefix("refs/remotes/")).map(Into::into))
    }
}
