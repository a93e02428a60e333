//! A worker's memory and hands: it carries out what the plan decides. Nothing here that is not also in the store has to survive.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use el_core::model::{Outcome, Run, Timestamp, Worker, fresh_run_id, fresh_short, fresh_token, fresh_uuid};
use el_core::ops::{self, ClaimRequest, WorkerView};
use el_core::rules::plan::{self, Action, Phase, Snapshot};
use el_core::{Ctx, Error, Store};

use super::report::{Listener, Live, Report, Summary};
use super::{WorkError, WorkOptions};
use crate::clock;
use crate::launch::Launcher;
use crate::process::{Liveness, ProcessId};
use crate::recover::{clean_up, settle_lost, sweep};
use crate::supervisor::{process_of, stamp};

/// Launches that may fail in a row before the worker gives up.
const LAUNCH_FAILURES: usize = 3;
/// Runs that may fail in a row, each soon after its start, before claiming waits.
const QUICK_FAILURES: usize = 3;
/// A run that fails sooner than this has not worked on anything.
const QUICK: Duration = Duration::from_secs(60);
/// Sessions in one folder above which a person is warned.
const SHARED_FOLDER: usize = 2;
/// A worker says that it is there so often.
const BEAT: Duration = Duration::from_secs(20);
/// Between two tries to recover a run that could not be.
const RECOVER_AGAIN: Duration = Duration::from_secs(2);

pub(super) struct State<'a> {
    store: Store,
    options: &'a WorkOptions,
    launcher: Launcher,
    listener: &'a mut dyn Listener,
    id: String,
    phase: Phase,
    began: Instant,
    beat_at: Instant,
    seen_version: Option<i64>,
    /// Runs that are ours to report, until they end.
    mine: HashMap<String, Mine>,
    summary: Summary,
    launch_failures: usize,
    quick_failures: usize,
    /// Because of quick failures in a row.
    hold_until: Option<Instant>,
    is_paused: bool,
    warned_of_folder: bool,
}

/// What the worker remembers of one of its runs.
#[derive(Debug, Default)]
struct Mine {
    /// The process in the pane, until the supervisor has registered.
    pane: Option<ProcessId>,
    /// Not before this is its recovery tried again.
    recover_after: Option<Instant>,
}

