//! `el work`: a reconciler. Each tick reads the store, asks the pure plan for the next actions, and
//! carries them out. Changes of the store and time wake the worker. The worker may die at any
//! moment: supervisors go on, and the next worker adopts the runs.

mod actions;
mod admission;
mod database_file;
mod detached;
mod drive;
mod idle;
mod leaving;
mod memory;
mod outage;
mod pauses;
mod presence;
mod recovery;
mod report;
mod state;
mod stop;
mod watching;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use el_core::model::Takes;
use el_core::ops::{AssigneeFilter, AtomFilter};
use el_core::{Durability, Error};
use tokio::signal::unix::{SignalKind, signal};

pub use crate::launch::check_agent;

use self::database_file::DatabaseFile;
pub use self::detached::{Detached, start_detached};
pub use self::drive::Drive;
pub use self::presence::{
    Silence, host_of, is_supervised, is_there, silence_of, stopped_pids, this_host,
};
pub use self::report::{Listener, Live, Report, StoppedBy, Summary};
use self::state::State;
pub use self::stop::{Stop, Stopped, Which, stop_all};
use crate::launch::Launcher;
use crate::pace::Pace;
use crate::process;
use crate::pull_requests::PullWatch;
use crate::recover::sweep_settled_elsewhere;
use crate::requirements::ConfigurationError;
use crate::settings::{AgentSettings, Places, RunRules};

/// Interval between looks for changes: the shortest, right after a change, and the longest, without
/// changes. A look costs microseconds.
const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_millis(150);
/// The wait after a step, as a multiple of the step's duration. The cost of a step grows with the
/// number of live runs.
const STEP_SHARE: u32 = 20;
/// Interval between full looks, even without changes: leases and back-offs expire with time.
const FULL_LOOK: Duration = Duration::from_secs(1);

/// The options of a worker.
#[derive(Debug, Clone)]
pub struct WorkOptions {
    /// The worker's name, for people.
    pub name: Option<String>,
    /// The agents that the worker serves; at least one. Among equally good unassigned atoms, the
    /// first agent goes first.
    pub agents: Vec<Served>,
    pub rules: RunRules,
    pub places: Places,
    pub durability: Durability,
    /// Selects atoms, in addition to each agent's own rule (unassigned, or assigned to the agent).
    pub filter: AtomFilter,
    /// The labels that this worker offers. It takes no atom that needs more.
    pub offers: Vec<String>,
    /// The maximum number of sessions at a time, over all agents.
    pub concurrency: usize,
    /// The number of claims after which claiming stops.
    pub max_claims: Option<usize>,
    /// Leave as soon as nothing is ready, no back-off runs, and all claimed runs have ended.
    pub drain: bool,
    /// With `max_claims` 1: wait for the end of a pause instead of leaving.
    pub waits: bool,
    /// The caller's environment, from which each agent's environment is made.
    pub environment: Vec<(OsString, OsString)>,
    /// Put at the head of each context.
    pub preamble: Option<String>,
    /// Bounds on machine use and cost.
    pub resources: Resources,
    /// The plan to drive. `filter` must then select the atoms below the plan's epic.
    pub drive: Option<Drive>,
    /// Watches the open pull requests, if that is wanted.
    pub pulls: Option<PullWatch>,
}

/// Bounds on a worker's use of the machine, and on cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Resources {
    /// When a session may start.
    pub limits: el_core::rules::admit::Limits,
    /// The cost limit for everything below an epic, in US dollars. The epic's metadata override the
    /// limit.
    pub budget_per_epic: Option<f64>,
    /// The cost limit for all runs of the project on a day (UTC), in US dollars.
    pub budget_per_day: Option<f64>,
}

/// An agent that a worker serves.
#[derive(Debug, Clone)]
pub struct Served {
    pub agent: AgentSettings,
    /// The most runs of the agent at a time, over all workers.
    pub at_most: usize,
}

impl WorkOptions {
    /// Selects what the worker may claim.
    pub fn claim_filter(&self) -> AtomFilter {
        AtomFilter { offers: Some(self.offers.clone()), ..self.filter.clone() }
    }

    /// Returns the atoms that such a worker reliably takes.
    fn takes(&self) -> Takes {
        let assigned = |name: &str| AtomFilter {
            assignee: Some(AssigneeFilter::Is(name.to_owned())),
            ..AtomFilter::default()
        };
        match self.agents.as_slice() {
            _ if self.max_claims.is_some() => Takes::Some,
            _ if self.filter == AtomFilter::default() => Takes::All,
            [only] if self.filter == assigned(&only.agent.name) => Takes::Assigned,
            _ => Takes::Some,
        }
    }
}

