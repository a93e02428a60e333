//! Settles a run without a supervisor: first the process tree, then the verdict, then the session.
//! The order makes sure that no process of the agent lives on after the settling, and that no
//! session of a late supervisor is ended.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use el_core::model::{EndKind, ExitRecord, Fault, Run};
use el_core::ops::{self, Ending, Settled, SettledBy};
use el_core::{Ctx, Durability, Error, Store};

use crate::git::push_branch;
use crate::merge_gate::open_without_commits;
use crate::output::RunOutput;
use crate::preparation::context_file;
use crate::process::{Ended, end_marked};
use crate::run_files::{RunFiles, note_tip, other_host};
use crate::rundir::RunDir;
use crate::sandbox::{OwnBranch, remove_traps};
use crate::settings::{AgentSettings, Places, RunRules};
use crate::tmux::Tmux;
use crate::{artifacts, clock, handover, notify};

/// How long the push of a branch may take.
const PUSH_LIMIT: Duration = Duration::from_secs(20);
/// How long the killing may take.
const SWEEP_LIMIT: Duration = Duration::from_secs(10);

/// The reason why a run could not be recovered. The recovery is tried again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecoverError {
    /// The process table could not be read, so the run must not be settled.
    #[error("the process table could not be read")]
    Processes(#[from] std::io::Error),
    /// These processes did not die. The claim is kept.
    #[error("{} process(es) of the run do not die", .0.len())]
    Survivors(Vec<u32>),
    /// The store refused.
    #[error("the store refused to settle the run")]
    Store(#[from] Error),
}

/// Ends the remaining processes of the run. Blocks meanwhile.
pub(crate) fn sweep_run(folder: &RunDir) -> Result<(), RecoverError> {
    match end_marked(&folder.marker(), SWEEP_LIMIT)? {
        Ended::Clean { .. } => Ok(()),
        Ended::Survivors(left) => {
            Err(RecoverError::Survivors(left.iter().map(|p| p.pid).collect()))
        }
    }
}

/// Ends the processes on this machine of runs that another machine settled, since workers and
/// supervisors here were killed. Blocks meanwhile. Leaves processes that cannot be ended.
pub(crate) fn sweep_settled_elsewhere(store: &Store, places: &Places) {
    for entry in std::fs::read_dir(&places.runs).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(id) = name.to_str() else { continue };
        let folder = RunDir::new(&places.runs, id);
        // A supervisor that came to its end has left a record, and nothing else.
        let is_over = || ops::get_run(store, id).is_ok_and(|run| run.outcome.is_some());
        if folder.read_exit().is_none() && is_over() {
            let _ = sweep_run(&folder);
        }
    }
}

/// Why a run could not be launched.
#[derive(Debug)]
pub(crate) struct NotLaunched {
    /// In words.
    pub(crate) why: String,
    pub(crate) fault: Option<Fault>,
}

/// A run without a supervisor, and the input for settling the run.
#[derive(Debug)]
pub(crate) struct Abandoned {
    /// The run as last seen.
    pub(crate) run: Run,
    /// Why the run could not be launched; `None` if it was.
    pub(crate) why: Option<NotLaunched>,
    pub(crate) tmux: Tmux,
    pub(crate) places: Places,
    pub(crate) durability: Durability,
    pub(crate) rules: RunRules,
    /// Keep the session and the context file.
    pub(crate) preserve: bool,
}

/// Ends the remains of the run, settles the run, and starts the notification command. Blocks; opens
/// its own store.
pub(crate) fn recover_run(
    abandoned: Abandoned,
    agent: &AgentSettings,
    environment: &[(OsString, OsString)],
) -> Result<(), RecoverError> {
    let Abandoned { run, why, tmux, places, durability, rules, preserve } = abandoned;
    sweep_run(&RunDir::new(&places.runs, &run.id))?;
    let mut store = places.open_store(durability)?;
    let settled = settle_lost(&mut store, &tmux, &run, &places, &rules, preserve, why)?;
    notify_lost(&settled, &places, agent, environment);
    Ok(())
}

