//! The supervisors of a host learn from a server that runs are to end.
//!
//! If each supervisor listened or asked every second, a fleet would need thousands of connections,
//! or send thousands of questions a second. So one supervisor of the host, the one with the lock,
//! listens for all. It rings a bell: a file beside the database grows by a byte. While the bell
//! works, the file's modification time is recent. Otherwise each supervisor looks by itself.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use el_core::{Listening, Store};

use crate::file_lock::FileLock;
use crate::rundir::RunDir;

/// The interval at which the listener touches the bell, and the age at which the bell is stale.
const SAY: Duration = Duration::from_secs(1);
const BELIEVED: Duration = Duration::from_secs(4);
/// The interval between looks while no bell works: a twelfth of the lease, within these bounds.
const LOOK_PART: u32 = 12;
const LOOK_LEAST: Duration = Duration::from_secs(1);
const LOOK_MOST: Duration = Duration::from_secs(5);
/// The size from which the file begins anew.
const SIZE_MAX: u64 = 1 << 20;

/// Decides when a supervisor has to look at its run.
#[derive(Debug)]
pub(super) struct EndBell {
    path: PathBuf,
    /// The interval between looks while no bell works.
    look_every: Duration,
    looked_at: Option<Instant>,
    /// The bell and the session, as they were at the last look.
    seen: Seen,
    /// Calls of the session that were answered: each may have ended the run.
    answered: Arc<AtomicUsize>,
    listener: Option<Listener>,
    tried_at: Option<Instant>,
    /// The last look failed, so the next comes soon, but not at once.
    pub(super) has_failed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Seen {
    size: u64,
    is_believed: bool,
    answered: usize,
}

/// The state of the supervisor that listens for all.
#[derive(Debug)]
struct Listener {
    listening: Listening,
    file: File,
    said_at: Option<Instant>,
    _lock: FileLock,
}

impl EndBell {
    pub(super) fn new(folder: &RunDir, lease: Duration, answered: Arc<AtomicUsize>) -> EndBell {
        let beside = folder.path().ancestors().nth(2).unwrap_or(Path::new("."));
        EndBell {
            path: beside.join("end-bell"),
            look_every: (lease / LOOK_PART).clamp(LOOK_LEAST, LOOK_MOST),
            looked_at: None,
            seen: Seen::default(),
            answered,
            listener: None,
            tried_at: None,
            has_failed: false,
        }
    }

    /// Returns true if the supervisor has to look at its run, and counts that look as done.
    /// `is_calm`: at the last look, the run was to go on. Costs one system call.
    pub(super) fn is_look_due(&mut self, store: &Store, is_calm: bool) -> bool {
        self.keep_listening(store);
        let is_calm = is_calm && !self.has_failed;
        let bell = std::fs::metadata(&self.path).ok();
        let is_young = |at: SystemTime| at.elapsed().is_ok_and(|age| age < BELIEVED);
        let seen = Seen {
            size: bell.as_ref().map_or(0, std::fs::Metadata::len),
            is_believed: bell.and_then(|bell| bell.modified().ok()).is_some_and(is_young),
            answered: self.answered.load(Ordering::Acquire),
        };
        let every = if is_calm { self.look_every } else { LOOK_LEAST };
        let is_time = self.looked_at.is_none_or(|at| at.elapsed() >= every);
        let is_due = seen != self.seen || (is_time && !(seen.is_believed && is_calm));
        if is_due {
            self.seen = seen;
            self.looked_at = Some(Instant::now());
        }
        is_due
    }

    /// Makes the next look due at once.
    pub(super) fn expect_news(&mut self) {
        self.seen = Seen::default();
        self.looked_at = None;
    }

    fn keep_listening(&mut self, store: &Store) {
        match &mut self.listener {
            Some(listener) => listener.say_that_it_works(),
            None if !self.seen.is_believed => self.try_to_listen(store),
            None => {}
        }
    }

    fn try_to_listen(&mut self, store: &Store) {
        if self.tried_at.is_some_and(|at| at.elapsed() < LOOK_LEAST) {
            return;
        }
        self.tried_at = Some(Instant::now());
        let Ok(Some(lock)) = FileLock::acquire_within(&self.path, Duration::ZERO) else { return };
        let open = || OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path);
        let Ok((file, bell)) = open().and_then(|file| Ok((file.try_clone()?, file))) else {
            return;
        };
        let listening = store.listen_for_ends(move || ring(&bell));
        self.listener =
            listening.map(|listening| Listener { listening, file, said_at: None, _lock: lock });
    }
}

fn ring(mut bell: &File) {
    let is_full = bell.metadata().is_ok_and(|bell| bell.len() >= SIZE_MAX);
    // On a full disk the bell becomes stale, and all supervisors look by themselves.
    let _ = if is_full { bell.set_len(0) } else { bell.write_all(b".") };
}

impl Listener {
    fn say_that_it_works(&mut self) {
        if !self.listening.is_connected() || self.said_at.is_some_and(|at| at.elapsed() < SAY) {
            return;
        }
        self.said_at = Some(Instant::now());
        let _ = self.file.set_modified(SystemTime::now());
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // The bell is stale at once, so the next supervisor that looks becomes the listener.
        let _ = self.file.set_modified(SystemTime::UNIX_EPOCH);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_told_nothing_looks_by_itself() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("el.db");
        let now = el_core::model::Timestamp::from_micros(0);
        let store = Store::create(&database, "t", now).unwrap();
        let folder = RunDir::of_run(&database, "run-1");
        let answered = Arc::new(AtomicUsize::new(0));
        let mut bell = EndBell::new(&folder, Duration::from_secs(3600), Arc::clone(&answered));
        assert!(bell.is_look_due(&store, true), "the first look");
        assert!(!bell.is_look_due(&store, true));
        let file = File::options().append(true).open(dir.path().join("end-bell")).unwrap();
        ring(&file);
        assert!(bell.is_look_due(&store, true) && !bell.is_look_due(&store, true), "it rang");
        answered.fetch_add(1, Ordering::Release);
        assert!(bell.is_look_due(&store, true) && !bell.is_look_due(&store, true), "a call");
        bell.expect_news();
        assert!(bell.is_look_due(&store, true) && !bell.is_look_due(&store, true), "it is asked");
        bell.looked_at = Instant::now().checked_sub(LOOK_MOST);
        assert!(!bell.is_look_due(&store, true), "the bell works");
        assert!(bell.is_look_due(&store, false), "the run is near its end");
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(bell.is_look_due(&store, true), "nobody listens any more");
        bell.looked_at = Instant::now().checked_sub(LOOK_MOST);
        assert!(bell.is_look_due(&store, true), "nobody listens");
    }
}
