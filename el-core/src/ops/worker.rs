use std::collections::{BTreeSet, HashMap, HashSet};

use super::list::with_parent;
use super::pause::{account_pause, common_pause, paused_in};
use super::{AssigneeFilter, AtomFilter};
use crate::Result;
use crate::model::{Pause, Run, Status, Takes, Timestamp, Worker, validate};
use crate::store::filter::Query;
use crate::store::worker::Pulse;
use crate::store::{self, Store, Tx, atom, event, run};

/// Everything that a worker reads in a tick, at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerView {
    /// The live runs; on a server without those of other hosts whose lease is not over.
    pub live: Vec<Run>,
    pub workers: Vec<Worker>,
    /// Someone said `el work --stop`.
    pub stop_requested: bool,
    /// The state of work by agent.
    pub agents: Vec<AgentView>,
    /// The number of the last event.
    pub last_event: i64,
    /// Atoms that are ready and beyond what the worker offers. Only looked for while nothing is
    /// ready for it.
    pub beyond: Beyond,
}

/// Ready atoms that need more than a worker offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beyond {
    pub atoms: usize,
    /// The labels that they need of it, sorted.
    pub needs: Vec<String>,
}

/// The state of work of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentView {
    /// An atom is ready for the agent.
    pub has_ready: bool,
    /// The end of the next back-off of an open atom for the agent.
    pub next_retry_at: Option<Timestamp>,
    /// A pause that stops claims for the agent.
    pub pause: Option<Pause>,
    /// How many live runs of the agent are not in the view.
    pub live_elsewhere: usize,
}

impl AgentView {
    /// Returns true if an atom is ready for the agent, or will be.
    pub fn has_work(&self) -> bool {
        self.has_ready || self.next_retry_at.is_some()
    }
}

impl WorkerView {
    /// Returns true if an atom is ready for an agent that is not paused.
    pub fn has_ready(&self) -> bool {
        self.agents.iter().any(|agent| agent.has_ready && agent.pause.is_none())
    }

    /// Returns true if an atom is ready, or will be, for an agent that is not paused.
    pub fn has_work(&self) -> bool {
        self.agents.iter().any(|agent| agent.has_work() && agent.pause.is_none())
    }

    /// The pauses that hold work back: of each agent that has some.
    pub fn holding_pauses(&self) -> impl Iterator<Item = &Pause> {
        self.agents.iter().filter(|agent| agent.has_work()).filter_map(|a| a.pause.as_ref())
    }
}

/// Signs a worker on.
///
/// # Errors
///
/// If its name is not legal, or the database cannot be written.
pub fn worker_join(store: &mut Store, worker: &Worker) -> Result<()> {
    worker.name.as_deref().map(|name| validate::name("name", name)).transpose()?;
    store.write(|tx| store::worker::insert(tx, worker))
}

/// Records a worker's heartbeat, and the load of its machine. Signs the worker on again, if it was
/// silent for so long that it counted as gone, or a standby that took the server's place lacks it.
///
/// # Errors
///
/// If the database cannot be written.
pub fn worker_beat(
    store: &mut Store,
    worker: &Worker,
    now: Timestamp,
    load_milli: Option<i64>,
) -> Result<()> {
    store.write(|tx| match store::worker::heartbeat(tx, &worker.id, now, load_milli)? {
        true => Ok(()),
        false => {
            store::worker::insert(tx, &Worker { heartbeat_at: now, load_milli, ..worker.clone() })
        }
    })
}

/// Records the heartbeat of a waiting worker, and returns the news for the worker. One statement
/// does both, as a transaction by itself. `None`: the worker is signed off.
///
/// # Errors
///
/// If the database cannot be written.
pub fn worker_pulse(
    store: &Store,
    id: &str,
    now: Timestamp,
    load_milli: Option<i64>,
) -> Result<Option<Pulse>> {
    store::worker::pulse(store, id, now, load_milli)
}

/// Returns when the date of the first deferred atom comes.
///
/// # Errors
///
/// If the database cannot be read.
pub fn next_date(store: &Store, now: Timestamp) -> Result<Option<Timestamp>> {
    store.read(|tx| store::worker::next_date(tx, now))
}

/// Signs a worker off, by the worker itself or by another after the worker died. Returns the number
/// of workers left.
///
/// # Errors
///
/// If the database cannot be written.
pub fn worker_leave(store: &mut Store, id: &str) -> Result<usize> {
    store.write(|tx| {
        store::worker::remove(tx, id)?;
        Ok(store::worker::list_workers(tx)?.len())
    })
}

/// Asks the workers that are meant to stop claiming, and to leave after the last session.
///
/// # Errors
///
/// If the database cannot be written.
pub fn request_stop(store: &mut Store, is_meant: &dyn Fn(&Worker) -> bool) -> Result<()> {
    store.write(|tx| {
        for worker in store::worker::list_workers(tx)?.iter().filter(|worker| is_meant(worker)) {
            store::worker::request_stop(tx, &worker.id)?;
        }
        Ok(())
    })
}

/// Returns every worker that is signed on, alive or not.
///
/// # Errors
///
/// If the database cannot be read.
pub fn list_workers(store: &Store) -> Result<Vec<Worker>> {
    store.read(store::worker::list_workers)
}

/// Returns every live run, oldest first.
///
/// # Errors
///
/// If the database cannot be read.
pub fn live_runs(store: &Store) -> Result<Vec<Run>> {
    store.read(run::list_live)
}

