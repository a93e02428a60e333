//! What a worker remembers between two looks. Nothing here that is not also in the store has to
//! survive.

use std::ffi::OsString;
use std::time::Instant;

use el_core::ops;
use el_core::rules::admit::Held;
use el_core::rules::orchestrate::Step;

use crate::account::Account;
use crate::launch::Launcher;
use crate::process::ProcessId;
use crate::recover::RecoverError;
use crate::settings::Executor;

/// What the worker remembers of one of its runs.
#[derive(Debug, Default)]
pub(super) struct TrackedRun {
    /// The process in the pane, until the supervisor has registered.
    pub(super) pane: Option<ProcessId>,
    /// Not before this is its recovery tried again.
    pub(super) recover_after: Option<Instant>,
    /// Its session could not be started.
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
    /// It says nothing of other atoms.
    pub(super) is_own_fault: bool,
}

/// What a worker remembers of its starts.
#[derive(Debug, Default)]
pub(super) struct Starts {
    pub(super) at: Vec<Instant>,
    /// Since when nothing runs and nothing may start.
    pub(super) idle_since: Option<Instant>,
    /// What was told last, and when the store was told of it.
    pub(super) told: Option<(std::mem::Discriminant<Held>, Instant)>,
}

/// What a worker remembers of the plan.
#[derive(Debug, Default)]
pub(super) struct Driven {
    pub(super) looked_at: Option<Instant>,
    pub(super) seen_version: Option<i64>,
    /// This worker itself has changed something since the last look, which no version tells.
    pub(super) is_stale: bool,
    pub(super) step: Option<Step>,
    /// Nothing more is to begin: it goes no further without somebody, or its means are used up.
    pub(super) holds: bool,
    pub(super) is_used_up: bool,
}

/// The accounts of the agents, each once; and for each agent the fingerprint of its own, or `None`
/// for a program without one.
pub(super) fn accounts_of(
    launchers: &[Launcher],
    environment: &[(OsString, OsString)],
) -> (Vec<Account>, Vec<Option<String>>) {
    let (mut accounts, mut prints) = (Vec::new(), Vec::new());
    for launcher in launchers {
        let account = Account::of(&launcher.agent, environment);
        prints.push(match &account {
            Some(account) => Some(account.fingerprint().to_owned()),
            None if matches!(launcher.agent.executor, Executor::Command(_)) => None,
            // A client whose account cannot be told is paused all the same.
            None => Some(ops::NO_ACCOUNT.to_owned()),
        });
        accounts.extend(account.filter(|account| !accounts.contains(account)));
    }
    (accounts, prints)
}
