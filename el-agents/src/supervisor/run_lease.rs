//! The supervisor's lease: heartbeats, and the store's signals about the run.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use el_core::model::{CancelMode, Progress, Timestamp};
use el_core::ops::{self, Beat, RunSignal};
use el_core::{Ctx, Error, SessionCredentials, Store};

use super::end_bell::EndBell;
use crate::clock;
use crate::run_files::RunFiles;
use crate::rundir::RunDir;

/// The minimum interval between writes of changed progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);

/// The longest wait for a server is this part of the lease. Right before the watchdog's limit,
/// three waits may follow each other: a broken connection, a new connection and a question. These
/// waits and the end of the agent have to fit into the rest of the lease.
const WAIT_PART: u32 = 15;
const WAIT_LEAST: Duration = Duration::from_secs(1);

/// The most heartbeats that store the rest of a run's files: each stores a mebibyte of a file.
const CATCH_UP: u32 = 9;

#[derive(Debug)]
pub(crate) struct RunLease {
    store: Store,
    run: String,
    token: String,
    lease: Duration,
    seen_version: Option<i64>,
    /// With a server, the bell tells of changes; with a file, its version does.
    bell: Option<EndBell>,
    watch: RunSignal,
    beat_at: Instant,
    /// When the lease was last extended, on a clock that goes on while the machine sleeps.
    extended_at: Duration,
    written: Progress,
    /// The last heartbeat failed, since the disk was full.
    met_full_disk: bool,
    /// On a server, the run's files are kept in the store.
    files: Option<RunFiles>,
}

impl RunLease {
    /// Starts right after the registration, which extended the lease. `answered` counts the calls
    /// of the session.
    pub(crate) fn new(
        store: Store,
        (run, token): (&str, &str),
        folder: &RunDir,
        lease: Duration,
        answered: Arc<AtomicUsize>,
    ) -> RunLease {
        let bell = store.is_on_server().then(|| EndBell::new(folder, lease, answered));
        let files = store.is_on_server().then(|| RunFiles::new(folder, run));
        store.limit_waits(Some(WAIT_LEAST.max(lease / WAIT_PART)));
        RunLease {
            store,
            run: run.to_owned(),
            token: token.to_owned(),
            lease,
            seen_version: None,
            bell,
            watch: RunSignal::Work,
            beat_at: Instant::now(),
            extended_at: clock::time_with_suspend(),
            written: Progress::default(),
            met_full_disk: false,
            files,
        }
    }

    pub(crate) fn store(&mut self) -> &mut Store {
        &mut self.store
    }

    /// Stores the agent's output, by as many heartbeats as that takes, so that all of the output is
    /// there for everybody who sees the end of the run.
    pub(crate) fn catch_up(&mut self, progress: &Progress) {
        for _ in 0..CATCH_UP {
            let has_new = self.files.as_ref().is_some_and(RunFiles::has_new);
            if !has_new || self.beat(None, progress).is_err() {
                break;
            }
        }
    }

    /// Keeps the run's files in the store of a server, once the run has ended.
    pub(crate) fn keep_files(&mut self) -> Result<(), Error> {
        match &mut self.files {
            Some(files) => files.keep_all(&mut self.store),
            None => Ok(()),
        }
    }

    /// The store, the run and the run's token, for a call that needs all three.
    pub(crate) fn store_and_token(&mut self) -> (&mut Store, &str, &str) {
        (&mut self.store, &self.run, &self.token)
    }

    /// The last signal of the store.
    pub(crate) fn last_signal(&self) -> RunSignal {
        self.watch
    }

    /// Returns true if the last heartbeat failed, since the disk was full.
    pub(crate) fn met_full_disk(&self) -> bool {
        self.met_full_disk
    }

    /// The time since the lease was last extended.
    pub(crate) fn lease_age(&self) -> Duration {
        clock::time_with_suspend().saturating_sub(self.extended_at)
    }

