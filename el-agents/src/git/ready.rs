//! The note in a worktree's git folder that the setup is done.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use super::{Git, Result};

/// The name of the note. The content lists the ignored files that existed at the end of the setup.
const READY: &str = "el-ready";

pub(super) fn note_path(git: &Git) -> Result<PathBuf> {
    Ok(git.own_folder()?.join(READY))
}

/// Returns true if el made the worktree ready.
pub(super) fn is_ready(git: &Git) -> bool {
    note_path(git).is_ok_and(|note| note.exists())
}

/// Returns the ignored files that existed at the end of the setup, and the time of that end.
pub(super) fn put_by_setup(git: &Git) -> Result<(HashSet<String>, Option<SystemTime>)> {
    let note = note_path(git)?;
    let paths = fs::read_to_string(&note).unwrap_or_default();
    let paths = paths.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    Ok((paths, fs::metadata(&note).and_then(|note| note.modified()).ok()))
}
