//! `el work`: a reconciler. Each tick looks at the store, asks the pure plan what is to be done,
//! and does it. It is woken by changes of the store and by time, and may die at any moment:
//! supervisors go on without it, and the next worker adopts them.

mod actions;
mod admission;
mod detached;
mod drive;
mod memory;
mod pauses;
mod place;
mod recovery;
mod report;
mod state;
mod stop;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use el_core::model::Takes;
use el_core::ops::{AssigneeFilter, AtomFilter};
use el_core::{Durability, Error, Store};
use tokio::signal::unix::{SignalKind, signal};

pub use crate::launch::check_agent;

pub use self::detached::{Detached, start_detached};
pub use self::drive::Drive;
use self::place::DatabaseFile;
pub use self::report::{Listener, Live, Report, StoppedBy, Summary};
use self::state::State;
pub use self::state::is_there;
pub use self::stop::{Stopped, stop_all};
use crate::check::ConfigurationError;
use crate::error_chain::error_chain;
use crate::launch::Launcher;
use crate::pace::Pace;
use crate::process;
use crate::settings::{AgentSettings, Places, RunRules};

/// Between two looks for changes, right after one and when nothing moves; a look costs
/// microseconds.
const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_millis(150);
/// A step costs more, the more is live: it is taken so that this many times its duration passes
/// before the next one.
const STEP_SHARE: u32 = 20;
/// Looks at everything, changed or not: time passes for leases and back-offs too.
const FULL_LOOK: Duration = Duration::from_secs(1);

/// Looks in a row that the store may fail before the worker gives up.
const STORE_FAILURES: usize = 20;

/// How a worker is to work.
#[derive(Debug, Clone)]
pub struct WorkOptions {
    /// The agents that it serves; one at least. Of equally good atoms, the first takes what is
    /// assigned to nobody.
    pub agents: Vec<Served>,
    pub rules: RunRules,
    pub places: Places,
    pub durability: Durability,
    /// Which atoms; beside each agent's own rule (assigned to nobody or to it).
    pub filter: AtomFilter,
    /// Sessions at a time, of all its agents together.
    pub concurrency: usize,
    /// Claims after which no more is claimed.
    pub max_claims: Option<usize>,
    /// Leave when nothing is ready any more, no back-off runs, and what was claimed has ended.
    pub drain: bool,
    /// With a bound of one claim: wait for the end of a pause instead of leaving.
    pub waits: bool,
    /// The caller's environment, of which agents get their part.
    pub environment: Vec<(OsString, OsString)>,
    /// Put at the head of each context.
    pub preamble: Option<String>,
    /// What it may take of the machine, and spend.
    pub resources: Resources,
    /// The plan that it drives on; `filter` is then to take what is below its epic.
    pub drive: Option<Drive>,
}

/// Bounds on what a worker takes of the machine, and spends.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Resources {
    /// When a session may start.
    pub limits: el_core::rules::admit::Limits,
    /// What everything below an epic may cost, in US dollars, unless its metadata say otherwise.
    pub budget_per_epic: Option<f64>,
    /// What all runs of the project may cost on one day (UTC).
    pub budget_per_day: Option<f64>,
}

/// One agent that a worker serves.
#[derive(Debug, Clone)]
pub struct Served {
    pub agent: AgentSettings,
    /// How many things the agent may do at a time, over all workers.
    pub at_most: usize,
}

