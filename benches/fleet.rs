//! A fleet, of docs/performance.md: its workers and its live runs, with agents that only sleep. The
//! store's own operations, from many connections, on a server; without one, in a file:
//!
//! `scripts/with-postgres cargo bench -p el-core --features postgres --bench fleet`
//!
//! `EL_FLEET="WORKERS RUNS CONNECTIONS"` sets the sizes (100 10000 64). The rows tell how much of
//! each operation there can be; the one with several, whether the fleet is kept up with at its own
//! pace: a heartbeat of each run every 10 s, and a look of each worker every second.

#![expect(clippy::unwrap_used, reason = "a measurement that cannot be made ends there")]
#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use el_core::model::{
    EndKind, ExitRecord, Progress, Run, Stamp, Takes, Timestamp, Worker, fresh_short,
};
use el_core::ops::{self, AtomFilter, Beat, ClaimRequest, Ending, NewAtom};
use el_core::rules::retry::RetryPolicy;
use el_core::{Ctx, Durability, ServerAddress, Store};

/// As by default.
const LEASE: Duration = Duration::from_secs(60);
const BEAT: Duration = Duration::from_secs(10);
/// How long the fleet is watched.
const STEADY: Duration = Duration::from_secs(60);

struct Fleet {
    place: Place,
    connections: usize,
}

enum Place {
    File(tempfile::TempDir),
    Server(ServerAddress),
}

impl Place {
    fn new() -> Place {
        let Ok(url) = std::env::var("EL_TEST_POSTGRES") else {
            return Place::File(tempfile::tempdir().unwrap());
        };
        let schema = format!("{url}&options=-csearch_path%3Df_{}", fresh_short(8));
        Place::Server(ServerAddress::new(&schema, []))
    }

    fn at(&self) -> (PathBuf, Option<&ServerAddress>) {
        match self {
            Place::File(folder) => (folder.path().join("el.db"), None),
            Place::Server(address) => ("/nonexistent/el.db".into(), Some(address)),
        }
    }
}

fn now() -> Timestamp {
    Timestamp::from(SystemTime::now())
}

impl Fleet {
    fn open(&self) -> Store {
        let (path, server) = self.place.at();
        Store::open_at(&path, server, Durability::Normal).unwrap()
    }

