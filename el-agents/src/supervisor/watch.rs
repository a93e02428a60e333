//! The loop around a call of the agent: read, look, decide, end. `watchdog` has the decision.

use std::fs::File;
use std::io::Write;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use el_core::model::{EndKind, Timestamp};
use el_core::ops::RunSignal;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::agent::Agent;
use super::pane::Pane;
use super::reader::Reader;
use super::run_branch::RunBranch;
use super::run_lease::RunLease;
use super::screen::OnScreen;
use super::signals::Signals;
use super::status_file::StatusFile;
use super::watchdog::{self, Bounds, EndNow, Moment};
use crate::clock;
use crate::pace::Pace;
use crate::process::{EndTree, Ended, Marker, descendants, end_tree, reap_adopted};

/// The interval between looks at store and clock while the agent is active.
const TICK: Duration = Duration::from_millis(100);
/// The interval while the agent is silent: two hundred silent agents must cost next to nothing.
const SILENT_TICK: Duration = Duration::from_millis(500);
/// How often a silent agent's tree is looked at.
const STALL_LOOK: Duration = Duration::from_secs(15);
/// How often ended orphans are reaped: a look at the whole process table.
const REAP_EVERY: Duration = Duration::from_secs(10);
/// The time limit of the killing. Afterwards the claim is kept and the killing repeated.
const KILL_LIMIT: Duration = Duration::from_secs(10);
/// The pause between two tries to end a surviving tree.
const END_AGAIN: Duration = Duration::from_secs(1);
/// The maximum size of a transcript, in bytes: a run must not fill the disk.
const TRANSCRIPT_MAX: u64 = 1 << 30;

/// The end of a call of the agent. No process of the tree is left.
#[derive(Debug)]
pub(crate) struct CallEnd {
    pub(crate) kind: EndKind,
    pub(crate) status: Option<ExitStatus>,
}

/// The state of the loop, over all calls of a run.
#[derive(Debug)]
pub(crate) struct Watcher {
    pub(crate) lease: RunLease,
    pub(crate) reader: Reader,
    pub(crate) pane: Pane,
    pub(crate) signals: Signals,
    pub(crate) bounds: Bounds,
    pub(crate) marker: Marker,
    pub(crate) transcript: CappedFile,
    pub(crate) errors: CappedFile,
    /// When the run began; the time limit counts from here, over all calls.
    pub(crate) began: Instant,
    /// `STATUS.txt`; `None` until the supervisor begins to write the file.
    pub(super) status: Option<StatusFile>,
    /// The state of an agent on a screen; `None` for a headless agent.
    pub(super) on_screen: Option<OnScreen>,
    pub(super) branch: RunBranch,
    active: Active,
    pace: Pace,
    look_at: Instant,
    finished_at: Option<Instant>,
    reaped_at: Instant,
}

/// The last activity of the agent or its tree.
#[derive(Debug)]
struct Active {
    at: Instant,
    stamp: Option<Timestamp>,
    looked: Instant,
    /// Processes and CPU of the agent's tools, when last looked at.
    tools: Option<(usize, u64)>,
}

/// A file with a maximum size.
#[derive(Debug)]
pub(crate) struct CappedFile {
    file: Option<File>,
    left: u64,
}

impl CappedFile {
    pub(crate) fn new(file: Option<File>) -> CappedFile {
        CappedFile { file, left: TRANSCRIPT_MAX }
    }

    /// Writes bytes. A full disk or the maximum size ends the file, never the run.
    fn write(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if len > self.left || file.write_all(bytes).is_err() {
            self.file = None;
        } else {
            self.left -= len;
        }
    }

    fn sync(&self) {
        if let Some(file) = &self.file {
            // A failed sync must not fail the run.
            let _ = file.sync_data();
        }
    }
}

impl Watcher {
    pub(crate) fn new(
        lease: RunLease,
        reader: Reader,
        pane: Pane,
        signals: Signals,
        bounds: Bounds,
        marker: Marker,
        files: (Option<File>, Option<File>),
    ) -> Watcher {
        let now = Instant::now();
        Watcher {
            lease,
            reader,
            pane,
            signals,
            bounds,
            marker,
            transcript: CappedFile::new(files.0),
            errors: CappedFile::new(files.1),
            began: now,
            status: None,
            on_screen: None,
            branch: RunBranch::default(),
            pace: Pace::new(TICK, SILENT_TICK),
            look_at: now,
            active: Active { at: now, stamp: None, looked: now, tools: None },
            finished_at: None,
            reaped_at: now,
        }
    }

