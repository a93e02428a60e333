//! Claude Code's own files.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The name below `projects/` of the conversations that were held in a folder.
pub(super) fn folder_name(workdir: &Path) -> String {
    workdir
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect()
}

/// Where the client keeps its state, and its `.claude.json`.
pub(super) fn state(environment: &[(OsString, OsString)]) -> Option<(PathBuf, PathBuf)> {
    let get = |wanted: &str| {
        let found = environment.iter().find(|(name, _)| name == OsStr::new(wanted));
        found.map(|(_, value)| PathBuf::from(value)).filter(|path| path.is_absolute())
    };
    match get("CLAUDE_CONFIG_DIR") {
        Some(named) => Some((named.clone(), named.join(".claude.json"))),
        None => get("HOME").map(|home| (home.join(".claude"), home.join(".claude.json"))),
    }
}

/// Makes the folders that the client would make itself, and a copy of its `.claude.json`: the file
/// names servers to start, and a run's changes to it are not wanted outside.
///
/// # Errors
/// If the copy cannot be made.
pub(super) fn prepare(state: &Path, file: &Path, copy: &Path, workdir: &Path) -> io::Result<()> {
    // Without these folders, only the client's state is not kept.
    let _ = fs::create_dir_all(state.join("projects").join(folder_name(workdir)));
    let text = match fs::read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => b"{}".to_vec(),
        Err(error) => return Err(error),
    };
    crate::rundir::write_private(copy, &text).map_err(io::Error::other)
}
