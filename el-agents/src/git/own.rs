//! Checks the worktree of an atom after the agent: uncommitted files, the branch with the work, and
//! the locks of a killed git.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::branch_names::{BranchPrefixes, existing_branch};
use super::repository::base_reference;
use super::worktree_list::status_lines;
use super::{Git, Result};

/// The tracker's own files in a worktree are no work of an agent's.
const NOT_WORK: &str = ".eluent/";

/// The reflog entry of a branch that el moved.
const MOVED: &str = "el: the work of this atom";
/// The number of reflog entries of a worktree's HEAD that are read.
const LOOK_BACK: &str = "100";

/// The worktree of an atom.
#[derive(Debug)]
pub struct OwnWorktree {
    git: Git,
    atom: String,
    /// The atom's branch.
    branch: String,
    /// Git's folder for this worktree.
    own: PathBuf,
    /// Git's folder of the repository.
    common: PathBuf,
}

/// The place of the work, compared with the atom's branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkBranch {
    /// All of the work is on the atom's branch.
    Own,
    /// The work was on another branch, or on none. The atom's branch has the work now.
    Reclaimed {
        /// In words.
        from: String,
    },
    /// The atom's branch was deleted and has been restored; the worktree has another branch checked
    /// out.
    Restored {
        /// In words.
        on: String,
    },
    /// The atom's branch lacks the work and cannot be moved there.
    Apart {
        /// In words.
        on: String,
    },
}

impl OwnWorktree {
    /// Finds the worktree of this atom around a folder; `None` if the folder is in no such
    /// worktree.
    ///
    /// # Errors
    /// If git fails.
    pub fn find(folder: &Path, atom: &str) -> Result<Option<OwnWorktree>> {
        // In a linked worktree `.git` is a file; other folders need no call of git.
        let top = folder.ancestors().find(|above| above.join(".git").exists());
        let Some(top) = top.filter(|top| top.join(".git").is_file() && top.ends_with(atom)) else {
            return Ok(None);
        };
        let git = Git::at(top).in_own_checkout();
        let folders = ["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"];
        let said = git.ask(&folders)?;
        let Some((own, common)) = said.split_once('\n').filter(|(own, common)| own != common)
        else {
            return Ok(None);
        };
        let (own, common) = (PathBuf::from(own), PathBuf::from(common));
        let branch = existing_branch(&git, &BranchPrefixes::of_repository(&common), atom)?;
        Ok(Some(OwnWorktree { git, atom: atom.to_owned(), branch, own, common }))
    }

    /// The atom's branch.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// Lists the uncommitted files. `ours` names untracked files that el itself put there.
    ///
    /// # Errors
    /// If git fails.
    pub fn uncommitted_files(&self, ours: &[String]) -> Result<Vec<String>> {
        // A line has two letters, a space and the name.
        let lines = status_lines(&self.git, true, ours)?;
        let names = lines.iter().filter_map(|line| line.get(3..));
        Ok(names.filter(|name| !name.starts_with(NOT_WORK)).map(str::to_owned).collect())
    }

    /// Finds the work and moves the atom's branch there. If an agent renamed the branch or
    /// continued on another branch, the atom's branch is moved to the work and checked out again;
    /// no file changes, and the other branch stays. A deleted branch is restored at its last
    /// commit. A branch with more commits than the worktree is checked out again, unless a file
    /// would be lost. If moving the branch would lose commits, nothing moves, and `refs/el/astray/`
    /// keeps the commits of the worktree.
    ///
    /// # Errors
    /// If git fails.
    pub fn reclaim_work(&self) -> Result<WorkBranch> {
        let branch = format!("refs/heads/{}", self.branch);
        let on = self.git.ask_optional(&["symbolic-ref", "-q", "HEAD"])?;
        let mut tip = self.resolve_commit(&branch)?;
        if tip.is_some() && on.as_deref() == Some(branch.as_str()) {
            return Ok(WorkBranch::Own);
        }
        let on = on.map_or_else(|| "no branch".to_owned(), |name| short_branch(&name).to_owned());
        let Some(head) = self.resolve_commit("HEAD")? else { return Ok(WorkBranch::Apart { on }) };
        let base = self.resolve_commit(&base_reference(&self.atom))?;
        let is_lost = tip.is_none();
        if is_lost {
            tip = self.last_on_branch(&head, base.as_deref())?;
            if let Some(last) = &tip {
                self.move_branch(&branch, last, None)?;
            }
        }
        let goes_on = match tip.as_ref().or(base.as_ref()) {
            Some(from) => self.contains(&head, from)?,
            None => false,
        };
        if goes_on && !self.is_mid_operation() && !self.is_checked_out_elsewhere(&branch)? {
            self.move_branch(&branch, &head, tip.as_deref())?;
            self.git.ask(&["symbolic-ref", "-m", MOVED, "HEAD", &branch])?;
            return Ok(WorkBranch::Reclaimed { from: on });
        }
        // The atom's branch contains all of the work, so nothing is missing.
        if let Some(tip) = &tip
            && self.contains(tip, &head)?
        {
            self.switch_back()?;
            return Ok(if is_lost { WorkBranch::Restored { on } } else { WorkBranch::Own });
        }
        self.git.ask(&["update-ref", &format!("refs/el/astray/{}", self.atom), &head])?;
        Ok(WorkBranch::Apart { on })
    }

