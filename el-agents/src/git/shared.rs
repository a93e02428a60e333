//! Atoms' branches at the remote that the machines of a team share.
//!
//! `refs/el/shared/BRANCH` is a branch as it was at the remote at the last fetch.
//! `refs/el/agreed/ATOM` is the commit at which the branch here and the branch there last agreed. A
//! side that is still at this commit has nothing new, and follows the other side wherever it went.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::remote::PushResult;
use super::repository::base_reference;
use super::request::LostWork;
use super::{Git, GitError, Repository, Result, linked};

/// The prefix of references to fetched branches.
pub(super) const SHARED: &str = "refs/el/shared/";
/// The reflog entry of a branch that follows the remote.
const FOLLOWED: &str = "el: from the remote";

impl Repository {
    /// Fetches all atoms' branches, and moves none. `prefix`: the prefix of new branches.
    ///
    /// # Errors
    /// If git fails, or the prefix cannot be written down.
    pub fn fetch_shared(&mut self, remote: &str, prefix: &str) -> Result<()> {
        self.know_prefix(prefix)?;
        let specs: Vec<String> = self
            .branch_prefixes
            .iter()
            .map(|prefix| format!("+refs/heads/{prefix}*:{SHARED}{prefix}*"))
            .collect();
        let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
        self.fetch(&[&["--prune", remote], &specs[..]].concat()).map(drop).map_err(|error| {
            GitError::NotFetched { remote: remote.to_owned(), error: error.into() }
        })
    }

    /// The atoms of all fetched branches.
    ///
    /// # Errors
    /// If git fails.
    pub fn shared_atoms(&self) -> Result<Vec<String>> {
        let refs = self.refs_below(SHARED)?;
        let names = refs.iter().filter_map(|(name, _)| name.strip_prefix(SHARED));
        Ok(names.filter_map(|name| self.atom_of(name)).map(str::to_owned).collect())
    }

    /// Makes an atom's branch from the fetched one, or moves it there if only the remote has new
    /// commits. Nothing is made of work that `target` has already.
    ///
    /// # Errors
    /// [`GitError::Diverged`] if both sides have commits that the other lacks; or if git fails.
    pub fn follow_shared(&self, atom: &str, target: &str) -> Result<()> {
        let Some((branch, theirs)) = self.find_shared(atom)? else { return Ok(()) };
        let agreed = self.agreed_of(atom)?;
        match self.branch_tip(&branch)? {
            None if self.has_landed(target, atom, &theirs)?
                || self.has_work(target, &theirs)? =>
            {
                return Ok(());
            }
            None => {
                let mut lines = format!("create refs/heads/{branch} {theirs}\n");
                if let Some(base) = self.find_base(target, &branch, &theirs)? {
                    lines.push_str(&format!("update {} {base}\n", base_reference(atom)));
                }
                self.change_references(&lines)?;
            }
            Some(tip) if self.contains(&tip, &theirs)? || agreed.as_ref() == Some(&theirs) => {
                return Ok(());
            }
            Some(tip) if self.contains(&theirs, &tip)? => {
                self.move_branch_up(&branch, &tip, &theirs)?;
            }
            // The remote branch was rewritten, and the branch here has no commit of its own.
            Some(tip) if agreed.as_ref() == Some(&tip) => {
                self.move_branch_over(&branch, &tip, &theirs)?;
            }
            Some(_) => return Err(GitError::Diverged { branch }),
        }
        self.note_agreed(atom, &theirs)
    }

