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
    let text = fs::read_to_string(link).ok()?;
    let git_dir = folder.join(text.strip_prefix("gitdir:")?.trim());
    let common = fs::read_to_string(git_dir.join("commondir")).ok()?;
    let common = fs::canonicalize(git_dir.join(common.trim())).ok()?;
    (common.file_name()? == ".git").then(|| common.parent().map(Path::to_owned))?
}
