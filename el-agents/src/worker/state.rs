//! The state of a worker, which carries out the plan's decisions. Everything that must survive is
//! in the store.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use el_core::model::{Pause, Run, Timestamp, Worker, fresh_short};
use el_core::ops::{self, WorkerView};
use el_core::rules::budget::usd_to_micros;
use el_core::rules::plan::{self, Action, Phase, Snapshot};
use el_core::{Error, Store};

use super::memory::{
    Outage, PlanMemory, Recovery, Rest, Starts, TrackedRun, Watching, accounts_of,
};
use super::presence::supervisor_liveness;
use super::report::{Listener, Live, Report, StoppedBy, Summary};
use super::{WorkError, WorkOptions, is_there};
use crate::account::Account;
use crate::launch::Launcher;
use crate::process::{Liveness, ProcessId};
use crate::supervisor::stamp_of;
use crate::{clock, machine};

/// Interval between a worker's heartbeats.
const BEAT: Duration = Duration::from_secs(20);

pub(super) struct State<'a> {
    pub(super) store: Store,
    pub(super) options: &'a WorkOptions,
    /// A launcher for each agent, in the order of the options; at least one.
    pub(super) launchers: Vec<Launcher>,
    /// The names of the agents, each with the fingerprint of the agent's account.
    pub(super) agents: Vec<(String, Option<String>)>,
    pub(super) listener: &'a mut dyn Listener,
    pub(super) id: String,
    /// As this worker signed on.
    signed_on: Worker,
    /// The host's name, in a project that several machines share.
    pub(super) host: Option<String>,
    pub(super) phase: Phase,
    pub(super) began: Instant,
    pub(super) beat_at: Instant,
    pub(super) seen_version: Option<i64>,
    /// The runs that this worker reports, until their end.
    pub(super) tracked: HashMap<String, TrackedRun>,
    pub(super) summary: Summary,
    pub(super) launch_failures: usize,
    /// The pauses that were reported last, one entry for each agent.
    pub(super) told_pauses: Vec<Option<Pause>>,
    /// The needs of atoms beyond the offers, when reported last.
    pub(super) told_beyond: Vec<String>,
    pub(super) warned_of_folder: bool,
    pub(super) starts: Starts,
    pub(super) accounts: Vec<Account>,
    pub(super) warned_of_account: bool,
    pub(super) driven: PlanMemory,
    pub(super) recoveries: Vec<Recovery>,
    pub(super) watching: Watching,
    pub(super) rest: Rest,
    pub(super) outage: Outage,
}

/// Signs off workers whose processes have ended. Until then, a plan that such a worker drove counts
/// as driven.
fn forget_dead_workers(store: &mut Store, workers: &[Worker]) {
    for worker in workers.iter().filter(|worker| !is_there(worker)) {
        // The next look tries again.
        let _ = ops::worker_leave(store, &worker.id);
    }
}

