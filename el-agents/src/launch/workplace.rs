//! Where a run's agent works: in the configured folder, or in a git worktree of its atom's own.

use std::ffi::OsString;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use el_core::Store;
use el_core::model::{Progress, Run, Verify, VerifyStatus};
use el_core::ops::{self, Beat, ClaimedRun};

use super::LaunchError;
use crate::check::ConfigurationError;
use crate::clock;
use crate::git::{self, GitError, Prepared, Repository, Wanted};
use crate::settings::AgentSettings;
use crate::verify;

/// Between two signs of life while a setup runs.
const BEAT: Duration = Duration::from_secs(1);
/// What a sign of life is good for.
const LEASE: Duration = Duration::from_secs(60);

/// Makes sure that worktrees can be had at all, before anything is claimed.
pub(super) fn preflight(agent: &AgentSettings) -> Result<(), ConfigurationError> {
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

/// Makes the run's worktree ready, and says in the store that the agent works there. `None`: it
/// works in the folder that it has.
pub(super) fn prepare(
    agent: &AgentSettings,
    store: &mut Store,
    claimed: &ClaimedRun,
    environment: &[(OsString, OsString)],
) -> Result<Option<Prepared>, LaunchError> {
    let has_own_folder =
        claimed.atom.delegation.as_ref().is_some_and(|task| task.workdir.is_some());
    let Some(isolation) = agent.isolation.as_ref().filter(|_| !has_own_folder) else {
        return Ok(None);
    };
    let (run, atom) = (&claimed.run, &claimed.atom);
    let builds_on = ops::builds_on(store, &atom.id)?;
    let wanted = Wanted {
        atom: &atom.id,
        parent: atom.parent_id.as_deref(),
        builds_on: &builds_on,
        joins: ops::is_joining(atom) || ops::is_asked(store, &atom.id)?,
    };
    let prepared =
        while_kept(store, run, || git::prepare(isolation, &agent.working_directory, &wanted))?;
    let prepared = prepared.map_err(|error| match error {
        // Another attempt would meet the same.
        GitError::Apart { .. } => LaunchError::Held(error),
        // The atom's own fault, which says nothing of the others.
        GitError::BranchElsewhere { .. } | GitError::InTheWay(_) => {
            LaunchError::Folder(ConfigurationError::new("isolate", error.to_string(), error.hint()))
        }
        other => LaunchError::Worktree(other),
    })?;
    if prepared.is_new {
        if !isolation.setup.is_empty() {
            let verify = Verify::pending(isolation.setup.clone(), true, isolation.setup_timeout_ms);
            set_up(&verify, &prepared, store, claimed, environment)?;
        }
        prepared.is_ready()?;
    }
    ops::place_run(store, &run.id, &run.token, &prepared.workdir.display().to_string())?;
    Ok(Some(prepared))
}

/// Does what may take long, in a thread of its own. The claim has no supervisor yet, so its lease
/// is kept from here. What was begun is done even if the run is taken away meanwhile: it ends in
/// bounded time, and whoever comes next finds it whole.
fn while_kept<T: Send>(
    store: &mut Store,
    run: &Run,
    work: impl FnOnce() -> T + Send,
) -> Result<T, LaunchError> {
    std::thread::scope(|scope| {
        let (sender, done) = std::sync::mpsc::channel();
        scope.spawn(move || {
            // The receiver lives as long as the scope, but for a run that was taken away.
            let _ = sender.send(work());
        });
        loop {
            match done.recv_timeout(BEAT) {
                Ok(value) => return Ok(value),
                Err(RecvTimeoutError::Timeout) => beat(store, run)?,
                // It panicked, and so does the scope.
                Err(RecvTimeoutError::Disconnected) => return Err(LaunchError::Unfinished),
            }
        }
    })
}

fn beat(store: &mut Store, run: &Run) -> Result<(), el_core::Error> {
    let progress = Progress::default();
    let (run_id, token) = (&run.id, &run.token);
    let beat = Beat {
        run_id,
        token,
        now: clock::now(),
        lease: LEASE,
        active_at: None,
        progress: &progress,
    };
    ops::beat(store, &beat).map(drop)
}

/// Runs the setup command. The claim has no supervisor yet, so its lease is kept from here.
fn set_up(
    setup: &Verify,
    prepared: &Prepared,
    store: &mut Store,
    claimed: &ClaimedRun,
    environment: &[(OsString, OsString)],
) -> Result<(), LaunchError> {
    let run = &claimed.run;
    let mut running = match verify::start(setup, &prepared.workdir, environment) {
        Ok(running) => running,
        Err(not_run) => return Err(failed(&not_run).into()),
    };
    let mut beat_at = Instant::now();
    let ended = loop {
        if let Some(ended) = running.poll() {
            break ended;
        }
        if beat_at.elapsed() > BEAT {
            if let Err(error) = beat(store, run) {
                running.end("the run was taken away");
                return Err(error.into());
            }
            beat_at = Instant::now();
        }
        std::thread::sleep(verify::LOOK);
    };
    if ended.status == VerifyStatus::Passed { Ok(()) } else { Err(failed(&ended).into()) }
}

fn failed(setup: &Verify) -> GitError {
    let said = setup.output.clone().unwrap_or_default();
    let lines: Vec<&str> = said.lines().collect();
    let said = lines[lines.len().saturating_sub(5)..].join(" / ");
    GitError::Setup {
        status: setup.status.to_string(),
        said: if said.is_empty() { "it said nothing".to_owned() } else { said },
    }
}

/// What stands at the head of the context.
pub(super) fn preamble(given: Option<&str>, worktree: Option<&Prepared>) -> Option<String> {
    let of_worktree = worktree.map(|tree| {
        let head = format!(
            "You work in a git worktree of your own, on the branch {}. Others work elsewhere at the same time. Commit your finished work on \
             this branch before you end the atom; what is not committed is not brought in. Do not switch branches, and do not push.",
            tree.branch
        );
        match tree.missing.as_slice() {
            [] => head,
            missing => format!(
                "{head} Finished work that this builds on is not in your branch yet. Bring it in first, one after another, and settle what is in conflict:{}",
                missing.iter().map(|branch| format!(" `git merge {branch}`")).collect::<Vec<_>>().join(",")
            ),
        }
    });
    match (given, of_worktree) {
        (Some(given), Some(more)) => Some(format!("{given}\n\n{more}")),
        (given, more) => more.or_else(|| given.map(str::to_owned)),
    }
}
