//! A worktree for one atom: made, or used again.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::file_error;
use super::repository::{Repository, branch_of};
use super::request::{Isolation, WorktreeRequest};
use super::untracked::copy_untracked;
use super::{Git, GitError, Worktree, foundation, lost, ready};

/// A worktree that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// Where the agent works: the worktree, or the folder in it that the project is in.
    pub workdir: PathBuf,
    pub top: PathBuf,
    pub branch: String,
    /// It was not there before.
    pub is_new: bool,
    /// Branches with finished work that this one builds on and does not have: it was made before
    /// they were finished, or it is to join them.
    pub unmerged: Vec<String>,
}

/// Makes the atom's worktree, or finds it. Idempotent, and to be called again if it was broken off.
///
/// # Errors
/// If the worktree cannot be had. Nothing was changed then.
pub fn prepare(
    isolation: &Isolation,
    folder: &Path,
    wanted: &WorktreeRequest<'_>,
) -> Result<Prepared, GitError> {
    let atom = wanted.atom;
    let repository = Repository::of(folder)?;
    let git = repository.git().without_hooks();
    let head = repository.head()?;
    let branch = branch_of(atom);
    let target = isolation.base.as_deref().map_or(Ok(None), |name| repository.commit(name))?;
    let target = target.as_deref().unwrap_or(&head);
    foundation::ensure_on_branches(&repository, target, wanted.builds_on)?;
    folder_of_worktrees(&isolation.folder)?;
    let folder = isolation.folder.canonicalize().map_err(file_error("find", &isolation.folder))?;
    let path = folder.join(atom);
    let known = repository.worktrees()?;
    let mut registered = known.iter().find(|tree| tree.path == path);
    if registered.is_some_and(|tree| tree.is_half_made && !tree.is_missing) {
        // Nobody has worked in it: half of its files may not be there.
        git.ask(&[
            "worktree".as_ref(),
            "remove".as_ref(),
            "--force".as_ref(),
            "--force".as_ref(),
            path.as_os_str(),
        ])?;
        registered = None;
    }
    let elsewhere =
        known.iter().find(|tree| tree.path != path && tree.branch.as_deref() == Some(&branch));
    if registered.is_none_or(|tree| tree.is_missing) {
        if let Some(other) = elsewhere.filter(|tree| !tree.is_missing) {
            return Err(GitError::BranchElsewhere { branch, at: other.path.clone() });
        }
        for gone in registered.into_iter().chain(elsewhere) {
            // A person removed its folder; git remembers the worktree, and would refuse.
            git.ask(&[
                "worktree".as_ref(),
                "remove".as_ref(),
                "--force".as_ref(),
                gone.path.as_os_str(),
            ])?;
        }
        if fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_some()) || path.is_file() {
            return Err(GitError::InTheWay(path));
        }
        add(&repository, isolation, wanted, &path, &head)?;
    }
    let is_new = !ready::note(&Git::at(&path).in_own_checkout())?.exists();
    if is_new {
        copy_untracked(repository.top(), &path, &isolation.copy, &isolation.link)?;
    }
    let prefix = repository.prefix();
    let below = path.join(prefix);
    let workdir =
        if prefix.as_os_str().is_empty() || !below.is_dir() { path.clone() } else { below };
    let unmerged = match repository.tip(&branch)? {
        Some(tip) => {
            foundation::unmerged_dependencies(&repository, &tip, target, wanted.builds_on)?
        }
        None => Vec::new(),
    };
    let unmerged = unmerged.iter().map(|atom| branch_of(atom)).collect();
    Ok(Prepared { workdir, top: path, branch, is_new, unmerged })
}

impl Prepared {
    /// Notes that the setup was done, so that a retry does not do it again.
    ///
    /// # Errors
    /// If that cannot be written down.
    pub fn mark_ready(&self) -> Result<(), GitError> {
        let git = Git::at(&self.top).in_own_checkout();
        let note = ready::note(&git)?;
        // What is there now was put there, and can be put there again.
        fs::write(&note, lost::ignored(&git)?.join("\0")).map_err(file_error("write", &note))
    }
}

fn add(
    repository: &Repository,
    isolation: &Isolation,
    wanted: &WorktreeRequest<'_>,
    path: &Path,
    head: &str,
) -> Result<(), GitError> {
    let git = repository.git().without_hooks();
    let atom = wanted.atom;
    let branch = branch_of(atom);
    let words = |rest: &[&str]| -> Vec<std::ffi::OsString> {
        let mut words: Vec<std::ffi::OsString> =
            vec!["worktree".into(), "add".into(), "--quiet".into()];
        words.push(path.into());
        words.extend(rest.iter().map(Into::into));
        words
    };
    if repository.tip(&branch)?.is_none() {
        let of_parent = match wanted.parent {
            Some(parent) => repository.tip(&branch_of(parent))?,
            None => None,
        };
        let base = match (of_parent, &isolation.base) {
            (Some(tip), _) => tip,
            (None, Some(name)) => {
                repository.commit(name)?.ok_or_else(|| GitError::NoRevision(name.clone()))?
            }
            (None, None) => head.to_owned(),
        };
        let base = foundation::merge_dependencies(repository, &base, wanted)?;
        // The branch and where it began, or neither.
        let change = format!(
            "start\ncreate refs/heads/{branch} {base}\nupdate refs/el/base/{atom} {base}\n\
             prepare\ncommit\n"
        );
        git.ask_with(&["update-ref", "--stdin"], Some(&change))?;
    }
    git.ask(&words(&[&branch])).map(drop)
}

/// The folder of the worktrees, of which git is to see nothing.
///
/// # Errors
/// If it cannot be made.
pub fn folder_of_worktrees(folder: &Path) -> Result<(), GitError> {
    if folder.is_dir() {
        // Somebody else's folder stays as it is.
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(file_error("make the folder", folder))?;
    let ignore = folder.join(".gitignore");
    fs::write(&ignore, "*\n").map_err(file_error("write", &ignore))
}

/// Takes a worktree and its branch away. `ours`: what el itself put into worktrees. The caller
/// knows that both are merged; git itself refuses a worktree that is not clean.
///
/// # Errors
/// If git refuses; then nothing that matters was removed.
pub fn remove(
    repository: &Repository,
    tree: Option<&Worktree>,
    atom: &str,
    tip: &str,
    ours: &[String],
) -> Result<(), GitError> {
    let git = repository.git().without_hooks();
    if let Some(tree) = tree {
        // What el itself put there, and git does not ignore, would make git refuse. A submodule may
        // hold commits that are nowhere else.
        let is_only_ours = !tree.is_missing
            && !tree.path.join(".gitmodules").exists()
            && tree.changes(ours)?.is_empty()
            && !tree.changes(&[])?.is_empty();
        let force: &[&std::ffi::OsStr] = if is_only_ours { &["--force".as_ref()] } else { &[] };
        git.ask(
            &[&["worktree".as_ref(), "remove".as_ref()], force, &[tree.path.as_os_str()]].concat(),
        )?;
    }
    let mut change = format!("start\ndelete refs/heads/{} {tip}\n", branch_of(atom));
    for (name, at) in repository.notes_of(atom)? {
        change.push_str(&format!("delete {name} {at}\n"));
    }
    git.ask_with(&["update-ref", "--stdin"], Some(&(change + "prepare\ncommit\n"))).map(drop)
}
