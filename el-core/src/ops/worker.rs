use super::budget::day_pause;
use super::list::with_parent;
use super::pause::{account_pause, paused_in};
use super::{AssigneeFilter, AtomFilter};
use crate::Result;
use crate::model::Pause;
use crate::model::{Run, Status, Takes, Timestamp, Worker};
use crate::store::filter::Query;
use crate::store::{self, Store, Tx, run};

/// Everything that a worker looks at in one tick, of one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerView {
    pub live: Vec<Run>,
    pub workers: Vec<Worker>,
    /// Someone said `el work --stop`.
    pub stop_requested: bool,
    /// How it stands with the work of each of this worker's agents.
    pub agents: Vec<AgentView>,
}

/// How it stands with the work of one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentView {
    /// Something is ready for it.
    pub has_ready: bool,
    /// When the next back-off ends, of an open atom for it.
    pub next_retry_at: Option<Timestamp>,
    /// Nothing is claimed for it now.
    pub pause: Option<Pause>,
}

impl AgentView {
    /// Something is ready for it, or will be.
    pub fn has_work(&self) -> bool {
        self.has_ready || self.next_retry_at.is_some()
    }
}

impl WorkerView {
    /// Something is ready for an agent that is not paused.
    pub fn has_ready(&self) -> bool {
        self.agents.iter().any(|agent| agent.has_ready && agent.pause.is_none())
    }

    /// Something is ready, or will be, for an agent that is not paused.
    pub fn has_work(&self) -> bool {
        self.agents.iter().any(|agent| agent.has_work() && agent.pause.is_none())
    }

    /// The pauses that hold work back: of each agent that has some.
    pub fn holding(&self) -> impl Iterator<Item = &Pause> {
        self.agents.iter().filter(|agent| agent.has_work()).filter_map(|a| a.pause.as_ref())
    }

    /// The pause with which nothing at all is claimed, until the first agent is free again.
    pub fn pause(&self) -> Option<&Pause> {
        if self.agents.iter().any(|agent| agent.pause.is_none()) {
            return None;
        }
        let pauses = self.agents.iter().filter_map(|agent| agent.pause.as_ref());
        pauses.min_by_key(|pause| pause.until.map_or(i64::MAX, Timestamp::as_micros))
    }
}

/// Signs a worker on.
pub fn worker_join(store: &mut Store, worker: &Worker) -> Result<()> {
    store.write(|tx| store::worker::insert(tx, worker))
}

/// A worker says that it is there.
pub fn worker_beat(store: &mut Store, id: &str, now: Timestamp) -> Result<()> {
    store.write(|tx| store::worker::heartbeat(tx, id, now))
}

/// Signs a worker off: itself, or one that is gone. Says how many are left.
pub fn worker_leave(store: &mut Store, id: &str) -> Result<usize> {
    store.write(|tx| {
        store::worker::remove(tx, id)?;
        Ok(store::worker::all(tx)?.len())
    })
}

/// Asks every worker to stop claiming and to leave when its sessions have ended. Says how many
/// there are.
pub fn request_stop(store: &mut Store) -> Result<usize> {
    store.write(store::worker::request_stop)
}

/// Every worker that signed on and not off, alive or not.
pub fn workers(store: &Store) -> Result<Vec<Worker>> {
    store.read(store::worker::all)
}

/// Every run that has not ended, oldest first.
pub fn live_runs(store: &Store) -> Result<Vec<Run>> {
    store.read(run::live)
}

