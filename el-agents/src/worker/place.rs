//! The file of the tracker, which a command such as `git clean` may take away while a worker works.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use el_core::ops;

use super::report::Report;
use super::state::State;
use super::{WorkError, stop_all};
use crate::recover::sweep;

/// Between two looks at it.
const LOOK: Duration = Duration::from_millis(500);
/// How long the runs may take to end by themselves, before they are ended.
const END_LIMIT: Duration = Duration::from_secs(15);

/// The file that was opened, as its folder knows it.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    /// Its device and number; `None`: it could not be looked at.
    identity: Option<(u64, u64)>,
    looked: Instant,
}

impl DatabaseFile {
    /// The file at a path, right after it was opened.
    pub(super) fn at(path: &Path) -> DatabaseFile {
        DatabaseFile {
            path: path.to_owned(),
            identity: identity(path).ok(),
            looked: Instant::now(),
        }
    }

    /// What became of it, in a word; `None`: it is where it was, or it is not time to look.
    pub(super) fn loss(&mut self) -> Option<&'static str> {
        if self.identity.is_none() || self.looked.elapsed() < LOOK {
            return None;
        }
        self.looked = Instant::now();
        match identity(&self.path) {
            Ok(found) if Some(found) == self.identity => None,
            Ok(_) => Some("replaced"),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some("deleted"),
            // A file system that cannot answer now says nothing.
            Err(_) => None,
        }
    }
}

fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    std::fs::metadata(path).map(|found| (found.dev(), found.ino()))
}

impl State<'_> {
    /// Ends all runs of a tracker whose file is gone: nothing that they do would be kept. The open
    /// connections still share the old file, so the supervisors hear of it there.
    pub(super) fn end_all(&mut self, became: &'static str) -> WorkError {
        let path = self.options.places.database.clone();
        let live = ops::live_runs(&self.store).unwrap_or_default();
        self.listener.report(&Report::Warning {
            message: format!(
                "{} was {became} while el work was using it; {} sessions are ended",
                path.display(),
                live.len().max(self.tracked.len())
            ),
        });
        let (places, rules) = (&self.options.places, &self.options.rules);
        let tmux = self.launchers[0].tmux.clone();
        // It does not wait for itself.
        let _ = ops::worker_leave(&mut self.store, &self.id);
        let stopped = stop_all(&mut self.store, &self.id, &tmux, places, rules, END_LIMIT);
        let left = stopped.map_or(live, |stopped| stopped.left);
        // Of what cannot be ended here, nobody knows any more; its agent finds no tracker.
        for run in left {
            let _ = sweep(&run.id);
            let _ = run.session.map(|session| tmux.kill_session(&session));
        }
        WorkError::DatabaseGone { path, became }
    }
}
