//! The strikes and their targets.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::Signal;

use crate::db::LiveRun;
use crate::procs::{Proc, scan, send};
use crate::rng::Rng;
use crate::round::Round;
use crate::scratch::LEASE;

/// The target and the kind of a strike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strike {
    KillWorker,
    KillBothWorkers,
    DetachWorker,
    InterruptWorker,
    KillSupervisor,
    /// And the worker that would recover the run, a moment later.
    KillSupervisorThenWorker,
    StopSupervisor,
    KillAgent,
    KillTool,
    KillServer,
    KillSession,
    DeleteSocket,
    /// Any `el` that an agent runs at the moment.
    KillEl,
    Cancel,
    Requeue,
    Release,
    PersonCloses,
    PersonDefers,
    PersonOpens,
    PersonRetries,
    /// `el work --stop`.
    StopAll,
    LateClose,
}

pub(crate) const ANY: &[(u64, Strike)] = &[
    (12, Strike::KillWorker),
    (6, Strike::KillBothWorkers),
    (5, Strike::DetachWorker),
    (2, Strike::InterruptWorker),
    (16, Strike::KillSupervisor),
    (8, Strike::KillSupervisorThenWorker),
    (7, Strike::StopSupervisor),
    (8, Strike::KillAgent),
    (4, Strike::KillTool),
    (8, Strike::KillServer),
    (5, Strike::KillSession),
    (4, Strike::DeleteSocket),
    (5, Strike::KillEl),
    (4, Strike::Cancel),
    (4, Strike::Requeue),
    (4, Strike::Release),
    (4, Strike::PersonCloses),
    (2, Strike::PersonDefers),
    (2, Strike::PersonOpens),
    (4, Strike::PersonRetries),
    (3, Strike::StopAll),
    (3, Strike::LateClose),
];

impl Strike {
    /// Strikes `run`. Returns true if there was a target.
    pub(crate) fn carry_out(self, round: &Round, run: &LiveRun, rng: &mut Rng) -> bool {
        let which = usize::from(rng.chance(50));
        match self {
            Strike::KillWorker => {
                round.workers.strike(which, Signal::KILL)
                    || round.workers.strike(which + 1, Signal::KILL)
            }
            Strike::KillBothWorkers => {
                let first = round.workers.strike(0, Signal::KILL);
                round.workers.strike(1, Signal::KILL) || first
            }
            Strike::DetachWorker => round.workers.strike(which, Signal::TERM),
            Strike::InterruptWorker => round.workers.strike(which, Signal::INT),
            Strike::KillSupervisor => kill_supervisor(round, run),
            Strike::KillSupervisorThenWorker => {
                let done = kill_supervisor(round, run);
                std::thread::sleep(Duration::from_millis(rng.range(0, 1200)));
                round.workers.strike(which, Signal::KILL);
                done
            }
            Strike::StopSupervisor => {
                stop_supervisor(round, run, LEASE + Duration::from_millis(rng.range(800, 2500)))
            }
            Strike::KillAgent => {
                run.agent.is_some_and(|pid| one(round, |p| p.pid == pid, Signal::KILL))
            }
            Strike::KillTool => {
                let all = scan(&round.scratch.marks);
                let tools: Vec<&Proc> = all
                    .iter()
                    .filter(|p| {
                        p.run.as_ref() == Some(&run.id) && !p.late && Some(p.pid) != run.agent
                    })
                    .collect();
                rng.pick(&tools).is_some_and(|tool| tool.signal(Signal::KILL))
            }
            Strike::KillServer => {
                // The server's sessions are hung up, so all of them count as struck.
                one(round, Proc::is_tmux_server, Signal::KILL)
            }
            Strike::KillSession => kill_session(round, run),
            Strike::DeleteSocket => delete_socket(round),
            Strike::KillEl => kill_el(round),
            Strike::Cancel => person(round, &["cancel", &run.atom]),
            Strike::Requeue => person(round, &["cancel", &run.id, "--requeue"]),
            Strike::Release => person(round, &["release", &run.atom]),
            Strike::PersonCloses => person(round, &["close", &run.atom, "--reason", "by a person"]),
            Strike::PersonDefers => person(round, &["update", &run.atom, "--status", "deferred"]),
            Strike::PersonOpens => person(round, &["update", &run.atom, "--status", "open"]),
            Strike::PersonRetries => retry_one(round, rng),
            Strike::StopAll => stop_all(round),
            Strike::LateClose => late_close(round, rng),
        }
    }
}

/// The process that supervises this run, or is about to.
pub(crate) fn supervisor(round: &Round, run: &LiveRun) -> Option<Proc> {
    scan(&round.scratch.marks)
        .into_iter()
        .find(|p| p.is_supervisor_of(&run.id) && p.is_el("supervise"))
}

pub(crate) fn kill_supervisor(round: &Round, run: &LiveRun) -> bool {
    let Some(process) = supervisor(round, run) else { return false };
    // From now on, unmarked processes of the run's tree are unknown.
    round.orphaned.lock().unwrap().insert(run.id.clone());
    process.signal(Signal::KILL)
}

/// Stops a process in a pane. Its tmux server is stopped first, because the server would wake the
/// process at once.
pub(crate) fn stop_in_pane(round: &Round, process: &Proc) -> bool {
    let end = Instant::now() + Duration::from_secs(1);
    let stopped = |process: &Proc| {
        process.signal(Signal::STOP);
        while !process.is_stopped() && process.is_alive() && Instant::now() < end {
            std::thread::sleep(Duration::from_micros(500));
        }
        process.is_stopped()
    };
    servers(round).iter().all(stopped) && stopped(process)
}