    /// Watches a call to the end.
    pub(crate) async fn watch_call(&mut self, mut agent: Agent) -> CallEnd {
        let mut stdout = agent.child.stdout.take();
        let mut stderr = agent.child.stderr.take();
        let mut out = vec![0; 64 << 10];
        let mut err = vec![0; 8 << 10];
        // A screen is looked at often, because the screen verifies typed text.
        let longest = if self.on_screen.is_some() { TICK } else { SILENT_TICK };
        self.pace = Pace::new(TICK, longest);
        self.look_at = Instant::now();
        let mut status: Option<ExitStatus> = None;
        let mut ending: Option<(EndKind, tokio::task::JoinHandle<std::io::Result<Ended>>)> = None;
        self.active.at = Instant::now();
        loop {
            // Timers are looked at only when this task pauses, and a flood of output never lets it.
            tokio::task::yield_now().await;
            tokio::select! {
                read = read_some(&mut stdout, &mut out), if stdout.is_some() => match read {
                    Some(len) => self.take_output(&out[..len]),
                    None => stdout = None,
                },
                read = read_some(&mut stderr, &mut err), if stderr.is_some() => match read {
                    Some(len) => self.take_error_output(&err[..len]),
                    None => stderr = None,
                },
                exited = agent.child.wait(), if status.is_none() => {
                    status = exited.ok();
                    if status.is_none() {
                        // The child cannot be reaped, so another part has reaped the child. The
                        // status is unknown.
                        status = Some(ExitStatus::default());
                    }
                    if ending.is_none() {
                        let kind = EndKind::Exited;
                        let end = self.start_ending(&agent, kind, Duration::ZERO, Duration::ZERO);
                        ending = Some((kind, end));
                    }
                },
                () = self.signals.wait_for_signal() => self.look_at = Instant::now(),
                ended = join_ending(&mut ending), if ending.is_some() => {
                    let Some((kind, _)) = ending.take() else { continue };
                    match ended {
                        Ok(Ended::Clean { .. }) if status.is_some() => {
                            self.drain_pipes(stdout, stderr, &mut out).await;
                            return CallEnd { kind, status };
                        }
                        // The exit is not seen yet; the next round sees it.
                        Ok(Ended::Clean { .. }) => {}
                        Ok(Ended::Survivors(left)) => {
                            self.pane.show(&format!(
                                "! {} process(es) do not die; the claim is kept and it is tried \
                                 again",
                                left.len()
                            ));
                        }
                        Err(error) => self.pane.show(&format!(
                            "! the process table cannot be read ({error}); trying again"
                        )),
                    }
                    let again = self.start_ending(&agent, kind, Duration::ZERO, END_AGAIN);
                    ending = Some((kind, again));
                },
                () = tokio::time::sleep_until(self.look_at.into()) => {
                    let order = self.look_once(&agent);
                    if let (Some(EndNow { kind, grace }), None) = (order, &ending) {
                        if kind == EndKind::LeaseLost {
                            let why = self.lease.why_lost();
                            self.pane.show(&format!("! {why}"));
                            self.transcript.write(&self.reader.own_line(&why));
                        }
                        let now = self.start_ending(&agent, kind, grace, Duration::ZERO);
                        ending = Some((kind, now));
                    }
                    self.look_at = Instant::now() + self.pace.next_wait();
                },
            }
        }
    }

    /// Takes messages that did not come as output, and are not for the pane.
    pub(super) fn take_messages(&mut self, bytes: &[u8]) {
        self.transcript.write(bytes);
        drop(self.reader.take_output(bytes));
    }

    fn take_output(&mut self, bytes: &[u8]) {
        self.transcript.write(bytes);
        let shown = self.reader.take_output(bytes);
        self.pane.show(&shown);
        self.note_activity();
    }

    fn take_error_output(&mut self, bytes: &[u8]) {
        self.errors.write(bytes);
        let shown = self.reader.take_error(bytes);
        self.pane.show(&shown);
        self.note_activity();
    }

    pub(super) fn note_activity(&mut self) {
        self.active.at = Instant::now();
        self.active.stamp = Some(clock::now());
        self.pace.note_change();
        self.look_at = self.look_at.min(self.active.at + TICK);
    }

    /// Notes that a person attends to the agent, so that silence is no stall.
    pub(super) fn note_attention(&mut self) {
        self.active.at = Instant::now();
    }

