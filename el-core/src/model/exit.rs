use serde::{Deserialize, Serialize};

use super::Timestamp;
use super::text_enum::text_enum;

text_enum! {
    /// The cause of the end of an agent's process.
    pub enum EndKind as "end" {
        /// The agent exited without outside cause.
        Exited = "exited",
        /// The supervisor ended the agent after the atom reached a status that ends a run, or after
        /// a person took the atom.
        Finished = "finished",
        /// The time limit was reached.
        TimedOut = "timed_out",
        /// No output, and no work of the processes, for too long.
        Stalled = "stalled",
        /// A person, or `el work --stop`, ended the run.
        Cancelled = "cancelled",
        /// The tmux session or server was ended from outside.
        Hangup = "hangup",
        /// The supervisor could not keep the lease, and so stopped the agent.
        LeaseLost = "lease_lost",
        /// The agent could not be started.
        SpawnFailed = "spawn_failed",
        /// The session could not be started.
        LaunchFailed = "launch_failed",
        /// The API refused the account again and again, and the supervisor ended the agent.
        Refused = "refused",
        /// The supervisor is gone without having written a record.
        SupervisorLost = "supervisor_lost",
    }
}

/// The end of a run's agent, as seen by the supervisor. Written to `exit.json` before the run is
/// settled, so that a worker can settle the run if the supervisor dies in between. The record has
/// only facts; [`crate::rules::verdict`] judges the facts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExitRecord {
    pub run: String,
    pub end: EndKind,
    pub ended_at: Timestamp,
    /// The exit code of the agent's process, if the agent exited.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// The signal that ended the process, if any.
    #[serde(default)]
    pub signal: Option<i32>,
    /// The agent's result reports a failure (API error, limits of turns or budget).
    #[serde(default)]
    pub is_error: bool,
    /// The HTTP status of an API error.
    #[serde(default)]
    pub api_error_status: Option<i64>,
    /// The fault outside of the agent that caused the end.
    #[serde(default)]
    pub fault: Option<Fault>,
    /// The fingerprint of the agent's account, if known.
    #[serde(default)]
    pub account: Option<String>,
    /// A line for people: the text of the error or the result.
    #[serde(default)]
    pub message: Option<String>,
    /// Tools that the permission mode denied to the agent.
    #[serde(default)]
    pub denied_tools: Vec<String>,
    /// The denials of the sandbox, each with the setting that allows it, or why there was no
    /// sandbox: sentences for people.
    #[serde(default)]
    pub sandbox_notes: Vec<String>,
    /// How often the supervisor resumed the conversation because the atom was left open.
    #[serde(default)]
    pub resumes: u32,
    /// Another attempt would fail in the same way until a person acts.
    #[serde(default)]
    pub is_permanent: bool,
}

/// An end that the agent did not cause: the atom is charged no attempt, and the account is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fault {
    /// The account's usage limit was reached.
    UsageLimit {
        /// When the limit resets, if the client said so.
        resets_at: Option<Timestamp>,
    },
    /// The account is refused until a person acts.
    Account { refusal: Refusal },
    /// The service failed, was out of reach, or did not answer.
    Outage,
    /// The tracker could not be written, for want of room on the disk.
    FullDisk,
    /// Branches that the work needs are on another host, or their remote does not answer.
    Branches,
}

/// Why an account is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// No login, or an invalid key or token.
    Login,
    /// The account has no credit left.
    Credit,
    /// The account lacks a permission.
    Access,
    /// The account has no such model.
    Model,
}

impl Refusal {
    /// Returns what a person has to do.
    pub const fn remedy(self) -> &'static str {
        match self {
            Refusal::Login => "log in (run claude, then /login) or set a valid ANTHROPIC_API_KEY",
            Refusal::Credit => "add credit to the account",
            Refusal::Access => "log in with an account that has access",
            Refusal::Model => "set a model that the account has (el config set model NAME)",
        }
    }
}

impl ExitRecord {
    /// Makes a record with only the kind of the end.
    pub fn new(run: impl Into<String>, end: EndKind, ended_at: Timestamp) -> Self {
        ExitRecord {
            run: run.into(),
            end,
            ended_at,
            exit_code: None,
            signal: None,
            is_error: false,
            api_error_status: None,
            fault: None,
            account: None,
            message: None,
            denied_tools: Vec::new(),
            sandbox_notes: Vec::new(),
            resumes: 0,
            is_permanent: false,
        }
    }
}
