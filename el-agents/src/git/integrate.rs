//! Bringing branches together, in a checkout of our own. Nothing of it is seen before
//! [`super::advance()`].

use std::path::{Path, PathBuf};

use super::repository::Repository;
use super::{Git, GitError};

/// How a branch is brought in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Its commits are put on top.
    Rebase,
    /// A merge commit joins it.
    Merge,
}

/// What became of one branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The commit that has it.
    Joined(String),
    /// These files are in conflict.
    Conflict(Vec<String>),
}

/// A checkout of our own, without a branch; taken away when dropped, or by whoever comes next.
#[derive(Debug)]
pub struct Scratch {
    git: Git,
    owner: Git,
    path: PathBuf,
}

impl Scratch {
    /// Makes it; one that was left behind goes first. The caller holds the lock that makes it the
    /// only one.
    ///
    /// # Errors
    /// If git refuses.
    pub fn new(repository: &Repository, path: &Path, at: &str) -> Result<Scratch, GitError> {
        let owner = repository.git().without_hooks();
        let above = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(above).map_err(super::worktree::fault("make the folder", above))?;
        let above = above.canonicalize().map_err(super::worktree::fault("find", above))?;
        let path = above.join(path.file_name().unwrap_or_default());
        let git = owner.as_committer().elsewhere(&path).in_own_checkout();
        let scratch = Scratch { git, owner, path };
        scratch.clear();
        let add =
            ["worktree", "add", "--quiet", "--force", "--detach"].map(std::ffi::OsString::from);
        let rest = [scratch.path.clone().into_os_string(), at.into()];
        match scratch.owner.ask(&[add.as_slice(), &rest].concat()) {
            // Just cleared: the git of an el land that was killed is still writing there.
            Err(GitError::Failed { said, .. }) if said.contains("already exists") => {
                Err(GitError::Locked(format!("{} is being written", scratch.path.display())))
            }
            done => done.map(|_| scratch),
        }
    }

    fn clear(&self) {
        let words: [&std::ffi::OsStr; 5] = [
            "worktree".as_ref(),
            "remove".as_ref(),
            "--force".as_ref(),
            "--force".as_ref(),
            self.path.as_os_str(),
        ];
        // Not there is as good; what git does not know of is a rest of ours.
        let _ = self.owner.ask(&words);
        let _ = std::fs::remove_dir_all(&self.path);
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks out a commit as it is.
    ///
    /// # Errors
    /// If git refuses.
    pub fn go(&self, commit: &str) -> Result<(), GitError> {
        self.git.ask(&["reset", "--hard", "--quiet"])?;
        self.git.ask(&["checkout", "--quiet", "--force", "--detach", commit])?;
        // What a check left behind must not be in the way of what comes; what is ignored (a
        // build's) may stay.
        self.git.ask(&["clean", "-fdq"]).map(drop)
    }

    /// Brings a branch's tip onto `head`, leaving the result checked out; after a conflict it is
    /// `head`. `since`: where its own commits begin, for a rebase of those alone.
    ///
    /// # Errors
    /// If git fails otherwise.
    pub fn join(
        &self,
        head: &str,
        since: Option<&str>,
        tip: &str,
        mode: Mode,
        message: &str,
    ) -> Result<Step, GitError> {
        let tried = match mode {
            Mode::Merge => {
                self.go(head)?;
                self.git.ask(&[
                    "merge",
                    "--no-ff",
                    "--no-edit",
                    "--no-stat",
                    "--no-autostash",
                    "-m",
                    message,
                    tip,
                ])
            }
            Mode::Rebase => {
                self.go(tip)?;
                let words = [
                    "rebase",
                    "--quiet",
                    "--no-autostash",
                    "--no-autosquash",
                    "--empty=drop",
                    "--onto",
                    head,
                ];
                self.git.ask(&[&words[..], &[since.unwrap_or(head)]].concat())
            }
        };
        if let Err(error) = tried {
            let files = self.give_up(if mode == Mode::Merge { "merge" } else { "rebase" }, head)?;
            return if files.is_empty() { Err(error) } else { Ok(Step::Conflict(files)) };
        }
        Ok(Step::Joined(self.git.ask(&["rev-parse", "HEAD"])?))
    }

    /// Brings in again what this commit took back.
    ///
    /// # Errors
    /// If git fails otherwise.
    pub fn bring_back(&self, head: &str, revert: &str) -> Result<Step, GitError> {
        self.go(head)?;
        if self.git.ask(&["revert", "--no-edit", revert]).is_err() {
            let files = self.give_up("revert", head)?;
            // No conflict: it is all there again.
            return Ok(if files.is_empty() {
                Step::Joined(head.to_owned())
            } else {
                Step::Conflict(files)
            });
        }
        Ok(Step::Joined(self.git.ask(&["rev-parse", "HEAD"])?))
    }

    /// Ends what did not go through; the files in conflict.
    fn give_up(&self, what: &str, head: &str) -> Result<Vec<String>, GitError> {
        let files = self.git.ask(&["diff", "--name-only", "--diff-filter=U", "-z"])?;
        let _ = self.git.ask(&[what, "--abort"]);
        self.go(head)?;
        Ok(files.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.clear();
    }
}