impl<'a> State<'a> {
    pub(super) fn join(
        mut store: Store,
        options: &'a WorkOptions,
        launcher: Launcher,
        listener: &'a mut dyn Listener,
    ) -> Result<State<'a>, WorkError> {
        let process = ProcessId::current().map_err(|source| WorkError::System { doing: "tell who this process is", source })?;
        let id = format!("worker-{}", fresh_short(8));
        let now = clock::now();
        let worker = Worker {
            id: id.clone(),
            process: stamp(&process),
            agent: options.agent.name.clone(),
            concurrency: i64::try_from(options.concurrency).unwrap_or(i64::MAX),
            started_at: now,
            heartbeat_at: now,
            stop_requested: false,
        };
        ops::worker_join(&mut store, &worker)?;
        listener.report(&Report::Started {
            worker: id.clone(),
            agent: options.agent.name.clone(),
            concurrency: options.concurrency,
            tmux_socket: launcher.tmux.socket().to_owned(),
        });
        Ok(State {
            store,
            options,
            launcher,
            listener,
            id,
            phase: Phase::Working,
            began: Instant::now(),
            beat_at: Instant::now(),
            seen_version: None,
            mine: HashMap::new(),
            summary: Summary::default(),
            launch_failures: 0,
            quick_failures: 0,
            hold_until: None,
            is_paused: false,
            warned_of_folder: false,
        })
    }

    /// Whether anybody else has committed since the last look.
    pub(super) fn has_changed(&mut self) -> bool {
        match self.store.data_version() {
            Ok(version) => self.seen_version.replace(version) != Some(version),
            // What cannot be read is looked at in full; that names the fault.
            Err(_) => true,
        }
    }

    pub(super) fn warn(&mut self, message: String) {
        self.listener.report(&Report::Warning { message });
    }

    /// No more claims; what runs is waited for.
    pub(super) fn drain(&mut self) {
        if self.phase == Phase::Working {
            self.phase = Phase::Draining;
            self.listener.report(&Report::Draining { running: self.mine.len() });
        }
    }

    /// Leaves what runs to its supervisors.
    pub(super) fn detach(&mut self) {
        let mut running: Vec<String> = self.mine.keys().cloned().collect();
        running.sort();
        self.summary.left_running = running.len();
        if !running.is_empty() {
            self.listener.report(&Report::Detached { running });
        }
    }

    /// Signs off.
    pub(super) fn leave(mut self) -> Summary {
        // Should it fail, the next worker finds that this one is gone.
        let _ = ops::worker_leave(&mut self.store, &self.id);
        let _ = self.launcher.tmux.release_server();
        self.summary.seconds = self.began.elapsed().as_secs();
        self.listener.report(&Report::Finished { summary: self.summary.clone() });
        self.summary
    }

    /// One step of the reconciler; `true` when there is no more to do.
    pub(super) async fn step(&mut self) -> Result<bool, WorkError> {
        let now = clock::now();
        if self.beat_at.elapsed() > BEAT {
            ops::worker_beat(&mut self.store, &self.id, now)?;
            self.beat_at = Instant::now();
            // The log is moved in idle moments, so that no writer has to.
            let _ = self.store.checkpoint();
        }
        let mut view = self.look(now)?;
        if view.stop_requested {
            self.drain();
        }
        self.forget_dead_workers(&view);
        self.notice_pause(&view);
        self.notice_ends(&view)?;
        let actions = self.plan(&view, now);
        let mut claimed = false;
        for action in actions {
            match action {
                Action::Recover { run } => self.recover(&view, &run).await?,
                Action::Adopt { run } => self.adopt(&view, &run),
                Action::Claim { at_most } => claimed |= self.claim(at_most).await?,
            }
        }
        if claimed {
            view = self.look(clock::now())?;
        }
        self.show(&view)?;
        Ok(self.is_done(&view))
    }

    fn look(&mut self, now: Timestamp) -> Result<WorkerView, Error> {
        let view = ops::worker_view(&self.store, &self.id, &self.options.agent.name, &self.options.filter, now)?;
        Ok(view)
    }

    fn plan(&self, view: &WorkerView, now: Timestamp) -> Vec<Action> {
        let live: Vec<(Run, plan::Liveness)> = view.live.iter().map(|run| (run.clone(), self.liveness(run, now))).collect();
        let held = self.hold_until.is_some_and(|until| until > Instant::now());
        let claims_left = self.options.max_claims.map(|max| max.saturating_sub(self.summary.claimed));
        let snapshot = Snapshot {
            now,
            phase: if held || !view.has_ready { Phase::Draining } else { self.phase },
            live: &live,
            worker: &self.id,
            concurrency: self.options.concurrency,
            claims_left,
            paused_until: view.pause.as_ref().map(|pause| pause.until),
        };
        plan::plan(&snapshot, |worker| !view.workers.iter().any(|w| w.id == worker && is_there(w)))
    }

    fn liveness(&self, run: &Run, now: Timestamp) -> plan::Liveness {
        let known = match &run.supervisor {
            Some(stamp) => process_of(stamp),
            None => self.mine.get(&run.id).and_then(|mine| mine.pane.clone()),
        };
        match known.map(|process| process.liveness()) {
            Some(Liveness::Alive) => plan::Liveness::Alive,
            Some(Liveness::Absent) => plan::Liveness::Absent,
            Some(Liveness::Unknown) => plan::Liveness::Unknown,
            // Nobody ever registered for it, and its first lease is over: whoever comes now is refused.
            None if run.lease_until <= now => plan::Liveness::Absent,
            None => plan::Liveness::Unknown,
        }
    }

    fn forget_dead_workers(&mut self, view: &WorkerView) {
        for worker in view
            .workers
            .iter()
            .filter(|w| w.id != self.id && process_of(&w.process).is_some_and(|p| p.liveness() == Liveness::Absent))
        {
            // Tidiness alone: a worker that is gone counts as gone with or without its row.
            let _ = ops::worker_leave(&mut self.store, &worker.id);
        }
    }

    fn notice_pause(&mut self, view: &WorkerView) {
        match (&view.pause, self.is_paused) {
            (Some(pause), false) => self.listener.report(&Report::Paused { until: pause.until, reason: pause.reason.clone() }),
            (None, true) => self.listener.report(&Report::Resumed {}),
            _ => {}
        }
        self.is_paused = view.pause.is_some();
    }

    /// Reports those of our runs that are live no more.
    fn notice_ends(&mut self, view: &WorkerView) -> Result<(), WorkError> {
        let mut ended: Vec<String> = self.mine.keys().filter(|id| !view.live.iter().any(|run| run.id == **id)).cloned().collect();
        ended.sort();
        for id in ended {
            self.mine.remove(&id);
            let run = ops::run(&self.store, &id)?;
            let Some(outcome) = run.outcome else { continue };
            let atom = ops::brief(&self.store, &run.atom_id).ok();
            let took = run.ended_at.unwrap_or(run.started_at).since(run.started_at);
            self.count_failure(outcome, took);
            self.summary.count(outcome);
            self.summary.turns += run.progress.turns;
            self.summary.cost_micros += run.progress.cost_micros;
            self.listener.report(&Report::Settled {
                run: run.id,
                atom: run.atom_id,
                outcome,
                detail: run.detail,
                status: atom.as_ref().map(|a| a.status),
                retry_at: atom.and_then(|a| a.retry_at),
                seconds: took.as_secs(),
                turns: run.progress.turns,
                cost_micros: run.progress.cost_micros,
            });
        }
        Ok(())
    }

    /// An agent that fails at once, again and again, would burn every atom's attempts in a night: claiming waits longer each time.
    fn count_failure(&mut self, outcome: Outcome, took: Duration) {
        if !outcome.is_failure() || took > QUICK {
            self.quick_failures = 0;
            return;
        }
        self.quick_failures += 1;
        if self.quick_failures >= QUICK_FAILURES {
            let doublings = u32::try_from(self.quick_failures - QUICK_FAILURES).unwrap_or(u32::MAX).min(4);
            let wait = Duration::from_secs(60).saturating_mul(2_u32.pow(doublings));
            self.hold_until = Some(Instant::now() + wait);
            let message = format!(
                "{} runs in a row failed within a minute; claiming waits for {} s (`el why` says how they ended)",
                self.quick_failures,
                wait.as_secs()
            );
            self.listener.report(&Report::Warning { message });
        }
    }

    async fn recover(&mut self, view: &WorkerView, id: &str) -> Result<(), WorkError> {
        let Some(run) = view.live.iter().find(|run| run.id == id) else { return Ok(()) };
        let is_waiting = self.mine.get(id).and_then(|mine| mine.recover_after).is_some_and(|at| at > Instant::now());
        if is_waiting {
            return Ok(());
        }
        let owned = id.to_owned();
        let swept = tokio::task::spawn_blocking(move || sweep(&owned)).await;
        let swept = swept.unwrap_or_else(|error| Err(std::io::Error::other(error).into()));
        let settled = swept.and_then(|()| {
            clean_up(&self.launcher.tmux, run, &self.options.places, self.options.agent.preserve_sessions);
            settle_lost(&mut self.store, run, &self.options.places, &self.options.rules, None)
        });
        let mine = self.mine.entry(run.id.clone()).or_default();
        match settled {
            Ok(_) => self.listener.report(&Report::Recovered { run: run.id.clone(), atom: run.atom_id.clone() }),
            Err(error) => {
                mine.recover_after = Some(Instant::now() + RECOVER_AGAIN);
                self.listener.report(&Report::Warning { message: format!("{} cannot be settled yet: {error}", run.id) });
            }
        }
        // Its end is reported with the others', at the next look.
        self.seen_version = None;
        Ok(())
    }

    fn adopt(&mut self, view: &WorkerView, id: &str) {
        let Some(run) = view.live.iter().find(|run| run.id == id) else { return };
        // Another worker may be faster; then it is that one's.
        if ops::adopt(&mut self.store, id, run.worker_id.as_deref(), &self.id).is_ok() {
            self.mine.entry(run.id.clone()).or_default();
            self.listener.report(&Report::Adopted { run: run.id.clone(), atom: run.atom_id.clone() });
        }
    }

    /// Claims and launches up to `at_most`; whether any was.
    async fn claim(&mut self, at_most: usize) -> Result<bool, WorkError> {
        let mut any = false;
        for _ in 0..at_most {
            let agent = &self.options.agent;
            let request = ClaimRequest {
                run_id: fresh_run_id(),
                token: fresh_token(),
                worker_id: self.id.clone(),
                agent: agent.name.clone(),
                executor: agent.executor.name().to_owned(),
                conversation: fresh_uuid(),
                workdir: agent.working_directory.display().to_string(),
                filter: self.options.filter.clone(),
                lease: self.options.rules.lease,
            };
            let ctx = Ctx { now: clock::now(), actor: &agent.name, session: None };
            let claimed = match ops::claim_run(&mut self.store, &ctx, &request) {
                Ok(Some(claimed)) => claimed,
                Ok(None) | Err(Error::Paused { .. }) => break,
                Err(error) => return Err(error.into()),
            };
            any = true;
            self.summary.claimed += 1;
            let (run, atom) = (claimed.run.id.clone(), claimed.atom.id.clone());
            match self.launcher.launch(&mut self.store, &claimed) {
                Ok((session, ids)) => {
                    self.launch_failures = 0;
                    self.mine.insert(run.clone(), Mine { pane: ProcessId::of(ids.pane_pid).ok().flatten(), recover_after: None });
                    self.listener.report(&Report::Launched {
                        run,
                        atom,
                        title: claimed.atom.title.clone(),
                        attempt: claimed.run.attempt,
                        session,
                    });
                }
                Err(error) => self.launch_failed(&claimed.run, &in_one_line(&error)).await?,
            }
        }
        self.warn_of_shared_folder();
        Ok(any)
    }

    async fn launch_failed(&mut self, run: &Run, error: &str) -> Result<(), WorkError> {
        self.launch_failures += 1;
        self.mine.insert(run.id.clone(), Mine::default());
        self.listener.report(&Report::LaunchFailed { run: run.id.clone(), atom: run.atom_id.clone(), message: error.to_owned() });
        // After a time-out the session may be there after all: it is ended before the run is settled.
        let id = run.id.clone();
        let swept = tokio::task::spawn_blocking(move || sweep(&id)).await;
        if matches!(swept, Ok(Ok(()))) {
            let fresh = ops::run(&self.store, &run.id)?;
            clean_up(&self.launcher.tmux, &fresh, &self.options.places, false);
            // Should it fail, it is recovered when its lease is over.
            let _ = settle_lost(&mut self.store, &fresh, &self.options.places, &self.options.rules, Some(error.to_owned()));
        }
        if self.launch_failures >= LAUNCH_FAILURES {
            return Err(WorkError::CannotLaunch { attempts: self.launch_failures, message: error.to_owned() });
        }
        Ok(())
    }

    fn warn_of_shared_folder(&mut self) {
        if self.mine.len() > SHARED_FOLDER && !self.warned_of_folder {
            self.warned_of_folder = true;
            let folder = self.options.agent.working_directory.display();
            let message =
                format!("{} agents share the folder {folder}: they see, and may undo, each other's changes", self.mine.len());
            self.listener.report(&Report::Warning { message });
        }
    }

    fn show(&mut self, view: &WorkerView) -> Result<(), WorkError> {
        if !self.listener.wants_live() {
            return Ok(());
        }
        let ours = view.live.iter().filter(|run| self.mine.contains_key(&run.id));
        let live: Vec<Live> =
            ours.map(|run| Live { run: run.clone(), atom: ops::brief(&self.store, &run.atom_id).ok() }).collect();
        self.listener.live(clock::now(), &live);
        Ok(())
    }

    fn is_done(&self, view: &WorkerView) -> bool {
        if !self.mine.is_empty() {
            return false;
        }
        let claims_are_up = self.options.max_claims.is_some_and(|max| self.summary.claimed >= max);
        // With a bound on claims, nothing ready means that there is nothing to wait for; a drain also waits for back-offs.
        let nothing_left = !view.has_ready && view.next_retry_at.is_none();
        self.phase == Phase::Draining
            || claims_are_up
            || (self.options.drain && nothing_left)
            || (self.options.max_claims == Some(1) && !view.has_ready)
    }
}

/// An error with all of its causes.
pub(super) fn in_one_line(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

/// A worker that cannot be seen from here counts as there.
fn is_there(worker: &Worker) -> bool {
    process_of(&worker.process).is_none_or(|process| process.liveness() != Liveness::Absent)
}
