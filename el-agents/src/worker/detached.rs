//! Starts a detached worker, for `el run` without a worker and for `el work --background`.

use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::process::detach_command;
use crate::session;
use crate::settings::Places;

/// Size in bytes above which the log is renamed before more is written.
const LOG_MAX: u64 = 1 << 20;

/// The command of a detached worker.
#[derive(Debug)]
pub struct Detached<'a> {
    pub places: &'a Places,
    /// The command line after the program's name.
    pub arguments: &'a [OsString],
    /// The working directory.
    pub folder: &'a Path,
    /// The log file, to which the output is appended.
    pub log: &'a Path,
    pub environment: &'a [(OsString, OsString)],
}

/// Starts the worker in a new session, without inherited files and without a terminal. The returned
/// child serves to see if the worker has begun; the worker does not depend on this process.
///
/// # Errors
/// If the log cannot be opened, or the process not be started.
pub fn start_detached(worker: &Detached<'_>) -> io::Result<Child> {
    if fs::metadata(worker.log).is_ok_and(|meta| meta.len() > LOG_MAX) {
        // Another process may have renamed the log first.
        let _ = fs::rename(worker.log, worker.log.with_extension("log.old"));
    }
    let log = OpenOptions::new().create(true).append(true).mode(0o600).open(worker.log)?;
    let mut command = Command::new(&worker.places.el);
    command.args(worker.arguments);
    // A worker with the variables of a session would act as the session.
    let is_kept =
        |name: &OsStr| name != "EL_DB" && !session::VARIABLES.iter().any(|other| name == *other);
    command.env_clear().envs(
        worker
            .environment
            .iter()
            .filter(|(name, _)| is_kept(name))
            .map(|(name, value)| (name, value)),
    );
    command.current_dir(worker.folder).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    detach_command(&mut command);
    command.spawn()
}
