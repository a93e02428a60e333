//! The events of a worker, for JSON lines and for people alike.

use std::collections::BTreeMap;

use el_core::model::{Atom, Cost, Outcome, Pause, PauseKind, PullRequest, Run, Status, Timestamp};
use el_core::rules::orchestrate::Step;
use serde::Serialize;

use crate::pull_requests::PullOutcome;

/// An event in a worker's life.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Report {
    /// The worker signed on.
    Started {
        worker: String,
        agent: String,
        agents: Vec<String>,
        concurrency: usize,
        tmux_socket: String,
    },
    /// An atom was claimed, and a session started.
    Launched { run: String, atom: String, title: String, attempt: i64, session: String },
    /// A session could not be started; the claim was settled.
    LaunchFailed { run: String, atom: String, message: String },
    /// A run that another worker, now gone, had started is watched from now on.
    Adopted { run: String, atom: String },
    /// A run without a supervisor was recovered: the process tree was ended and the run settled.
    Recovered { run: String, atom: String },
    /// A run ended.
    Settled {
        run: String,
        atom: String,
        outcome: Outcome,
        detail: Option<String>,
        status: Option<Status>,
        retry_at: Option<Timestamp>,
        seconds: u64,
        turns: i64,
        #[serde(flatten)]
        cost: Cost,
        /// The number of uncommitted files in the run's own worktree.
        uncommitted: usize,
    },
    /// Claiming is paused for the agents that the pause holds. Without a time, the pause lasts
    /// until `el work --resume`.
    Paused { until: Option<Timestamp>, reason: String, kind: PauseKind },
    /// Claiming goes on.
    Resumed {},
    /// Ready work is not started, because the machine is busy.
    HeldBack { reason: String },
    /// Ready atoms need more than this worker offers, and nothing else is ready.
    BeyondOffers { atoms: usize, needs: Vec<String> },
    /// Starts are no longer held back.
    Released {},
    /// A plan that is driven on has come to another step.
    Step { epic: String, step: Step },
    /// The state of a pull request has changed.
    PullRequest { pull_request: Box<PullRequest> },
    /// A review or a check of an atom's pull request demands changes: the atom is open again, or
    /// blocked if its attempts are used up. `taken_in`: the commits that others pushed on top of
    /// its branch, and that came to it here.
    AskedFor { atom: String, is_blocked: bool, taken_in: Vec<String> },
    /// The result of pushing an agent's answer to such a demand.
    Answered { atom: String, fate: PullOutcome, detail: Option<String>, taken_in: Vec<String> },
    /// A message that a person should see.
    Warning { message: String },
    /// Claiming has stopped; the worker waits for running sessions.
    Draining { running: usize },
    /// The worker leaves running sessions to their supervisors.
    Detached { running: Vec<String> },
    /// The worker signed off.
    Finished { summary: Summary },
}

/// A worker's work in numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    pub claimed: usize,
    /// Counts by outcome, in the order of first occurrence.
    pub outcomes: Vec<(Outcome, usize)>,
    pub turns: i64,
    #[serde(flatten)]
    pub cost: Cost,
    pub seconds: u64,
    /// The number of runs that go on without this worker.
    pub left_running: usize,
    /// Ready atoms that needed more than the worker offers, when it last looked.
    #[serde(skip_serializing_if = "is_zero")]
    pub beyond_offers: usize,
    /// The cause of an early end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<StoppedBy>,
    /// The last step of a driven plan.
    #[serde(skip)]
    pub step: Option<Step>,
    /// The pause for which the worker left although work remains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<Pause>,
    /// How the last run of each atom ended.
    #[serde(skip)]
    pub atoms: BTreeMap<String, Outcome>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The cause that ended a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    /// SIGINT: a person's Ctrl-C.
    Interrupt,
    /// SIGTERM, or the end of the terminal.
    Signal,
    /// `el work --stop`.
    Request,
}

/// A running session, for a live line.
#[derive(Debug, Clone, PartialEq)]
pub struct Live {
    pub run: Run,
    /// `None` if the atom is gone.
    pub atom: Option<Atom>,
}

/// Receives a worker's events.
pub trait Listener {
    /// Receives an event.
    fn report(&mut self, report: &Report);

    /// Receives the running sessions about once a second, and after each event. Only called if
    /// [`Listener::wants_live`] returns true.
    fn live(&mut self, now: Timestamp, live: &[Live]);

    /// Returns true if live lines are shown. Without live lines, no state is collected for them.
    fn wants_live(&self) -> bool;
}

impl Summary {
    /// Returns the atoms whose last run failed or left the atom blocked.
    pub fn unfinished_atoms(&self) -> Vec<&str> {
        let is_bad = |outcome: Outcome| {
            outcome.is_failure() || outcome.is_external() || outcome == Outcome::Blocked
        };
        self.atoms.iter().filter(|(_, o)| is_bad(**o)).map(|(id, _)| id.as_str()).collect()
    }

    /// Returns true if the account, the service or the machine ended the last run of an atom.
    pub(super) fn has_met_pause(&self) -> bool {
        self.atoms.values().any(|outcome| outcome.is_external())
    }

    pub(super) fn count_outcome(&mut self, atom: &str, outcome: Outcome) {
        self.atoms.insert(atom.to_owned(), outcome);
        match self.outcomes.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, count)) => *count += 1,
            None => self.outcomes.push((outcome, 1)),
        }
    }
}
