//! A default branch that was renamed at the forge, while the person's own branch follows the old
//! name.

use super::{PullPlace, Result};
use crate::git::Repository;

impl PullPlace {
    /// Says what to call if the branch that `branch` follows is gone, and its work is in the base.
    /// The owner of a branch decides what the branch follows. `None`: nothing is to be done.
    ///
    /// # Errors
    /// If git fails, or the remote cannot be reached.
    pub fn describe_rename(
        &self,
        repository: &Repository,
        branch: &str,
        base_commit: &str,
    ) -> Result<Option<String>> {
        let PullPlace { base_remote: remote, base, .. } = self;
        let Some(followed) = repository.find_upstream(branch)? else { return Ok(None) };
        let old = &followed.branch;
        if followed.remote != *remote || old == base || !self.is_default_base {
            return Ok(None);
        }
        let is_in = match repository.resolve_commit(&followed.tracking)? {
            Some(last) => repository.contains(base_commit, &last)?,
            None => true,
        };
        if !is_in || repository.remote_tip(remote, old)?.is_some() {
            return Ok(None);
        }
        Ok(Some(format!(
            "{branch} follows {remote}/{old}, which is gone, and {remote}/{base} is the default \
             branch now: git branch --set-upstream-to {remote}/{base} {branch} and git remote \
             set-head {remote} {base} follow it; until then, merged branches do not count as \
             landed here"
        )))
    }
}