impl<'a> State<'a> {
    pub(super) fn sign_on(
        mut store: Store,
        options: &'a WorkOptions,
        launchers: Vec<Launcher>,
        listener: &'a mut dyn Listener,
    ) -> Result<State<'a>, WorkError> {
        let process = ProcessId::current()
            .map_err(|source| WorkError::System { doing: "tell who this process is", source })?;
        let id = format!("worker-{}", fresh_short(8));
        let now = store.lease_time(clock::now());
        let (accounts, prints) = accounts_of(&launchers, &options.environment);
        let agents: Vec<String> =
            launchers.iter().map(|launcher| launcher.agent.name.clone()).collect();
        let worker = Worker {
            id: id.clone(),
            name: options.name.clone(),
            load_milli: machine::load_milli(),
            process: stamp_of(&process, store.is_on_server()),
            agent: agents.first().cloned().unwrap_or_default(),
            agents: agents.clone(),
            takes: options.takes(),
            offers: options.offers.clone(),
            concurrency: i64::try_from(options.concurrency).unwrap_or(i64::MAX),
            started_at: now,
            heartbeat_at: now,
            stop_requested: false,
        };
        ops::worker_join(&mut store, &worker)?;
        let workers = ops::list_workers(&store)?;
        forget_dead_workers(&mut store, &workers);
        if let Some(drive) = options.drive.as_ref().filter(|drive| !drive.plan_only) {
            ops::share_plan(&mut store, &drive.epic, &id)?;
        }
        ops::set_served_accounts(&mut store, &prints)?;
        let budget = options.resources.budget_per_day.and_then(usd_to_micros);
        ops::share_budget_per_day(&mut store, &id, budget)?;
        listener.report(&Report::Started {
            worker: id.clone(),
            agent: worker.agent.clone(),
            agents: agents.clone(),
            concurrency: options.concurrency,
            tmux_socket: launchers
                .first()
                .map(|launcher| launcher.tmux.socket().to_owned())
                .unwrap_or_default(),
        });
        let rest = Rest::of_store(&store);
        Ok(State {
            store,
            options,
            launchers,
            agents: agents.into_iter().zip(prints).collect(),
            listener,
            id,
            host: worker.process.host().map(str::to_owned),
            signed_on: worker,
            phase: Phase::Working,
            began: Instant::now(),
            beat_at: Instant::now(),
            seen_version: None,
            tracked: HashMap::new(),
            summary: Summary::default(),
            launch_failures: 0,
            told_pauses: Vec::new(),
            told_beyond: Vec::new(),
            warned_of_folder: false,
            starts: Starts::default(),
            accounts,
            warned_of_account: false,
            driven: PlanMemory::default(),
            recoveries: Vec::new(),
            watching: Watching::new(options.pulls.clone()),
            rest,
            outage: Outage::default(),
        })
    }

    /// Returns true if another connection has committed since the last look.
    pub(super) fn has_changed(&mut self) -> bool {
        match self.store.data_version() {
            Ok(version) => self.seen_version.replace(version) != Some(version),
            // A full look reports the fault.
            Err(_) => true,
        }
    }

    pub(super) fn warn(&mut self, message: String) {
        self.listener.report(&Report::Warning { message });
    }

    /// Takes a step of the reconciler. Returns true if nothing is left to do.
    pub(super) async fn step(&mut self) -> Result<bool, WorkError> {
        self.end_rest();
        let now = self.now();
        if self.beat_at.elapsed() > BEAT {
            ops::worker_beat(&mut self.store, &self.signed_on, now, machine::load_milli())?;
            self.beat_at = Instant::now();
            // The write-ahead log is emptied in idle moments, so that no writer has to empty it.
            let _ = self.store.checkpoint();
        }
        self.share_pause(now);
        self.drive_plan(now)?;
        // A remark may have reopened an atom.
        self.report_look().await;
        let mut view = self.read_view(now)?;
        if view.stop_requested {
            self.begin_drain(StoppedBy::Request);
        }
        if self.does_silence_count() {
            forget_dead_workers(&mut self.store, &view.workers);
        }
        self.collect_recoveries().await;
        self.report_finished_runs(&view)?;
        self.begin_look();
        self.report_pauses(&view);
        let actions = self.plan_actions(&view, now);
        let mut claimed = false;
        self.driven.is_stale |= !actions.is_empty();
        if !actions.iter().any(|action| matches!(action, Action::Claim { .. })) {
            self.clear_held();
        }
        for action in actions {
            match action {
                Action::Recover { run } => self.try_recovery(&view, &run),
                Action::Adopt { run } => self.adopt_run(&view, &run),
                Action::Claim { at_most } => {
                    claimed |= self.claim_atoms(at_most, view.live.len())?
                }
            }
        }
        if claimed {
            view = self.read_view(self.now())?;
        }
        self.show_live(&view)?;
        self.report_beyond(&view);
        let leaves = self.may_leave(&view)?;
        if !leaves {
            self.rest_if_idle(&view);
        }
        Ok(leaves)
    }

    /// The time by which leases are judged.
    pub(super) fn now(&self) -> Timestamp {
        clock::follow(&self.store);
        self.store.lease_time(clock::now())
    }

    pub(super) fn read_view(&self, now: Timestamp) -> Result<WorkerView, Error> {
        let me = (self.id.as_str(), self.host.as_deref());
        ops::worker_view(&self.store, me, &self.agents, &self.options.claim_filter(), now)
    }

    fn plan_actions(&self, view: &WorkerView, now: Timestamp) -> Vec<Action> {
        let is_orphan = |worker: &str| !view.workers.iter().any(|w| w.id == worker && is_there(w));
        let liveness = |run: &Run| match self.run_liveness(run, now) {
            // The worker died before starting a session, so no supervisor will come.
            Liveness::Unknown
                if run.supervisor.is_none()
                    && run.session.is_none()
                    && run.worker_id.as_deref().is_some_and(is_orphan) =>
            {
                Liveness::Absent
            }
            known => known,
        };
        let live: Vec<(&Run, Liveness)> =
            view.live.iter().map(|run| (run, liveness(run))).collect();
        let claims_left =
            self.options.max_claims.map(|max| max.saturating_sub(self.summary.claimed));
        let agents: Vec<(&str, usize)> = self
            .options
            .agents
            .iter()
            .zip(&view.agents)
            .filter(|(_, view)| view.pause.is_none())
            .map(|(served, view)| {
                let at_most = served.at_most.saturating_sub(view.live_elsewhere);
                (served.agent.name.as_str(), at_most)
            })
            .collect();
        let snapshot = Snapshot {
            now,
            phase: if self.driven.holds || !view.has_ready() {
                Phase::Draining
            } else {
                self.phase
            },
            live: &live,
            worker: &self.id,
            concurrency: self.options.concurrency,
            agents: &agents,
            claims_left,
        };
        plan::plan_actions(&snapshot, is_orphan)
    }

    fn run_liveness(&self, run: &Run, now: Timestamp) -> Liveness {
        let known = match &run.supervisor {
            Some(stamp) => Some(supervisor_liveness(stamp, run, now)),
            None => {
                let pane = self.tracked.get(&run.id).and_then(|mine| mine.pane.as_ref());
                pane.map(ProcessId::liveness)
            }
        };
        match known {
            Some(known) => known,
            // No supervisor has registered, and the first lease is over: a late supervisor is
            // refused.
            None if run.lease_until <= now => Liveness::Absent,
            None => Liveness::Unknown,
        }
    }

    /// Reports tracked runs that have ended.
    fn report_finished_runs(&mut self, view: &WorkerView) -> Result<(), WorkError> {
        let mut ended: Vec<String> = self
            .tracked
            .keys()
            .filter(|id| !view.live.iter().any(|run| run.id == **id))
            .cloned()
            .collect();
        ended.sort();
        for id in ended {
            let told = self.tracked.remove(&id).and_then(|mine| mine.launch_failure);
            let run = match ops::get_run(&self.store, &id) {
                // A standby that took the server's place never had it.
                Err(error) if error.code() == "not_found" => {
                    self.warn(format!("{error}; the tracker has lost it"));
                    continue;
                }
                found => found?,
            };
            let Some(outcome) = run.outcome else { continue };
            let launched = self.count_launch_failure(&run, told);
            let atom = ops::get_atom(&self.store, &run.atom_id).ok();
            let took = run.ended_at.unwrap_or(run.started_at).since(run.started_at);
            if !matches!(launched, Ok(true)) {
                self.count_failure(&run, outcome, took)?;
            }
            self.watching.hurry();
            self.summary.count_outcome(&run.atom_id, outcome);
            self.summary.turns += run.progress.turns;
            self.summary.cost += run.progress.cost;
            self.listener.report(&Report::Settled {
                run: run.id,
                atom: run.atom_id,
                outcome,
                detail: run.detail,
                status: atom.as_ref().map(|a| a.status),
                retry_at: atom.and_then(|a| a.retry_at),
                seconds: took.as_secs(),
                turns: run.progress.turns,
                cost: run.progress.cost,
                uncommitted: run.summary.map_or(0, |summary| summary.uncommitted.len()),
            });
            launched?;
        }
        Ok(())
    }

    /// Tells once of ready atoms that need more than this worker offers.
    fn report_beyond(&mut self, view: &WorkerView) {
        let beyond = &view.beyond;
        self.summary.beyond_offers = beyond.atoms;
        if beyond.atoms > 0 && self.told_beyond != beyond.needs {
            self.told_beyond.clone_from(&beyond.needs);
            let (atoms, needs) = (beyond.atoms, beyond.needs.clone());
            self.listener.report(&Report::BeyondOffers { atoms, needs });
        }
    }

    fn show_live(&mut self, view: &WorkerView) -> Result<(), WorkError> {
        if !self.listener.wants_live() {
            return Ok(());
        }
        let ours = view.live.iter().filter(|run| self.tracked.contains_key(&run.id));
        let live: Vec<Live> = ours
            .map(|run| Live {
                run: run.clone(),
                atom: ops::get_atom(&self.store, &run.atom_id).ok(),
            })
            .collect();
        self.listener.live(clock::now(), &live);
        Ok(())
    }
}
