//! Makes the worktree of an atom, or finds it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::file_error;
use super::repository::{Repository, base_reference};
use super::request::{Isolation, WorktreeRequest};
use super::untracked::copy_untracked;
use super::{Git, GitError, Result, Worktree, foundation, lost, ready};

/// A worktree that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedWorktree {
    /// The agent's folder: the worktree, or the project's folder in the worktree.
    pub workdir: PathBuf,
    pub top: PathBuf,
    pub branch: String,
    /// The setup has not been done yet.
    pub is_new: bool,
    /// Branches of finished dependencies that this branch lacks: they were finished later, or
    /// merging them is the agent's work.
    pub unmerged: Vec<String>,
    /// Why the base could not be fetched; the branch begins at what was fetched last.
    pub unfetched: Option<String>,
    /// Sentences about work that was set aside so that a branch follows the remote.
    pub set_aside: Vec<String>,
}

/// Makes the atom's worktree, or finds the existing worktree. Idempotent: an interrupted call can
/// be repeated.
///
/// # Errors
/// If the worktree cannot be made. Nothing is changed then.
pub fn prepare_worktree(
    isolation: &Isolation,
    folder: &Path,
    wanted: &WorktreeRequest<'_>,
) -> Result<PreparedWorktree> {
    let mut repository = Repository::open_at(folder)?;
    make_or_find(&mut repository, isolation, wanted)
        .map_err(|error| foundation::name_damaged(&repository, wanted, error))
}

fn make_or_find(
    repository: &mut Repository,
    isolation: &Isolation,
    wanted: &WorktreeRequest<'_>,
) -> Result<PreparedWorktree> {
    let atom = wanted.atom;
    let isolation = &match (&isolation.base, repository.current_branch()) {
        (None, Ok(branch)) if isolation.at_upstream => {
            Isolation { base: repository.upstream_of(&branch)?, ..isolation.clone() }
        }
        _ => isolation.clone(),
    };
    let git = repository.git().without_hooks();
    let head = repository.head_commit()?;
    let branch = repository.name_branch(atom, &isolation.branch_prefix)?;
    if let Some(remote) = &isolation.remote {
        repository.fetch_shared(remote, &isolation.branch_prefix)?;
    }
    let unfetched = match &isolation.base {
        Some(base) if isolation.fetch && repository.branch_tip(&branch)?.is_none() => {
            fetch_base(repository, base)
        }
        _ => None,
    };
    let target =
        isolation.base.as_deref().map_or(Ok(None), |name| repository.resolve_commit(name))?;
    let target = target.as_deref().unwrap_or(&head);
    if let Some(remote) = &isolation.remote {
        repository.share_left(remote, target)?;
    }
    let set_aside = foundation::follow_shared(repository, target, wanted)?;
    foundation::ensure_on_branches(repository, target, wanted.builds_on)?;
    make_worktrees_folder(&isolation.folder)?;
    let folder = isolation.folder.canonicalize().map_err(file_error("find", &isolation.folder))?;
    let path = folder.join(atom);
    let known = repository.worktrees_in(&folder)?;
    let mut registered = known.iter().find(|tree| tree.path == path);
    if registered.is_some_and(|tree| tree.is_half_made && !tree.is_missing) {
        // Half of the files may be missing, and no agent has worked there.
        git.remove_worktree(&path, &["--force", "--force"])?;
        registered = None;
    }
    let elsewhere =
        known.iter().find(|tree| tree.path != path && tree.branch.as_deref() == Some(&branch));
    if registered.is_none_or(|tree| tree.is_missing) {
        if let Some(other) = elsewhere.filter(|tree| !tree.is_missing) {
            return Err(GitError::BranchElsewhere { branch, at: other.path.clone() });
        }
        for gone in registered.into_iter().chain(elsewhere) {
            if gone.is_locked {
                return Err(GitError::LockedAway(gone.path.clone()));
            }
            // A person removed the folder; git still knows the worktree and would refuse.
            git.remove_worktree(&gone.path, &["--force", "--force"])?;
        }
        if fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_some()) || path.is_file() {
            return Err(GitError::InTheWay(path));
        }
        add_worktree(repository, isolation, wanted, &branch, &path, &head)?;
    }
    let is_new = !ready::note_path(&Git::at(&path).in_own_checkout())?.exists();
    if is_new {
        copy_untracked(repository.top(), &path, &isolation.copy, &isolation.link)?;
    }
    let workdir = repository.project_folder(&path);
    let unmerged = match repository.branch_tip(&branch)? {
        Some(tip) => foundation::unmerged_dependencies(repository, &tip, target, wanted.builds_on)?,
        None => Vec::new(),
    };
    let unmerged =
        unmerged.iter().map(|atom| repository.branch_of(atom)).collect::<Result<_, _>>()?;
    Ok(PreparedWorktree { workdir, top: path, branch, is_new, unmerged, unfetched, set_aside })
}

