//! What a worker tells whoever listens: one event a happening, made for lines of JSON and for
//! people alike.

use std::collections::BTreeMap;

use el_core::model::{Atom, Outcome, Run, Status, Timestamp};
use el_core::model::{Pause, PauseKind};
use el_core::rules::orchestrate::Step;
use serde::Serialize;

/// One happening in a worker's life.
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
    /// An atom was claimed and its session started.
    Launched { run: String, atom: String, title: String, attempt: i64, session: String },
    /// A claim whose session could not be started; it was settled.
    LaunchFailed { run: String, atom: String, message: String },
    /// A run that another worker, now gone, had started is watched from now on.
    Adopted { run: String, atom: String },
    /// A run's supervisor was gone; its tree was ended and the run settled.
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
        cost_micros: i64,
        /// How many files in its own worktree no commit has.
        uncommitted: usize,
    },
    /// Nothing is claimed for now, for the agents that the pause holds; without a time, not before
    /// `el work --resume`.
    Paused { until: Option<Timestamp>, reason: String, kind: PauseKind },
    /// Claiming goes on.
    Resumed {},
    /// Something is ready and not started, because of the machine.
    HeldBack { reason: String },
    /// Nothing is held back any more.
    Released {},
    /// A plan that is driven on has come to another step.
    Step { epic: String, step: Step },
    /// Something a person should know.
    Warning { message: String },
    /// No more is claimed; the worker waits for what it runs.
    Draining { running: usize },
    /// The worker leaves its sessions to their supervisors.
    Detached { running: Vec<String> },
    /// The worker signed off.
    Finished { summary: Summary },
}

/// A worker's work in numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    pub claimed: usize,
    /// By outcome, in the order of their first occurrence.
    pub outcomes: Vec<(Outcome, usize)>,
    pub turns: i64,
    pub cost_micros: i64,
    pub seconds: u64,
    /// Runs that go on without this worker.
    pub left_running: usize,
    /// Who ended it, if it did not end by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<StoppedBy>,
    /// The step at which a plan that was driven on stands.
    #[serde(skip)]
    pub step: Option<Step>,
    /// Why it left though there is more to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<Pause>,
    /// How the last run of each atom ended.
    #[serde(skip)]
    pub atoms: BTreeMap<String, Outcome>,
}

/// Who ended a worker's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    /// SIGINT: a person's Ctrl-C.
    Interrupt,
    /// SIGTERM, or the end of its terminal.
    Signal,
    /// `el work --stop`.
    Request,
}

/// One running session, for a live line.
#[derive(Debug, Clone, PartialEq)]
pub struct Live {
    pub run: Run,
    /// `None` if the atom is gone.
    pub atom: Option<Atom>,
}

/// Who listens to a worker.
pub trait Listener {
    /// Something happened.
    fn report(&mut self, report: &Report);

    /// How things stand; about once a second, and after each happening. Only asked for where
    /// [`Listener::wants_live`].
    fn live(&mut self, now: Timestamp, live: &[Live]);

    /// Whether live lines are shown at all; where not, they cost nothing.
    fn wants_live(&self) -> bool;
}

impl Summary {
    /// The atoms whose last run failed, or ended with them blocked.
    pub fn unfinished(&self) -> Vec<&str> {
        let is_bad = |outcome: Outcome| {
            outcome.is_failure() || outcome.is_external() || outcome == Outcome::Blocked
        };
        self.atoms.iter().filter(|(_, o)| is_bad(**o)).map(|(id, _)| id.as_str()).collect()
    }

    /// The account, the service or the machine ended the last run of an atom.
    pub(super) fn has_met_pause(&self) -> bool {
        self.atoms.values().any(|outcome| outcome.is_external())
    }

    pub(super) fn count(&mut self, atom: &str, outcome: Outcome) {
        self.atoms.insert(atom.to_owned(), outcome);
        match self.outcomes.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, count)) => *count += 1,
            None => self.outcomes.push((outcome, 1)),
        }
    }
}
