//! A person's own files about a project: outside of it, where no other project and no agent writes.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use el_agents::artifacts::sha256_hex;
use etcetera::BaseStrategy as _;

use crate::owner;
use crate::replace::replace_private;

/// The tracker's folder, without links.
pub(crate) fn canonical_folder(folder: &Path) -> PathBuf {
    fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

/// The person's file of this kind about a project; `None` without a home folder.
pub(crate) fn own_file(kind: &str, project: &Path) -> Option<PathBuf> {
    let name = sha256_hex(project.as_os_str().as_encoded_bytes());
    let state = etcetera::choose_base_strategy().ok()?.state_dir()?;
    Some(state.join("el").join(kind).join(format!("{}.json", &name[..32])))
}

/// A person's own folder of this kind, about no project; `None` without a home folder.
pub(crate) fn own_folder(kind: &str) -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.state_dir()?.join("el").join(kind))
}

/// The bytes of such a file. One that others may have written counts as none.
pub(crate) fn read_own(file: &Path) -> Option<Vec<u8>> {
    let meta = fs::symlink_metadata(file).ok()?;
    if !meta.is_file() || !owner::is_own(meta.uid()) || meta.mode() & 0o022 != 0 {
        return None;
    }
    fs::read(file).ok()
}

pub(crate) fn write_own(file: &Path, bytes: &[u8]) -> io::Result<()> {
    make_own_folder(file.parent().unwrap_or(file)).and_then(|()| replace_private(file, bytes))
}

/// Makes a folder that only its owner may enter, and closes one that is there.
pub(crate) fn make_own_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .and_then(|()| fs::set_permissions(folder, fs::Permissions::from_mode(0o700)))
}
