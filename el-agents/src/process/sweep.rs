//! Ending a tree of processes so that nothing of it is left, and saying so only when it is true.
//!
//! Signals to a process group or to a session miss whatever called `setsid`; a hang-up misses
//! whatever ignores it. What cannot be escaped is being somebody's descendant: the supervisor is a
//! subreaper, so orphans of the agent become its own children, however often they fork. The marker
//! in the environment finds the same processes once more, and is all that is left when the
//! supervisor itself was killed.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Signal, WaitId, WaitIdOptions, WaitOptions, waitid, waitpid};

use super::identity::Look;
use super::platform;
use super::table::{Marker, Process, descendants_in, find_marked};
use super::{Handle, ProcessId};

/// Between two rounds of killing: what was killed needs a moment to be gone.
const ROUND: Duration = Duration::from_millis(5);
/// Between the two looks that have to find nothing.
const BETWEEN_LOOKS: Duration = Duration::from_millis(3);
/// Passes of stopping what appeared while we stopped the rest, before it is killed.
const FREEZE_PASSES: usize = 8;

/// How to end the tree of one agent.
#[derive(Debug, Clone)]
pub struct EndTree<'a> {
    /// The agent's main process, a child of ours. Its exit status is left to whoever spawned it.
    pub agent: &'a ProcessId,
    /// Finds what left the tree; without one only descendants are ended.
    pub marker: Option<&'a Marker>,
    /// How long the agent may take to end by itself after SIGINT. Zero: it is killed at once.
    pub grace: Duration,
    /// How long the killing may take after that.
    pub limit: Duration,
    /// The agent lives in our own session, on our terminal. All of our other descendants then count
    /// as its own, helpers of ours that run at this moment too.
    pub shares_session: bool,
}

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Nothing of the tree runs any more.
    Clean {
        /// The agent's main process ended before it had to be killed.
        by_itself: bool,
        /// How many processes were killed.
        killed: usize,
    },
    /// These did not die in time (blocked in the kernel, or not ours to kill): the claim must be
    /// kept.
    Survivors(Vec<Process>),
}

/// Ends the tree of an agent: SIGINT to the agent alone (it kills its own tools and does not begin
/// another turn), then, when it has ended or its grace is over, SIGKILL to everything that belongs
/// to it, until two looks in a row find nothing.
///
/// What belongs to it: the agent and its descendants, as they were before the signal and as they
/// are now; our other descendants that are in another session than ours (orphans that we adopted;
/// helpers that we started ourselves stay in ours and are spared); and whatever carries the marker.
/// To be called in the supervisor, after [`super::become_subreaper`], from a thread that may block.
///
/// # Errors
/// If the process table cannot be read: then nothing is known and nothing may be settled.
pub fn end_tree(plan: &EndTree<'_>) -> io::Result<Ended> {
    let mut hunt = Hunt {
        shares_session: plan.shares_session,
        ..Hunt::new(Some(plan.agent.clone()), plan.marker)
    };
    hunt.look()?;
    let by_itself = match Handle::open(plan.agent)? {
        None => true,
        Some(_) if plan.grace.is_zero() => false,
        // A signal that cannot be sent is no reason not to go on to the kill.
        Some(agent) => agent.signal(Signal::INT).is_ok() && agent.wait(plan.grace)?,
    };
    hunt.kill_all(by_itself, plan.limit)
}

/// Ends everything that carries the marker, wherever it hangs: what a worker does for a run whose
/// supervisor is gone. (The agent itself died with its supervisor; its tools may not have.)
///
/// # Errors
/// If the process table cannot be read.
pub fn end_marked(marker: &Marker, limit: Duration) -> io::Result<Ended> {
    Hunt::new(None, Some(marker)).kill_all(true, limit)
}