impl WorkOptions {
    /// Which atoms of its agents such a worker can be relied on to take.
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

/// Why a worker ended other than by having done its work.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// Found before anything was claimed.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] Error),
    /// The file of the store is not the one that was opened; all runs were ended.
    #[error("{} was {became} while el work was using it", path.display())]
    DatabaseGone {
        /// Where it was.
        path: PathBuf,
        /// "deleted" or "replaced".
        became: &'static str,
    },
    /// Sessions cannot be started; nothing more was claimed.
    #[error("{attempts} sessions in a row could not be started; the last: {message}")]
    CannotLaunch {
        /// How many.
        attempts: usize,
        /// The last one's error.
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

/// Checks that a worker could work, without claiming anything.
///
/// # Errors
/// The field that is wrong, and the remedy.
pub fn preflight(options: &WorkOptions) -> Result<(), ConfigurationError> {
    launchers(options).map(drop)
}

fn launchers(options: &WorkOptions) -> Result<Vec<Launcher>, ConfigurationError> {
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

/// Works until there is no more to do (`drain`, `max_claims`), or until it is told to stop. Blocks.
///
/// The first SIGINT stops the claiming and waits for what runs; a second one, SIGTERM or SIGHUP
/// leave the sessions to their supervisors. A SIGHUP that was ignored (`nohup`) stays ignored.
///
/// # Errors
/// If the configuration does not allow it, or the store or tmux fail for good.
pub fn work(options: &WorkOptions, listener: &mut dyn Listener) -> Result<Summary, WorkError> {
    let launchers = launchers(options)?;
    let system = |doing| move |source| WorkError::System { doing, source };
    let store = Store::open(&options.places.database, options.durability)?;
    let mut file = DatabaseFile::at(&options.places.database);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(system("start the runtime"))?;
    let summary = runtime.block_on(async {
        // Under `nohup` the end of the terminal is none of ours; agents get it as by default.
        let is_hangup_ignored = process::is_hangup_ignored();
        process::notice_default_signals().map_err(system("listen to signals"))?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(system("listen to signals"))?;
        let mut terminate = signal(SignalKind::terminate()).map_err(system("listen to signals"))?;
        let mut hangup = signal(SignalKind::hangup()).map_err(system("listen to signals"))?;
        let mut state = State::join(store, options, launchers, listener)?;
        let mut pace = Pace::new(SHORTEST, LONGEST);
        let (mut full_look, mut step_at) = (Instant::now(), Instant::now());
        let (mut interrupts, mut failures) = (0, 0);
        let ended = loop {
            tokio::select! {
                () = tokio::time::sleep(pace.wait()) => {
                    let began = Instant::now();
                    if let Some(became) = file.loss() {
                        break Err(state.end_all(became));
                    }
                    let is_due = full_look.elapsed() >= FULL_LOOK;
                    if !is_due && (began < step_at || !state.has_changed()) {
                        continue;
                    }
                    if !is_due {
                        pace.note_change();
                    }
                    full_look = began;
                    let stepped = state.step().await;
                    step_at = Instant::now() + (began.elapsed() * STEP_SHARE).min(LONGEST);
                    match stepped {
                        Ok(true) => break Ok(()),
                        Ok(false) => failures = 0,
                        // A store that fails for a moment must not end a night's work.
                        Err(WorkError::Store(error)) if failures < STORE_FAILURES => {
                            failures += 1;
                            state.warn(format!("the store failed and is tried again: {}", error_chain(&error)));
                        }
                        Err(error) => break Err(error),
                    }
                },
                _ = interrupt.recv() => {
                    interrupts += 1;
                    if interrupts > 1 {
                        state.detach(StoppedBy::Interrupt);
                        break Ok(());
                    }
                    state.drain(StoppedBy::Interrupt);
                },
                _ = terminate.recv() => { state.detach(StoppedBy::Signal); break Ok(()); },
                _ = hangup.recv(), if !is_hangup_ignored => { state.detach(StoppedBy::Signal); break Ok(()); },
            }
        };
        let summary = state.leave();
        ended.map(|()| summary)
    });
    // A recovery that is under way is as good as one that was killed: the next worker does it.
    runtime.shutdown_background();
    summary
}

/// How each agent would be called, after all checks: its program and arguments, for people.
///
/// # Errors
/// The field that is wrong, and the remedy.
pub fn preview(options: &WorkOptions) -> Result<Vec<Vec<String>>, ConfigurationError> {
    launchers(options)?.iter().map(Launcher::preview).collect()
}
