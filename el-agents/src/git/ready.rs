//! The note in a worktree that its setup is done.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use super::{Git, GitError};

/// Name of the file in a worktree's own git folder that says that its setup is done, and what was
/// there then that git ignores.
const READY: &str = "el-ready";

pub(super) fn note(git: &Git) -> Result<PathBuf, GitError> {
    Ok(PathBuf::from(git.ask(&["rev-parse", "--absolute-git-dir"])?).join(READY))
}

/// Returns true if el made the worktree ready.
pub(super) fn is_ready(git: &Git) -> bool {
    note(git).is_ok_and(|note| note.exists())
}

/// What git ignores of what was there when the worktree had been made ready, and when that was.
pub(super) fn put_by_setup(git: &Git) -> Result<(HashSet<String>, Option<SystemTime>), GitError> {
    let note = note(git)?;
    let paths = fs::read_to_string(&note).unwrap_or_default();
    let paths = paths.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    Ok((paths, fs::metadata(&note).and_then(|note| note.modified()).ok()))
}
