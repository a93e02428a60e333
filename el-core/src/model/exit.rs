use serde::{Deserialize, Serialize};

use super::Timestamp;
use super::text_enum::text_enum;

text_enum! {
    /// What brought an agent's process to its end.
    pub enum EndKind as "end" {
        /// It exited by itself.
        Exited = "exited",
        /// The supervisor ended it after the atom had reached a status that ends a run, or was
        /// taken away by a person.
        Finished = "finished",
        /// Its time was up.
        TimedOut = "timed_out",
        /// Neither output nor work of its processes for too long.
        Stalled = "stalled",
        /// A person, or `el work --stop`, ended the run.
        Cancelled = "cancelled",
        /// The tmux session or its server was ended from outside.
        Hangup = "hangup",
        /// The supervisor could not keep the lease and stopped the agent by itself.
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

/// How a run's agent ended, as its supervisor saw it. Written to `exit.json` before the run is
/// settled, so that a worker can settle it should the supervisor die in between. Facts only: what
/// they mean is for [`crate::rules::verdict`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExitRecord {
    pub run: String,
    pub end: EndKind,
    pub ended_at: Timestamp,
    /// The exit code of the agent's process, if it exited.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    #[serde(default)]
    pub signal: Option<i32>,
    /// The agent said in its result that it failed (API error, limits of turns or budget).
    #[serde(default)]
    pub is_error: bool,
    /// The HTTP status of the API error, if it was one.
    #[serde(default)]
    pub api_error_status: Option<i64>,
    /// Who else than the agent brought the end about.
    #[serde(default)]
    pub fault: Option<Fault>,
    /// The fingerprint of the account that the agent worked with, if it has one.
    #[serde(default)]
    pub account: Option<String>,
    /// One line for people: the error's or the result's text.
    #[serde(default)]
    pub message: Option<String>,
    /// Tools that the permission mode denied to the agent.
    #[serde(default)]
    pub denied_tools: Vec<String>,
    /// How often the supervisor resumed the conversation because the atom was left open.
    #[serde(default)]
    pub resumes: u32,
    /// Another attempt would meet the same, until a person has done something.
    #[serde(default)]
    pub is_permanent: bool,
}

/// An end that is no doing of the agent's: it costs its atom no attempt, and holds the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fault {
    /// The account's usage limit was reached.
    UsageLimit {
        /// When it resets, if the agent was told.
        resets_at: Option<Timestamp>,
    },
    /// The account is refused until a person has done something.
    Account { refusal: Refusal },
    /// The service failed, was out of reach, or did not answer.
    Outage,
}

/// Why an account is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Nobody is logged in, or the key or token is not valid.
    Login,
    /// The account has no credit left.
    Credit,
    /// The account may not do this.
    Access,
    /// The account has no such model.
    Model,
}

impl Refusal {
    /// What a person has to do about it.
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
    /// A record that says nothing but the kind of the end.
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
            resumes: 0,
            is_permanent: false,
        }
    }
}
