use schemars::JsonSchema;
use serde::Serialize;

use super::Page;
use super::queue::of_agent;
use super::settle::handed_back;
use crate::Result;
use crate::model::{
    Atom, Cost, Outcome, Priority, RUN_PREFIX, Status, TaskStatus, Timestamp, Verify, Worker,
};
use crate::rules::task;
use crate::store::{Store, Tx, atom, run, worker};

/// A delegated task with the live or last run, as one row.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Task {
    #[serde(rename = "_type")]
    #[schemars(extend("const" = Self::RECORD_TYPE))]
    pub record_type: &'static str,
    pub id: String,
    pub agent: Option<String>,
    pub task_prompt: String,
    pub workdir: Option<String>,
    pub status: TaskStatus,
    /// The agent's process while running.
    pub pid: Option<i64>,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub exit_code: Option<i64>,
    /// The last lines of the agent's output. The full output is in the run's folder.
    pub output: Option<String>,
    pub result_summary: Option<String>,
    /// The lines that tell of errors.
    pub error_lines: Option<String>,
    pub title: String,
    pub priority: Priority,
    pub atom_status: Status,
    /// The outcome of the last run.
    pub outcome: Option<Outcome>,
    pub detail: Option<String>,
    pub run_id: Option<String>,
    pub attempts: i64,
    /// The agent's current action, in one line.
    pub action: Option<String>,
    pub delegated_by: Option<String>,
    pub created_at: Timestamp,
    pub retry_at: Option<Timestamp>,
    pub timeout_ms: Option<i64>,
    pub verify: Option<Verify>,
    pub turns: i64,
    #[serde(flatten)]
    pub cost: Cost,
}

/// A filter of tasks.
#[derive(Debug, Clone, Default)]
pub struct TaskFilter {
    /// Only the agent's tasks.
    pub agent: Option<String>,
    /// Only tasks in these states; empty: all.
    pub statuses: Vec<TaskStatus>,
    pub limit: Option<usize>,
}

impl Task {
    /// The value of `_type` in every task's row.
    pub const RECORD_TYPE: &'static str = "task";
}

/// Returns the delegated tasks: running tasks, then waiting tasks in queue order, then ended tasks,
/// newest first.
///
/// # Errors
///
/// If the database cannot be read.
pub fn list_tasks(store: &Store, filter: &TaskFilter) -> Result<Page<Task>> {
    store.read(|tx| {
        let mut rows = Vec::new();
        for found in atom::list_delegated(tx, filter.agent.as_deref())? {
            let task = of_atom(tx, found)?;
            if filter.statuses.is_empty() || filter.statuses.contains(&task.status) {
                rows.push(task);
            }
        }
        rows.sort_by_key(|task| match task.status {
            TaskStatus::Running => (0, 0, task.started_at),
            TaskStatus::Queued => (1, task.priority.value(), Some(task.created_at)),
            _ => (2, 0, None),
        });
        let total = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        rows.truncate(filter.limit.unwrap_or(usize::MAX));
        Ok(Page::of_total(rows, total))
    })
}

/// Returns a task by the id of the atom or of a run. An atom that was never delegated is returned
/// as a task too.
///
/// # Errors
///
/// If the id is unknown or ambiguous, or the database cannot be read.
pub fn get_task(store: &Store, id: &str) -> Result<Task> {
    store.read(|tx| of_atom(tx, resolve_task(tx, id)?))
}

/// Returns the position of a waiting task in the agent's queue, from 1; `None` if the task is held
/// back or not waiting. `is_there` tells if a worker's process still runs: one that takes all atoms
/// puts those of nobody into the queue.
///
/// # Errors
///
/// If the database cannot be read.
pub fn task_position(
    store: &Store,
    task: &Task,
    now: Timestamp,
    is_there: &dyn Fn(&Worker) -> bool,
) -> Result<Option<usize>> {
    store.read(|tx| {
        let Some(agent) = task.agent.as_deref().filter(|_| task.status == TaskStatus::Queued)
        else {
            return Ok(None);
        };
        let workers: Vec<Worker> =
            worker::list_workers(tx)?.into_iter().filter(|w| is_there(w)).collect();
        let queue = of_agent(tx, agent, &workers, &[], now)?;
        Ok(queue
            .waiting
            .iter()
            .find(|other| other.task_id == task.id)
            .and_then(|other| other.position))
    })
}

pub(super) fn resolve_task(tx: &Tx<'_>, text: &str) -> Result<Atom> {
    if text.trim().to_ascii_lowercase().starts_with(&format!("{RUN_PREFIX}-")) {
        let found = run::get(tx, &run::resolve(tx, text)?)?;
        return atom::get(tx, &found.atom_id);
    }
    atom::get(tx, &atom::resolve(tx, text)?)
}

pub(super) fn of_atom(tx: &Tx<'_>, atom: Atom) -> Result<Task> {
    let last = run::last_of(tx, &atom.id)?;
    let last = last.as_ref();
    let status = task::task_status(&atom, last);
    let own = atom.delegation.as_ref();
    let live = last.filter(|run| run.is_live());
    let summary = match last {
        Some(run) if live.is_none() => handed_back(tx, run)?,
        _ => None,
    };
    let detail = last.and_then(|run| run.detail.clone());
    // The summary handed back, or else the agent's closing reason, or else the outcome.
    let summary = summary
        .or_else(|| atom.close_reason.clone())
        .or_else(|| detail.clone().filter(|_| !status.is_under_way()));
    Ok(Task {
        record_type: Task::RECORD_TYPE,
        agent: last
            .map(|run| run.agent.clone())
            .filter(|_| status != TaskStatus::Queued)
            .or_else(|| atom.assignee.clone()),
        workdir: own
            .and_then(|task| task.workdir.clone())
            .or_else(|| last.map(|run| run.workdir.clone())),
        status,
        pid: live.and_then(|run| run.agent_pid),
        started_at: last.map(|run| run.started_at),
        completed_at: last
            .and_then(|run| run.ended_at)
            .or(atom.closed_at)
            .filter(|_| !status.is_under_way()),
        exit_code: last.and_then(|run| run.exit_code),
        output: last.and_then(|run| run.output.clone()),
        result_summary: summary,
        error_lines: last.and_then(|run| run.error_lines.clone()),
        outcome: last.and_then(|run| run.outcome),
        run_id: last.map(|run| run.id.clone()),
        attempts: run::count_of(tx, &atom.id)?,
        action: live.and_then(|run| run.progress.action.clone()),
        delegated_by: own.map(|task| task.by.clone()),
        timeout_ms: own.and_then(|task| task.timeout_ms),
        verify: last.and_then(|run| run.verify.clone()).or_else(|| {
            let task = own?;
            Some(Verify::pending(task.verify.clone()?, task.require_verify, 0))
        }),
        turns: last.map_or(0, |run| run.progress.turns),
        cost: last.map_or_else(Cost::default, |run| run.progress.cost),
        detail,
        task_prompt: atom.description,
        title: atom.title,
        priority: atom.priority,
        atom_status: atom.status,
        created_at: atom.created_at,
        retry_at: atom.retry_at,
        id: atom.id,
    })
}
