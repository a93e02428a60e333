//! Only one process at a time drives a plan: two would count its time twice, and run its check
//! twice.

use std::path::PathBuf;
use std::time::Duration;

use el_agents::file_lock::FileLock;

use crate::app::App;
use crate::error::{CommandError, Result};
use crate::exit::Exit;

/// Somebody may only be looking whether it is taken, or be just about to die.
const LIMIT: Duration = Duration::from_millis(500);

/// Held for as long as this process drives the epic's plan.
pub(super) fn take(app: &App, epic: &str) -> Result<FileLock> {
    let path = path(app, epic)?;
    let locked = FileLock::acquire_within(&path, LIMIT)
        .map_err(|source| CommandError::file("lock", &path, source))?;
    locked.ok_or_else(|| {
        CommandError::new(
            Exit::Conflict,
            "busy",
            format!("another el orchestrate drives {epic} just now"),
        )
        .with_retryable(true)
        .with_hint(format!("el orchestrate show {epic} shows where it is; Ctrl-C there stops it"))
    })
}

/// Whether a process drives it just now. What cannot be told counts as no.
pub(in crate::commands) fn is_taken(app: &App, epic: &str) -> bool {
    path(app, epic).is_ok_and(|path| FileLock::is_held(&path))
}

fn path(app: &App, epic: &str) -> Result<PathBuf> {
    Ok(app.project()?.state.join("orchestrate").join(format!("{epic}.lock")))
}