/// The reason why a worker ended early.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// Found before any claim.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] Error),
    /// The database file is not the file that was opened. All runs were ended.
    #[error("{} was {became} while el work was using it", path.display())]
    DatabaseGone {
        /// The path of the database.
        path: PathBuf,
        /// "deleted" or "replaced".
        became: &'static str,
    },
    /// Sessions cannot be started. Claiming has stopped.
    #[error("{attempts} sessions in a row could not be started; the last: {message}")]
    CannotLaunch {
        /// The number of attempts.
        attempts: usize,
        /// The error of the last attempt.
        message: String,
    },
    /// The system refused.
    #[error("cannot {doing}")]
    System {
        /// The step.
        doing: &'static str,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// Checks the configuration of a worker without claiming anything.
///
/// # Errors
/// The field that is wrong, and the remedy.
pub fn preflight(options: &WorkOptions) -> Result<(), ConfigurationError> {
    make_launchers(options).map(drop)
}

fn make_launchers(options: &WorkOptions) -> Result<Vec<Launcher>, ConfigurationError> {
    let launcher = |served: &Served| {
        Launcher::new(
            served.agent.clone(),
            options.rules,
            options.places.clone(),
            options.environment.clone(),
            options.preamble.clone(),
        )
    };
    options.agents.iter().map(launcher).collect()
}

/// Works until nothing is left to do (`drain`, `max_claims`) or a signal comes. Blocks.
///
/// The first SIGINT stops claiming and waits for running sessions. A second SIGINT, SIGTERM or
/// SIGHUP leaves the sessions to their supervisors. A SIGHUP that was ignored (`nohup`) stays
/// ignored.
///
/// # Errors
/// If the configuration is wrong, or the store or tmux fails for good.
pub fn work(options: &WorkOptions, listener: &mut dyn Listener) -> Result<Summary, WorkError> {
    let launchers = make_launchers(options)?;
    let system = |doing| move |source| WorkError::System { doing, source };
    let store = options.places.open_store(options.durability)?;
    if options.places.server.is_some() {
        sweep_settled_elsewhere(&store, &options.places);
    }
    let mut file = DatabaseFile::of_store(&store);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(system("start the runtime"))?;
    let summary = runtime.block_on(async {
        // Under `nohup` this process ignores the end of the terminal; agents start with the default
        // action.
        let is_hangup_ignored = process::is_hangup_ignored();
        process::reset_ignored_signals().map_err(system("listen to signals"))?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(system("listen to signals"))?;
        let mut terminate = signal(SignalKind::terminate()).map_err(system("listen to signals"))?;
        let mut hangup = signal(SignalKind::hangup()).map_err(system("listen to signals"))?;
        let missing_sandbox =
            launchers.iter().find_map(|launcher| launcher.sandbox.missing()).map(str::to_owned);
        let mut state = State::sign_on(store, options, launchers, listener)?;
        if let Some(why) = missing_sandbox {
            state.warn(format!("agents run without a sandbox: {why}"));
        }
        let mut pace = Pace::new(SHORTEST, LONGEST);
        let (mut full_look, mut step_at) = (Instant::now(), Instant::now());
        let mut interrupts = 0;
        let ended = loop {
            tokio::select! {
                is_told = state.wait_for_look(pace.next_wait()) => {
                    let began = Instant::now();
                    if let Some(became) = file.find_loss() {
                        break Err(state.end_all(became));
                    }
                    if state.may_leave_unanswered() {
                        break Ok(());
                    }
                    if state.is_server_left_alone() {
                        continue;
                    }
                    if state.rest.is_resting() && !is_told && !state.is_rest_over() {
                        continue;
                    }
                    let is_due = full_look.elapsed() >= FULL_LOOK;
                    if !is_due && (began < step_at || !state.has_changed()) && !is_told {
                        continue;
                    }
                    if !is_due {
                        pace.note_change();
                    }
                    full_look = began;
                    let claimed = state.summary.claimed;
                    let stepped = state.step().await;
                    // A launch says nothing about the cost of a look, and its run may end at once.
                    let pause = match state.summary.claimed == claimed {
                        true => (began.elapsed() * STEP_SHARE).min(LONGEST),
                        false => Duration::ZERO,
                    };
                    step_at = Instant::now() + pause;
                    match stepped {
                        Ok(true) => break Ok(()),
                        Ok(false) => state.note_answer(),
                        // A passing failure of the store must not end a night's work.
                        Err(WorkError::Store(error)) => {
                            if let Err(error) = state.note_failure(error) {
                                break Err(error);
                            }
                        }
                        Err(error) => break Err(error),
                    }
                },
                _ = interrupt.recv() => {
                    interrupts += 1;
                    if interrupts > 1 {
                        state.detach_runs(StoppedBy::Interrupt);
                        break Ok(());
                    }
                    state.begin_drain(StoppedBy::Interrupt);
                },
                _ = terminate.recv() => { state.detach_runs(StoppedBy::Signal); break Ok(()); },
                _ = hangup.recv(), if !is_hangup_ignored => {
                    state.detach_runs(StoppedBy::Signal);
                    break Ok(());
                },
            }
        };
        let summary = state.sign_off();
        ended.map(|()| summary)
    });
    // An unfinished recovery is left to the next worker.
    runtime.shutdown_background();
    summary
}

/// Returns the command line of each agent after all checks, for display.
///
/// # Errors
/// The field that is wrong, and the remedy.
pub fn preview_commands(options: &WorkOptions) -> Result<Vec<Vec<String>>, ConfigurationError> {
    make_launchers(options)?.iter().map(Launcher::preview_command).collect()
}
