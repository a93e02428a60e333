//! A worker that nobody waits for: started by `el run` where none is there, or by
//! `el work --background`.

use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::process::detach;
use crate::settings::Places;

/// A log that is longer than this, in bytes, is put aside before more is written.
const LOG_MAX: u64 = 1 << 20;

/// What of the caller's environment would make the worker pass for somebody's session.
const OF_A_SESSION: [&str; 5] = ["EL_RUN", "EL_TOKEN", "EL_ATOM", "EL_ACTOR", "EL_DB"];

/// How to start one.
#[derive(Debug)]
pub struct Detached<'a> {
    pub places: &'a Places,
    /// The command line after the program's name.
    pub arguments: &'a [OsString],
    /// Where it runs.
    pub folder: &'a Path,
    /// What it prints is added here.
    pub log: &'a Path,
    pub environment: &'a [(OsString, OsString)],
}

/// Starts it in a session of its own, with none of our files and not on our terminal. The child is
/// given back for whoever wants to see whether it has begun; it goes on without us.
///
/// # Errors
/// If the log cannot be opened, or the process not be started.
pub fn start_detached(worker: &Detached<'_>) -> io::Result<Child> {
    if fs::metadata(worker.log).is_ok_and(|meta| meta.len() > LOG_MAX) {
        // Another may have been faster, which is as good.
        let _ = fs::rename(worker.log, worker.log.with_extension("log.old"));
    }
    let log = OpenOptions::new().create(true).append(true).mode(0o600).open(worker.log)?;
    let mut command = Command::new(&worker.places.el);
    command.args(worker.arguments);
    let is_kept = |name: &OsStr| !OF_A_SESSION.iter().any(|other| name == *other);
    command.env_clear().envs(
        worker
            .environment
            .iter()
            .filter(|(name, _)| is_kept(name))
            .map(|(name, value)| (name, value)),
    );
    command.current_dir(worker.folder).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    detach(&mut command);
    command.spawn()
}
