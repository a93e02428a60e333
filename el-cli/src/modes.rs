//! Modes and links of a tracker. Whoever may write the tracker's files decides which programs are
//! started, so no program is started for a tracker that others may write.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::project::{Project, STATE_FOLDER};
use crate::{CommandError, Result, owner};

const OTHERS_WRITE: u32 = 0o022;
const OTHERS_ENTER: u32 = 0o011;
const STICKY: u32 = 0o1000;

/// A way by which others may write a part of the tracker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exposed {
    path: PathBuf,
    how: Exposure,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Exposure {
    /// The mode lets others write.
    Writable,
    /// A link to a place that others may change.
    Link(PathBuf),
    /// The number of names (hard links) of the database.
    HardLink(u64),
}

impl Exposed {
    /// Looks at the tracker's folder, database and configuration.
    pub(crate) fn find_exposed(project: &Project) -> Option<Exposed> {
        let config = project.config_path();
        // A database elsewhere may lie in `/tmp`: such a folder is not the tracker's own.
        let own = Some(&project.state).filter(|state| state.ends_with(STATE_FOLDER));
        let files = [&project.db, &config];
        let is_reachable =
            fs::metadata(&project.state).map_or(true, |meta| meta.mode() & OTHERS_ENTER != 0);
        let open = own.into_iter().chain(files.into_iter().filter(|_| is_reachable));
        let writable =
            open.filter(|path| may_be_written(path)).map(|path| (path, Exposure::Writable));
        let linked = own.into_iter().chain(files).filter_map(|path| {
            let target = fs::canonicalize(path).ok().filter(|_| path.is_symlink())?;
            is_in_foreign_place(path, &target).then_some((path, Exposure::Link(target)))
        });
        let names = fs::metadata(&project.db).map_or(1, |meta| meta.nlink());
        let hard = (names > 1).then_some((&project.db, Exposure::HardLink(names)));
        let (path, how) = linked.chain(writable).chain(hard).next()?;
        Some(Exposed { path: path.clone(), how })
    }

    pub(crate) fn message(&self) -> String {
        let path = self.path.display();
        match &self.how {
            Exposure::Writable => format!("other users may write {path}"),
            Exposure::Link(target) => {
                format!("{path} is a link to {}, which others may change", target.display())
            }
            Exposure::HardLink(names) => {
                format!("the database {path} has {names} names, so it can be written elsewhere")
            }
        }
    }

    pub(crate) fn hint(&self) -> String {
        let path = self.path.display();
        match &self.how {
            Exposure::Writable => format!("chmod go-w {path}"),
            Exposure::Link(_) => {
                "put a folder of your own in its place, or name a database with --db".to_owned()
            }
            Exposure::HardLink(_) => {
                format!("find the other name with: find / -xdev -samefile {path}; then remove it")
            }
        }
    }

    fn refusal_error(&self) -> CommandError {
        let message = format!("{}, and with it the programs that el starts", self.message());
        CommandError::refused("unsafe_tracker", message)
            .with_path(&self.path)
            .with_hint(self.hint())
    }
}

/// Refuses a tracker that others may write.
pub(crate) fn ensure_closed(project: &Project) -> Result<()> {
    Exposed::find_exposed(project).map_or(Ok(()), |exposed| Err(exposed.refusal_error()))
}

/// Says that the tracker's folder is a link, which any writer of the project's folder can lead
/// elsewhere.
pub(crate) fn describe_link(project: &Project) -> Option<String> {
    let target = fs::canonicalize(&project.state).ok().filter(|_| project.state.is_symlink())?;
    Some(format!(
        "{} is a link: agents work for the tracker in {}",
        project.state.display(),
        target.display()
    ))
}

/// Creates the folder of a tracker for the owner alone, regardless of the umask. An existing
/// folder, from a clone, is closed.
pub(crate) fn create_state_folder(folder: &Path) -> io::Result<()> {
    if !folder.ends_with(STATE_FOLDER) {
        return fs::create_dir_all(folder);
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    fs::set_permissions(folder, Permissions::from_mode(0o700))
}

/// Takes the right to write from others. Returns true if anything changed.
pub(crate) fn close_to_others(project: &Project) -> io::Result<bool> {
    let mut has_changed = false;
    while let Some(Exposed { path, how: Exposure::Writable }) = Exposed::find_exposed(project) {
        let mode = fs::metadata(&path)?.mode() & 0o7777;
        fs::set_permissions(&path, Permissions::from_mode(mode & !OTHERS_WRITE))?;
        has_changed = true;
    }
    Ok(has_changed)
}

fn may_be_written(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.mode() & OTHERS_WRITE != 0)
}

/// Returns true if another user made the link, or may put something else where it leads to.
fn is_in_foreign_place(link: &Path, target: &Path) -> bool {
    let is_foreign = |path: &Path| {
        fs::symlink_metadata(path).map_or(true, |meta| {
            let is_open = meta.mode() & OTHERS_WRITE != 0 && meta.mode() & STICKY == 0;
            !owner::is_own(meta.uid()) || (is_open && !meta.is_symlink())
        })
    };
    is_foreign(link) || target.ancestors().any(is_foreign)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn project(root: &Path) -> Project {
        let project = Project::in_folder(root);
        create_state_folder(&project.state).unwrap();
        for file in [&project.db, &project.config_path()] {
            fs::write(file, "").unwrap();
            fs::set_permissions(file, Permissions::from_mode(0o600)).unwrap();
        }
        project
    }

    fn chmod(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn every_part_that_others_may_write_is_found_and_closed() {
        let dir = tempfile::tempdir().unwrap();
        let project = project(dir.path());
        assert_eq!(Exposed::find_exposed(&project), None);
        for mode in [0o020, 0o002] {
            for part in [project.state.clone(), project.db.clone(), project.config_path()] {
                chmod(&project.state, 0o755);
                let before = fs::metadata(&part).unwrap().mode() & 0o777;
                chmod(&part, before | mode);
                let found = Exposed::find_exposed(&project).unwrap();
                assert_eq!((found.path.as_path(), &found.how), (&*part, &Exposure::Writable));
                assert!(found.hint().starts_with("chmod go-w "));
                assert!(close_to_others(&project).unwrap());
                assert_eq!(Exposed::find_exposed(&project), None);
            }
        }
        // No other user reaches a file in a closed folder, so git may write it with any umask.
        chmod(&project.state, 0o700);
        chmod(&project.config_path(), 0o664);
        assert_eq!(Exposed::find_exposed(&project), None);
    }

    #[test]
    fn a_database_with_two_names_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let project = project(dir.path());
        fs::hard_link(&project.db, dir.path().join("other.db")).unwrap();
        let found = Exposed::find_exposed(&project).unwrap();
        assert_eq!(found.how, Exposure::HardLink(2));
        assert!(!close_to_others(&project).unwrap());
    }

    #[test]
    fn a_link_into_a_place_that_others_may_change_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = dir.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let there = project(&elsewhere);
        let here = Project::in_folder(dir.path());
        symlink(&there.state, &here.state).unwrap();
        assert_eq!(Exposed::find_exposed(&here), None, "a place of one's own");
        chmod(&elsewhere, 0o777);
        let found = Exposed::find_exposed(&here).unwrap();
        assert!(matches!(found.how, Exposure::Link(_)), "{found:?}");
    }
}