/// One look, for the worker `id` that serves these agents, each with its account, if it has one.
pub fn worker_view(
    store: &Store,
    id: &str,
    agents: &[(String, Option<String>)],
    filter: &AtomFilter,
    now: Timestamp,
) -> Result<WorkerView> {
    store.read(|tx| {
        let workers = store::worker::all(tx)?;
        let day = day_pause(tx, now)?;
        let agents = agents.iter().map(|(agent, account)| {
            let known = account_pause(tx, account.as_deref(), now)?;
            let (has_ready, next_retry_at) = work_for(tx, agent, filter, now)?;
            let pause = day.clone().or_else(|| known.map(|known| known.pause()));
            Ok(AgentView { has_ready, next_retry_at, pause })
        });
        Ok(WorkerView {
            live: run::live(tx)?,
            stop_requested: workers.iter().any(|w| w.id == id && w.stop_requested),
            workers,
            agents: agents.collect::<Result<_>>()?,
        })
    })
}

/// Whether anything is ready for the agent, and when the next back-off of its own ends.
fn work_for(
    tx: &Tx<'_>,
    agent: &str,
    filter: &AtomFilter,
    now: Timestamp,
) -> Result<(bool, Option<Timestamp>)> {
    let mut filter = with_parent(tx, filter)?;
    filter.assignee.get_or_insert_with(|| AssigneeFilter::NobodyOr(agent.to_owned()));
    let has_ready = Query::ready(&filter, now).is_any(tx)?;
    let waiting = AtomFilter { statuses: vec![Status::Open], ..filter };
    Ok((has_ready, Query::new(&waiting).next_retry(tx, now)?))
}

/// What waits for a worker, in numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlook {
    /// Ready atoms, counted no further than [`OUTLOOK_MAX`].
    pub ready: i64,
    /// Open atoms whose back-off runs.
    pub backing_off: i64,
    /// When the first of these back-offs ends.
    pub next_retry_at: Option<Timestamp>,
    pub pause: Option<Pause>,
}

/// More ready atoms than this are not counted.
pub const OUTLOOK_MAX: i64 = 1_000;

/// What waits for these agents.
///
/// # Errors
/// If the store cannot be read, or the filter names an atom that is not there.
pub fn outlook(
    store: &Store,
    agents: &[String],
    filter: &AtomFilter,
    now: Timestamp,
) -> Result<Outlook> {
    store.read(|tx| {
        let filter = with_parent(tx, filter)?;
        let mut outlook =
            Outlook { ready: 0, backing_off: 0, next_retry_at: None, pause: paused_in(tx, now)? };
        for (at, agent) in agents.iter().enumerate() {
            // What is assigned to nobody is counted once.
            let whose = match at {
                0 => AssigneeFilter::NobodyOr(agent.clone()),
                _ => AssigneeFilter::Is(agent.clone()),
            };
            let mut filter = filter.clone();
            filter.assignee.get_or_insert(whose);
            outlook.ready += Query::ready(&filter, now).count_up_to(tx, OUTLOOK_MAX)?;
            let waiting = AtomFilter { statuses: vec![Status::Open], ..filter };
            outlook.backing_off += Query::new(&waiting).backing_off(tx, now)?;
            let retry_at = Query::new(&waiting).next_retry(tx, now)?;
            outlook.next_retry_at = [outlook.next_retry_at, retry_at].into_iter().flatten().min();
        }
        Ok(outlook)
    })
}

/// Signs a worker off that has nothing more to do, in the moment in which that is so: what is filed
/// before stays its own, what is filed after finds it gone. `false` if there is something to do
/// after all.
pub fn worker_leave_if_idle(
    store: &mut Store,
    id: &str,
    agents: &[String],
    filter: &AtomFilter,
    now: Timestamp,
) -> Result<bool> {
    store.write(|tx| {
        let mut is_idle = true;
        for agent in agents {
            is_idle = is_idle && work_for(tx, agent, filter, now)? == (false, None);
        }
        if is_idle {
            store::worker::remove(tx, id)?;
        }
        Ok(is_idle)
    })
}

/// From now on nobody is to rely on this worker: it claims no more.
pub fn worker_retires(store: &mut Store, id: &str) -> Result<()> {
    store.write(|tx| store::worker::set_takes(tx, id, Takes::Some))
}
