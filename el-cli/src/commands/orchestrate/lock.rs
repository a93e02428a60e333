//! Lets a single process drive a plan. Two processes would count the time twice and run the check
//! twice.

use std::path::PathBuf;
use std::time::Duration;

use el_agents::file_lock::FileLock;

use crate::{App, CommandError, Result};

/// The wait for the lock. Another process may only be testing the lock, or be about to end.
const LIMIT: Duration = Duration::from_millis(500);

/// Takes the lock of the epic's plan, which is held while the process drives the plan.
pub(super) fn acquire_plan_lock(app: &App, epic: &str) -> Result<FileLock> {
    let path = lock_path(app, epic)?;
    let locked = FileLock::acquire_within(&path, LIMIT)
        .map_err(|source| CommandError::file_error("lock", &path, source))?;
    locked.ok_or_else(|| {
        CommandError::conflict("busy", format!("another el orchestrate drives {epic} just now"))
            .with_retryable(true)
            .with_hint(format!(
                "el orchestrate show {epic} shows where it is; Ctrl-C there stops it"
            ))
    })
}

/// Returns true if a process drives the plan now. Errors count as false.
pub(in crate::commands) fn is_taken(app: &App, epic: &str) -> bool {
    lock_path(app, epic).is_ok_and(|path| FileLock::is_held(&path))
}

fn lock_path(app: &App, epic: &str) -> Result<PathBuf> {
    Ok(app.project()?.state.join("orchestrate").join(format!("{epic}.lock")))
}