/// Continues the process, and the servers a little later, unless another process is to stay
/// stopped.
pub(crate) fn go_on(round: &Round, process: &Proc, wait: Duration) {
    process.signal(Signal::CONT);
    std::thread::sleep(wait);
    if round.stopped.fetch_sub(1, Ordering::Relaxed) == 1 {
        for server in servers(round) {
            server.signal(Signal::CONT);
        }
    }
}

fn servers(round: &Round) -> Vec<Proc> {
    scan(&round.scratch.marks).into_iter().filter(Proc::is_tmux_server).collect()
}

/// Stops the process for longer than its lease, and meanwhile keeps the other workers from settling
/// its run.
fn stop_supervisor(round: &Round, run: &LiveRun, length: Duration) -> bool {
    let Some(process) = supervisor(round, run) else { return false };
    let db = round.scratch.place.open();
    round.stopped.fetch_add(1, Ordering::Relaxed);
    let end = Instant::now() + length;
    let stopped = stop_in_pane(round, &process);
    let was_registered =
        db.live().iter().any(|l| l.id == run.id && l.supervisor == Some(process.pid));
    while stopped && process.is_stopped() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    let is_live = db.is_live(&run.id);
    // Another strike may have killed or continued the process: the strike counts only if the
    // process was stopped all the time.
    let all_the_time = process.is_stopped();
    if was_registered && !is_live && all_the_time {
        round.violation(
            1,
            &run.atom,
            &format!("{} was settled while its supervisor was alive and stopped", run.id),
        );
    }
    if all_the_time {
        round.count("supervisors stopped for longer than their lease");
    }
    go_on(round, &process, Duration::ZERO);
    stopped
}

/// Signals a process of the project.
fn one(round: &Round, which: impl Fn(&Proc) -> bool, signal: Signal) -> bool {
    scan(&round.scratch.marks)
        .iter()
        .find(|process| which(process))
        .is_some_and(|process| process.signal(signal))
}

fn socket(round: &Round) -> Option<std::path::PathBuf> {
    let folder = round.scratch.root().join("t");
    let folder = std::fs::read_dir(folder).ok()?.flatten().next()?.path();
    std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).next()
}

fn kill_session(round: &Round, run: &LiveRun) -> bool {
    let (Some(session), Some(socket)) = (&run.session, socket(round)) else { return false };
    let mut tmux = std::process::Command::new("tmux");
    tmux.arg("-S").arg(socket).args(["kill-session", "-t", &format!("={session}")]);
    round.scratch.run(tmux.env_remove("TMUX")).status == 0
}

fn delete_socket(round: &Round) -> bool {
    socket(round).is_some_and(|socket| std::fs::remove_file(socket).is_ok())
}

/// Lies in wait for an `el` that an agent runs.
fn kill_el(round: &Round) -> bool {
    let end = Instant::now() + Duration::from_millis(400);
    while Instant::now() < end {
        let found = scan(&round.scratch.marks)
            .into_iter()
            .find(|p| p.run.is_some() && !p.late && p.is_el(""));
        if let Some(process) = found {
            return send_to(&process);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

fn send_to(process: &Proc) -> bool {
    process.is_alive() && send(process.pid, Signal::KILL)
}

/// A person's command: it may come too late or without effect, but never fail otherwise.
fn person(round: &Round, arguments: &[&str]) -> bool {
    let ran = round.scratch.el(arguments);
    if !matches!(ran.status, 0 | 3 | 4) {
        round.violation(0, "", &format!("el {arguments:?} failed: {ran:?}"));
    }
    ran.status == 0
}

/// After the command no session runs; an agent has five seconds to end by itself, and a lost run
/// its lease.
fn stop_all(round: &Round) -> bool {
    if round.stopped.load(Ordering::Relaxed) > 0 || round.is_stopping.swap(true, Ordering::Relaxed)
    {
        return false;
    }
    let (began, moment) =
        (Instant::now(), SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros());
    let ran = round.scratch.el(&["work", "--stop"]);
    // A worker in its start has not heard of the stop.
    let live = round.scratch.place.open().live_of_workers_before(i64::try_from(moment).unwrap());
    let long = Duration::from_secs(5) + LEASE + Duration::from_secs(10);
    if ran.status != 0
        || !live.is_empty()
        || (began.elapsed() > long && round.stopped.load(Ordering::Relaxed) == 0)
    {
        round.violation(
            3,
            "",
            &format!("el work --stop took {:?}: {ran:?}; live: {live:?}", began.elapsed()),
        );
    }
    round.is_stopping.store(false, Ordering::Relaxed);
    true
}

fn retry_one(round: &Round, rng: &mut Rng) -> bool {
    let db = round.scratch.place.open();
    let held: Vec<String> = db
        .atoms()
        .into_iter()
        .filter(|(_, status)| status == "deferred" || status == "blocked")
        .map(|(id, _)| id)
        .collect();
    rng.pick(&held).is_some_and(|atom| person(round, &["retry", atom]))
}

/// Returns as the session of a run that is over.
pub(crate) fn late_close(round: &Round, rng: &mut Rng) -> bool {
    let settled = round.scratch.place.open().settled();
    let sessions = round.scratch.log("sessions");
    let over: Vec<&Vec<String>> =
        sessions.iter().filter(|line| line.len() == 4 && settled.contains(&line[0])).collect();
    let Some(line) = rng.pick(&over) else { return false };
    let verbs: [&[&str]; 3] = [
        &["close", &line[1], "--reason", "late"],
        &["comment", "add", &line[1], "late"],
        &["update", &line[1], "--status", "wont_do"],
    ];
    let ran = round.scratch.el_as(&line[2], &line[1], rng.pick(&verbs).unwrap());
    if ran.status != 5 {
        round.violation(
            2,
            &line[1],
            &format!("{} is settled, and its late el got {}: {ran:?}", line[0], ran.status),
        );
    }
    true
}
