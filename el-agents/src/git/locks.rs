//! Locks that a git takes for a moment, and leaves behind if it is killed.

use std::path::{Path, PathBuf};

use super::{GitError, Repository};

/// Folders below folders of references that are gone into.
const DEPTH_MAX: usize = 8;

impl Repository {
    /// The locks in this repository and its worktrees as they are now. One that stays is a git's
    /// that was killed.
    ///
    /// # Errors
    /// If git fails.
    pub fn locks(&self) -> Result<Vec<PathBuf>, GitError> {
        let words = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let common = PathBuf::from(self.git().ask(&words)?);
        let mut found = Vec::new();
        add_locks(&common, 0, &mut found);
        add_locks(&common.join("refs"), DEPTH_MAX, &mut found);
        for tree in std::fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten() {
            add_locks(&tree.path(), 0, &mut found);
        }
        found.sort();
        Ok(found)
    }
}

/// The locks in a folder, and in those below it as far down as `depth`.
fn add_locks(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => add_locks(&path, depth - 1, found),
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|end| end == "lock") => {
                found.push(path);
            }
            _ => {}
        }
    }
}