/// Fetches the branch that a base such as `origin/main` names. Returns why that failed: without
/// a network, work goes on from what was fetched last.
fn fetch_base(repository: &Repository, base: &str) -> Option<String> {
    let fetch = || -> Result<()> {
        for remote in repository.remotes()? {
            let branch = base.strip_prefix(&remote.name).and_then(|rest| rest.strip_prefix('/'));
            if let Some(branch) = branch {
                return repository.fetch_branch(&remote.name, branch).map(drop);
            }
        }
        Ok(())
    };
    fetch().err().map(|error| error.to_string())
}

impl PreparedWorktree {
    /// Records that the setup is done, so that a retry skips the setup.
    ///
    /// # Errors
    /// If the note cannot be written.
    pub fn mark_ready(&self) -> Result<()> {
        let git = Git::at(&self.top).in_own_checkout();
        let note = ready::note_path(&git)?;
        // The present ignored files came from el or the setup, and can be made again.
        fs::write(&note, lost::ignored_paths(&git)?.join("\0")).map_err(file_error("write", &note))
    }
}

fn add_worktree(
    repository: &Repository,
    isolation: &Isolation,
    wanted: &WorktreeRequest<'_>,
    branch: &str,
    path: &Path,
    head: &str,
) -> Result<()> {
    if repository.branch_tip(branch)?.is_none() {
        let of_parent = match wanted.parent {
            Some(parent) => repository.tip_of(parent)?,
            None => None,
        };
        let base = match (of_parent, &isolation.base) {
            (Some(tip), base) if base.is_none() || !isolation.is_own_base => tip,
            (_, Some(name)) => repository
                .resolve_commit(name)?
                .ok_or_else(|| GitError::NoRevision(name.clone()))?,
            (_, None) => head.to_owned(),
        };
        let base = foundation::merge_dependencies(repository, &base, wanted)?;
        // Creates both references or neither.
        repository.change_references(&format!(
            "create refs/heads/{branch} {base}\nupdate {} {base}\n",
            base_reference(wanted.atom)
        ))?;
    }
    let words = ["worktree", "add", "--quiet"].map(OsStr::new);
    let git = repository.git().without_hooks();
    git.ask(&[&words[..], &[path.as_os_str(), branch.as_ref()]].concat()).map(drop)
}

/// Makes the folder of the worktrees, hidden from git by a `.gitignore`.
///
/// # Errors
/// If the folder cannot be made.
pub fn make_worktrees_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        // An existing folder stays as it is.
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(file_error("make the folder", folder))?;
    let ignore = folder.join(".gitignore");
    fs::write(&ignore, "*\n").map_err(file_error("write", &ignore))
}

/// Removes a worktree and its branch. `ours`: the files that el itself put into worktrees. The
/// caller knows that the branch is merged; git refuses to remove a worktree that is not clean.
///
/// # Errors
/// If git refuses; then nothing of value was removed.
pub fn remove_worktree(
    repository: &Repository,
    tree: Option<&Worktree>,
    atom: &str,
    tip: &str,
    ours: &[String],
) -> Result<()> {
    let git = repository.git().without_hooks();
    if let Some(tree) = tree {
        // Untracked files that el put there would make git refuse, so git is forced. A submodule
        // may hold commits that exist nowhere else, so git is not forced then.
        let is_only_ours = !tree.is_missing
            && !tree.path.join(".gitmodules").exists()
            && tree.uncommitted_changes(&git, ours)?.is_empty()
            && !tree.uncommitted_changes(&git, &[])?.is_empty();
        git.remove_worktree(&tree.path, if is_only_ours { &["--force"] } else { &[] })?;
    }
    repository.delete_branch(atom, tip)
}
