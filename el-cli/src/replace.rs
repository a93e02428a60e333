//! Files that are replaced as a whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Replaces a file atomically: writes a new file beside the old with the same permissions, syncs
/// the new file, and renames the new file into place. `target` must not be a link.
pub(crate) fn replace_file(target: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(target, bytes, 0o666)
}

/// Replaces a file atomically by a file that only its owner may read.
pub(crate) fn replace_private(target: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(target, bytes, 0o600)
}

/// Removes a file; a missing file is removed already.
pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// `mode`: of a new file, before the umask.
fn replace(target: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = target.parent().unwrap_or(Path::new("."));
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}", std::process::id()));
    let mut options = OpenOptions::new();
    let opened = options.write(true).create(true).truncate(true).mode(mode).open(&temporary);
    let written = opened.and_then(|mut file| {
        if let Ok(old) = fs::metadata(target) {
            file.set_permissions(old.permissions())?;
        }
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&temporary, target)).inspect_err(|_| {
        // The first error is the interesting one.
        let _ = fs::remove_file(&temporary);
    })
}