    /// Takes a tick: the store, the clock, the decision.
    fn look_once(&mut self, agent: &Agent) -> Option<EndNow> {
        if self.signals.take_interrupt() {
            self.lease.cancel_run();
        }
        if self.reaped_at.elapsed() > REAP_EVERY {
            // The agent's orphans are adopted by this process, and have to be reaped.
            reap_adopted(agent.id.pid);
            self.reaped_at = Instant::now();
        }
        self.branch.take_and_push(&mut self.pane);
        let progress = self.progress();
        let before = self.lease.last_signal();
        let watch = self.lease.tick(self.active.stamp, &progress);
        if watch != before {
            self.pace.note_change();
        }
        if let Some(file) = &mut self.status {
            file.write_if_due(watch, &progress, self.active.stamp);
        }
        match watch {
            RunSignal::Finished(_) => drop(self.finished_at.get_or_insert_with(Instant::now)),
            _ => self.finished_at = None,
        }
        let now = Instant::now();
        if now.duration_since(self.active.at) > self.bounds.stall_timeout / 2
            && now.duration_since(self.active.looked)
                > STALL_LOOK.min(self.bounds.stall_timeout / 4)
        {
            self.look_at_tools(agent, now);
        }
        let order = self.look_at_screen(watch, now);
        let since = |at: Option<Instant>| at.map(|at| now.duration_since(at));
        let decided = watchdog::decide(
            &self.bounds,
            &Moment {
                running: now.duration_since(self.began),
                idle: now.duration_since(self.active.at),
                since_result: since(self.reader.result_at()),
                since_finished: since(self.finished_at),
                tool_in_flight: self.reader.tool_in_flight(),
                lease_age: self.lease.lease_age(),
                watch,
                is_refused: self.reader.is_refused(),
                hung_up: self.signals.hung_up(),
            },
        );
        decided.or(order)
    }

    /// Notes activity if the agent's tools use CPU: an agent with busy tools is not stalled. The
    /// agent's own CPU does not count, since waiting uses some.
    fn look_at_tools(&mut self, agent: &Agent, now: Instant) {
        self.active.looked = now;
        let Ok(tools) = descendants(agent.program().pid) else { return };
        let seen = (tools.len(), tools.iter().map(|process| process.cpu_ticks).sum());
        if self.active.tools.is_some_and(|before| before != seen) {
            self.active.at = now;
        }
        self.active.tools = Some(seen);
    }

    /// Begins to end the whole tree after `wait`, on another thread, while reading and heartbeats
    /// go on.
    fn start_ending(
        &mut self,
        agent: &Agent,
        kind: EndKind,
        grace: Duration,
        wait: Duration,
    ) -> tokio::task::JoinHandle<std::io::Result<Ended>> {
        let (id, marker) = (agent.id.clone(), self.marker.clone());
        let interrupt = agent.program();
        let shares_session = self.on_screen.is_some();
        let farewell = self.exit_request(agent, kind, grace);
        tokio::task::spawn_blocking(move || {
            std::thread::sleep(wait);
            if let Some(farewell) = farewell {
                farewell();
            }
            end_tree(&EndTree {
                interrupt: &interrupt,
                agent: &id,
                marker: Some(&marker),
                grace,
                limit: KILL_LIMIT,
                shares_session,
            })
        })
    }

    /// Reads the rest of the pipes. No process holds the other ends any more, so this ends at once;
    /// a time limit applies all the same.
    async fn drain_pipes(
        &mut self,
        mut stdout: Option<tokio::process::ChildStdout>,
        mut stderr: Option<tokio::process::ChildStderr>,
        buffer: &mut [u8],
    ) {
        let rest = async {
            while let Some(len) = read_some(&mut stdout, buffer).await {
                self.take_output(&buffer[..len]);
                tokio::task::yield_now().await;
            }
            while let Some(len) = read_some(&mut stderr, buffer).await {
                self.take_error_output(&buffer[..len]);
                tokio::task::yield_now().await;
            }
        };
        // After two seconds, a process outside of the tree holds the pipe.
        let _ = tokio::time::timeout(Duration::from_secs(2), rest).await;
        let shown = self.reader.finish();
        self.pane.show(&shown);
        self.transcript.sync();
    }
}

/// Reads the next bytes; `None` at the end, or without a pipe.
async fn read_some(from: &mut Option<impl AsyncRead + Unpin>, buffer: &mut [u8]) -> Option<usize> {
    match from {
        Some(from) => from.read(buffer).await.ok().filter(|len| *len > 0),
        None => None,
    }
}

async fn join_ending(
    ending: &mut Option<(EndKind, tokio::task::JoinHandle<std::io::Result<Ended>>)>,
) -> std::io::Result<Ended> {
    match ending {
        Some((_, handle)) => handle.await.unwrap_or_else(|error| Err(std::io::Error::other(error))),
        None => std::future::pending().await,
    }
}