    /// Why an agent whose lease cannot be kept is ended.
    pub(crate) fn why_lost(&self) -> String {
        match self.watch {
            RunSignal::Over => "somebody else has ended this run; its agent is ended".to_owned(),
            _ => format!(
                "the tracker was not reached for {} s; the agent is ended before its lease of {} s \
                 is over, since others may then take its work",
                self.lease_age().as_secs(),
                self.lease.as_secs(),
            ),
        }
    }

    /// Reads the signal after a change of the store, and sends a heartbeat when due. Cheap enough
    /// for ten calls a second. If the store fails, returns the last signal; if the failure lasts,
    /// the age of the lease decides.
    pub(crate) fn tick(&mut self, active_at: Option<Timestamp>, progress: &Progress) -> RunSignal {
        let since = self.beat_at.elapsed();
        let is_due =
            since > self.lease / 6 || (since > PROGRESS_EVERY && *progress != self.written);
        // A failing store is asked again at the next tick.
        let _ = if is_due { self.beat(active_at, progress) } else { self.read_signal() };
        self.watch
    }

    fn read_signal(&mut self) -> Result<(), Error> {
        if let Some(bell) = &mut self.bell {
            if bell.is_look_due(&self.store, self.watch == RunSignal::Work) {
                let told = ops::watch_run(&self.store, &self.run, &self.token);
                bell.has_failed = told.is_err();
                self.watch = told?;
            }
            return Ok(());
        }
        let version = self.store.data_version()?;
        if self.seen_version != Some(version) {
            self.watch = ops::watch_run(&self.store, &self.run, &self.token)?;
            self.seen_version = Some(version);
        }
        Ok(())
    }

    /// Makes the next tick look, after a change by this connection.
    fn expect_news(&mut self) {
        self.seen_version = None;
        if let Some(bell) = &mut self.bell {
            bell.expect_news();
        }
    }

    /// Extends the lease and reports progress now.
    pub(crate) fn beat(
        &mut self,
        active_at: Option<Timestamp>,
        progress: &Progress,
    ) -> Result<(), Error> {
        // Taken before the write: the lease counts from the time told to the store.
        let (clock, instant) = (clock::time_with_suspend(), Instant::now());
        let beat = Beat {
            run_id: &self.run,
            token: &self.token,
            now: clock::now(),
            lease: self.lease,
            active_at,
            progress,
        };
        let extended = ops::extend_lease(&mut self.store, &beat);
        clock::follow(&self.store);
        self.met_full_disk = matches!(extended, Err(Error::Disk { .. }));
        self.watch = extended?;
        self.extended_at = clock;
        self.beat_at = instant;
        self.written = progress.clone();
        if let Some(files) = &mut self.files {
            // A part that fails now is tried again at the next beat.
            let _ = files.keep_new(&mut self.store);
        }
        Ok(())
    }

    /// Closes the atom in the agent's name, on the strength of the agent's summary. Refused where
    /// `el close` by the agent would be.
    pub(crate) fn close_by_summary(
        &mut self,
        agent: &str,
        atom: &str,
        summary: &str,
        review: bool,
    ) -> Result<(), Error> {
        let session = SessionCredentials { run: self.run.clone(), token: Some(self.token.clone()) };
        let ctx = Ctx { now: clock::now(), actor: agent, session: Some(&session) };
        self.expect_news();
        ops::close_by_summary(&mut self.store, &ctx, atom, summary, review)
    }

    /// Cancels the run, after `C-c` in the attached session. As a person's cancel, this holds the
    /// atom back.
    pub(crate) fn cancel_run(&mut self) {
        let ctx = Ctx { now: clock::now(), actor: "person at the session", session: None };
        // On failure, the person sees no effect and presses again.
        let _ = ops::cancel(
            &mut self.store,
            &ctx,
            &self.run,
            CancelMode::Hold,
            Some("C-c in the session"),
        );
        self.expect_news();
    }
}
