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
