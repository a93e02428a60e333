//! The killer: waits for a step of some run, then strikes.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::db::{Db, LiveRun};
use crate::rng::Rng;
use crate::round::{Round, file_one};
use crate::scratch::LEASE;
use crate::strikes::{ANY, Strike, go_on, kill_supervisor, stop_in_pane, supervisor};

/// A step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Any,
    /// Claimed, and no session requested yet.
    Claimed,
    /// The session was requested, and the supervisor has not registered.
    Launched,
    /// The supervisor is about to register: held there by a lock on the database, then stopped, and
    /// released after the lease is over and another worker comes to settle the run.
    Late,
    /// The supervisor has registered, and the agent has not been started.
    Registered,
    /// The agent works.
    Working,
    /// The atom has a status that ends the run, and the run is not settled.
    Closed,
    /// The exit record is written, and the run is not settled: held there by a lock on the
    /// database.
    Recorded,
    /// The same without the lock: at any moment close to settling.
    Settling,
    /// Settled a moment ago.
    Settled,
}

const STEPS: &[(u64, Step)] = &[
    (14, Step::Any),
    (8, Step::Claimed),
    (12, Step::Launched),
    (6, Step::Late),
    (8, Step::Registered),
    (14, Step::Working),
    (14, Step::Closed),
    (12, Step::Recorded),
    (10, Step::Settling),
    (6, Step::Settled),
];

/// How long a step is waited for.
const PATIENCE: Duration = Duration::from_millis(1500);

pub(crate) fn chaos(round: &Round, rng: &mut Rng, strikes: u64) {
    let db = round.scratch.place.open();
    let begin = Instant::now() + PATIENCE;
    while db.runs().is_empty() && Instant::now() < begin {
        std::thread::sleep(Duration::from_micros(500));
    }
    std::thread::scope(|scope| {
        for _ in 0..strikes {
            let (step, strike) = (*rng.weighted(STEPS), *rng.weighted(ANY));
            let step = chosen(STEPS, round.only.step.as_deref()).unwrap_or(step);
            let strike = chosen(ANY, round.only.strike.as_deref()).unwrap_or(strike);
            let strike = if step == Step::Recorded { Strike::KillSupervisor } else { strike };
            let mut own = Rng::new(rng.next(), 1);
            let delay = delay(step, &mut own);
            if db.live().len() < 3 {
                // There must be a target.
                file_one(round, rng, &[]);
            }
            let Some(run) = wait_for(round, &db, step, &mut own) else { continue };
            match step {
                // That strike was the wait itself.
                Step::Recorded => continue,
                Step::Late => {
                    scope.spawn(move || let_go_late(round, &run, &mut own));
                    continue;
                }
                _ => {}
            }
            std::thread::sleep(delay);
            let mut act = move || {
                let done = strike.carry_out(round, &run, &mut own);
                round.log(format!("{step:?} +{delay:?} {strike:?} {} {} {done}", run.id, run.atom));
                if done {
                    round.count(&format!("strike {strike:?}"));
                    round.count(&format!("at {step:?}"));
                }
            };
            // A slow strike must not keep the others from striking meanwhile.
            if strike == Strike::StopSupervisor {
                scope.spawn(act);
            } else {
                act();
            }
        }
    });
}

/// The moment with this name.
fn chosen<T: std::fmt::Debug + Copy>(among: &[(u64, T)], name: Option<&str>) -> Option<T> {
    let name = name?;
    let found = among.iter().find(|(_, item)| format!("{item:?}") == name);
    Some(found.unwrap_or_else(|| panic!("{name} is none of {among:?}")).1)
}

fn delay(step: Step, rng: &mut Rng) -> Duration {
    let micros = match step {
        Step::Any => rng.range(0, 500_000),
        Step::Working => rng.range(0, 400_000),
        Step::Closed => *rng.pick(&[0, 0, 5_000, 20_000, 60_000, 250_000]).unwrap(),
        Step::Settling => rng.range(0, 6_000),
        Step::Settled => rng.range(0, 30_000),
        Step::Launched => rng.range(0, 40_000),
        _ => rng.range(0, 8_000),
    };
    Duration::from_micros(micros)
}

