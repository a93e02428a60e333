//! Looks at the database and the processes again and again while a round is on.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::db::Db;
use crate::procs::{Proc, scan};
use crate::round::Round;
use crate::scratch::LEASE;

const LOOK: Duration = Duration::from_millis(150);
/// The time for recovering a run beyond its lease, on a busy machine.
const SLACK: Duration = Duration::from_secs(7);

pub(crate) fn watch(round: &Round) {
    let db = round.scratch.place.open();
    let mut alone: HashMap<String, Instant> = HashMap::new();
    while !round.is_over.load(Ordering::Relaxed) {
        look(round, &db, &mut alone);
        std::thread::sleep(LOOK);
    }
}

fn look(round: &Round, db: &Db, alone: &mut HashMap<String, Instant>) {
    for atom in db.twice_live() {
        round.violation(1, &atom, "two live runs in the database");
    }
    for atom in db.ownerless() {
        round.violation(3, &atom, "in progress, and nobody has it");
    }
    // In this order: a run settled now may have no process from now on.
    let settled = db.settled();
    let processes = scan(&round.scratch.marks);
    let of_runs: Vec<&Proc> = processes.iter().filter(|p| p.run.is_some() && !p.late).collect();
    for process in &of_runs {
        let (Some(run), Some(atom)) = (&process.run, &process.atom) else { continue };
        if settled.contains(run) && process.is_alive() {
            round.violation(
                3,
                atom,
                &format!("{run} is settled, and its process lives: {}", process.line()),
            );
        }
        let other =
            of_runs.iter().find(|other| other.atom == process.atom && other.run != process.run);
        // The table is not read at an instant: both must still exist.
        if let Some(other) = other
            && process.is_alive()
            && other.is_alive()
            && process.is_alive()
        {
            round.violation(
                1,
                atom,
                &format!("two runs alive: {} and {}", process.line(), other.line()),
            );
        }
    }
    stuck(round, db, &processes, alone);
}

/// A run without a living supervisor must be settled within its lease and a little more, if a
/// worker exists.
fn stuck(round: &Round, db: &Db, processes: &[Proc], alone: &mut HashMap<String, Instant>) {
    let live = db.live();
    alone.retain(|run, _| live.iter().any(|l| l.id == *run));
    // A process that was stopped in the middle of a write blocks all others.
    let up_since = round.workers.up_since().filter(|_| round.stopped.load(Ordering::Relaxed) == 0);
    let Some(up_since) = up_since else {
        alone.clear();
        return;
    };
    for run in live {
        // Not registered yet counts as absent: a session that starts within the lease is settled or
        // registered by then.
        let supervised = run.supervisor.is_some()
            && processes.iter().any(|p| p.is_supervisor_of(&run.id) && p.is_alive());
        if supervised {
            alone.remove(&run.id);
            continue;
        }
        let since = *alone.entry(run.id.clone()).or_insert_with(Instant::now);
        if since.max(up_since).elapsed() > LEASE + SLACK {
            round.violation(
                3,
                &run.atom,
                &format!("{} has had no supervisor for {:?}: {run:?}", run.id, since.elapsed()),
            );
            alone.insert(run.id, Instant::now());
        }
    }
}
