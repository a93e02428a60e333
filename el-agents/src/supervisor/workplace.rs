//! The child process that prepares a run's worktree.
//!
//! The supervisor watches and ends this child (`el supervise RUN --workplace`) in the same way as
//! an agent. The child and all its processes (git, the setup command) carry the run's mark, so a
//! sweep of the run ends them too.

use std::path::Path;
use std::time::Duration;

use el_core::model::{Atom, Outcome, PullRequest, Run, Timestamp, Verify, VerifyStatus};
use el_core::text::last_lines;
use el_core::{Durability, Store, ops};
use rustix::process::{Signal, getppid};

use super::SuperviseError;
use super::signals::Signals;
use crate::git::{self, GitError, Isolation, LostWork, WorktreeRequest};
use crate::launch_spec::LaunchSpec;
use crate::preparation::{PreparationFailure, Workplace};
use crate::process::{Handle, ProcessId, descendants};
use crate::pull_requests::take_in_before_run;
use crate::run_files::{is_in_worktree, other_host};
use crate::rundir::RunDir;
use crate::{clock, verify};

/// The time for git and the setup to remove their lock files after SIGTERM.
const TERM_GRACE: Duration = Duration::from_secs(3);
/// The interval between looks for their end.
const LOOK: Duration = Duration::from_millis(20);
/// How far the clock of this machine may be from the server's, in seconds.
const CLOCKS_DIFFER: i64 = 60;
/// The lines of a failed setup's output that the error shows.
const SETUP_LINES: usize = 5;

/// Prepares the worktree of a run in the child process, and writes the result to the run's folder.
/// Blocks. On SIGINT, SIGTERM or SIGHUP, asks all descendants to end, and leaves no result.
///
/// # Errors
/// If the run's supervisor did not start this process, or the run's files cannot be used.
pub fn prepare_workplace(database: &Path, run: &str) -> Result<(), SuperviseError> {
    let folder = RunDir::of_run(database, run);
    let mut store = Store::open_at(database, folder.take_server()?.as_ref(), Durability::Normal)?;
    clock::follow(&store);
    let spec = folder.read_launch()?;
    let worker = ensure_started_by_supervisor(&store, run)?;
    let atom = ops::get_atom(&store, &spec.atom)?;
    let builds_on = ops::builds_on(&store, &atom.id)?;
    let joins = ops::is_joining(&atom) || ops::is_asked(&store, &atom.id)?;
    let (elsewhere, lost) = match store.is_on_server() {
        true => (
            find_on_other_hosts(&store, &atom.id, &builds_on)?,
            find_lost_here(&store, &atom, &builds_on)?,
        ),
        false => (Vec::new(), Vec::new()),
    };
    let last = ops::pull_requests_of(&store, &atom.id)?.pop();
    let pull = last.filter(|one| one.state.is_live() && one.number.is_some());
    let system = |doing| move |source| SuperviseError::System { doing, source };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(system("start the runtime"))?;
    let prepared = runtime.block_on(async {
        let mut signals = Signals::new().map_err(system("listen to signals"))?;
        let work = tokio::task::spawn_blocking(move || {
            let wanted = WorktreeRequest {
                atom: &atom.id,
                parent: atom.parent_id.as_deref(),
                builds_on: &builds_on,
                elsewhere: &elsewhere,
                lost: &lost,
                joins,
            };
            let on_top = pull.map(|pull| take_on_top(&mut store, &worker, &spec, &pull));
            drop(store);
            let mut prepared = prepare_worktree(&spec, &wanted)?;
            prepared.told.extend(on_top.flatten());
            Ok(prepared)
        });
        tokio::select! {
            prepared = work => prepared.map(Some).map_err(|e| system("prepare")(e.into())),
            () = signals.wait_for_signal() => {
                end_descendants().await;
                Ok(None)
            }
        }
    });
    // An unfinished copy ends with this process, and is never taken for a complete copy.
    runtime.shutdown_background();
    match prepared? {
        Some(prepared) => Ok(folder.write_workplace(&prepared)?),
        None => Ok(()),
    }
}

/// Refuses other callers: an agent may call `el`, but must not run the setup command in this way.
/// Returns the worker that claimed the run.
fn ensure_started_by_supervisor(store: &Store, run: &str) -> Result<String, SuperviseError> {
    let run = ops::get_run(store, run)?;
    let supervisor = run.supervisor.map(|stamp| stamp.pid);
    let parent = getppid().map(|parent| i64::from(parent.as_raw_nonzero().get()));
    if supervisor.is_some() && supervisor == parent {
        return Ok(run.worker_id.unwrap_or(run.agent));
    }
    Err(SuperviseError::NotItsSupervisor)
}

