//! The memory of a worker between two ticks. Everything that must survive is in the store.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use el_core::rules::admit::Held;
use el_core::rules::orchestrate::Step;
use el_core::{Durability, Listening, Store, ops};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::account::Account;
use crate::error_chain::error_chain;
use crate::launch::Launcher;
use crate::process::ProcessId;
use crate::pull_requests::{PullWatch, Watched};
use crate::recover::RecoverError;
use crate::settings::Executor;

/// The worker's notes about a tracked run.
#[derive(Debug, Default)]
pub(super) struct TrackedRun {
    /// The process in the pane, until the supervisor has registered.
    pub(super) pane: Option<ProcessId>,
    /// The earliest time for another try to recover the run.
    pub(super) recover_after: Option<Instant>,
    /// The reason why the session could not be started.
    pub(super) launch_failure: Option<LaunchFailure>,
}

/// A recovery under way.
#[derive(Debug)]
pub(super) struct Recovery {
    pub(super) run: String,
    pub(super) atom: String,
    pub(super) was_launched: bool,
    pub(super) task: tokio::task::JoinHandle<Result<(), RecoverError>>,
}

/// Why a run could not be launched.
#[derive(Debug, Clone)]
pub(super) struct LaunchFailure {
    pub(super) why: String,
    /// The atom caused the failure; other atoms are unaffected.
    pub(super) is_own_fault: bool,
}

/// The worker's notes about started sessions.
#[derive(Debug, Default)]
pub(super) struct Starts {
    pub(super) at: Vec<Instant>,
    /// The time since which no session runs and none may start.
    pub(super) idle_since: Option<Instant>,
    /// The reason last reported, and the time when the store was told.
    pub(super) told: Option<(std::mem::Discriminant<Held>, Instant)>,
}

/// The worker's notes about failures of the store.
#[derive(Debug, Default)]
pub(super) struct Outage {
    /// The failures in a row, without those that may pass.
    pub(super) failures: usize,
    /// The time since which the store cannot be used, for a reason that may pass.
    pub(super) since: Option<Instant>,
    /// The code of the reason that was reported last.
    pub(super) told: &'static str,
    pub(super) pause: Duration,
    pub(super) ask_at: Option<Instant>,
    pub(super) over_at: Option<Instant>,
}

/// The worker's notes about the plan.
#[derive(Debug, Default)]
pub(super) struct PlanMemory {
    pub(super) looked_at: Option<Instant>,
    pub(super) seen_version: Option<i64>,
    /// This worker changed the store since the last look. The version of the data does not show own
    /// changes.
    pub(super) is_stale: bool,
    pub(super) step: Option<Step>,
    /// No new work may begin: the plan waits for a person, or the means are used up.
    pub(super) holds: bool,
    pub(super) is_used_up: bool,
}

/// The worker's notes about the watch of pull requests.
#[derive(Debug)]
pub(super) struct Watching {
    /// `None` while a look is under way, or if none is wanted.
    pub(super) watch: Option<PullWatch>,
    pub(super) task: Option<JoinHandle<(PullWatch, Result<Watched, String>)>>,
    pub(super) next: Instant,
    /// The trouble that was reported last.
    pub(super) told: Option<String>,
    /// There were open pull requests at the last look; `None`: this worker has not looked yet.
    pub(super) has_live: Option<bool>,
    /// A run has ended since the last look began, so an answer to a review may be there to push.
    is_owed: bool,
    /// The look that is under way was owed.
    is_paying: bool,
}

impl Watching {
    pub(super) fn new(watch: Option<PullWatch>) -> Watching {
        Watching {
            watch,
            task: None,
            next: Instant::now(),
            told: None,
            has_live: None,
            is_owed: false,
            is_paying: false,
        }
    }

    /// Makes the next look due at once, since an agent may have answered a review.
    pub(super) fn hurry(&mut self) {
        self.next = Instant::now();
        self.is_owed = self.watch.is_some() || self.is_looking();
    }

    /// The worker may not leave before a look has ended that began after its last run.
    pub(super) fn holds_worker(&self) -> bool {
        self.is_owed || self.is_paying
    }

    /// Takes the watch back from a look; `None`: it is lost with the look.
    pub(super) fn end(&mut self, watch: Option<PullWatch>) {
        self.is_paying = false;
        self.is_owed &= watch.is_some();
        self.watch = watch;
    }

    pub(super) fn is_due(&self) -> bool {
        self.watch.is_some() && self.next <= Instant::now()
    }

    pub(super) fn is_looking(&self) -> bool {
        self.task.is_some()
    }

    /// The time of the next look, if there is something to look at.
    pub(super) fn next_look(&self) -> Option<Instant> {
        Some(self.next).filter(|_| self.watch.is_some() && self.has_live == Some(true))
    }

    /// Begins a look, if there is something to look at.
    pub(super) fn begin_look(&mut self, has_live: bool, durability: Durability) {
        self.has_live = Some(has_live);
        let is_owed = std::mem::take(&mut self.is_owed);
        if !has_live {
            return;
        }
        self.is_paying = is_owed && self.watch.is_some();
        if let Some(watch) = self.watch.take() {
            self.task = Some(tokio::task::spawn_blocking(move || {
                let looked = watch
                    .open_store(durability)
                    .map_err(|error| error_chain(&error))
                    .and_then(|mut store| {
                        watch.look(&mut store, false).map_err(|error| error_chain(&error))
                    });
                (watch, looked)
            }));
        }
    }
}

/// The state of a worker that may rest until it is told of a change.
#[derive(Debug)]
pub(super) struct Rest {
    /// `None` for a tracker in a file, which tells nothing.
    listening: Option<Listening>,
    pub(super) told: Arc<Notify>,
    /// The state of a resting worker; `None` for a busy one.
    pub(super) resting: Option<Resting>,
}

#[derive(Debug)]
pub(super) struct Resting {
    pub(super) ask_at: Instant,
    /// The time at which an atom or a look becomes due without any news.
    pub(super) due_at: Option<Instant>,
    /// The last event that the worker knows of.
    pub(super) last_event: i64,
}

impl Rest {
    pub(super) fn of_store(store: &Store) -> Rest {
        let told = Arc::new(Notify::new());
        let teller = Arc::clone(&told);
        let listening = store.listen_for_work(move || teller.notify_one());
        Rest { listening, told, resting: None }
    }

    /// Returns true as long as the server sends news.
    pub(super) fn is_told(&self) -> bool {
        self.listening.as_ref().is_some_and(Listening::is_connected)
    }

    pub(super) fn is_resting(&self) -> bool {
        self.resting.is_some()
    }
}

/// Returns each account of the agents once, and for each agent the fingerprint of its account;
/// `None` for a program without an account.
pub(super) fn accounts_of(
    launchers: &[Launcher],
    environment: &[(OsString, OsString)],
) -> (Vec<Account>, Vec<Option<String>>) {
    let (mut accounts, mut prints) = (Vec::new(), Vec::new());
    for launcher in launchers {
        let account = Account::for_agent(&launcher.agent, environment);
        prints.push(match &account {
            Some(account) => Some(account.fingerprint().to_owned()),
            None if matches!(launcher.agent.executor, Executor::Command(_)) => None,
            // A client with an unknown account can be paused too.
            None => Some(ops::NO_ACCOUNT.to_owned()),
        });
        accounts.extend(account.filter(|account| !accounts.contains(account)));
    }
    (accounts, prints)
}