    /// Checks the atom's branch out where no file would be lost by that.
    fn switch_back(&self) -> Result<()> {
        if !self.is_mid_operation() && self.uncommitted_files(&[])?.is_empty() {
            // Where git refuses, the worktree stays as the agent left it.
            let _ = self.git.without_hooks().ask(&["switch", "-q", &self.branch]);
        }
        Ok(())
    }

    fn move_branch(&self, branch: &str, to: &str, from: Option<&str>) -> Result<()> {
        let none = "0".repeat(to.len());
        self.git.ask(&["update-ref", "-m", MOVED, branch, to, from.unwrap_or(&none)]).map(drop)
    }

    /// Finds the last commit that was checked out here, descends from the branch's base, and is not
    /// contained in `head`.
    fn last_on_branch(&self, head: &str, base: Option<&str>) -> Result<Option<String>> {
        let Some(base) = base else { return Ok(None) };
        let said = self.git.ask(&["log", "-g", "--format=%H", "-n", LOOK_BACK, "HEAD"])?;
        let mut seen = HashSet::from([head, base]);
        for commit in said.lines().filter(|commit| seen.insert(commit)) {
            if !self.contains(head, commit)? && self.contains(commit, base)? {
                return Ok(Some(commit.to_owned()));
            }
        }
        Ok(None)
    }

    /// Removes the locks that a killed git of the run left: locks not younger than the end of the
    /// run's processes. Returns the removed files.
    pub fn remove_stale_locks(&self, ended: SystemTime) -> Vec<PathBuf> {
        let branch = self.common.join("refs/heads").join(format!("{}.lock", self.branch));
        let locks = [self.own.join("index.lock"), self.own.join("HEAD.lock"), branch];
        let is_stale = |path: &PathBuf| {
            path.symlink_metadata().and_then(|lock| lock.modified()).is_ok_and(|at| at <= ended)
        };
        locks
            .into_iter()
            .filter(is_stale)
            .filter(|lock| std::fs::remove_file(lock).is_ok())
            .collect()
    }

    fn resolve_commit(&self, name: &str) -> Result<Option<String>> {
        self.git.ask_optional(&["rev-parse", "-q", "--verify", &format!("{name}^{{commit}}")])
    }

    fn contains(&self, whole: &str, part: &str) -> Result<bool> {
        Ok(self.git.ask_optional(&["merge-base", "--is-ancestor", part, whole])?.is_some())
    }

    /// Returns true during a rebase or a bisect, which use a HEAD of their own.
    fn is_mid_operation(&self) -> bool {
        ["rebase-merge", "rebase-apply", "BISECT_LOG"]
            .iter()
            .any(|name| self.own.join(name).exists())
    }

    fn is_checked_out_elsewhere(&self, branch: &str) -> Result<bool> {
        let said = self.git.ask(&["worktree", "list", "--porcelain"])?;
        let wanted = format!("branch {branch}");
        Ok(said.lines().any(|line| line == wanted))
    }
}

fn short_branch(name: &str) -> &str {
    name.strip_prefix("refs/heads/").unwrap_or(name)
}
