//! The branch of a remote that a person set for a branch of theirs.

use super::{GitError, Repository};

impl Repository {
    /// The commit that a branch is at, or comes to by a pull that only moves forward: where a team
    /// merges pull requests, work is in the fetched branch of the remote first.
    ///
    /// # Errors
    /// If git fails.
    pub fn known_tip(&self, branch: &str) -> Result<Option<String>, GitError> {
        let Some(tip) = self.branch_tip(branch)? else { return Ok(None) };
        let name = format!("refs/heads/{branch}");
        let said = self.git().ask(&["for-each-ref", "--format=%(upstream)", &name])?;
        // An upstream may also be a branch of this repository, which is nobody's word on the work.
        let upstream = match said.lines().next() {
            Some(name) if name.starts_with("refs/remotes/") => self.resolve_commit(name)?,
            _ => None,
        };
        match upstream {
            Some(upstream) if self.contains(&upstream, &tip)? => Ok(Some(upstream)),
            _ => Ok(Some(tip)),
        }
    }
}
