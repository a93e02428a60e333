//! The state of a repository: the branches of atoms, and the worktrees.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::branch_names::BranchPrefixes;
use super::worktree_list::{is_below, parse_worktrees};
use super::{Git, GitError, Result, Worktree, linked};

/// A repository with a checkout.
#[derive(Debug, Clone)]
pub struct Repository {
    git: Git,
    top: PathBuf,
    prefix: PathBuf,
    pub(super) branch_prefixes: BranchPrefixes,
    /// The references below `refs/el/`, if they were read once for many branches.
    notes: Option<Arc<[(String, String)]>>,
}

/// The reference that tells where an atom's branch began.
pub fn base_reference(atom: &str) -> String {
    format!("refs/el/base/{atom}")
}

impl Repository {
    /// Opens the repository of a folder.
    ///
    /// # Errors
    /// If there is no repository, the repository is bare, or git refuses it.
    pub fn open_at(folder: &Path) -> Result<Repository> {
        let git = Git::at(folder);
        let (top, prefix) = find_checkout(&git, folder)?;
        let branch_prefixes = BranchPrefixes::of_repository(&linked::repository_folder(&top));
        Ok(Repository { git: Git::at(&top), top, prefix, branch_prefixes, notes: None })
    }

    /// Returns this repository with a deadline for all calls of git together.
    #[must_use]
    pub(crate) fn with_deadline(&self, until: Instant) -> Repository {
        Repository { git: self.git.with_deadline(until), ..self.clone() }
    }

    /// Returns this repository without its hooks.
    #[must_use]
    pub(super) fn without_hooks(&self) -> Repository {
        Repository { git: self.git.without_hooks(), ..self.clone() }
    }

    /// Returns this repository with another way to call git.
    pub(super) fn with_git(&self, git: Git) -> Repository {
        Repository { git, ..self.clone() }
    }

    /// Returns this repository with el's notes about branches, read once for many branches.
    ///
    /// # Errors
    /// If git fails.
    pub(crate) fn with_notes(&self) -> Result<Repository> {
        let notes = self.refs_below("refs/el/")?;
        Ok(Repository { notes: Some(notes.into()), ..self.clone() })
    }

    /// Git in the top folder.
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// The checkout's own folder.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The path of the opened folder, relative to the top.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// The opened folder within a checkout of the whole repository; its top if it is not there.
    pub(crate) fn project_folder(&self, top: &Path) -> PathBuf {
        let below = top.join(&self.prefix);
        let is_there = !self.prefix.as_os_str().is_empty() && below.is_dir();
        if is_there { below } else { top.to_owned() }
    }

    /// The commit that is checked out.
    ///
    /// # Errors
    /// If there is no commit yet, or git cannot read the commit.
    pub fn head_commit(&self) -> Result<String> {
        if let Some(commit) = self.resolve_commit("HEAD")? {
            return Ok(commit);
        }
        // Only `git log` distinguishes a branch without a commit from a damaged branch.
        match self.git.ask(&["log", "-1", "--format=%H"]) {
            Err(GitError::Failed { said, .. }) if said.contains("does not have any commits") => {
                Err(GitError::NoCommit(self.top.clone()))
            }
            said => said,
        }
    }

