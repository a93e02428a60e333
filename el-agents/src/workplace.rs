//! The folder that an agent works in, where that is a git worktree of its atom's own.
//!
//! The supervisor prepares it in a child process (`el supervise RUN --workplace`), which it watches
//! and ends as it does its agent. The child carries the run's mark, and so does all that it starts:
//! git and the setup command. Whoever sweeps the run ends them too.

use std::path::{Path, PathBuf};
use std::time::Duration;

use el_core::model::{Atom, Verify, VerifyStatus};
use el_core::ops;
use el_core::{Durability, Store};
use rustix::process::{Signal, getppid};
use serde::{Deserialize, Serialize};

use crate::check::ConfigurationError;
use crate::error_chain::error_chain;
use crate::git::{self, GitError, Isolation, Repository, WorktreeRequest};
use crate::process::{Handle, ProcessId, descendants};
use crate::rundir::{LaunchSpec, RunDir};
use crate::settings::AgentSettings;
use crate::supervisor::{Signals, SuperviseError};
use crate::verify;

/// How long git and the setup may take to put their lock files away after SIGTERM.
const TERM_GRACE: Duration = Duration::from_secs(3);
/// Between two looks whether they have ended.
const LOOK: Duration = Duration::from_millis(20);
/// Lines of a failed setup's output that are told.
const SETUP_LINES: usize = 5;

/// A prepared worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Workplace {
    /// The folder that the agent works in.
    pub(crate) folder: PathBuf,
    pub(crate) branch: String,
    /// Branches with finished work that this one builds on and does not have.
    pub(crate) unmerged: Vec<String>,
}

/// Why there is no worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PreparationFailure {
    /// In words.
    pub(crate) why: String,
    /// The atom's own fault: it says nothing of other atoms.
    pub(crate) is_own_fault: bool,
    /// Another attempt would meet the same until a person has done something.
    pub(crate) is_hopeless: bool,
    pub(crate) conflict: Option<MergeConflict>,
}

/// Finished work that the atom builds on and that cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MergeConflict {
    /// The branch that could not be merged.
    pub(crate) branch: String,
    /// What had been merged before.
    pub(crate) with: String,
    /// The files in conflict.
    pub(crate) files: Vec<String>,
}

impl PreparationFailure {
    pub(crate) fn new(error: &dyn std::error::Error) -> PreparationFailure {
        PreparationFailure {
            why: format!("the worktree could not be prepared: {}", error_chain(error)),
            is_own_fault: false,
            is_hopeless: false,
            conflict: None,
        }
    }

    fn of_git(error: GitError) -> PreparationFailure {
        match error {
            GitError::MergeConflict { ref branch, ref with, ref files } => PreparationFailure {
                why: error_chain(&error),
                is_own_fault: true,
                is_hopeless: true,
                conflict: Some(MergeConflict {
                    branch: branch.clone(),
                    with: with.clone(),
                    files: files.clone(),
                }),
            },
            GitError::BranchElsewhere { .. } | GitError::InTheWay(_) | GitError::Astray { .. } => {
                PreparationFailure {
                    why: error_chain(&error),
                    is_own_fault: true,
                    is_hopeless: matches!(error, GitError::Astray { .. }),
                    conflict: None,
                }
            }
            other => PreparationFailure::new(&other),
        }
    }
}

/// Makes sure that worktrees can be had at all, before anything is claimed.
pub(crate) fn ensure_worktrees_possible(agent: &AgentSettings) -> Result<(), ConfigurationError> {
    let Some(isolation) = &agent.isolation else { return Ok(()) };
    let look = || {
        git::check_version()?;
        let repository = Repository::of(&agent.working_directory)?;
        repository.head()?;
        match &isolation.base {
            Some(base) if repository.commit(base)?.is_none() => {
                Err(GitError::NoRevision(base.clone()))
            }
            _ => Ok(()),
        }
    };
    look().map_err(|error| {
        ConfigurationError::new(
            "isolate",
            format!("agents cannot be given worktrees: {error}"),
            error.hint(),
        )
    })
}