    /// Moves an atom's branch to the fetched one if all that it has beyond that was committed by a
    /// run that was lost. Returns the reference that keeps the commits; `None` if some are of
    /// somebody else, or files of the worktree would be lost.
    ///
    /// # Errors
    /// If git fails.
    pub(super) fn set_lost_aside(&self, lost: &LostWork) -> Result<Option<String>> {
        let Some((branch, theirs)) = self.find_shared(&lost.atom)? else { return Ok(None) };
        let Some(tip) = self.branch_tip(&branch)? else { return Ok(None) };
        let times = self.git().ask(&["log", "--format=%ct", &format!("{theirs}..{tip}")])?;
        let (begin, end) = lost.time;
        let is_of_run = |time: &str| time.parse().is_ok_and(|time| (begin..=end).contains(&time));
        if !times.lines().all(is_of_run) {
            return Ok(None);
        }
        let kept = format!("refs/el/lost/{}/{}", lost.atom, lost.run);
        self.git().ask(&["update-ref", &kept, &tip])?;
        match self.move_branch_over(&branch, &tip, &theirs) {
            Ok(()) => self.note_agreed(&lost.atom, &theirs).map(|()| Some(kept)),
            // Git refuses to lose changes in the worktree.
            Err(error) if error.is_refusal() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Moves a branch, and its worktree, to another commit. Git refuses to lose changes in the
    /// worktree.
    fn move_branch_over(&self, branch: &str, tip: &str, to: &str) -> Result<()> {
        let done = match self.checkout_of(branch)? {
            Some(tree) => {
                let git = Git::at(&tree.path).in_own_checkout().without_hooks();
                git.ask(&["reset", "--quiet", "--keep", to])
            }
            None => {
                let name = format!("refs/heads/{branch}");
                self.git().ask(&["update-ref", "-m", FOLLOWED, &name, to, tip])
            }
        };
        done.map(drop)
    }

    /// The fetched commit of an atom's branch if it has commits that `tip` lacks, and that the
    /// branch here never agreed with.
    ///
    /// # Errors
    /// If git fails.
    pub(crate) fn new_at_remote(&self, atom: &str, tip: &str) -> Result<Option<String>> {
        let Some((_, theirs)) = self.find_shared(atom)? else { return Ok(None) };
        let agreed = self.agreed_of(atom)?;
        let is_old = agreed.as_ref() == Some(&theirs) || self.contains(tip, &theirs)?;
        Ok((!is_old).then_some(theirs))
    }

    /// Returns true if the remote had the branch at this commit.
    ///
    /// # Errors
    /// If git fails.
    pub(crate) fn is_agreed(&self, atom: &str, tip: &str) -> Result<bool> {
        Ok(self.agreed_of(atom)?.as_deref() == Some(tip))
    }

    /// Pushes an atom's branch if it has commits that the remote lacks. Nothing is pushed over
    /// commits that somebody else put there.
    ///
    /// # Errors
    /// If git fails, or the remote cannot be reached.
    pub fn share_branch(&self, remote: &str, atom: &str) -> Result<PushResult> {
        let branch = self.branch_of(atom)?;
        let Some(tip) = self.branch_tip(&branch)? else { return Ok(PushResult::Pushed) };
        let agreed = self.agreed_of(atom)?;
        if agreed.as_ref() == Some(&tip) || !self.has_own_commits(atom)? {
            return Ok(PushResult::Pushed);
        }
        let there = self.remote_tip(remote, &branch)?;
        if let Some(there) = there.as_ref().filter(|there| agreed.as_ref() != Some(there)) {
            let is_known = self.resolve_commit(there)?.is_some();
            if !is_known || !self.contains(&tip, there)? {
                return Ok(PushResult::Refused(format!("{remote} has other commits there")));
            }
        }
        if there.as_ref() != Some(&tip)
            && let refused @ PushResult::Refused(_) =
                self.without_hooks().push_branch(remote, &tip, &branch, there.as_deref())?
        {
            return Ok(refused);
        }
        self.note_agreed(atom, &tip)?;
        Ok(PushResult::Pushed)
    }

    /// Pushes the commits that earlier pushes did not bring to the remote, except landed branches.
    /// A branch that cannot be pushed now is left for the next time.
    ///
    /// # Errors
    /// If the branches cannot be read.
    pub(super) fn share_left(&self, remote: &str, target: &str) -> Result<()> {
        let agreed = self.refs_below("refs/el/agreed/")?;
        for prefix in self.branch_prefixes.iter() {
            for (name, tip) in self.refs_below(&format!("refs/heads/{prefix}"))? {
                let branch = name.strip_prefix("refs/heads/").and_then(|name| self.atom_of(name));
                let Some(atom) = branch else { continue };
                let known = agreed_reference(atom);
                if !agreed.iter().any(|(name, at)| *name == known && *at == tip)
                    && !self.has_landed(target, atom, &tip)?
                {
                    let _ = self.share_branch(remote, atom);
                }
            }
        }
        Ok(())
    }

    /// The fetched branch of an atom, and its commit.
    pub(super) fn find_shared(&self, atom: &str) -> Result<Option<(String, String)>> {
        for prefix in self.branch_prefixes.iter() {
            let branch = format!("{prefix}{atom}");
            if let Some((_, commit)) = self.refs_below(&format!("{SHARED}{branch}"))?.pop() {
                return Ok(Some((branch, commit)));
            }
        }
        Ok(None)
    }

    /// Finds the commit at which a fetched branch began: in the target, or in another fetched
    /// branch on which it was built. `None` if the branch has nothing in common with the target.
    fn find_base(&self, target: &str, branch: &str, tip: &str) -> Result<Option<String>> {
        let Some(base) = self.git().ask_optional(&["merge-base", target, tip])? else {
            return Ok(None);
        };
        let merged = format!("--merged={tip}");
        let words = ["for-each-ref", "--format=%(refname) %(objectname)", &merged, SHARED];
        let said = self.git().ask(&words)?;
        let own = format!("{SHARED}{branch} ");
        let others = said.lines().filter(|line| !line.starts_with(&own));
        let mut below: Vec<String> =
            others.filter_map(|line| Some(line.rsplit_once(' ')?.1.to_owned())).collect();
        below.push(base.clone());
        let mut found = self.independent_commits(&below)?;
        Ok(if found.len() == 1 { found.pop() } else { Some(base) })
    }

    fn agreed_of(&self, atom: &str) -> Result<Option<String>> {
        Ok(self.refs_below(&agreed_reference(atom))?.pop().map(|(_, at)| at))
    }

    fn note_agreed(&self, atom: &str, commit: &str) -> Result<()> {
        self.git().ask(&["update-ref", &agreed_reference(atom), commit]).map(drop)
    }

    /// Moves a branch, and its worktree, up to a commit that contains it. Git refuses to lose
    /// changes in the worktree.
    ///
    /// # Errors
    /// If git fails, or refuses.
    pub(crate) fn move_branch_up(&self, branch: &str, tip: &str, to: &str) -> Result<()> {
        if let Some(tree) = self.checkout_of(branch)? {
            let git = Git::at(&tree.path).in_own_checkout().without_hooks();
            let words = ["merge", "--quiet", "--ff-only", "--no-stat", "--no-autostash"];
            // An ignored file is work of an agent as well.
            return git.ask(&[&words[..], &["--no-overwrite-ignore", to]].concat()).map(drop);
        }
        let name = format!("refs/heads/{branch}");
        let words = ["update-ref", "-m", FOLLOWED, &name, to, tip];
        self.git().without_hooks().ask(&words).map(drop)
    }
}

pub(super) fn agreed_reference(atom: &str) -> String {
    format!("refs/el/agreed/{atom}")
}

/// Pushes the branch of an atom, from a folder of its repository, to the remote that hosts share.
///
/// # Errors
/// If git fails, the remote cannot be reached, or the time is up.
pub(crate) fn push_branch(
    folder: &Path,
    remote: &str,
    atom: &str,
    limit: Duration,
) -> Result<PushResult> {
    let until = Instant::now() + limit;
    Repository::open_at(folder)?.with_deadline(until).share_branch(remote, atom)
}

/// The file with the commit of a branch, in the repository of a checkout. A repository that keeps
/// branches in other ways has no such file.
pub(crate) fn branch_file(top: &Path, branch: &str) -> PathBuf {
    linked::repository_folder(top).join("refs/heads").join(branch)
}

#[cfg(test)]
#[path = "shared_tests.rs"]
mod tests;
