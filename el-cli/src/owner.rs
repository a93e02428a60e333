//! The owner of a tracker. A tracker that is found on the way up from the current folder may be
//! another user's, and its configuration names programs. By default no agent is started for such a
//! tracker, and no agent reads its content.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::CommandError;
use crate::project::Project;

/// The part of a tracker that belongs to another user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForeignTracker {
    path: PathBuf,
    owner: u32,
    root: PathBuf,
}

impl ForeignTracker {
    /// Checks the owner of the tracker's folder, database and configuration. Returns `None` if all
    /// belong to this user or to root.
    pub(crate) fn find_foreign(project: &Project) -> Option<ForeignTracker> {
        let parts = [project.state.clone(), project.db.clone(), project.config_path()];
        let (path, owner) = parts.into_iter().find_map(|path| {
            let owner = fs::metadata(&path).ok()?.uid();
            (!is_own(owner)).then_some((path, owner))
        })?;
        Some(ForeignTracker { path, owner, root: project.root.clone() })
    }

    /// Returns true if the project's folder is among the user's `safe_directories`, whoever owns
    /// the folder.
    pub(crate) fn is_trusted(&self, safe_directories: &[PathBuf]) -> bool {
        safe_directories.iter().any(|safe| is_in(&self.root, safe))
    }

    /// The error that explains why no agent is started.
    pub(crate) fn refusal_error(&self) -> CommandError {
        let root = self.root.display();
        CommandError::refused(
            "dubious_owner",
            format!(
                "{} belongs to another user (uid {}), whose settings would name the programs to \
                 start",
                self.path.display(),
                self.owner
            ),
        )
        .with_path(&self.path)
        .with_detail("owner", self.owner)
        .with_hint(format!(
            "if you trust whoever that is: el config set --user safe_directories '[\"{root}\"]'"
        ))
        .with_hint("the folders that are in that list already have to be named again; * trusts all")
    }
}

/// Returns true if a file of this owner is trusted by this process.
pub(crate) fn is_own(owner: u32) -> bool {
    let sudo = std::env::var("SUDO_UID").ok();
    is_ours(owner, rustix::process::geteuid().as_raw(), sudo.as_deref())
}

/// Root's files are trusted, since root could change this very program. Under sudo, files of the
/// calling user are trusted too.
fn is_ours(owner: u32, own: u32, sudo: Option<&str>) -> bool {
    owner == own || owner == 0 || (own == 0 && sudo.and_then(|uid| uid.parse().ok()) == Some(owner))
}

fn is_in(root: &Path, safe: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    safe == Path::new("*") || real(safe) == real(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_and_roots_files_are_trusted_and_those_of_who_called_sudo() {
        assert!(is_ours(1000, 1000, None) && is_ours(0, 1000, None) && is_ours(0, 0, None));
        assert!(!is_ours(1001, 1000, None) && !is_ours(1000, 0, None));
        assert!(is_ours(1000, 0, Some("1000")) && !is_ours(1001, 0, Some("1000")));
        assert!(!is_ours(1000, 1001, Some("1000")), "only root can have been called by sudo");
        assert!(!is_ours(1000, 0, Some("")) && !is_ours(1000, 0, Some("x")));
    }

    #[test]
    fn a_folder_is_trusted_by_its_own_path_or_with_all() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("p");
        fs::create_dir(&root).unwrap();
        std::os::unix::fs::symlink(&root, dir.path().join("link")).unwrap();
        assert!(
            is_in(&root, &root)
                && is_in(&root, Path::new("*"))
                && is_in(&root, &dir.path().join("link"))
        );
        assert!(!is_in(&root, dir.path()) && !is_in(&root, &root.join("x")));
    }
}
