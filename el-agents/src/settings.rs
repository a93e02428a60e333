//! The settings of agents and workers, resolved by the caller from flags, environment and files.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use el_core::model::RunOptions;
use el_core::rules::retry::RetryPolicy;
use el_core::{Durability, ServerAddress, Store};
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::git::Isolation;

/// The settings of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentSettings {
    pub name: String,
    pub executor: Executor,
    /// Claude Code: a name to be found on PATH, or a path.
    pub claude_code_path: String,
    /// `None` leaves the model to Claude Code.
    pub model: Option<String>,
    /// How much the model is to think. `None` leaves the effort to Claude Code.
    #[serde(default)]
    pub effort: Option<String>,
    pub permission_mode: String,
    /// In addition to `Bash(el *)`, which every agent has.
    pub allowed_tools: Vec<String>,
    pub disallowed_tools: Vec<String>,
    pub max_turns: Option<u32>,
    /// In US dollars, for a run.
    pub budget_per_run: Option<f64>,
    pub extra_args: Vec<String>,
    /// Absolute; not checked to exist.
    pub working_directory: PathBuf,
    /// Keep the tmux session and the context file after a run.
    pub preserve_sessions: bool,
    /// The maximum duration of a run, without time in suspend.
    pub execution_timeout: Duration,
    /// The maximum time without any activity of the agent.
    pub stall_timeout: Duration,
    /// The time for an agent to finish the last turn after the end of its atom.
    pub close_grace: Duration,
    pub api_timeout: Option<Duration>,
    pub api_max_retries: Option<u32>,
    /// The program, with arguments, that is notified of a run's end; empty: none.
    #[serde(default)]
    pub notify: Vec<String>,
    /// The time limit of the notification.
    #[serde(default)]
    pub notify_timeout: Duration,
    /// Finished work is handed over for review instead of being closed.
    #[serde(default)]
    pub review: bool,
    /// Text at the head of the context; empty: none.
    #[serde(default)]
    pub system_prompt: String,
    /// When the work of the interactive executor is done.
    #[serde(default)]
    pub completion: Completion,
    /// The maximum number of parallel runs of the agent, over all workers. `None`: 1, or the limit
    /// of the agent's only worker.
    #[serde(default)]
    pub max_parallel: Option<u32>,
    /// The command that checks the agent's work, in words; empty: none.
    #[serde(default)]
    pub verify: Vec<String>,
    /// The agent cannot close the atom while the check fails.
    #[serde(default)]
    pub require_verify: bool,
    /// How long a check may take.
    #[serde(default)]
    pub verify_timeout: Duration,
    /// A worktree for each run; `None`: all runs share the working directory.
    #[serde(default)]
    pub isolation: Option<Isolation>,
    /// The isolation of a handed-over task, since a person works in the folder of such a task.
    #[serde(default)]
    pub task_isolation: Option<Isolation>,
    /// The files that a person trusts, by which the repository tells Claude Code what to do.
    /// Anything else there, and the client runs with the user's own settings.
    #[serde(default)]
    pub trusted_files: BTreeSet<ProjectFile>,
    /// Variables that the agent gets, whatever the caller's environment has.
    #[serde(default)]
    pub env: Vec<(String, String)>,
    /// Variables that the agent gets although `env_strip` or el would strip them.
    pub env_pass: Vec<String>,
    /// Variables that the agent does not get, besides the always stripped variables.
    pub env_strip: Vec<String>,
    /// The limits on what it can read, write and reach.
    #[serde(default)]
    pub sandbox: SandboxSettings,
}

/// When a sandbox is to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// A sandbox if the machine can make one.
    #[default]
    Auto,
    /// No agent runs without a sandbox.
    Strict,
    Off,
}

/// The network access of programs in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    #[default]
    On,
    Off,
}

/// The settings of an agent's sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SandboxSettings {
    pub mode: SandboxMode,
    pub network: Network,
    /// Writable besides the working folder, where they exist. Absolute.
    pub write: Vec<PathBuf>,
    /// Kept from agents besides the secrets that `el` knows. Absolute.
    pub hide: Vec<PathBuf>,
}

/// A file of a repository that Claude Code obeys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProjectFile {
    /// The path below the top of the worktree, with `/`.
    pub path: String,
    pub sha256: String,
}

impl AgentSettings {
    /// Applies the options of an atom, which outrank the settings.
    pub(crate) fn apply(&mut self, options: RunOptions) {
        let RunOptions { model, effort, base, env } = options;
        self.model = model.or(self.model.take());
        self.effort = effort.or(self.effort.take());
        self.env.extend(env);
        if let Some(isolation) = self.isolation.as_mut().filter(|_| base.is_some()) {
            isolation.base = base;
            isolation.is_own_base = true;
        }
    }
}

/// How an agent is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Executor {
    /// Claude Code, headless.
    Claude,
    /// Claude Code with its own screen, to which a person can attach.
    Interactive,
    /// Any program. The program gets the context on standard input and ends its atom with `el`.
    Command(Vec<String>),
}

impl Executor {
    /// The name in the store and in the configuration.
    pub fn name(&self) -> &'static str {
        match self {
            Executor::Claude => "claude",
            Executor::Interactive => "interactive",
            Executor::Command(_) => "command",
        }
    }
}

/// The end of the interactive executor's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Completion {
    /// The agent ends its atom with `el`, like a headless agent.
    #[default]
    Atom,
    /// As `Atom`, or by the agent's summary file: el then closes the atom.
    Summary,
}

/// The paths of a project, and of the `el` program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// The database; absolute. Of a project on a server: where its database would be.
    pub database: PathBuf,
    /// The server that has the tables, if one has. Never written with the rest: it may hold a
    /// password.
    #[serde(skip)]
    pub server: Option<ServerAddress>,
    /// The folder of the runs' folders.
    pub runs: PathBuf,
    /// The folder of the context files.
    pub contexts: PathBuf,
    /// The folder of the agents' summaries. Empty, as written by an older `el`: `summaries` beside
    /// the database.
    #[serde(default)]
    pub summaries: PathBuf,
    /// The path of this `el`; absolute.
    pub el: PathBuf,
}

impl Places {
    /// Opens the project's tables.
    ///
    /// # Errors
    /// As for `Store::open_at`.
    pub fn open_store(&self, durability: Durability) -> el_core::Result<Store> {
        let store = Store::open_at(&self.database, self.server.as_ref(), durability)?;
        clock::follow(&store);
        Ok(store)
    }
}

/// The rules for every run of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRules {
    /// How long a claim holds without a heartbeat.
    pub lease: Duration,
    /// The attempts of each kind, and the back-off.
    pub max_attempts: u32,
    pub retry_backoff: Duration,
}

impl RunRules {
    /// Returns the retry policy of these rules. `max_attempts` bounds failures. Violations and
    /// time-outs are dearer and get an attempt less; machine faults are not the agent's and get two
    /// attempts more.
    pub fn retry_policy(&self) -> RetryPolicy {
        let attempts = self.max_attempts.max(1);
        RetryPolicy {
            failures: attempts,
            violations: attempts.saturating_sub(1).max(1),
            timeouts: attempts.saturating_sub(1).max(1),
            machine: attempts.saturating_add(2),
            base: self.retry_backoff,
            ..RetryPolicy::default()
        }
    }
}
