//! Waits for a worker in the background to sign on.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use el_agents::worker::{self, Detached};
use el_core::model::Worker;
use el_core::{Store, ops, text};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{CommandError, Result};

/// The longest wait for a worker to sign on.
const SIGN_ON: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(10);

/// A worker that was started.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Started {
    pub(crate) pid: u32,
    /// `null` if the worker found no work left.
    pub(crate) worker_id: Option<String>,
    pub(crate) log: PathBuf,
}

/// Starts a worker, and waits until it has signed on, usually some ten milliseconds. `failed`: what
/// is said if it cannot be started.
pub(crate) fn start_worker(
    store: &Store,
    detached: &Detached<'_>,
    failed: &str,
) -> Result<(Started, Child)> {
    let begins_at = fs::metadata(detached.log).map_or(0, |meta| meta.len());
    let mut child = worker::start_detached(detached)
        .map_err(|source| CommandError::internal_error(failed).with_source(source))?;
    let started = signed_on(store, &mut child, detached.log.to_owned(), begins_at)?;
    Ok((started, child))
}

fn signed_on(store: &Store, child: &mut Child, log: PathBuf, begins_at: u64) -> Result<Started> {
    let pid = child.id();
    let until = Instant::now() + SIGN_ON;
    loop {
        let workers = ops::list_workers(store)?;
        let is_it = |w: &&Worker| w.process.pid == i64::from(pid) && worker::is_there(w);
        if let Some(found) = workers.iter().find(is_it) {
            return Ok(Started { pid, worker_id: Some(found.id.clone()), log });
        }
        match child.try_wait() {
            // Another worker has done all the work already.
            Ok(Some(status)) if status.success() => {
                return Ok(Started { pid, worker_id: None, log });
            }
            Ok(Some(status)) => {
                return Err(CommandError::config_error(
                    "worker",
                    format!("a worker cannot work here ({status})"),
                )
                .with_detail("log", log.display().to_string())
                .with_listing(last_lines(&log, begins_at))
                .with_hint("el work says what is wrong; el doctor looks at what is needed"));
            }
            _ if Instant::now() > until => return Ok(Started { pid, worker_id: None, log }),
            _ => std::thread::sleep(LOOK),
        }
    }
}

/// The last lines of the worker's log since `begins_at`.
fn last_lines(log: &PathBuf, begins_at: u64) -> Vec<String> {
    let read = || -> io::Result<String> {
        let bytes = fs::read(log)?;
        let from = usize::try_from(begins_at).unwrap_or(0).min(bytes.len());
        Ok(String::from_utf8_lossy(&bytes[from..]).into_owned())
    };
    text::last_lines(&read().unwrap_or_default(), 5).map(str::to_owned).collect()
}
