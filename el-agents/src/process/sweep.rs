//! Ends a process tree completely, and reports success only if no process is left.
//!
//! Signals to a process group or session miss processes that called `setsid`; a hang-up misses
//! processes that ignore SIGHUP. A process cannot escape being a descendant: the supervisor is a
//! subreaper, so the agent's orphans become its children, however often they fork. The marker in
//! the environment finds the same processes again, and is the only trace after the supervisor was
//! killed.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Signal, WaitId, WaitIdOptions, WaitOptions, waitid, waitpid};

use super::identity::{Look, to_pid};
use super::table::{Marker, Process, descendants_in, find_marked};
use super::{Handle, ProcessId, platform};

/// The pause between two rounds of killing, for killed processes to disappear.
const ROUND: Duration = Duration::from_millis(5);
/// The pause between the two looks that must find no process.
const BETWEEN_LOOKS: Duration = Duration::from_millis(3);
/// Passes that stop newly appeared processes before the kill.
const FREEZE_PASSES: usize = 8;

/// The plan for ending an agent's tree.
#[derive(Debug, Clone)]
pub struct EndTree<'a> {
    /// The process that SIGINT goes to: the agent, or in a sandbox the program within.
    pub interrupt: &'a ProcessId,
    /// The agent's main process, a child of this process. Its exit status is left to the spawner.
    pub agent: &'a ProcessId,
    /// Finds processes that left the tree. Without a marker only descendants are ended.
    pub marker: Option<&'a Marker>,
    /// The time for the agent to end by itself after SIGINT. Zero: kill at once.
    pub grace: Duration,
    /// How long the killing may take after that.
    pub limit: Duration,
    /// The agent shares this process's session and terminal. All other descendants of this process
    /// then count as the agent's, running helpers included.
    pub shares_session: bool,
}

/// The result of ending a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// No process of the tree runs any more.
    Clean {
        /// The agent's main process ended before the kill.
        by_itself: bool,
        /// How many processes were killed.
        killed: usize,
    },
    /// These processes did not die in time (blocked in the kernel, or owned by another user). The
    /// claim must be kept.
    Survivors(Vec<Process>),
}

/// Ends the tree of an agent. First SIGINT goes to the agent alone, which then kills its tools and
/// begins no further turn. After the agent's end, or the grace time, SIGKILL goes to the whole
/// tree, until two looks in a row find no process.
///
/// The tree has the agent and its descendants, before and after the signal; descendants of this
/// process in other sessions (adopted orphans; helpers of this process stay in its session and are
/// spared); and all processes with the marker. For the supervisor, after
/// [`super::become_subreaper`], on a thread that may block.
///
/// # Errors
/// If the process table cannot be read; the run must not be settled then.
pub fn end_tree(plan: &EndTree<'_>) -> io::Result<Ended> {
    let mut hunt = Hunt {
        shares_session: plan.shares_session,
        ..Hunt::new(Some(plan.agent.clone()), plan.marker)
    };
    hunt.find_living()?;
    let by_itself = match Handle::open(plan.interrupt)? {
        None => true,
        Some(_) if plan.grace.is_zero() => false,
        // A failed signal does not stop the kill.
        Some(agent) => agent.send_signal(Signal::INT).is_ok() && agent.wait_for_end(plan.grace)?,
    };
    hunt.kill_all(by_itself, plan.limit)
}

/// Ends all processes with the marker, for a run without a supervisor. The agent itself died with
/// the supervisor, but its tools may live on.
///
/// # Errors
/// If the process table cannot be read.
pub fn end_marked(marker: &Marker, limit: Duration) -> io::Result<Ended> {
    Hunt::new(None, Some(marker)).kill_all(true, limit)
}

/// Reaps adopted orphans that have ended and returns their number. Called at intervals while an
/// agent works; otherwise dead orphans stay in the process table.
///
/// Waits only for zombie children in another session that are not `agent`, each by its pid.
/// Children spawned by this process keep their exit status for tokio or `std::process::Child`. An
/// exception would be a child spawned with `setsid` besides the agent; there is none.
pub fn reap_adopted(agent: u32) -> usize {
    // A single system call decides if reading the whole table is worthwhile.
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    if matches!(waitid(WaitId::All, ended), Ok(None) | Err(Errno::CHILD)) {
        return 0;
    }
    platform::process_table().map_or(0, |table| reap_zombies(&table, agent, &HashSet::new()))
}

fn reap_zombies(table: &[Process], agent: u32, known: &HashSet<(u32, u64)>) -> usize {
    let own = std::process::id();
    let session = own_session();
    let ours = |process: &&Process| {
        process.zombie
            && process.parent == own
            && process.pid != agent
            && (process.session != session || known.contains(&(process.pid, process.start)))
    };
    table
        .iter()
        .filter(ours)
        .filter_map(|process| to_pid(process.pid))
        .filter(|pid| matches!(waitpid(Some(*pid), WaitOptions::NOHANG), Ok(Some(_))))
        .count()
}

