//! Only one process at a time drives a plan: two would count its time twice, and run its check
//! twice.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use crate::app::App;
use crate::error::{CommandError, Result};
use crate::exit::Exit;

/// How often it is tried to take what is taken.
const TRIES: usize = 10;
const BETWEEN: Duration = Duration::from_millis(50);

/// Held for as long as this process drives the epic's plan; the system gives it back when the
/// process ends, however it ends.
pub(super) fn take(app: &App, epic: &str) -> Result<File> {
    let path = path(app, epic)?;
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above)
            .map_err(|source| CommandError::file("make the folder", above, source))?;
    }
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
    let file = file.map_err(|source| CommandError::file("open", &path, source))?;
    // Somebody may only be looking whether it is taken, or be just about to die.
    let mut tries = TRIES;
    let locked = loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if tries > 0 => tries -= 1,
            locked => break locked,
        }
        std::thread::sleep(BETWEEN);
    };
    match locked {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(CommandError::new(
            Exit::Conflict,
            "busy",
            format!("another el orchestrate drives {epic} just now"),
        )
        .with_retryable(true)
        .with_hint(format!("el orchestrate show {epic} shows where it is; Ctrl-C there stops it"))),
        Err(TryLockError::Error(source)) => Err(CommandError::file("lock", &path, source)),
    }
}

/// Whether a process drives it just now. What cannot be told counts as no.
pub(in crate::commands) fn is_taken(app: &App, epic: &str) -> bool {
    let Ok(path) = path(app, epic) else { return false };
    File::open(path)
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn path(app: &App, epic: &str) -> Result<PathBuf> {
    Ok(app.project()?.state.join("orchestrate").join(format!("{epic}.lock")))
}
