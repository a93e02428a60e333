//! Finds the main worktree of a linked one by its files, without a process.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the main worktree if `folder` is the top of a linked worktree: its `.git` is a file that
/// names the worktree's own git folder, in which `commondir` names the repository. A submodule's
/// `.git` is a file too, but has no `commondir`.
pub fn main_worktree(folder: &Path) -> Option<PathBuf> {
    let link = folder.join(".git");
    if !link.is_file() {
        return None;
    }
    let own = linked_folder(folder)?;
    let common = common_folder(&own)?;
    (common.file_name()? == ".git").then(|| common.parent().map(Path::to_owned))?
}

/// Returns git's folder of the repository whose checkout has this top folder.
pub(super) fn repository_folder(top: &Path) -> PathBuf {
    let own = linked_folder(top).unwrap_or_else(|| top.join(".git"));
    common_folder(&own).unwrap_or(own)
}

/// Returns the folder that a `.git` file names.
pub(super) fn linked_folder(top: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(top.join(".git")).ok()?;
    Some(top.join(text.strip_prefix("gitdir:")?.trim()))
}

/// Returns git's folder of the repository of a linked worktree.
fn common_folder(own: &Path) -> Option<PathBuf> {
    let common = fs::read_to_string(own.join("commondir")).ok()?;
    fs::canonicalize(own.join(common.trim())).ok()
}
