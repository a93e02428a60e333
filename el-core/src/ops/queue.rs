use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::{AssigneeFilter, AtomFilter};
use crate::Result;
use crate::model::{Priority, Run, Status, Takes, Timestamp, Worker};
use crate::store::filter::Query;
use crate::store::{Store, Tx, atom, ready, run, worker};

/// One agent: what it does, and what waits for it in which order.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AgentQueue {
    pub agent_name: String,
    pub is_executing: bool,
    /// The atom that it works on; of several, the one that it has worked on the longest.
    pub current_task_id: Option<String>,
    /// How many wait.
    pub queued_tasks: usize,
    /// Everything that it works on, oldest first.
    pub current: Vec<Executing>,
    /// What it does next, in that order. What is assigned to nobody is among them where a worker of
    /// the agent takes that.
    pub waiting: Vec<QueuedTask>,
    /// What is assigned to it, open, and held back: `el why` says by what.
    pub held: Vec<QueuedTask>,
    /// The live workers that serve it.
    pub workers: Vec<String>,
    /// Whether one of them can be relied on to take what is assigned to it.
    pub is_served: bool,
}

/// Something that an agent works on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Executing {
    pub task_id: String,
    pub run_id: String,
    pub title: String,
    pub started_at: Timestamp,
    pub action: Option<String>,
}

/// Something that waits.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct QueuedTask {
    /// Counts from 1; `null` for what is held back.
    pub position: Option<usize>,
    pub task_id: String,
    pub title: String,
    pub priority: Priority,
    pub created_at: Timestamp,
    pub assignee: Option<String>,
    /// Its back-off ends then.
    pub retry_at: Option<Timestamp>,
}

/// The queues of these agents, of one moment; without repetition, in the order given, and then of
/// all others that have something to do or a live worker. `is_there` says of a worker whether its
/// process still runs.
pub fn queue(
    store: &Store,
    agents: &[String],
    now: Timestamp,
    is_there: &dyn Fn(&Worker) -> bool,
) -> Result<Vec<AgentQueue>> {
    store.read(|tx| {
        let workers: Vec<Worker> = worker::all(tx)?.into_iter().filter(|w| is_there(w)).collect();
        let live = run::live(tx)?;
        let tasks = atom::assignees_of_tasks(tx)?;
        let mut names: Vec<&String> = Vec::new();
        let mut seen = HashSet::new();
        let others = workers
            .iter()
            .flat_map(|w| &w.agents)
            .chain(live.iter().map(|r| &r.agent))
            .chain(&tasks);
        for name in agents.iter().chain(others) {
            if seen.insert(name) {
                names.push(name);
            }
        }
        names.into_iter().map(|name| of_agent(tx, name, &workers, &live, now)).collect()
    })
}

pub(super) fn of_agent(
    tx: &Tx<'_>,
    agent: &str,
    workers: &[Worker],
    live: &[Run],
    now: Timestamp,
) -> Result<AgentQueue> {
    let serving: Vec<&Worker> =
        workers.iter().filter(|w| w.agents.iter().any(|a| a == agent)).collect();
    let takes_all = serving.iter().any(|w| w.takes == Takes::All && !w.stop_requested);
    let own = AssigneeFilter::Is(agent.to_owned());
    let whose = if takes_all { AssigneeFilter::NobodyOr(agent.to_owned()) } else { own.clone() };
    let filter = AtomFilter { assignee: Some(whose), ..AtomFilter::default() };
    let ready = Query::ready(&filter, now).rows(tx, ready::QUEUE_ORDER, None, 0)?;
    let open =
        AtomFilter { assignee: Some(own), statuses: vec![Status::Open], ..AtomFilter::default() };
    let mut held = Query::new(&open).rows(tx, ready::QUEUE_ORDER, None, 0)?;
    let waiting: HashSet<&str> = ready.iter().map(|atom| atom.id.as_str()).collect();
    held.retain(|atom| !waiting.contains(atom.id.as_str()));
    let mut current = Vec::new();
    for run in live.iter().filter(|run| run.agent == agent) {
        current.push(Executing {
            task_id: run.atom_id.clone(),
            run_id: run.id.clone(),
            title: atom::find(tx, &run.atom_id)?.map(|atom| atom.title).unwrap_or_default(),
            started_at: run.started_at,
            action: run.progress.action.clone(),
        });
    }
    let row = |position: Option<usize>, atom: crate::model::Atom| QueuedTask {
        position,
        task_id: atom.id,
        title: atom.title,
        priority: atom.priority,
        created_at: atom.created_at,
        assignee: atom.assignee,
        retry_at: atom.retry_at.filter(|at| *at > now),
    };
    Ok(AgentQueue {
        agent_name: agent.to_owned(),
        is_executing: !current.is_empty(),
        current_task_id: current.first().map(|e| e.task_id.clone()),
        queued_tasks: ready.len(),
        waiting: ready.into_iter().enumerate().map(|(at, atom)| row(Some(at + 1), atom)).collect(),
        held: held.into_iter().map(|atom| row(None, atom)).collect(),
        is_served: serving.iter().any(|w| serves(w)),
        workers: serving.into_iter().map(|w| w.id.clone()).collect(),
        current,
    })
}

/// Whether a live worker can be relied on to take what is assigned to its agents.
pub(super) fn serves(worker: &Worker) -> bool {
    worker.takes != Takes::Some && !worker.stop_requested
}
