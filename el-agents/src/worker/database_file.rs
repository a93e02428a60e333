//! Watches the database file, which a command such as `git clean` may delete while a worker works.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use el_core::{Store, count_noun, ops};

use super::WorkError;
use super::report::Report;
use super::state::State;
use super::stop::{Stop, Which, stop_all};
use crate::recover::sweep_run;
use crate::rundir::RunDir;

/// Interval between two looks at the file.
const LOOK: Duration = Duration::from_millis(500);
/// The time limit for runs to end by themselves, before the worker ends them.
const END_LIMIT: Duration = Duration::from_secs(15);

/// The identity of the opened database file.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    /// Device and inode; `None` if the file could not be read.
    identity: Option<(u64, u64)>,
    looked: Instant,
}

impl DatabaseFile {
    /// Takes the identity of the file right after opening it. A server has none.
    pub(super) fn of_store(store: &Store) -> DatabaseFile {
        let path = store.path();
        DatabaseFile {
            path: path.to_owned(),
            identity: file_identity(path).ok().filter(|_| !store.is_on_server()),
            looked: Instant::now(),
        }
    }

    /// Returns "replaced" or "deleted" if the file is no longer the opened file. `None` if the file
    /// is unchanged, or no look is due.
    pub(super) fn find_loss(&mut self) -> Option<&'static str> {
        if self.identity.is_none() || self.looked.elapsed() < LOOK {
            return None;
        }
        self.looked = Instant::now();
        match file_identity(&self.path) {
            Ok(found) if Some(found) == self.identity => None,
            Ok(_) => Some("replaced"),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some("deleted"),
            // A file system error proves nothing.
            Err(_) => None,
        }
    }
}

fn file_identity(path: &Path) -> std::io::Result<(u64, u64)> {
    std::fs::metadata(path).map(|found| (found.dev(), found.ino()))
}

impl State<'_> {
    /// Ends all runs of a tracker whose file is gone, since no result would be kept. Open
    /// connections still share the old file, so the supervisors see the cancels there.
    pub(super) fn end_all(&mut self, became: &'static str) -> WorkError {
        let path = self.options.places.database.clone();
        let live = ops::live_runs(&self.store).unwrap_or_default();
        self.listener.report(&Report::Warning {
            message: format!(
                "{} was {became} while el work was using it; {} ended",
                path.display(),
                count_noun(live.len().max(self.tracked.len()), "session")
            ),
        });
        let (places, rules) = (&self.options.places, &self.options.rules);
        let tmux = self.launchers[0].tmux.clone();
        // `stop_all` must not wait for this worker.
        let _ = ops::worker_leave(&mut self.store, &self.id);
        let which = Which::default();
        let stop = Stop {
            actor: &self.id,
            tmux: Some(&tmux),
            places,
            rules,
            limit: END_LIMIT,
            which: &which,
        };
        let stopped = stop_all(&mut self.store, &stop, &mut |_, _| {});
        let left = stopped.map_or(live, |stopped| stopped.left);
        // No record of these runs will exist any more; an agent that survives finds no tracker.
        let runs = self.options.places.runs.clone();
        for run in left {
            let _ = sweep_run(&RunDir::new(&runs, &run.id));
            let _ = run.session.map(|session| tmux.kill_session(&session));
        }
        WorkError::DatabaseGone { path, became }
    }
}
