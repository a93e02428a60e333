//! Lists git's lock files. A killed git leaves its lock files behind.

use std::path::{Path, PathBuf};

use super::{KEEP_FILE, Repository, Result};

/// The depth of folders of references that are searched.
const DEPTH_MAX: usize = 8;

impl Repository {
    /// Lists the current locks of this repository and its worktrees. A lock that stays belongs to a
    /// killed git.
    ///
    /// # Errors
    /// If git fails.
    pub fn find_locks(&self) -> Result<Vec<PathBuf>> {
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

/// Adds the locks of a folder, and of the folders below down to `depth`.
fn add_locks(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => add_locks(&path, depth - 1, found),
            // The file that el keeps in the folder of branches is no lock.
            Ok(_) if path.ends_with(KEEP_FILE) => {}
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|end| end == "lock") => {
                found.push(path);
            }
            _ => {}
        }
    }
}
