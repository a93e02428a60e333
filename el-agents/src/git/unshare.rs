//! Takes atoms' branches away from the remote that machines share, once the work has landed there.

use super::remote::PushResult;
use super::shared::{SHARED, agreed_reference};
use super::{Repository, Result};

/// A branch of an atom as the remote had it when last asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedBranch {
    pub atom: String,
    pub branch: String,
    pub tip: String,
}

impl Repository {
    /// The fetched branches whose work the remote's own `target` has. Other machines still need
    /// work that has landed here alone.
    ///
    /// # Errors
    /// If git fails, or the remote cannot be reached.
    pub fn landed_at_remote(&self, remote: &str, target: &str) -> Result<Vec<SharedBranch>> {
        let Some(target) = self.fetch_branch(remote, target)? else { return Ok(Vec::new()) };
        let mut landed = Vec::new();
        for (name, tip) in self.refs_below(SHARED)? {
            let Some(branch) = name.strip_prefix(SHARED) else { continue };
            let Some(atom) = self.atom_of(branch) else { continue };
            let landing = self.find_landing(&target, atom, &tip)?;
            let reverts = self.find_reverts(&target, atom, &tip, &landing)?;
            if landing.has_landed() && reverts.is_empty() {
                let (atom, branch) = (atom.to_owned(), branch.to_owned());
                landed.push(SharedBranch { atom, branch, tip });
            }
        }
        Ok(landed)
    }

    /// Deletes a branch at the remote, if it is still there as it was fetched.
    ///
    /// # Errors
    /// If git fails, or the remote cannot be reached.
    pub fn delete_shared(&self, remote: &str, shared: &SharedBranch) -> Result<PushResult> {
        let SharedBranch { atom, branch, tip } = shared;
        let done = self.without_hooks().delete_remote_branch(remote, branch, tip)?;
        if done == PushResult::Pushed {
            for name in [format!("{SHARED}{branch}"), agreed_reference(atom)] {
                self.git().ask(&["update-ref", "-d", &name])?;
            }
        }
        Ok(done)
    }
}
