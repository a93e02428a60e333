//! Lands the finished work of agents (`el land`), and checks plans.
//!
//! - [`atom_branches`] looks at the branches of atoms.
//! - [`plan_landing`] decides, from that state alone, about each branch.
//! - [`carry_out()`] joins the branches in a scratch checkout, checks the result and moves the
//!   target.
//! - [`check`] runs a check; [`check_plan`] runs the check at the end of a plan.

mod branch;
mod carry_out;
mod chain;
pub mod check;
mod check_each;
mod commit_check;
mod commit_left;
mod configuration;
mod conflict_atom;
mod error;
mod missing_commits;
mod open_work;
mod plan;
mod plan_check;
mod predict;
mod waiting;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use el_core::{Ctx, SessionCredentials};

pub use self::branch::{AtomBranch, atom_branches, atom_branches_at, resolve_target};
pub use self::carry_out::carry_out;
use self::check::CheckCommand;
pub use self::check_each::{Base, check_each, predict_each};
pub use self::commit_left::commit_left;
pub use self::configuration::hold_configuration;
pub use self::error::{LandError, Result};
pub use self::open_work::WorkBelow;
pub(crate) use self::open_work::unfinished_below;
pub(crate) use self::plan::plan_any;
pub use self::plan::{LandItem, LandOutcome, plan_landing};
pub use self::plan_check::{
    PlanBranch, PlanBranches, PlanCheck, PlanCheckEnd, PlanCheckEvent, check_plan, plan_branches,
    plan_check_owner,
};
pub use self::predict::predict_conflicts;
pub use self::waiting::branches_to_land;
use crate::clock;
use crate::file_lock::FileLock;
use crate::git::{GitError, JoinMode, make_worktrees_folder};
use crate::requirements::ConfigurationError;
use crate::sandbox::Sandbox;
use crate::settings::{Places, SandboxSettings};
use crate::tmux::socket_name;

/// The settings of a landing.
#[derive(Debug, Clone)]
pub struct LandSettings {
    pub mode: JoinMode,
    /// The branch that receives the work; `None`: the branch that is checked out.
    pub onto: Option<String>,
    /// The words of the check's command; empty: none.
    pub check: Vec<String>,
    pub check_limit: Duration,
    /// Untracked files of the main checkout that the checkout of the check gets a copy of.
    pub copy: Vec<String>,
    /// Untracked files of the main checkout that the checkout of the check gets a link to.
    pub link: Vec<String>,
    /// The words of the command that makes the checkout of the check ready; empty: none.
    pub setup: Vec<String>,
    pub setup_limit: Duration,
    /// The folder of the worktrees.
    pub worktrees: PathBuf,
    /// Untracked files that el puts into worktrees. Never counted as changes.
    pub put_into_worktrees: Vec<String>,
    /// The project's configuration, which el itself writes. Never counted as a change, even if git
    /// tracks the file.
    pub configuration: PathBuf,
    /// The sandbox of the check and of the setup.
    pub sandbox: SandboxSettings,
}

impl LandSettings {
    /// The command that makes a checkout ready.
    fn setup_command(&self) -> CheckCommand<'_> {
        CheckCommand {
            key: "worktree_setup",
            name: "setup",
            words: &self.setup,
            limit: self.setup_limit,
        }
    }
}

/// The surroundings of a landing, or of the check of a plan.
#[derive(Debug)]
pub struct LandContext<'a> {
    pub settings: &'a LandSettings,
    pub database: &'a Path,
    /// The `el` program, which also runs as the guard of checks.
    pub el: PathBuf,
    /// The environment of the checks.
    pub environment: &'a [(OsString, OsString)],
    pub actor: &'a str,
    pub session: Option<&'a SessionCredentials>,
}

impl LandContext<'_> {
    pub(crate) fn ctx(&self) -> Ctx<'_> {
        Ctx { now: clock::now(), actor: self.actor, session: self.session }
    }

    /// The sandbox that the settings ask for; `None` if this machine cannot have it.
    fn find_sandbox(&self) -> Result<Option<Sandbox>, ConfigurationError> {
        let found = Sandbox::find(&self.settings.sandbox, &[], self.environment)?;
        Ok(found.found_sandbox().cloned())
    }

    fn places(&self) -> Places {
        let beside = |name| self.database.with_file_name(name);
        Places {
            database: self.database.to_owned(),
            server: None,
            runs: beside("runs"),
            contexts: beside("agent-context"),
            summaries: beside("summaries"),
            el: self.el.clone(),
        }
    }

    /// The tracker's name, unique on this machine.
    fn tracker_name(&self) -> String {
        let whole = self.database.canonicalize();
        socket_name(&whole.unwrap_or_else(|_| self.database.to_owned()))
    }

    /// Returns the folder of a scratch checkout. Projects may share a worktrees folder, so the name
    /// contains the tracker's name.
    fn scratch_folder(&self, purpose: &str, suffix: &str) -> Result<PathBuf, GitError> {
        make_worktrees_folder(&self.settings.worktrees)?;
        let name = format!(".{purpose}-{}{suffix}", self.tracker_name());
        Ok(self.settings.worktrees.join(name))
    }
}

/// Takes the lock that makes this process the only lander, until the file is dropped.
///
/// # Errors
/// [`LandError::Busy`] if another process holds the lock.
pub fn lock_landing(state: &Path) -> Result<FileLock> {
    lock_landing_within(state, Duration::ZERO)
}

/// The same, after waiting for at most `limit`.
pub(crate) fn lock_landing_within(state: &Path, limit: Duration) -> Result<FileLock> {
    let path = state.join("land.lock");
    FileLock::acquire_within(&path, limit)
        .map_err(|source| LandError::File { doing: "lock", path, source })?
        .ok_or(LandError::Busy)
}
