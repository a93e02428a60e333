//! What an agent's runs and a worker need to know, resolved by the caller from flags, environment
//! and files.

use std::path::PathBuf;
use std::time::Duration;

use el_core::rules::retry::RetryPolicy;
use serde::{Deserialize, Serialize};

use crate::git::Isolation;

/// How one agent is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentSettings {
    pub name: String,
    pub executor: Executor,
    /// Claude Code: a name to be found on PATH, or a path.
    pub claude_code_path: String,
    /// `None` leaves it to Claude Code.
    pub model: Option<String>,
    pub permission_mode: String,
    /// Besides `Bash(el *)`, which every agent has.
    pub allowed_tools: Vec<String>,
    pub disallowed_tools: Vec<String>,
    pub max_turns: Option<u32>,
    /// In US dollars, for one run.
    pub max_budget_usd: Option<f64>,
    pub extra_args: Vec<String>,
    /// Absolute; not checked to exist.
    pub working_directory: PathBuf,
    /// Keep the tmux session and the context file after a run.
    pub preserve_sessions: bool,
    /// The longest that one run may take, time in suspend not counted.
    pub execution_timeout: Duration,
    /// How long an agent may neither say nor do anything.
    pub stall_timeout: Duration,
    /// How long an agent may finish its last turn after its atom has ended.
    pub close_grace: Duration,
    pub api_timeout: Option<Duration>,
    pub api_max_retries: Option<u32>,
    /// The program, with its arguments, that is told of the end of a run; empty: nobody is.
    #[serde(default)]
    pub notify: Vec<String>,
    /// How long it may take.
    #[serde(default)]
    pub notify_timeout: Duration,
    /// Finished work is handed over for review instead of being closed.
    #[serde(default)]
    pub review: bool,
    /// Words at the head of what the agent is told; empty: none.
    #[serde(default)]
    pub system_prompt: String,
    /// When the work of the interactive executor is done.
    #[serde(default)]
    pub completion: Completion,
    /// How many things the agent may do at a time, over all workers; `None`: one, or as many as its
    /// only worker was told to.
    #[serde(default)]
    pub max_parallel: Option<u32>,
    /// The command that checks the agent's work, in words; empty: none.
    #[serde(default)]
    pub verify: Vec<String>,
    /// The agent cannot close its work while the check fails.
    #[serde(default)]
    pub require_verify: bool,
    /// How long a check may take.
    #[serde(default)]
    pub verify_timeout: Duration,
    /// Each run in a worktree of its own; `None`: all in the working directory.
    #[serde(default)]
    pub isolation: Option<Isolation>,
    /// The same for a task that was handed over: a person is working in the folder that it would
    /// be done in.
    #[serde(default)]
    pub task_isolation: Option<Isolation>,
    /// Variables that the agent gets although they would be stripped.
    pub env_pass: Vec<String>,
    /// Variables that the agent does not get, besides those that are always stripped.
    pub env_strip: Vec<String>,
}

/// How an agent is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Executor {
    /// Claude Code, headless.
    Claude,
    /// Claude Code with its own screen, which a person can attach to and work with.
    Interactive,
    /// Any program: it gets the context as standard input and ends its atom with `el`.
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

/// What ends the work of the interactive executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Completion {
    /// The agent ends its atom with `el`, as a headless one does.
    #[default]
    Atom,
    /// That, or the agent's summary file: once it is there, the atom is closed for it.
    Summary,
}

/// Where a project's things are, and which `el` this is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// The database; absolute.
    pub database: PathBuf,
    /// The folder of the runs' folders.
    pub runs: PathBuf,
    /// The folder of the context files.
    pub contexts: PathBuf,
    /// The folder of the summaries that agents write. Empty, as an older `el` left it: `summaries`
    /// beside the database.
    #[serde(default)]
    pub summaries: PathBuf,
    /// This very program; absolute.
    pub el: PathBuf,
}

/// What holds for every run of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRules {
    /// How long a claim holds without a heartbeat.
    pub lease: Duration,
    /// The attempts of each kind, and the back-off.
    pub max_attempts: u32,
    pub retry_backoff: Duration,
}

impl RunRules {
    /// The policy that these rules make. `max_attempts` bounds failures; an attempt that broke the
    /// protocol, or took all of its time, is dearer and gets one less; faults of the machine are
    /// not the work's and get two more.
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
