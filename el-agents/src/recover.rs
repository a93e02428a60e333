//! Settling a run whose supervisor is gone: first its tree, then the verdict, then what is left of
//! its session. In that order, so that nothing of the agent's lives once the run is settled, and no
//! session is ended whose supervisor came after all.

use std::ffi::OsString;
use std::time::Duration;

use el_core::model::{EndKind, ExitRecord, Run};
use el_core::ops::{self, Ending, Settled, SettledBy};
use el_core::{Ctx, Durability, Error, Store};

use crate::artifacts;
use crate::clock;
use crate::handover;
use crate::launch::context_file;
use crate::notify;
use crate::output::RunOutput;
use crate::process::{Ended, Marker, end_marked};
use crate::rundir::RunDir;
use crate::settings::{AgentSettings, Places, RunRules};
use crate::tmux::Tmux;

/// How long the killing may take.
const SWEEP_LIMIT: Duration = Duration::from_secs(10);

/// Why a run could not be recovered; it is tried again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecoverError {
    /// The process table could not be read: nothing is known, so nothing is settled.
    #[error("the process table could not be read")]
    Processes(#[from] std::io::Error),
    /// These did not die: the claim is kept.
    #[error("{} process(es) of the run do not die", .0.len())]
    Survivors(Vec<u32>),
    /// The store refused.
    #[error("the store refused to settle the run")]
    Store(#[from] Error),
}

/// Ends what is left of the run's tree and session. Blocks for as long as that takes.
pub(crate) fn sweep(run: &str) -> Result<(), RecoverError> {
    match end_marked(&Marker::new("EL_RUN", run), SWEEP_LIMIT)? {
        Ended::Clean { .. } => Ok(()),
        Ended::Survivors(left) => {
            Err(RecoverError::Survivors(left.iter().map(|p| p.pid).collect()))
        }
    }
}

/// Why a run could not be launched.
#[derive(Debug)]
pub(crate) struct NotLaunched {
    /// In words.
    pub(crate) why: String,
}

/// A run that nobody supervises, and what is needed to settle it.
#[derive(Debug)]
pub(crate) struct Abandoned {
    /// As it was seen.
    pub(crate) run: Run,
    /// `None`: it was launched.
    pub(crate) why: Option<NotLaunched>,
    pub(crate) tmux: Tmux,
    pub(crate) places: Places,
    pub(crate) durability: Durability,
    pub(crate) rules: RunRules,
    /// Its session and context file are kept.
    pub(crate) preserve: bool,
}

/// Ends what is left of the run, settles it, and starts the notification command. Blocks; opens the
/// store for itself.
pub(crate) fn recover(
    abandoned: Abandoned,
    agent: &AgentSettings,
    environment: &[(OsString, OsString)],
) -> Result<(), RecoverError> {
    let Abandoned { run, why, tmux, places, durability, rules, preserve } = abandoned;
    sweep(&run.id)?;
    let mut store = Store::open(&places.database, durability)?;
    let settled = settle_lost(&mut store, &tmux, &run, &places, &rules, preserve, why)?;
    tell_lost(&settled, &places, agent, environment);
    Ok(())
}

/// Settles a run whose tree was swept, by its exit record if its supervisor wrote one, and takes
/// away what its session leaves behind, unless that is to be preserved. `run` is as it was before
/// the sweep: refused if a supervisor has registered since then.
pub(crate) fn settle_lost(
    store: &mut Store,
    tmux: &Tmux,
    run: &Run,
    places: &Places,
    rules: &RunRules,
    preserve: bool,
    why: Option<NotLaunched>,
) -> Result<Settled, RecoverError> {
    let folder = RunDir::new(&places.runs, &run.id);
    folder.forget_environment();
    if !preserve {
        // Before the run is settled: afterwards the file may be the next run's.
        let _ = std::fs::remove_file(context_file(places, &run.atom_id));
    }
    let record = folder.read_exit().filter(|record| record.run == run.id).unwrap_or_else(|| {
        let kind =
            if run.supervisor.is_some() { EndKind::SupervisorLost } else { EndKind::LaunchFailed };
        ExitRecord {
            message: why.map(|why| why.why),
            ..ExitRecord::new(&run.id, kind, clock::now())
        }
    });
    let kept = RunOutput::of(&folder, run.executor != "command");
    let atom = ops::brief(store, &run.atom_id).ok();
    let launched = folder.read_launch().ok();
    let job = handover::job(run.clone(), atom, &record, &kept, places, launched.as_ref());
    let mut collected = artifacts::collect(&job);
    let policy = rules.retry_policy();
    let ending = Ending {
        by: SettledBy::Other { seen: run.supervisor.as_ref() },
        output: &kept.output,
        error_lines: &kept.error_lines,
        ..Ending::new(&record, &policy, clock::jitter())
    };
    let ctx = Ctx { now: clock::now(), actor: &run.agent, session: None };
    let settled = ops::settle(store, &ctx, &ending, |decided| {
        handover::publish(decided, &record, &folder, Some(&mut collected))
    })?;
    if let Some(session) = run.session.as_ref().filter(|_| !preserve) {
        // A session that is gone already is what we want; one that cannot be asked about shows
        // nothing but a dead pane, or a supervisor that is refused when it comes to register.
        let _ = tmux.kill_session(session);
    }
    Ok(settled)
}

/// Starts the notification command of the run that was settled, as its own launch or else the
/// worker's settings say.
fn tell_lost(
    settled: &Settled,
    places: &Places,
    agent: &AgentSettings,
    environment: &[(OsString, OsString)],
) {
    let launched = RunDir::new(&places.runs, &settled.run.id).read_launch();
    let agent = launched.as_ref().map_or(agent, |spec| &spec.agent);
    // A notification that cannot be made keeps nobody from working; the message is in the channel.
    if let Ok(Some(mut child)) = notify::start(settled, agent, places, environment) {
        // Somebody has to wait for it, or it stays in the process table for as long as we live.
        drop(std::thread::spawn(move || child.wait()));
    }
}