/// The child's side: prepares the worktree of a run and writes the result into the run's folder.
/// Blocks. On SIGINT, SIGTERM or SIGHUP, it asks what it started to end, and leaves no result.
///
/// # Errors
/// If this process was not started by the run's supervisor, or the run's files cannot be used.
pub fn prepare_workplace(database: &Path, run: &str) -> Result<(), SuperviseError> {
    let store = Store::open(database, Durability::Normal)?;
    let folder = RunDir::of_run(database, run);
    let spec = folder.read_launch()?;
    ensure_started_by_supervisor(&store, run)?;
    let atom = ops::brief(&store, &spec.atom)?;
    let builds_on = ops::builds_on(&store, &atom.id)?;
    let joins = ops::is_joining(&atom) || ops::is_asked(&store, &atom.id)?;
    drop(store);
    let system = |doing| move |source| SuperviseError::System { doing, source };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(system("start the runtime"))?;
    let prepared = runtime.block_on(async {
        let mut signals = Signals::new().map_err(system("listen to signals"))?;
        let work = tokio::task::spawn_blocking(move || prepare(&spec, &atom, &builds_on, joins));
        tokio::select! {
            prepared = work => prepared.map(Some).map_err(|e| system("prepare")(e.into())),
            () = signals.caught() => {
                end_descendants().await;
                Ok(None)
            }
        }
    });
    // A copy that is still under way ends with this process; a copy that was broken off is not
    // taken for one.
    runtime.shutdown_background();
    match prepared? {
        Some(prepared) => Ok(folder.write_workplace(&prepared)?),
        None => Ok(()),
    }
}

/// A session's agent may call `el`; it must not get the setup command run this way.
fn ensure_started_by_supervisor(store: &Store, run: &str) -> Result<(), SuperviseError> {
    let supervisor = ops::run(store, run)?.supervisor.map(|stamp| stamp.pid);
    let parent = getppid().map(|parent| i64::from(parent.as_raw_nonzero().get()));
    if supervisor.is_some() && supervisor == parent {
        return Ok(());
    }
    Err(SuperviseError::NotItsSupervisor)
}

fn prepare(
    spec: &LaunchSpec,
    atom: &Atom,
    builds_on: &[String],
    joins: bool,
) -> Result<Workplace, PreparationFailure> {
    let agent = &spec.agent;
    let Some(isolation) = &agent.isolation else {
        return Err(PreparationFailure::new(&std::io::Error::other("no worktree was asked for")));
    };
    let wanted =
        WorktreeRequest { atom: &atom.id, parent: atom.parent_id.as_deref(), builds_on, joins };
    let make = || {
        let prepared = git::prepare(isolation, &agent.working_directory, &wanted)?;
        if prepared.is_new {
            run_setup(isolation, &prepared.workdir)?;
            prepared.mark_ready()?;
        }
        Ok(Workplace {
            folder: prepared.workdir,
            branch: prepared.branch,
            unmerged: prepared.unmerged,
        })
    };
    make().map_err(PreparationFailure::of_git)
}

fn run_setup(isolation: &Isolation, folder: &Path) -> Result<(), GitError> {
    if isolation.setup.is_empty() {
        return Ok(());
    }
    let setup = Verify::pending(isolation.setup.clone(), true, isolation.setup_timeout_ms);
    let environment: Vec<_> = std::env::vars_os().collect();
    let ended = verify::run(&setup, folder, &environment);
    if ended.status == VerifyStatus::Passed {
        return Ok(());
    }
    let output = ended.output.unwrap_or_default();
    let lines: Vec<&str> = output.lines().collect();
    let said = lines[lines.len().saturating_sub(SETUP_LINES)..].join(" / ");
    Err(GitError::Setup {
        status: ended.status.to_string(),
        said: if said.is_empty() { "it said nothing".to_owned() } else { said },
    })
}

/// Asks git and the setup to end, so that git removes its lock files. The supervisor kills what
/// does not.
async fn end_descendants() {
    let until = tokio::time::Instant::now() + TERM_GRACE;
    while tokio::time::Instant::now() < until {
        let mut is_any = false;
        for child in descendants(std::process::id()).unwrap_or_default() {
            if child.zombie {
                continue;
            }
            is_any = true;
            if let Ok(Some(id)) = ProcessId::of(child.pid)
                && let Ok(Some(handle)) = Handle::open(&id)
            {
                // It may have ended just now.
                let _ = handle.signal(Signal::TERM);
            }
        }
        if !is_any {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// What stands at the head of the context.
pub(crate) fn preamble(given: Option<&str>, workplace: Option<&Workplace>) -> Option<String> {
    let of_worktree = workplace.map(|workplace| {
        let head = format!(
            "You work in a git worktree of your own, on the branch {}. Others work elsewhere at \
             the same time. Commit your finished work on this branch before you end the atom; \
             what is not committed is not brought in. Do not switch branches, and do not push.",
            workplace.branch
        );
        if workplace.unmerged.is_empty() {
            return head;
        }
        let merges: Vec<String> =
            workplace.unmerged.iter().map(|branch| format!(" `git merge {branch}`")).collect();
        format!(
            "{head} Finished work that this builds on is not in your branch yet. Bring it in \
             first, one after another, and settle what is in conflict:{}",
            merges.join(",")
        )
    });
    match (given, of_worktree) {
        (Some(given), Some(more)) => Some(format!("{given}\n\n{more}")),
        (given, more) => more.or_else(|| given.map(str::to_owned)),
    }
}
