use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::NewAtom;
use super::create::create_in;
use super::explain::load_surroundings;
use super::pause::paused_in;
use super::placement::hold_of;
use super::queue::{AgentQueue, Executing, QueuedTask, is_serving, of_agent};
use super::tasks::{Task, of_atom};
use crate::model::{Delegation, Pause, Priority, Worker, validate};
use crate::rules::ready::Hold;
use crate::rules::task;
use crate::store::{Store, event, run, worker};
use crate::{Ctx, Error, Result};

/// A task to be handed over.
#[derive(Debug, Clone, Default)]
pub struct NewTask {
    pub prompt: String,
    /// `None`: the first line of the prompt.
    pub title: Option<String>,
    pub agent: String,
    pub priority: Option<Priority>,
    pub labels: Vec<String>,
    /// The labels that its worker must offer.
    pub needs: Vec<String>,
    /// Atoms that have to be over first.
    pub blocked_by: Vec<String>,
    /// Absolute.
    pub workdir: Option<String>,
    pub timeout: Option<Duration>,
    /// The check's command, in words.
    pub verify: Option<Vec<String>>,
    pub require_verify: bool,
}

/// A delegated task, and the place in the queue.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Delegated {
    #[serde(flatten)]
    pub task: Task,
    pub queue: QueuePlace,
    /// How many runs live in the project now.
    pub running: usize,
}

/// The place of a task in the agent's queue.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct QueuePlace {
    /// Counts from 1; `null` if the task is held back.
    pub position: Option<usize>,
    /// The agent's current work.
    pub executing: Vec<Executing>,
    /// The tasks before this task, in order.
    pub ahead: Vec<QueuedTask>,
    /// The reasons, apart from the queue, that hold the task back.
    pub holds: Vec<Hold>,
    /// A pause that stops all claims.
    pub pause: Option<Pause>,
    /// A live worker can be relied on to take the task.
    pub is_served: bool,
}

/// The most levels of delegation that are followed.
const LINE: i64 = 1000;

/// Returns how many delegated tasks are nested around the run, the run's own task included; 0 for
/// an unknown run.
///
/// # Errors
///
/// If the database cannot be read.
pub fn delegation_depth(store: &Store, run_id: &str) -> Result<i64> {
    store.read(|tx| match run::find(tx, run_id)? {
        Some(run) => event::tasks_above(tx, &run.atom_id, LINE),
        None => Ok(0),
    })
}

/// Creates a task for an agent. `allowed` lists the actors who may delegate; empty: everyone.
/// `is_there` tells if a worker's process still runs. The same transaction decides whether a worker
/// takes the task, and a worker leaves only in a transaction that finds no work. So either a worker
/// takes the task, or the caller learns that a worker has to be started.
///
/// # Errors
///
/// If the actor may not delegate, a value is not legal, the caller's run is stale, or the database
/// cannot be written.
pub fn delegate(
    store: &mut Store,
    ctx: &Ctx<'_>,
    new: &NewTask,
    allowed: &[String],
    is_there: &dyn Fn(&Worker) -> bool,
) -> Result<Delegated> {
    let agent = validate::name("agent", &new.agent)?;
    if new.require_verify && new.verify.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::invalid("verify", "the check's command is empty"));
    }
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        // In a session, the run's agent delegates, whatever name the session gives.
        let by = session.map_or_else(|| ctx.actor.to_owned(), |run| run.agent);
        if !allowed.is_empty() && !allowed.contains(&by) {
            return Err(Error::Refused(format!(
                "{by} may not hand over tasks; those who may: {}",
                allowed.join(", ")
            )));
        }
        let prompt = validate::prompt(&new.prompt)?;
        let atom = NewAtom {
            title: new.title.clone().unwrap_or_else(|| task::title_from_prompt(&prompt)),
            description: prompt,
            priority: new.priority,
            labels: new.labels.clone(),
            needs: new.needs.clone(),
            assignee: Some(agent.clone()),
            blocked_by: new.blocked_by.clone(),
            delegation: Some(Delegation {
                by: by.clone(),
                workdir: new.workdir.clone(),
                timeout_ms: new
                    .timeout
                    .map(|limit| i64::try_from(limit.as_millis()).unwrap_or(i64::MAX)),
                verify: new.verify.clone(),
                require_verify: new.require_verify,
            }),
            ..NewAtom::default()
        };
        let ctx = Ctx { actor: &by, ..*ctx };
        let made = create_in(tx, &ctx, std::slice::from_ref(&atom))?.remove(0);
        let workers: Vec<Worker> =
            worker::list_workers(tx)?.into_iter().filter(|w| is_there(w)).collect();
        let live = run::list_live(tx)?;
        let mut queue = of_agent(tx, &agent, &workers, &live, ctx.now)?;
        let mut holds = load_surroundings(tx, &made)?.find_holds(&made.id, ctx.now);
        if !made.needs.is_empty() {
            let can_take = |worker: &Worker| {
                is_serving(worker)
                    && worker.agents.contains(&agent)
                    && worker.offers_all(&made.needs)
            };
            queue.is_served = workers.iter().any(can_take);
            holds.extend(hold_of(&made, &workers));
        }
        let pause = paused_in(tx, ctx.now)?;
        Ok(Delegated {
            queue: queue_place(queue, &made.id, holds, pause),
            task: of_atom(tx, made)?,
            running: live.len(),
        })
    })
}

fn queue_place(queue: AgentQueue, id: &str, holds: Vec<Hold>, pause: Option<Pause>) -> QueuePlace {
    let at = queue.waiting.iter().position(|waiting| waiting.task_id == id);
    let mut ahead = queue.waiting;
    ahead.truncate(at.unwrap_or(0));
    QueuePlace {
        position: at.map(|at| at + 1),
        executing: queue.current,
        ahead,
        holds,
        pause,
        is_served: queue.is_served,
    }
}