/// Reaps orphans that we adopted and that have ended; returns how many. To be called now and then
/// while an agent works, or its dead orphans stay in the process table.
///
/// Only zombies that are our children, in another session than ours, and not `agent` are waited
/// for, each by its pid: a child that we spawned ourselves keeps its exit status for the one who
/// waits for it (tokio, or `std::process::Child`). Children spawned with `setsid` other than the
/// agent would be an exception; there are none.
pub fn reap_adopted(agent: u32) -> usize {
    // One question to the kernel, and a look at the whole table only where it is worth it.
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    if matches!(waitid(WaitId::All, ended), Ok(None) | Err(Errno::CHILD)) {
        return 0;
    }
    platform::table().map_or(0, |table| reap(&table, agent, &HashSet::new()))
}

fn reap(table: &[Process], agent: u32, known: &HashSet<(u32, u64)>) -> usize {
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
        .filter_map(|process| platform::to_pid(process.pid))
        .filter(|pid| matches!(waitpid(Some(*pid), WaitOptions::NOHANG), Ok(Some(_))))
        .count()
}

/// As the process table tells it, not `getsid`: in a container whose session was opened outside
/// (`docker exec` without a terminal) the leader has no pid in here. It is 0 then for both, and
/// rustix holds that no session is 0.
pub(super) fn own_session() -> u32 {
    match platform::look(std::process::id()) {
        Look::Found(process) => process.session,
        Look::Gone | Look::Unreadable => 0,
    }
}

/// One ending under way.
struct Hunt<'a> {
    agent: Option<ProcessId>,
    marker: Option<&'a Marker>,
    session: u32,
    shares_session: bool,
    /// Pid and start time of everything that was ever seen to belong to the tree.
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

    /// Everything that belongs to the tree and still runs, and whether something of it had died
    /// unreaped. Reaps that.
    ///
    /// Where we are the subreaper, a look that finds neither has not missed anything, though the
    /// table is not read at one instant: of whatever moved meanwhile (forked, ended), the topmost
    /// ancestor below us was alive or, since only we reap it, a zombie when its line was read.
    fn look(&mut self) -> io::Result<(Vec<Process>, bool)> {
        let table = platform::table()?;
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
            reap(&table, agent.pid, &self.known);
        }
        found.retain(|process| !process.zombie);
        Ok((found, moved))
    }

    fn kill_all(mut self, by_itself: bool, limit: Duration) -> io::Result<Ended> {
        let deadline = Instant::now() + limit;
        let mut clean_looks = 0;
        loop {
            let (mut targets, moved) = self.look()?;
            if targets.is_empty() {
                clean_looks = if moved { 0 } else { clean_looks + 1 };
                // Two, for the sake of what only the marker finds.
                if clean_looks == 2 {
                    return Ok(Ended::Clean { by_itself, killed: self.killed.len() });
                }
                if moved && Instant::now() >= deadline {
                    // Something dies as fast as it is born, and was never seen alive.
                    return Ok(Ended::Survivors(Vec::new()));
                }
                // The environment of a process that is within `exec` reads as empty: the second
                // look comes after that.
                std::thread::sleep(BETWEEN_LOOKS);
                continue;
            }
            clean_looks = 0;
            // Stopped first, so that none can fork, or start its killed partner anew, while the
            // others die.
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
                    send(process, Signal::STOP);
                }
                (targets, _) = self.look()?;
            }
            for process in &targets {
                if send(process, Signal::KILL) {
                    self.killed.insert((process.pid, process.start));
                }
            }
            if Instant::now() >= deadline {
                let (left, _) = self.look()?;
                if !left.is_empty() {
                    return Ok(Ended::Survivors(left));
                }
            }
            std::thread::sleep(ROUND);
        }
    }
}

/// Signals exactly the process that was seen; `false` if it is gone or not ours to signal.
fn send(process: &Process, signal: Signal) -> bool {
    let Ok(boot) = platform::boot() else { return false };
    let id = ProcessId { pid: process.pid, start: process.start, boot };
    matches!(Handle::open(&id), Ok(Some(handle)) if matches!(handle.signal(signal), Ok(true)))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "sweep_tests.rs"]
mod tests;
