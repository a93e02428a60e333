use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::placement::find_unplaced;
use super::{AssigneeFilter, AtomFilter};
use crate::Result;
use crate::model::{Priority, Run, Stamp, Takes, Timestamp, Worker};
use crate::store::filter::{Query, QueueRow, open_rows_beside};
use crate::store::{Store, Tx, atom, run, worker};

/// An agent with current work and queue.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AgentQueue {
    pub agent_name: String,
    pub is_executing: bool,
    /// The current atom; of several, the atom with the oldest run.
    pub current_task_id: Option<String>,
    /// How many wait.
    pub queued_tasks: usize,
    /// All current work, oldest first.
    pub current: Vec<Executing>,
    /// The waiting tasks in order. Includes unassigned atoms if a worker of the agent takes
    /// unassigned atoms.
    pub waiting: Vec<QueuedTask>,
    /// Open tasks assigned to the agent and held back, and those that need what none of the
    /// agent's workers offers; `el why` gives the reasons.
    pub held: Vec<QueuedTask>,
    /// The live workers that serve the agent.
    pub workers: Vec<String>,
    /// A live worker can be relied on to take assigned tasks.
    pub is_served: bool,
}

/// An atom that an agent works on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Executing {
    pub task_id: String,
    pub run_id: String,
    pub title: String,
    pub started_at: Timestamp,
    pub action: Option<String>,
    /// The host that it runs on, in a project that several machines share.
    pub host: Option<String>,
}

/// A waiting task.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct QueuedTask {
    /// Counts from 1; `null` if the task is held back.
    pub position: Option<usize>,
    pub task_id: String,
    pub title: String,
    pub priority: Priority,
    pub created_at: Timestamp,
    pub assignee: Option<String>,
    /// The end of the back-off.
    pub retry_at: Option<Timestamp>,
}

/// Returns the queues of the agents at one moment: first `agents` in order, without duplicates;
/// then all other agents with work or a live worker. `is_there` tells if a worker's process still
/// runs.
///
/// # Errors
///
/// If the database cannot be read.
pub fn queue(
    store: &Store,
    agents: &[String],
    now: Timestamp,
    is_there: &dyn Fn(&Worker) -> bool,
) -> Result<Vec<AgentQueue>> {
    store.read(|tx| {
        let workers: Vec<Worker> =
            worker::list_workers(tx)?.into_iter().filter(|w| is_there(w)).collect();
        let live = run::list_live(tx)?;
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
    let whose = if takes_all { AssigneeFilter::NobodyOr(agent.to_owned()) } else { own };
    let filter = AtomFilter { assignee: Some(whose), ..AtomFilter::default() };
    let mut ready = Query::ready_at(&filter, now).queue_rows(tx)?;
    let unplaced = find_unplaced(tx, serving.iter().copied())?;
    let beyond = ready.extract_if(.., |row| unplaced.contains_key(&row.id)).collect::<Vec<_>>();
    let mut held = open_rows_beside(tx, agent, &ready)?;
    let unassigned = beyond.into_iter().filter(|row| row.assignee.is_none());
    held.extend(unassigned);
    let mut current = Vec::new();
    for run in live.iter().filter(|run| run.agent == agent) {
        current.push(Executing {
            task_id: run.atom_id.clone(),
            run_id: run.id.clone(),
            title: atom::find(tx, &run.atom_id)?.map(|atom| atom.title).unwrap_or_default(),
            started_at: run.started_at,
            action: run.progress.action.clone(),
            host: run.supervisor.as_ref().and_then(Stamp::host).map(str::to_owned),
        });
    }
    let row = |position: Option<usize>, atom: QueueRow| QueuedTask {
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
        is_served: serving.iter().any(|w| is_serving(w)),
        workers: serving.into_iter().map(|w| w.id.clone()).collect(),
        current,
    })
}

/// Returns true if a live worker can be relied on to take tasks assigned to the agents.
pub(super) fn is_serving(worker: &Worker) -> bool {
    worker.takes != Takes::Some && !worker.stop_requested
}