/// Returns the view of the worker `id`, on a server of the host. `agents` pairs each agent with an
/// account, if the agent has an account.
///
/// # Errors
///
/// If the filter names an unknown atom, or the database cannot be read.
pub fn worker_view(
    store: &Store,
    (id, host): (&str, Option<&str>),
    agents: &[(String, Option<String>)],
    filter: &AtomFilter,
    now: Timestamp,
) -> Result<WorkerView> {
    store.read(|tx| {
        let live = match host {
            Some(host) => run::list_live_near(tx, (id, host), now)?,
            None => run::list_live(tx)?,
        };
        let workers = store::worker::list_workers(tx)?;
        let common = common_pause(tx, now)?;
        let views = agents.iter().map(|(agent, account)| {
            let known = account_pause(tx, account.as_deref(), now)?;
            let (has_ready, next_retry_at) = work_for(tx, agent, filter, now)?;
            let pause = common.clone().or_else(|| known.map(|known| known.to_pause()));
            let seen = live.iter().filter(|run| run.agent == *agent).count();
            let all = host.map_or(Ok(0), |_| run::live_count(tx, agent))?;
            let live_elsewhere = usize::try_from(all).unwrap_or_default().saturating_sub(seen);
            Ok(AgentView { has_ready, next_retry_at, pause, live_elsewhere })
        });
        let views = views.collect::<Result<Vec<_>>>()?;
        let beyond = match views.iter().any(|view| view.has_ready) {
            true => Beyond::default(),
            false => find_beyond(tx, agents, filter, now)?,
        };
        Ok(WorkerView {
            beyond,
            live,
            stop_requested: workers.iter().any(|w| w.id == id && w.stop_requested),
            workers,
            agents: views,
            last_event: event::last(tx)?,
        })
    })
}

/// Returns whether an atom is ready for the agent, and the end of the agent's next back-off.
fn work_for(
    tx: &Tx<'_>,
    agent: &str,
    filter: &AtomFilter,
    now: Timestamp,
) -> Result<(bool, Option<Timestamp>)> {
    let mut filter = with_parent(tx, filter)?;
    filter.assignee.get_or_insert_with(|| AssigneeFilter::NobodyOr(agent.to_owned()));
    let has_ready = Query::ready_at(&filter, now).is_any(tx)?;
    let waiting = AtomFilter { statuses: vec![Status::Open], ..filter };
    Ok((has_ready, Query::new(&waiting).next_retry(tx, now)?))
}

fn find_beyond(
    tx: &Tx<'_>,
    agents: &[(String, Option<String>)],
    filter: &AtomFilter,
    now: Timestamp,
) -> Result<Beyond> {
    let Some(offers) = &filter.offers else { return Ok(Beyond::default()) };
    let mut lacking: HashMap<String, Vec<String>> = HashMap::new();
    for (id, mut needs) in atom::list_needs(tx)? {
        needs.retain(|need| !offers.contains(need));
        if !needs.is_empty() && (filter.ids.is_empty() || filter.ids.contains(&id)) {
            lacking.insert(id, needs);
        }
    }
    if lacking.is_empty() {
        return Ok(Beyond::default());
    }
    let mut filter = with_parent(tx, filter)?;
    filter.offers = None;
    filter.ids = lacking.keys().cloned().collect();
    let mut ready = HashSet::new();
    for (agent, _) in agents {
        let mut filter = filter.clone();
        filter.assignee.get_or_insert_with(|| AssigneeFilter::NobodyOr(agent.clone()));
        ready.extend(Query::ready_at(&filter, now).ids(tx)?);
    }
    let needs: BTreeSet<&String> =
        ready.iter().filter_map(|id| lacking.get(id)).flatten().collect();
    Ok(Beyond { atoms: ready.len(), needs: needs.into_iter().cloned().collect() })
}

/// The waiting work in numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlook {
    /// Ready atoms, counted no further than [`OUTLOOK_MAX`].
    pub ready: i64,
    /// Open atoms in a back-off.
    pub backing_off: i64,
    /// The end of the first back-off.
    pub next_retry_at: Option<Timestamp>,
    pub pause: Option<Pause>,
}

/// The limit for counting ready atoms.
pub const OUTLOOK_MAX: i64 = 1_000;

/// Counts the waiting work of the agents.
///
/// # Errors
///
/// If the store cannot be read, or the filter names an unknown atom.
pub fn queue_outlook(
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
            // Unassigned atoms are counted once.
            let whose = match at {
                0 => AssigneeFilter::NobodyOr(agent.clone()),
                _ => AssigneeFilter::Is(agent.clone()),
            };
            let mut filter = filter.clone();
            filter.assignee.get_or_insert(whose);
            outlook.ready += Query::ready_at(&filter, now).count_up_to(tx, OUTLOOK_MAX)?;
            let waiting = AtomFilter { statuses: vec![Status::Open], ..filter };
            outlook.backing_off += Query::new(&waiting).backing_off(tx, now)?;
            let retry_at = Query::new(&waiting).next_retry(tx, now)?;
            outlook.next_retry_at = [outlook.next_retry_at, retry_at].into_iter().flatten().min();
        }
        Ok(outlook)
    })
}

/// Signs a worker off if no work is left, in one transaction: a task filed earlier keeps the
/// worker, and a task filed later finds the worker gone. Returns false if work is left.
///
/// # Errors
///
/// If the filter names an unknown atom, or the database cannot be written.
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

/// Marks a worker as no longer claiming. Nobody relies on the worker from now on.
///
/// # Errors
///
/// If the database cannot be written.
pub fn worker_retires(store: &mut Store, id: &str) -> Result<()> {
    store.write(|tx| store::worker::set_takes(tx, id, Takes::Some))
}