/// Returns this process's session as the process table shows it. `getsid` does not serve: in a
/// container whose session was opened outside (`docker exec` without a terminal), the leader has no
/// pid here. The session is then 0 in both, and rustix assumes that no session is 0.
pub(super) fn own_session() -> u32 {
    match platform::look_up(std::process::id()) {
        Look::Found(process) => process.session,
        Look::Gone | Look::Unreadable => 0,
    }
}

/// The state of ending a tree.
struct Hunt<'a> {
    agent: Option<ProcessId>,
    marker: Option<&'a Marker>,
    session: u32,
    shares_session: bool,
    /// Pid and start time of all processes ever seen in the tree.
    known: HashSet<(u32, u64)>,
    killed: HashSet<(u32, u64)>,
}

impl<'a> Hunt<'a> {
    fn new(agent: Option<ProcessId>, marker: Option<&'a Marker>) -> Self {
        Self {
            agent,
            marker,
            session: own_session(),
            shares_session: false,
            known: HashSet::new(),
            killed: HashSet::new(),
        }
    }

    /// Finds the living processes of the tree, and returns whether a process of the tree had died
    /// unreaped. Reaps such processes.
    ///
    /// With a subreaper, a look that finds neither misses no process, although the table is not
    /// read at an instant. If a process forked or ended meanwhile, its topmost ancestor below the
    /// subreaper was alive when read, or a zombie, since only the subreaper reaps.
    fn find_living(&mut self) -> io::Result<(Vec<Process>, bool)> {
        let table = platform::process_table()?;
        let own = std::process::id();
        let mut found = Vec::new();
        if let Some(agent) = &self.agent {
            let is_agent =
                |process: &&Process| process.pid == agent.pid && process.start == agent.start;
            if let Some(process) = table.iter().find(is_agent) {
                found.push(*process);
                found.extend(descendants_in(&table, agent.pid));
            }
            let apart = |process: &Process| self.shares_session || process.session != self.session;
            found.extend(descendants_in(&table, own).into_iter().filter(apart));
        }
        found.extend(
            table.iter().filter(|process| self.known.contains(&(process.pid, process.start))),
        );
        if let Some(marker) = self.marker {
            found.extend(find_marked(marker)?);
        }
        let mut seen = HashSet::new();
        found.retain(|process| process.pid != own && seen.insert(process.pid));
        self.known.extend(found.iter().map(|process| (process.pid, process.start)));
        let mut moved = false;
        if let Some(agent) = &self.agent {
            moved = found
                .iter()
                .any(|process| process.zombie && process.parent == own && process.pid != agent.pid);
            reap_zombies(&table, agent.pid, &self.known);
        }
        found.retain(|process| !process.zombie);
        Ok((found, moved))
    }

    fn kill_all(mut self, by_itself: bool, limit: Duration) -> io::Result<Ended> {
        let deadline = Instant::now() + limit;
        let mut clean_looks = 0;
        loop {
            let (mut targets, moved) = self.find_living()?;
            if targets.is_empty() {
                clean_looks = if moved { 0 } else { clean_looks + 1 };
                // Two looks, for processes that only the marker finds.
                if clean_looks == 2 {
                    return Ok(Ended::Clean { by_itself, killed: self.killed.len() });
                }
                if moved && Instant::now() >= deadline {
                    // Processes die as fast as they are born, and were never seen alive.
                    return Ok(Ended::Survivors(Vec::new()));
                }
                // During `exec` the environment of a process reads as empty; the second look comes
                // later.
                std::thread::sleep(BETWEEN_LOOKS);
                continue;
            }
            clean_looks = 0;
            // All are stopped first, so that no process can fork or restart a killed partner
            // meanwhile.
            let mut frozen = HashSet::new();
            for _ in 0..FREEZE_PASSES {
                let new: Vec<Process> = targets
                    .iter()
                    .filter(|process| frozen.insert((process.pid, process.start)))
                    .copied()
                    .collect();
                if new.is_empty() {
                    break;
                }
                for process in &new {
                    signal_process(process, Signal::STOP);
                }
                (targets, _) = self.find_living()?;
            }
            for process in &targets {
                if signal_process(process, Signal::KILL) {
                    self.killed.insert((process.pid, process.start));
                }
            }
            if Instant::now() >= deadline {
                let (left, _) = self.find_living()?;
                if !left.is_empty() {
                    return Ok(Ended::Survivors(left));
                }
            }
            std::thread::sleep(ROUND);
        }
    }
}

/// Signals exactly the process that was seen; `false` if the process is gone or may not be
/// signalled.
fn signal_process(process: &Process, signal: Signal) -> bool {
    let Ok(boot) = platform::boot_identity() else { return false };
    let id = ProcessId { pid: process.pid, start: process.start, boot };
    matches!(Handle::open(&id), Ok(Some(handle)) if matches!(handle.send_signal(signal), Ok(true)))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "sweep_tests.rs"]
mod tests;
