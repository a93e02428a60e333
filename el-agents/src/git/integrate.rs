//! Joins branches in a scratch checkout. No change is visible before [`super::advance_branch()`].

use std::path::{Path, PathBuf};

use super::repository::Repository;
use super::{Git, GitError, Merged, Result};

/// The way to join a branch to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinMode {
    /// Put the branch's commits on top.
    Rebase,
    /// Join the branch by a merge commit.
    Merge,
}

/// A detached checkout for el's own use. Removed on drop, or by the next landing.
#[derive(Debug)]
pub struct ScratchCheckout {
    git: Git,
    owner: Git,
    path: PathBuf,
}

impl ScratchCheckout {
    /// Makes the checkout; a leftover one is removed first. The caller holds the landing lock.
    ///
    /// # Errors
    /// If git refuses.
    pub fn new(repository: &Repository, path: &Path, at: &str) -> Result<ScratchCheckout> {
        let owner = repository.git().without_hooks();
        let above = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(above)
            .map_err(super::error::file_error("make the folder", above))?;
        let above = above.canonicalize().map_err(super::error::file_error("find", above))?;
        let path = above.join(path.file_name().unwrap_or_default());
        let git = owner.as_committer().in_folder(&path).in_own_checkout();
        let scratch = ScratchCheckout { git, owner, path };
        scratch.remove_checkout();
        let add =
            ["worktree", "add", "--quiet", "--force", "--detach"].map(std::ffi::OsString::from);
        let rest = [scratch.path.clone().into_os_string(), at.into()];
        match scratch.owner.ask(&[add.as_slice(), &rest].concat()) {
            // The folder was just removed: the git of a killed `el land` is still writing there.
            Err(GitError::Failed { said, .. }) if said.contains("already exists") => {
                Err(GitError::Locked(format!("{} is being written", scratch.path.display())))
            }
            done => done.map(|_| scratch),
        }
    }

    fn remove_checkout(&self) {
        // The checkout may not exist; a folder that git does not know is a leftover of el.
        let _ = self.owner.remove_worktree(&self.path, &["--force", "--force"]);
        let _ = std::fs::remove_dir_all(&self.path);
    }

    /// The folder of the checkout.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks out a commit without local changes.
    ///
    /// # Errors
    /// If git refuses.
    pub fn check_out(&self, commit: &str) -> Result<()> {
        // HEAD is detached, and may be at a commit that could not be checked out.
        self.git.ask(&["reset", "--hard", "--quiet", commit])?;
        // Untracked files that a check left must not be in the way; ignored files, such as a
        // build's, may stay.
        self.git.ask(&["clean", "-fdq"]).map(drop)
    }

    /// Puts the commits of a branch on top of `head`: those after `since`, or those that `head`
    /// lacks. Leaves the result checked out, or `head` after a conflict.
    ///
    /// # Errors
    /// If git fails otherwise.
    pub fn rebase(&self, head: &str, since: Option<&str>, tip: &str) -> Result<Merged> {
        self.check_out(tip)?;
        let words = [
            "rebase",
            "--quiet",
            "--no-autostash",
            "--no-autosquash",
            "--empty=drop",
            "--onto",
            head,
            since.unwrap_or(head),
        ];
        if let Err(error) = self.git.ask(&words) {
            let files = self.abort_step("rebase", head)?;
            return if files.is_empty() { Err(error) } else { Ok(Err(files)) };
        }
        self.git.ask(&["rev-parse", "HEAD"]).map(Ok)
    }

    /// Reverts a revert.
    ///
    /// # Errors
    /// If git fails otherwise.
    pub fn bring_back(&self, head: &str, revert: &str) -> Result<Merged> {
        self.check_out(head)?;
        if self.git.ask(&["revert", "--no-edit", revert]).is_err() {
            let files = self.abort_step("revert", head)?;
            // No conflict: the target has all of the work again.
            return Ok(if files.is_empty() { Ok(head.to_owned()) } else { Err(files) });
        }
        self.git.ask(&["rev-parse", "HEAD"]).map(Ok)
    }

    /// Aborts a step that failed, and returns the files in conflict.
    fn abort_step(&self, what: &str, head: &str) -> Result<Vec<String>> {
        let files = self.git.ask(&["diff", "--name-only", "--diff-filter=U", "-z"])?;
        let _ = self.git.ask(&[what, "--abort"]);
        self.check_out(head)?;
        Ok(files.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }
}

impl Drop for ScratchCheckout {
    fn drop(&mut self) {
        self.remove_checkout();
    }
}
