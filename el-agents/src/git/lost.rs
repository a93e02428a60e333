//! Finds files that would be lost with a worktree that git calls clean: ignored files, files that
//! git was told not to compare, and nested repositories.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::files::{changed_on_disk, flagged_entries, submodule_folders};
use super::worktree_list::is_below;
use super::{Git, Result, Worktree, ready};

/// Folders that tools can make again.
const MADE: [&str; 6] = ["node_modules", "__pycache__", ".venv", ".gradle", ".next", ".tox"];
/// The file that marks a folder as a cache. Cargo and many others write the file:
/// <https://bford.info/cachedir/>.
const CACHE: &str = "CACHEDIR.TAG";

impl Worktree {
    /// Lists the files that would be lost with the worktree, though `git status` does not list
    /// them. `main`: the user's checkout. `put`: the files that el puts into worktrees.
    ///
    /// Left out are files that el or the setup put there, unless changed since, and files that can
    /// be made again: the content of cache folders, and files that are the same in the main
    /// checkout.
    ///
    /// # Errors
    /// If git fails.
    pub fn would_lose(&self, main: &Path, put: &[String]) -> Result<Vec<String>> {
        if self.is_missing {
            return Ok(Vec::new());
        }
        let git = Git::at(&self.path).in_own_checkout();
        let flagged: Vec<_> = flagged_entries(&git)?.into_iter().map(|(_, path)| path).collect();
        let mut found: Vec<String> = changed_on_disk(&git, &flagged)?
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let (from_setup, ready_at) = ready::put_by_setup(&git)?;
        for path in ignored_paths(&git)? {
            let is_from_setup =
                || from_setup.contains(&path) && !self.is_changed_since(&path, ready_at);
            if !self.is_made_anew(&path, main, put) && !is_from_setup() {
                found.push(path);
            }
        }
        found.extend(self.not_checked_out(&git)?);
        Ok(found)
    }

    /// Lists non-empty submodule folders without a checkout, into which git does not look. Git
    /// itself refuses to remove a submodule that is checked out.
    fn not_checked_out(&self, git: &Git) -> Result<Vec<String>> {
        let is_filled = |path: &PathBuf| {
            let folder = self.path.join(path);
            let has_some = fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some());
            has_some && !folder.join(".git").is_file()
        };
        Ok(submodule_folders(git)?
            .into_iter()
            .filter(is_filled)
            .map(|path| path.join("").display().to_string())
            .collect())
    }

    /// Returns true if the path changed after `time`. For a folder, only the folder's own entries
    /// count.
    fn is_changed_since(&self, path: &str, time: Option<SystemTime>) -> bool {
        let changed = fs::symlink_metadata(self.path.join(path)).and_then(|is| is.modified()).ok();
        changed > time
    }

    fn is_made_anew(&self, path: &str, main: &Path, put: &[String]) -> bool {
        let (here, there) = (self.path.join(path), main.join(path));
        match fs::symlink_metadata(&here) {
            Ok(is) if is.is_dir() => {
                let name = here.file_name().unwrap_or_default().to_string_lossy();
                let is_ours = put.iter().any(|ours| is_below(path, ours));
                is_ours
                    || here.join(CACHE).is_file()
                    || MADE.contains(&&*name)
                    || contains_all(&there, &here)
            }
            Ok(is) if is.is_symlink() => true,
            Ok(_) => {
                here.extension().is_some_and(|end| end == "pyc") || contains_all(&there, &here)
            }
            Err(_) => true,
        }
    }

    /// Lists the nested repositories, ignored or in submodule folders, with commits that exist
    /// neither on a remote nor in the main checkout's repository at the same path.
    ///
    /// # Errors
    /// If git fails.
    pub fn nested_repositories(&self, main: &Path) -> Result<Vec<String>> {
        if self.is_missing {
            return Ok(Vec::new());
        }
        let git = Git::at(&self.path).in_own_checkout();
        let mut found = Vec::new();
        for path in
            ignored_paths(&git)?.into_iter().map(PathBuf::from).chain(submodule_folders(&git)?)
        {
            find_repositories(&self.path.join(path), &mut found);
        }
        let place = |folder: &PathBuf| folder.strip_prefix(&self.path).unwrap_or(folder).to_owned();
        found.retain(|folder| has_own_commits(folder, &main.join(place(folder))));
        Ok(found.iter().map(|folder| place(folder).join("").display().to_string()).collect())
    }

    /// Returns true if el made the worktree: the worktree has el's place for it, or el's ready
    /// note.
    pub fn is_made_by_el(&self, place: &Path) -> bool {
        let git = Git::at(&self.path).in_own_checkout();
        self.path == place || self.is_missing || ready::is_ready(&git)
    }
}

/// Returns true if `there` has all the content of `here`. Sockets and other special files do not
/// count.
fn contains_all(there: &Path, here: &Path) -> bool {
    let (Ok(found), Ok(is)) = (fs::symlink_metadata(there), fs::symlink_metadata(here)) else {
        return false;
    };
    if is.is_symlink() {
        return fs::read_link(there)
            .is_ok_and(|there| fs::read_link(here).is_ok_and(|here| here == there));
    }
    if is.is_dir() {
        let Ok(entries) = fs::read_dir(here) else { return false };
        return found.is_dir()
            && entries.into_iter().all(|entry| {
                entry.is_ok_and(|entry| contains_all(&there.join(entry.file_name()), &entry.path()))
            });
    }
    let is_same =
        || matches!((fs::read(there), fs::read(here)), (Ok(there), Ok(here)) if there == here);
    !is.is_file() || (found.is_file() && found.len() == is.len() && is_same())
}

/// Finds the folders that hold a repository's objects, bare repositories included. A `.git` file
/// only points elsewhere and does not count.
fn find_repositories(folder: &Path, found: &mut Vec<PathBuf>) {
    if !fs::symlink_metadata(folder).is_ok_and(|is| is.is_dir()) {
        return;
    }
    let is_git = |at: &Path| {
        at.join("objects").is_dir() && at.join("refs").is_dir() && at.join("HEAD").exists()
    };
    if is_git(folder) {
        return found.push(folder.to_owned());
    }
    if is_git(&folder.join(".git")) {
        found.push(folder.to_owned());
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name() != ".git" && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find_repositories(&entry.path(), found);
        }
    }
}

/// Returns true if a repository has commits of its own, or cannot be read.
fn has_own_commits(folder: &Path, main: &Path) -> bool {
    let git = Git::in_nested(folder);
    let Ok(own) = git.ask(&["rev-list", "--all", "--not", "--remotes"]) else { return true };
    if own.is_empty() {
        return false;
    }
    let said = Git::at(main)
        .in_own_checkout()
        .ask_with(&["cat-file", "--batch-check"], Some(&(own + "\n")));
    !said.is_ok_and(|said| said.lines().all(|line| !line.ends_with(" missing")))
}

/// Lists the ignored paths; a wholly ignored folder is a single path.
pub(super) fn ignored_paths(git: &Git) -> Result<Vec<String>> {
    let said =
        git.ask(&["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"])?;
    Ok(said.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}
