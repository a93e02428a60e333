//! What would be lost with a worktree that git calls clean: files that git ignores, or was told not to look at, and repositories in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::files::{differing, flagged, submodules};
use super::repository::is_below;
use super::{Git, GitError, Worktree, worktree};

/// Folders that tools make anew, whatever is in them.
const MADE: [&str; 6] = ["node_modules", "__pycache__", ".venv", ".gradle", ".next", ".tox"];
/// What says of a folder that it can be made anew (<https://bford.info/cachedir/>); cargo and many others put it there.
const CACHE: &str = "CACHEDIR.TAG";

impl Worktree {
    /// The files that would be lost with it, though `git status` is silent about them. `main`: the user's checkout; `put`: what el puts into worktrees.
    ///
    /// What el or the setup put there is not among them unless it was changed since, nor what is made anew: a folder that says so or is known for it, and what is the same in the
    /// main checkout.
    ///
    /// # Errors
    /// If git fails.
    pub fn would_lose(&self, main: &Path, put: &[String]) -> Result<Vec<String>, GitError> {
        if self.is_missing {
            return Ok(Vec::new());
        }
        let git = Git::at(&self.path).in_own_checkout();
        let flagged: Vec<_> = flagged(&git)?.into_iter().map(|(_, path)| path).collect();
        let mut found: Vec<String> = differing(&git, &flagged)?.iter().map(|path| path.display().to_string()).collect();
        let (from_setup, ready_at) = worktree::put_by_setup(&git)?;
        for path in ignored(&git)? {
            let is_from_setup = || from_setup.contains(&path) && !self.is_changed_since(&path, ready_at);
            if !self.is_made_anew(&path, main, put) && !is_from_setup() {
                found.push(path);
            }
        }
        found.extend(self.not_checked_out(&git)?);
        Ok(found)
    }

    /// The folders of submodules in which there is something, though none is checked out there: git does not look into them. One that is checked out git does not
    /// take away.
    fn not_checked_out(&self, git: &Git) -> Result<Vec<String>, GitError> {
        let is_filled = |path: &PathBuf| {
            let folder = self.path.join(path);
            let has_some = fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some());
            has_some && !folder.join(".git").is_file()
        };
        Ok(submodules(git)?.into_iter().filter(is_filled).map(|path| path.join("").display().to_string()).collect())
    }

    /// Of a folder only what it holds itself counts.
    fn is_changed_since(&self, path: &str, time: Option<SystemTime>) -> bool {
        let changed = fs::symlink_metadata(self.path.join(path)).and_then(|is| is.modified()).ok();
        changed > time
    }

    fn is_made_anew(&self, path: &str, main: &Path, put: &[String]) -> bool {
        let (here, there) = (self.path.join(path), main.join(path));
        let is_same = || matches!((fs::read(&here), fs::read(&there)), (Ok(here), Ok(there)) if here == there);
        match fs::symlink_metadata(&here) {
            Ok(is) if is.is_dir() => {
                let name = here.file_name().unwrap_or_default().to_string_lossy();
                let is_ours = put.iter().any(|ours| is_below(path, ours));
                is_ours || here.join(CACHE).is_file() || MADE.contains(&&*name) || there.is_dir()
            }
            Ok(is) if is.is_symlink() => true,
            Ok(_) => here.extension().is_some_and(|end| end == "pyc") || is_same(),
            Err(_) => true,
        }
    }

    /// Whether el made it: it stands where el puts them, or was made ready by el.
    pub fn is_ours(&self, place: &Path) -> bool {
        let git = Git::at(&self.path).in_own_checkout();
        self.path == place || self.is_missing || worktree::is_ready(&git)
    }
}

/// What git ignores, a folder as one.
pub(super) fn ignored(git: &Git) -> Result<Vec<String>, GitError> {
    let said = git.ask(&["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"])?;
    Ok(said.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}