    /// The branch that is checked out.
    ///
    /// # Errors
    /// If HEAD is detached.
    pub fn current_branch(&self) -> Result<String> {
        // The short form would be "heads/main" if a tag has the same name.
        let name = self.git.ask_optional(&["symbolic-ref", "-q", "HEAD"])?;
        let name = name.and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned));
        name.ok_or_else(|| GitError::Detached(self.top.clone()))
    }

    /// The commit of a name; `None` if there is none.
    ///
    /// # Errors
    /// If git cannot be run.
    pub fn resolve_commit(&self, name: &str) -> Result<Option<String>> {
        if name.starts_with('-') {
            return Ok(None);
        }
        self.git.ask_optional(&["rev-parse", "-q", "--verify", &format!("{name}^{{commit}}")])
    }

    /// The tip of a branch, also if its commit is damaged; `None`: there is no such branch.
    ///
    /// # Errors
    /// If git cannot be run, or the branch is there and cannot be read.
    pub fn branch_tip(&self, branch: &str) -> Result<Option<String>> {
        let name = format!("refs/heads/{branch}");
        let ask = || self.git.ask_optional(&["rev-parse", "-q", "--verify", &name]);
        if let Some(tip) = ask()? {
            return Ok(Some(tip));
        }
        // Git ignores a reference that a crash of the machine has emptied.
        if !linked::repository_folder(&self.top).join(&name).is_file() {
            return Ok(None);
        }
        let broken = || GitError::Failed {
            what: "rev-parse".to_owned(),
            said: format!("{name} names no commit"),
        };
        // It may have been made since.
        ask()?.ok_or_else(broken).map(Some)
    }

    /// The commit at which an atom's branch began.
    ///
    /// # Errors
    /// If git cannot be run.
    pub fn base_of(&self, atom: &str) -> Result<Option<String>> {
        let name = base_reference(atom);
        match &self.notes {
            Some(_) => Ok(self.refs_below(&name)?.pop().map(|(_, at)| at)),
            None => self.resolve_commit(&name),
        }
    }

    /// Lists the references with this prefix and their commits.
    ///
    /// # Errors
    /// If git fails.
    pub(super) fn refs_below(&self, below: &str) -> Result<Vec<(String, String)>> {
        if let Some(notes) = &self.notes {
            let is_meant = |(name, _): &&(String, String)| is_below(name, below);
            return Ok(notes.iter().filter(is_meant).cloned().collect());
        }
        let said = self.git.ask(&["for-each-ref", "--format=%(refname) %(objectname)", below])?;
        Ok(said
            .lines()
            .filter_map(|line| line.rsplit_once(' '))
            .map(|(name, at)| (name.to_owned(), at.to_owned()))
            .collect())
    }

    /// Lists the references that record facts about an atom's branch.
    ///
    /// # Errors
    /// If git fails.
    pub(super) fn notes_of(&self, atom: &str) -> Result<Vec<(String, String)>> {
        let mut notes = Vec::new();
        for name in ["brought/", "merged/", "taken/", "base/", "astray/", "agreed/"] {
            notes.extend(self.refs_below(&format!("refs/el/{name}{atom}"))?);
        }
        Ok(notes)
    }

    /// Changes references: all of them, or none. `lines`: the words of `git update-ref --stdin`.
    ///
    /// # Errors
    /// If git refuses.
    pub(super) fn change_references(&self, lines: &str) -> Result<()> {
        let change = format!("start\n{lines}prepare\ncommit\n");
        let words = ["update-ref", "--stdin"];
        self.git.without_hooks().ask_with(&words, Some(&change)).map(drop)
    }

    /// Deletes an atom's branch, which is at `tip`, and el's notes about it.
    ///
    /// # Errors
    /// If git refuses. All of them are then still there.
    pub(super) fn delete_branch(&self, atom: &str, tip: &str) -> Result<()> {
        let mut lines = format!("delete refs/heads/{} {tip}\n", self.branch_of(atom)?);
        for (note, at) in self.notes_of(atom)? {
            lines.push_str(&format!("delete {note} {at}\n"));
        }
        self.change_references(&lines)
    }

    /// Returns the commits that none of the others contains, without duplicates.
    ///
    /// # Errors
    /// If git fails.
    pub fn independent_commits(&self, commits: &[String]) -> Result<Vec<String>> {
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        let words: Vec<&str> = ["merge-base", "--independent"]
            .into_iter()
            .chain(commits.iter().map(String::as_str))
            .collect();
        Ok(self.git.ask(&words)?.lines().map(str::to_owned).collect())
    }

    /// Returns true if one commit is an ancestor of another, or the same.
    ///
    /// # Errors
    /// If git cannot be run.
    pub fn contains(&self, whole: &str, part: &str) -> Result<bool> {
        Ok(self.git.ask_optional(&["merge-base", "--is-ancestor", part, whole])?.is_some())
    }

    /// Returns true if a commit has all work of another: all of its commits, or other commits that
    /// change the same.
    ///
    /// # Errors
    /// If git fails.
    pub fn has_work(&self, whole: &str, part: &str) -> Result<bool> {
        Ok(self.contains(whole, part)? || self.has_changes(whole, part)?)
    }

    /// Returns true if a commit contains copies of the commits of another, with the same changes.
    pub(super) fn has_changes(&self, whole: &str, part: &str) -> Result<bool> {
        let said = self.git.ask(&["cherry", whole, part])?;
        // Without an unmerged line, the branch has merges alone, about which `git cherry` says
        // nothing.
        Ok(!said.is_empty() && said.lines().all(|line| line.starts_with("- ")))
    }

    /// Makes sure that each reference has a file of its own, which a sandbox can open alone.
    ///
    /// # Errors
    /// [`GitError::Reftable`].
    pub(crate) fn ensure_plain_references(&self) -> Result<()> {
        let format = self.git.ask_optional(&["rev-parse", "--show-ref-format"])?;
        if format.as_deref() == Some("reftable") { Err(GitError::Reftable) } else { Ok(()) }
    }

    /// Lists the worktrees, the main worktree first.
    ///
    /// # Errors
    /// If git fails.
    pub fn worktrees(&self) -> Result<Vec<Worktree>> {
        let mut found =
            parse_worktrees(&self.git.ask(&["worktree", "list", "--porcelain", "-z"])?);
        // Git names a git folder that is kept elsewhere in the place of the checkout.
        if let Some(main) = found.first_mut()
            && linked::linked_folder(&self.top).as_ref() == Some(&main.path)
        {
            main.path.clone_from(&self.top);
        }
        Ok(found)
    }

    /// Lists the worktrees. Git is first told of those in a folder of el that it looks for
    /// elsewhere, since the project has been moved.
    ///
    /// # Errors
    /// If git fails.
    pub fn worktrees_in(&self, folder: &Path) -> Result<Vec<Worktree>> {
        let listed = self.worktrees()?;
        let moved = |tree: &Worktree| {
            let here = folder.join(tree.path.file_name()?);
            (tree.is_missing && has_dead_link(&here)).then(|| here.into_os_string())
        };
        let moved: Vec<_> = listed.iter().filter_map(moved).collect();
        if moved.is_empty() {
            return Ok(listed);
        }
        self.git.ask(&[&["worktree", "repair"].map(OsString::from)[..], &moved].concat())?;
        self.worktrees()
    }

    /// Returns the worktree in which a branch is checked out, if its folder is there.
    ///
    /// # Errors
    /// If git fails.
    pub fn checkout_of(&self, branch: &str) -> Result<Option<Worktree>> {
        Ok(self.worktrees()?.into_iter().find(|tree| tree.is_checkout_of(branch)))
    }
}