/// Settles a swept run, by its exit record if there is one, and removes the session, unless
/// preserved. `run` is the state before the sweep: the store refuses if a supervisor has registered
/// since.
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
    if let Some(mut branch) = OwnBranch::of_run(&folder) {
        // Commits that cannot be taken over stay in the run's folder.
        let _ = branch.take_over_finally();
    }
    // On failure, dependants wait until el work, el pr or a person looks at the branch.
    let _ = open_without_commits(store, Path::new(&run.workdir), &run.atom_id);
    let put_aside = remove_traps(&folder, Path::new(&run.workdir));
    if !preserve {
        // Removed before the run is settled: afterwards the file may belong to the next run.
        let _ = std::fs::remove_file(context_file(places, &run.atom_id));
    }
    let launched = folder.read_launch().ok();
    let remote = launched.as_ref().and_then(|spec| spec.agent.isolation.as_ref()?.remote.clone());
    if let Some(remote) = remote {
        // A branch that cannot be pushed is pushed by a later run of the atom, or by a person.
        let _ = push_branch(Path::new(&run.workdir), &remote, &run.atom_id, PUSH_LIMIT);
    }
    let mut record =
        folder.read_exit().filter(|record| record.run == run.id).unwrap_or_else(|| {
            let kind = match (&run.supervisor, other_host(run)) {
                (None, _) => EndKind::LaunchFailed,
                (Some(_), None) => EndKind::SupervisorLost,
                (Some(_), Some(_)) => EndKind::LeaseLost,
            };
            let silent = other_host(run).map(|host| format!("{host} was not heard of"));
            ExitRecord {
                fault: why.as_ref().and_then(|why| why.fault),
                message: why.map(|why| why.why).or(silent),
                ..ExitRecord::new(&run.id, kind, clock::now())
            }
        });
    record.sandbox_notes.extend(put_aside);
    let kept = RunOutput::from_folder(&folder, run.executor != "command");
    let atom = ops::get_atom(store, &run.atom_id).ok();
    let job =
        handover::collection_job(run.clone(), atom, &record, &kept, places, launched.as_ref());
    let mut collected = artifacts::collect(&job);
    let policy = rules.retry_policy();
    let ending = Ending {
        by: SettledBy::Other { seen: run.supervisor.as_ref() },
        output: &kept.output,
        error_lines: &kept.error_lines,
        ..Ending::new(&record, &policy, clock::jitter())
    };
    let is_kept = store.is_on_server() && launched.is_some();
    let mut files = is_kept.then(|| RunFiles::new(&folder, &run.id));
    if let Some(files) = &mut files {
        note_tip(&folder, Path::new(&run.workdir), &run.atom_id);
        // A kept tip stays. A supervisor that may still come would have another one.
        if run.supervisor.is_some() {
            let _ = files.keep_new(store);
        }
    }
    let ctx = Ctx { now: clock::now(), actor: &run.agent, session: None };
    let settled = ops::settle(store, &ctx, &ending, |decided| {
        handover::write_documents(decided, &record, &folder, Some(&mut collected))
    })?;
    if let Some(files) = &mut files {
        // Other machines have what was kept before.
        let _ = files.keep_all(store);
    }
    if let Some(session) = run.session.as_ref().filter(|_| !preserve) {
        // The session may be gone already. A session that cannot be ended shows a dead pane, or a
        // supervisor that the store refuses.
        let _ = tmux.kill_session(session);
    }
    Ok(settled)
}

/// Starts the notification command of a settled run, with the settings of its launch, or else the
/// worker's.
fn notify_lost(
    settled: &Settled,
    places: &Places,
    agent: &AgentSettings,
    environment: &[(OsString, OsString)],
) {
    let launched = RunDir::new(&places.runs, &settled.run.id).read_launch();
    let agent = launched.as_ref().map_or(agent, |spec| &spec.agent);
    // A failed notification stops no work; the channel has the message.
    if let Ok(Some(mut child)) = notify::start_notification(settled, agent, places, environment) {
        // The child has to be reaped, or would stay in the process table.
        drop(std::thread::spawn(move || child.wait()));
    }
}
