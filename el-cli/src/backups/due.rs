//! The hourly backup. After its answer, a process that changed the tracker looks for the due time,
//! by one system call, and starts another process for the copy: no claim and no close waits. `el
//! work` and `el mcp` look once a minute.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use el_core::model::Timestamp;

use super::{Backup, Backups, Reason};
use crate::project::Project;
use crate::{CommandError, Result};

/// The age of a new tracker at the first backup.
pub(crate) const FIRST: Duration = Duration::from_secs(10 * 60);
const HOUR: Duration = Duration::from_secs(3600);
/// After a copy, the next copy is due a hundred times as long later: backups take under 1 % of the
/// time, however large a tracker is.
const SHARE: u32 = 100;
/// How often `el work` and `el mcp` look.
const LOOK: Duration = Duration::from_secs(60);
/// A supervisor looks more often: its run may be short.
const LOOK_OF_SUPERVISOR: Duration = Duration::from_secs(10);

impl Backups {
    /// A file that is due at the time of modification. The text is the last failure.
    fn due_file(&self) -> PathBuf {
        self.folder.join("due")
    }

    fn is_due(&self) -> bool {
        fs::metadata(self.due_file())
            .and_then(|meta| meta.modified())
            .map_or(true, |due| due <= SystemTime::now())
    }

    /// Sets the due time of the next hourly backup, and the report of the last.
    pub(crate) fn set_due(&self, after: Duration, failure: &str) {
        let written = self.make_folder().and_then(|()| {
            let path = self.due_file();
            fs::write(&path, failure)
                .and_then(|()| File::options().write(true).open(&path))
                .and_then(|file| file.set_modified(SystemTime::now() + after))
                .map_err(|source| CommandError::file_error("write", &path, source))
        });
        // Without it, the next change looks again.
        drop(written);
    }

    pub(super) fn set_due_after(&self, took: Duration) {
        self.set_due(HOUR.max(took.saturating_mul(SHARE)), "");
    }

    /// Makes the hourly backup, unless nothing has changed since the newest. The cause of a failure
    /// is kept for `el doctor`, and the backup is tried again later.
    pub(crate) fn make_hourly(&self, state: &Path, now: Timestamp) -> Result<Option<Backup>> {
        let _ = el_core::exclude_from_git(state);
        let made = self.make_if_changed(Reason::Hourly, now, Duration::ZERO);
        match &made {
            Ok(Some(_)) => {}
            Ok(None) => self.set_due(HOUR, ""),
            Err(error) => self.set_due(HOUR, &with_causes(error)),
        }
        made
    }

    /// Why the last hourly backup failed.
    pub(crate) fn last_failure(&self) -> Option<String> {
        fs::read_to_string(self.due_file()).ok().filter(|text| !text.is_empty())
    }
}

fn with_causes(error: &CommandError) -> String {
    let causes = error.causes().into_iter();
    std::iter::once(error.message().to_owned()).chain(causes).collect::<Vec<_>>().join(": ")
}

/// Starts the process that makes the hourly backup, if that is due.
pub(crate) fn start_if_due(project: &Project) -> Option<Child> {
    if project.server.is_some() {
        return None;
    }
    let backups = Backups::for_database(&project.db)?;
    if !backups.is_due() {
        return None;
    }
    // Others that look meanwhile need not start one too. If this one dies, it is tried again.
    backups.set_due(FIRST, &backups.last_failure().unwrap_or_default());
    let program = std::env::current_exe().ok()?;
    Command::new(program)
        .arg("--db")
        .arg(&project.db)
        .args(["backup", "now", "--if-changed"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Ctrl-C is for the command that started it.
        .process_group(0)
        .spawn()
        .ok()
}

/// Looks once a minute for as long as this process lives.
pub(crate) fn watch(project: &Project) {
    let project = project.clone();
    drop(std::thread::spawn(move || {
        loop {
            std::thread::sleep(LOOK);
            if let Some(mut child) = start_if_due(&project) {
                let _ = child.wait();
            }
        }
    }));
}

/// Does the same for a supervisor, whose worker may be gone. The supervisor makes the copy without
/// a child, since children are taken for the agent's and end with the run.
pub(crate) fn watch_in_supervisor(project: &Project) {
    let project = project.clone();
    drop(std::thread::spawn(move || {
        loop {
            std::thread::sleep(LOOK_OF_SUPERVISOR);
            if let Some(backups) = Backups::for_database(&project.db).filter(Backups::is_due) {
                let _ = backups.make_hourly(&project.state, SystemTime::now().into());
            }
        }
    }));
}
