//! The hourly backup. The process that changed something looks for the time that is due, which is
//! one system call, and starts a process of its own for the copy after it has answered: no claim
//! and no close waits for it. `el work` and `el mcp` look once a minute.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use super::Backups;
use crate::project::Project;

/// The first backup of a new tracker comes this long after it was made.
pub(crate) const FIRST: Duration = Duration::from_secs(10 * 60);
pub(crate) const HOUR: Duration = Duration::from_secs(3600);
/// After a copy that took so long, the next one is due a hundred times as long after it: backups
/// take under 1 % of the time, however large a tracker is.
const SHARE: u32 = 100;
/// How often `el work` and `el mcp` look.
const LOOK: Duration = Duration::from_secs(60);

impl Backups {
    /// A file that is due at its time of modification. It holds what failed the last time.
    fn due_file(&self) -> PathBuf {
        self.folder.join("due")
    }

    fn is_due(&self) -> bool {
        fs::metadata(self.due_file())
            .and_then(|meta| meta.modified())
            .map_or(true, |due| due <= SystemTime::now())
    }

    /// Sets when the next hourly backup is due, and what is to be told of the last one.
    pub(crate) fn set_due(&self, after: Duration, failure: &str) {
        let written = self.make_folder().and_then(|()| {
            let path = self.due_file();
            fs::write(&path, failure)
                .and_then(|()| File::options().write(true).open(&path))
                .and_then(|file| file.set_modified(SystemTime::now() + after))
                .map_err(|source| crate::error::CommandError::file_error("write", &path, source))
        });
        // Without it, the next change looks again.
        drop(written);
    }

    pub(super) fn set_due_after(&self, took: Duration) {
        self.set_due(HOUR.max(took.saturating_mul(SHARE)), "");
    }

    /// Why the last hourly backup failed.
    pub(crate) fn last_failure(&self) -> Option<String> {
        fs::read_to_string(self.due_file()).ok().filter(|text| !text.is_empty())
    }
}

/// Starts the process that makes the hourly backup, if that is due.
pub(crate) fn start_if_due(project: &Project) -> Option<Child> {
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
