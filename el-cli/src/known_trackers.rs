//! The trackers of this user, from `el`'s own state: no agent of one project reads the trackers of
//! other projects.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

use crate::project::STATE_FOLDER;
use crate::replace::replace_private;

/// The file in the folder of a tracker's backups that names the database.
const NAME: &str = "tracker";
/// A path is never longer.
const PATH_MAX: u64 = 4096;

/// Notes where the database of this folder of backups is.
pub(crate) fn remember(backups: &Path, database: &Path) {
    let file = backups.join(NAME);
    if !file.exists() {
        // Without the note, the tracker is just not hidden from the agents of others.
        let _ = replace_private(&file, database.as_os_str().as_bytes());
    }
}

/// Lists the paths to hide of all known trackers: a tracker's folder, or a database that is kept
/// elsewhere.
pub(crate) fn to_hide() -> Vec<PathBuf> {
    let state = etcetera::choose_base_strategy().ok().and_then(|base| base.state_dir());
    let backups = state.map(|state| fs::read_dir(state.join("el/backups")));
    let entries = backups.into_iter().flatten().flatten().flatten();
    let databases = entries.filter_map(|entry| {
        let file = entry.path().join(NAME);
        let is_path = fs::symlink_metadata(&file)
            .is_ok_and(|found| found.is_file() && found.len() <= PATH_MAX);
        let path = is_path.then(|| fs::read(&file).ok()).flatten()?;
        Some(PathBuf::from(std::ffi::OsString::from_vec(path))).filter(|path| path.is_absolute())
    });
    databases.flat_map(of_database).collect()
}

fn of_database(database: PathBuf) -> Vec<PathBuf> {
    match database.parent().filter(|folder| folder.file_name() == Some(OsStr::new(STATE_FOLDER))) {
        Some(folder) => vec![folder.to_owned()],
        None => ["", "-wal", "-shm"]
            .map(|end| {
                let mut path = database.clone().into_os_string();
                path.push(end);
                path.into()
            })
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_database_elsewhere_the_files_are_hidden_and_never_its_folder() {
        let hidden = |path: &str| of_database(path.into());
        assert_eq!(hidden("/w/shop/.eluent/el.db"), [Path::new("/w/shop/.eluent")]);
        let files = ["/home/ann/el.db", "/home/ann/el.db-wal", "/home/ann/el.db-shm"];
        assert_eq!(hidden("/home/ann/el.db"), files.map(PathBuf::from));
    }
}