fn wait_for(round: &Round, db: &Db, step: Step, rng: &mut Rng) -> Option<LiveRun> {
    let end = Instant::now() + PATIENCE;
    let settled = db.settled().len();
    let mut last = db.live();
    while Instant::now() < end && !round.is_over.load(Ordering::Relaxed) {
        let live = db.live();
        let is_over =
            |run: &LiveRun| !matches!(run.status.as_str(), "in_progress" | "blocked" | "testing");
        let fits = |run: &&LiveRun| match step {
            Step::Any => true,
            Step::Claimed => run.session.is_none(),
            Step::Launched | Step::Late => run.session.is_some() && run.supervisor.is_none(),
            Step::Registered => run.supervisor.is_some() && run.agent.is_none(),
            Step::Working => run.agent.is_some() && !is_over(run),
            Step::Closed => is_over(run),
            Step::Recorded | Step::Settling => run.agent.is_some() && is_over(run),
            Step::Settled => false,
        };
        if step == Step::Settled && db.settled().len() > settled {
            return last
                .into_iter()
                .find(|run| !live.iter().any(|l| l.id == run.id))
                .or_else(|| live.into_iter().next());
        }
        let found: Vec<LiveRun> = live.iter().filter(fits).cloned().collect();
        if let Some(run) = rng.pick(&found) {
            match step {
                Step::Recorded => {
                    if hold_and_kill(round, db, run, end) {
                        return Some(run.clone());
                    }
                }
                Step::Late => {
                    if stop_before_registering(round, run) {
                        return Some(run.clone());
                    }
                }
                Step::Settling => {
                    if wait_for_record(round, db, run, end) {
                        return Some(run.clone());
                    }
                }
                _ => return Some(run.clone()),
            }
        }
        last = live;
        std::thread::sleep(Duration::from_millis(2));
    }
    None
}

/// Waits until the run's exit record is there; `false` if the run was settled first.
fn wait_for_record(round: &Round, db: &Db, run: &LiveRun, end: Instant) -> bool {
    let record = round.scratch.exit_record(&run.id);
    let mut looks = 0_u32;
    while Instant::now() < end {
        if record.exists() {
            return true;
        }
        looks += 1;
        if looks.is_multiple_of(50) && !db.is_live(&run.id) {
            return false;
        }
        std::thread::sleep(Duration::from_micros(150));
    }
    false
}

/// Keeps the supervisor from settling after its record is written, and kills the supervisor there.
fn hold_and_kill(round: &Round, db: &Db, run: &LiveRun, end: Instant) -> bool {
    if !wait_for_record(round, db, run, end) {
        return false;
    }
    let holder = round.scratch.place.open_to_lock();
    let mut done = false;
    if holder.lock() {
        if holder.is_live(&run.id) {
            done = kill_supervisor(round, run);
            round.log(format!("Recorded KillSupervisor {} {} {done}", run.id, run.atom));
        }
        holder.unlock();
    }
    if done {
        round.count("strike KillSupervisor");
        round.count("at Recorded, before settling for certain");
    }
    done
}

/// Stops a supervisor right before it registers, and kills the workers that know of it.
fn stop_before_registering(round: &Round, run: &LiveRun) -> bool {
    let holder = round.scratch.place.open_to_lock();
    if !holder.lock() {
        return false;
    }
    let end = Instant::now() + Duration::from_millis(400);
    let mut found = None;
    while Instant::now() < end && found.is_none() {
        found = supervisor(round, run).filter(|process| !process.is_stopped());
        std::thread::sleep(Duration::from_millis(2));
    }
    // The supervisor opens the database and reads its files, then waits for the lock.
    std::thread::sleep(Duration::from_millis(25));
    let unregistered =
        holder.live().iter().any(|live| live.id == run.id && live.supervisor.is_none());
    round.stopped.fetch_add(1, Ordering::Relaxed);
    let stopped =
        unregistered && found.as_ref().is_some_and(|process| stop_in_pane(round, process));
    holder.unlock();
    if stopped {
        round.workers.strike(0, Signal::KILL);
        round.workers.strike(1, Signal::KILL);
        round.log(format!("Late, stopped: {} {}", run.id, run.atom));
        round.count("at Late, stopped before registering and let go after its lease");
    } else if let Some(process) = found {
        go_on(round, &process, Duration::ZERO);
    } else {
        round.stopped.fetch_sub(1, Ordering::Relaxed);
    }
    stopped
}

fn let_go_late(round: &Round, run: &LiveRun, rng: &mut Rng) {
    let process = supervisor(round, run);
    // A worker looks once a second.
    std::thread::sleep(
        LEASE - Duration::from_millis(300) + Duration::from_millis(rng.range(0, 1500)),
    );
    let Some(process) = process else {
        round.stopped.fetch_sub(1, Ordering::Relaxed);
        return;
    };
    round.log(format!("Late, let go: {} {} stopped {}", run.id, run.atom, process.is_stopped()));
    go_on(round, &process, Duration::from_millis(rng.range(0, 300)));
}