/// Brings what reviewers pushed on top of the pull request to the branch, before its agent goes on
/// there. Returns a line for the pane. Without a network, the agent goes on from what is here.
fn take_on_top(
    store: &mut Store,
    worker: &str,
    spec: &LaunchSpec,
    pull: &PullRequest,
) -> Option<String> {
    let branch = &pull.head_ref;
    match take_in_before_run(store, worker, &spec.agent.working_directory, pull) {
        Ok(commits) if commits.is_empty() => None,
        Ok(commits) => Some(format!("{branch} has commits of others now: {}", commits.join(", "))),
        Err(error) => Some(format!("! what others pushed to {branch} is not here: {error}")),
    }
}

/// Finds the atoms with needed work in worktrees on other hosts, each with the name of the host:
/// dependencies, and the atom itself if an earlier attempt handed its work in.
fn find_on_other_hosts(
    store: &Store,
    atom: &str,
    builds_on: &[String],
) -> Result<Vec<(String, String)>, SuperviseError> {
    let mut found = Vec::new();
    for atom in builds_on.iter().map(String::as_str).chain([atom]) {
        let is_work = |run: &Run| run.has_handed_in() && is_in_worktree(run, atom);
        if let Some(run) = ops::list_attempts(store, atom)?.into_iter().rfind(is_work)
            && let Some(host) = other_host(&run)
            && !ops::has_landed(store, atom)?
        {
            found.push((atom.to_owned(), host.to_owned()));
        }
    }
    Ok(found)
}

/// Finds the atoms whose last run on this host was lost, and that another host went on with: of the
/// atom itself, its parent and its dependencies.
fn find_lost_here(
    store: &Store,
    atom: &Atom,
    builds_on: &[String],
) -> Result<Vec<LostWork>, SuperviseError> {
    let mut found = Vec::new();
    for id in builds_on.iter().chain(&atom.parent_id).chain([&atom.id]) {
        let attempts = ops::list_attempts(store, id)?;
        let is_here = |run: &Run| run.supervisor.is_some() && other_host(run).is_none();
        let own = attempts.iter().rposition(|run| is_here(run) && run.ended_at.is_some());
        let Some(own) = own else { continue };
        let run = &attempts[own];
        let goes_on = attempts[own + 1..].iter().any(|later| other_host(later).is_some());
        if run.outcome == Some(Outcome::Lost) && goes_on {
            let seconds = |time: Timestamp| time.as_micros() / 1_000_000;
            let until = seconds(run.ended_at.unwrap_or(run.lease_until));
            found.push(LostWork {
                atom: id.clone(),
                run: run.id.clone(),
                time: (seconds(run.started_at) - CLOCKS_DIFFER, until + CLOCKS_DIFFER),
            });
        }
    }
    Ok(found)
}

fn prepare_worktree(
    spec: &LaunchSpec,
    wanted: &WorktreeRequest<'_>,
) -> Result<Workplace, PreparationFailure> {
    let agent = &spec.agent;
    let Some(isolation) = agent.isolation.as_ref().or(agent.task_isolation.as_ref()) else {
        return Err(PreparationFailure::new(&std::io::Error::other("no worktree was asked for")));
    };
    let make = || {
        let prepared = git::prepare_worktree(isolation, &agent.working_directory, wanted)?;
        if prepared.is_new {
            run_setup(spec, isolation, &prepared.workdir)?;
            prepared.mark_ready()?;
        }
        Ok(Workplace {
            folder: prepared.workdir,
            branch: prepared.branch,
            unmerged: prepared.unmerged,
            told: prepared
                .unfetched
                .map(|why| format!("its base could not be fetched: {why}"))
                .into_iter()
                .chain(prepared.set_aside)
                .map(|told| format!("! {told}"))
                .collect(),
        })
    };
    make().map_err(|error| PreparationFailure::of_git(error, isolation.is_own_base))
}

fn run_setup(spec: &LaunchSpec, isolation: &Isolation, folder: &Path) -> Result<(), GitError> {
    if isolation.setup.is_empty() {
        return Ok(());
    }
    let setup = Verify::pending(isolation.setup.clone(), true, isolation.setup_timeout_ms);
    let environment: Vec<_> = std::env::vars_os().collect();
    let ended = verify::run_check(&setup, folder, &environment, spec.confinement());
    if ended.status == VerifyStatus::Passed {
        return Ok(());
    }
    let output = ended.output.unwrap_or_default();
    let said = last_lines(&output, SETUP_LINES).collect::<Vec<_>>().join(" / ");
    Err(GitError::Setup {
        status: ended.status.to_string(),
        said: if said.is_empty() { "it said nothing".to_owned() } else { said },
    })
}

/// Asks git and the setup to end, so that git removes its lock files. The supervisor kills the
/// survivors.
async fn end_descendants() {
    let until = tokio::time::Instant::now() + TERM_GRACE;
    while tokio::time::Instant::now() < until {
        let mut is_any = false;
        for child in descendants(std::process::id()).unwrap_or_default() {
            if child.zombie {
                continue;
            }
            is_any = true;
            if let Ok(Some(id)) = ProcessId::of_pid(child.pid)
                && let Ok(Some(handle)) = Handle::open(&id)
            {
                // The process may have ended just now.
                let _ = handle.send_signal(Signal::TERM);
            }
        }
        if !is_any {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}