    /// Does the work so many times, on all connections at once, and prints what that took.
    fn row(&self, name: &str, count: usize, work: impl Fn(&mut Store, usize) + Sync) {
        let next = AtomicUsize::new(0);
        let begin = Instant::now();
        let mut took: Vec<Duration> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.connections)
                .map(|_| {
                    scope.spawn(|| {
                        let mut store = self.open();
                        let mut took = Vec::new();
                        loop {
                            let at = next.fetch_add(1, Ordering::Relaxed);
                            if at >= count {
                                return took;
                            }
                            let begin = Instant::now();
                            work(&mut store, at);
                            took.push(begin.elapsed());
                        }
                    })
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let rate = count as f64 / begin.elapsed().as_secs_f64();
        took.sort();
        let at = |part: f64| took[((took.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
        println!("| {name} | {rate:.0} | {:.1} | {:.1} | {:.1} |", at(0.5), at(0.99), at(1.0));
    }
}

fn host(worker: usize) -> String {
    format!("host-{worker:03}")
}

fn worker(at: usize) -> Worker {
    let boot = format!("{}|boot", host(at));
    Worker {
        id: format!("worker-{at:03}"),
        name: None,
        process: Stamp { pid: 1, start: 1, boot },
        agent: "claude".to_owned(),
        agents: vec!["claude".to_owned()],
        takes: Takes::All,
        concurrency: 100,
        started_at: now(),
        heartbeat_at: now(),
        load_milli: None,
        offers: Vec::new(),
        stop_requested: false,
    }
}

fn claim(store: &mut Store, worker: usize) -> Run {
    let worker = format!("worker-{worker:03}");
    let request = ClaimRequest::new(&worker, "claude", "/tmp".to_owned(), LEASE);
    let ctx = Ctx { now: now(), actor: "claude", session: None };
    ops::claim_run(store, &ctx, &request).unwrap().unwrap().run
}

fn beat(store: &mut Store, run: &Run, cost: i64) {
    let mut progress = Progress { tokens_out: 1, ..Progress::default() };
    progress.cost.cost_micros = cost;
    let beat = Beat {
        run_id: &run.id,
        token: &run.token,
        now: now(),
        lease: LEASE,
        active_at: None,
        progress: &progress,
    };
    assert_eq!(ops::extend_lease(store, &beat).unwrap(), ops::RunSignal::Work);
}

fn look(store: &Store, at: usize, host: Option<&str>) {
    let id = format!("worker-{at:03}");
    let agents = [("claude".to_owned(), None)];
    ops::worker_view(store, (&id, host), &agents, &AtomFilter::default(), now()).unwrap();
}

fn main() {
    let sizes = std::env::var("EL_FLEET").unwrap_or_else(|_| "100 10000 64".to_owned());
    let sizes: Vec<usize> = sizes.split(' ').map(|size| size.parse().unwrap()).collect();
    let [workers, runs, connections] = sizes[..] else { panic!("EL_FLEET has three numbers") };
    let fleet = Fleet { place: Place::new(), connections };
    let (path, server) = fleet.place.at();
    let mut store = Store::create_at(&path, server, "el", now()).unwrap();
    let ctx = Ctx { now: now(), actor: "ann", session: None };
    let new = NewAtom { title: "Sleep".to_owned(), ..NewAtom::default() };
    for _ in 0..(runs + 1000).div_ceil(1000) {
        ops::create_many(&mut store, &ctx, &vec![new.clone(); 1000]).unwrap();
    }

    let engine = if server.is_some() { "PostgreSQL" } else { "SQLite" };
    println!("{engine}: {workers} workers, {runs} live runs, {connections} connections\n");
    println!("| operation | a second | median ms | 99 % ms | longest ms |");
    println!("|---|---|---|---|---|");
    fleet.row("a worker signs on", workers, |store, at| {
        ops::worker_join(store, &worker(at)).unwrap();
    });
    let claimed = std::sync::Mutex::new(Vec::new());
    fleet.row("claim", runs, |store, at| {
        let run = claim(store, at % workers);
        claimed.lock().unwrap().push((run, at % workers));
    });
    let live = claimed.into_inner().unwrap();
    fleet.row("a supervisor registers", runs, |store, at| {
        let (run, worker) = &live[at];
        let boot = format!("{}|boot", host(*worker));
        let stamp = Stamp { pid: at as i64, start: 1, boot };
        ops::register_supervisor(store, &run.id, &run.token, &stamp, now(), LEASE).unwrap();
    });
    fleet.row("the first heartbeat", runs, |store, at| beat(store, &live[at].0, 0));
    fleet.row("heartbeat", 2 * runs, |store, at| beat(store, &live[at % runs].0, 0));
    fleet.row("heartbeat with costs", runs, |store, at| beat(store, &live[at].0, 1));
    fleet.row("a supervisor's look", 2 * runs, |store, at| {
        let run = &live[at % runs].0;
        ops::watch_run(store, &run.id, &run.token).unwrap();
    });
    fleet.row("an idle worker's question", 10 * workers, |store, at| {
        ops::worker_pulse(store, &worker(at % workers).id, now(), None).unwrap().unwrap();
    });
    fleet.row("a worker's look at its host", 2 * workers, |store, at| {
        look(store, at % workers, Some(&host(at % workers)));
    });
    fleet.row("the same at all hosts", workers.min(20), |store, at| look(store, at, None));
    steady(&fleet, &live, workers);
    fleet.row("settle", runs, |store, at| {
        let mut exit = ExitRecord::new(&live[at].0.id, EndKind::Exited, now());
        exit.exit_code = Some(0);
        let policy = RetryPolicy::default();
        let ctx = Ctx { now: now(), actor: "claude", session: None };
        ops::settle(store, &ctx, &Ending::new(&exit, &policy, 0.5), |_| None).unwrap();
    });
}

/// Asks as the fleet does, each machine at its own time. Prints how late the answers were.
fn steady(fleet: &Fleet, live: &[(Run, usize)], workers: usize) {
    let (begin, done) = (Instant::now(), [(); 2].map(|()| AtomicUsize::new(0)));
    let late = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..fleet.connections)
            .map(|at| {
                let done = &done;
                scope.spawn(move || {
                    let mut store = fleet.open();
                    // A connection has its part of the runs, and of the workers.
                    let mine: Vec<usize> = (at..live.len()).step_by(fleet.connections).collect();
                    let beats = mine.iter().enumerate().map(|(n, run)| {
                        (BEAT.mul_f64(n as f64 / mine.len() as f64), BEAT, Some(*run), 0)
                    });
                    let looks = (at..workers)
                        .step_by(fleet.connections)
                        .map(|worker| (Duration::ZERO, Duration::from_secs(1), None, worker));
                    let mut due: Vec<_> = beats.chain(looks).collect();
                    let mut late = Duration::ZERO;
                    loop {
                        let next = due.iter_mut().min_by_key(|one| one.0).unwrap();
                        if next.0 > STEADY {
                            return late;
                        }
                        std::thread::sleep(
                            (begin + next.0).saturating_duration_since(Instant::now()),
                        );
                        match next.2 {
                            Some(run) => beat(&mut store, &live[run].0, 1),
                            None => look(&store, next.3, Some(&host(next.3))),
                        }
                        late = late.max(begin.elapsed().saturating_sub(next.0));
                        done[usize::from(next.2.is_none())].fetch_add(1, Ordering::Relaxed);
                        next.0 += next.1;
                    }
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).max().unwrap()
    });
    let rate =
        |done: &AtomicUsize| done.load(Ordering::Relaxed) as f64 / begin.elapsed().as_secs_f64();
    println!(
        "| *at its own pace:* {:.0} heartbeats and {:.0} looks of workers | | | | {:.0} |",
        rate(&done[0]),
        rate(&done[1]),
        late.as_secs_f64() * 1e3
    );
}