/// Returns true if a folder is a worktree, and its repository is not where the worktree says.
fn has_dead_link(folder: &Path) -> bool {
    let link = std::fs::read_to_string(folder.join(".git")).unwrap_or_default();
    link.trim_end().strip_prefix("gitdir: ").is_some_and(|at| !folder.join(at).exists())
}

/// Returns the top of a folder's checkout, and the folder's path below it.
fn find_checkout(git: &Git, folder: &Path) -> Result<(PathBuf, PathBuf)> {
    let all = ["rev-parse", "--is-bare-repository", "--show-toplevel", "--show-prefix"];
    let said = match git.ask(&all) {
        Err(GitError::Failed { said, .. }) if said.contains("not a git repository") => {
            return Err(match repository_folder(folder) {
                Some(broken) => GitError::Broken(broken),
                None => GitError::NoRepository(folder.to_owned()),
            });
        }
        Err(GitError::Program(_)) if repository_folder(folder).is_none() => {
            return Err(GitError::NoRepository(folder.to_owned()));
        }
        Err(GitError::Failed { said, .. }) if said.contains("dubious ownership") => {
            // Git names the repository, which may be a folder above.
            let named = said.split('\'').nth(1).map_or_else(|| folder.to_owned(), PathBuf::from);
            return Err(GitError::NotTrusted(named));
        }
        // A bare repository has no top.
        Err(_) if git.ask(&all[..2]).is_ok_and(|said| said == "true") => {
            return Err(GitError::Bare(folder.to_owned()));
        }
        said => said?,
    };
    match *said.split('\n').collect::<Vec<_>>() {
        [_, top] => Ok((top.into(), PathBuf::new())),
        [_, top, prefix] if prefix.ends_with('/') => Ok((top.into(), prefix.into())),
        // Names have line breaks.
        _ => {
            let [top, prefix] =
                ["--show-toplevel", "--show-prefix"].map(|what| ["rev-parse", what]);
            Ok((git.ask(&top)?.into(), git.ask(&prefix)?.into()))
        }
    }
}

/// Returns true while a rebase of this branch is under way in any of the worktrees. The branch is
/// then checked out nowhere, and must not be moved.
pub(super) fn is_being_rebased(worktrees: &[Worktree], branch: &str) -> Result<bool> {
    let wanted = format!("refs/heads/{branch}");
    for tree in worktrees.iter().filter(|tree| !tree.is_missing && tree.branch.is_none()) {
        let own = match Git::at(&tree.path).own_folder() {
            Err(error) if error.is_refusal() => continue,
            own => own?,
        };
        let is_wanted =
            |name| std::fs::read_to_string(own.join(name)).is_ok_and(|text| text.trim() == wanted);
        if ["rebase-merge/head-name", "rebase-apply/head-name"].into_iter().any(is_wanted) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Finds the nearest `.git` in a folder or above, as far up as git looks.
fn repository_folder(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    let device = folder.metadata().ok()?.dev();
    let ceilings = std::env::var_os("GIT_CEILING_DIRECTORIES").unwrap_or_default();
    let ceilings: Vec<PathBuf> = std::env::split_paths(&ceilings).collect();
    folder
        .ancestors()
        .take_while(|above| {
            *above == folder
                || !ceilings.iter().any(|ceiling| ceiling == above)
                    && above.metadata().is_ok_and(|found| found.dev() == device)
        })
        .map(|above| above.join(".git"))
        .find(|path| path.symlink_metadata().is_ok())
}

#[cfg(test)]
#[path = "repository_tests.rs"]
mod tests;
