//! The inputs that a run is launched with, as a file in the run's folder, and the agent's command
//! line, which follows from them.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use el_core::Ctx;
use serde::{Deserialize, Serialize};

use crate::project_files::project_files;
use crate::requirements::ConfigurationError;
use crate::rundir::{RunDir, RunDirError, io_error, write_private};
use crate::sandbox::{Confinement, Sandbox};
use crate::settings::{AgentSettings, Executor, Places, RunRules};
use crate::summary_file::{self, FileStamp};
use crate::{claude, clock};

/// The input of a supervisor besides the environment. Contains no secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LaunchSpec {
    pub(crate) run: String,
    pub(crate) atom: String,
    /// The session id for Claude Code.
    pub(crate) conversation: String,
    pub(crate) agent: AgentSettings,
    /// The agent's program, found on the worker's PATH.
    pub(crate) program: PathBuf,
    pub(crate) rules: RunRules,
    pub(crate) places: Places,
    /// The summary file before the run. A file unchanged at the end belongs to an earlier attempt.
    #[serde(default)]
    pub(crate) summary_before: Option<FileStamp>,
    /// Put at the head of the context.
    #[serde(default)]
    pub(crate) preamble: Option<String>,
    /// The branch of the run's own worktree, once there is one.
    #[serde(default)]
    pub(crate) branch: Option<String>,
    /// The sandbox that the agent runs in, if there is one.
    #[serde(default)]
    pub(crate) sandbox: Option<Sandbox>,
    /// Why there is none although the settings want one.
    #[serde(default)]
    pub(crate) missing_sandbox: Option<String>,
}

impl LaunchSpec {
    /// The agent as the actor, now.
    pub(crate) fn ctx(&self) -> Ctx<'_> {
        Ctx { now: clock::now(), actor: &self.agent.name, session: None }
    }

    /// The sandbox of the run's checks and of its setup.
    pub(crate) fn confinement(&self) -> Option<Confinement<'_>> {
        let places = &self.places;
        self.sandbox.as_ref().map(|sandbox| Confinement { sandbox, places })
    }

    /// Returns the command line of a call of the agent. `resumed_at`: for a resumed conversation,
    /// the cost so far in millionths of a dollar. The client counts the budget anew in each call,
    /// so the call gets the remaining budget.
    pub(crate) fn argv(
        &self,
        folder: &RunDir,
        resumed_at: Option<i64>,
    ) -> Result<Vec<OsString>, ConfigurationError> {
        match &self.agent.executor {
            Executor::Claude | Executor::Interactive => {
                let resume = resumed_at.is_some();
                let mut options = claude_options(
                    &self.agent,
                    &self.program,
                    &self.conversation,
                    &folder.settings_path(),
                    resume,
                );
                options.own_branch = self.branch.clone().or(options.own_branch);
                options.budget_per_run = self.budget_left(resumed_at.unwrap_or(0));
                options.summary_file = Some(summary_file::summary_file(&self.places, &self.atom));
                options.database = Some(self.places.database.clone());
                options.add_dirs = self.folders_to_add();
                options.untrusted_folder = self.untrusted_folder();
                claude::argv(&options)
            }
            Executor::Command(words) => {
                let rest = words.iter().skip(1).chain(&self.agent.extra_args).map(OsString::from);
                Ok(std::iter::once(self.program.clone().into_os_string()).chain(rest).collect())
            }
        }
    }

    /// Returns the summaries folder if outside of the working folder, since the client lets an
    /// agent write only in listed folders.
    fn folders_to_add(&self) -> Vec<PathBuf> {
        let file = summary_file::summary_file(&self.places, &self.atom);
        match summary_file::path_below(&file, &self.agent.working_directory) {
            Some(_) => Vec::new(),
            None => vec![summary_file::summaries_folder(&self.places)],
        }
    }

    /// The working folder, unless a person trusts all that it tells the client to do, as it is now:
    /// another agent's work may be in it.
    fn untrusted_folder(&self) -> Option<PathBuf> {
        let folder = &self.agent.working_directory;
        let trusted = &self.agent.trusted_files;
        let is_trusted = !trusted.is_empty()
            && project_files(folder).is_ok_and(|files| files.is_subset(trusted));
        (!is_trusted).then(|| folder.clone())
    }

    /// Returns the rest of the run's budget in dollars; `None` without a limit. Positive, because
    /// the caller does not resume a run without budget.
    pub(crate) fn budget_left(&self, spent_micros: i64) -> Option<f64> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "an amount of dollars is far below the range where a float loses cents"
        )]
        let spent = spent_micros as f64 / 1e6;
        self.agent.budget_per_run.map(|budget| budget - spent)
    }
}

pub(crate) fn claude_options(
    agent: &AgentSettings,
    program: &Path,
    conversation: &str,
    settings_file: &Path,
    resume: bool,
) -> claude::ClaudeOptions {
    claude::ClaudeOptions {
        path: program.to_owned(),
        session_uuid: conversation.to_owned(),
        interactive: agent.executor == Executor::Interactive,
        resume,
        permission_mode: Some(agent.permission_mode.clone()).filter(|mode| !mode.is_empty()),
        allowed_tools: agent.allowed_tools.clone(),
        own_branch: agent.isolation.as_ref().map(|made| format!("{}*", made.branch_prefix)),
        disallowed_tools: agent.disallowed_tools.clone(),
        model: agent.model.clone(),
        effort: agent.effort.clone(),
        max_turns: agent.max_turns,
        budget_per_run: agent.budget_per_run,
        settings_file: Some(settings_file.to_owned()),
        summary_file: None,
        database: None,
        add_dirs: Vec::new(),
        untrusted_folder: None,
        extra_args: agent.extra_args.clone(),
    }
}

impl RunDir {
    fn launch_path(&self) -> PathBuf {
        self.path().join("launch.json")
    }

    pub(crate) fn write_launch(&self, spec: &LaunchSpec) -> Result<(), RunDirError> {
        let text = serde_json::to_vec_pretty(spec).expect("a launch spec has string keys only");
        write_private(&self.launch_path(), &text)
    }

    pub(crate) fn read_launch(&self) -> Result<LaunchSpec, RunDirError> {
        let path = self.launch_path();
        let text = fs::read(&path).map_err(io_error("read", &path))?;
        serde_json::from_slice(&text)
            .map_err(io::Error::from)
            .map_err(io_error("understand", &path))
    }
}

/// The sandbox that a run was launched in, with the places of its tracker. `None` also within that
/// sandbox, where the run's folder is hidden.
pub fn launched_sandbox(database: &Path, run: &str) -> Option<(Sandbox, Places)> {
    let spec = RunDir::of_run(database, run).read_launch().ok()?;
    spec.sandbox.map(|sandbox| (sandbox, spec.places))
}
