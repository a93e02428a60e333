//! A round: files the atoms, lets workers and strikes loose, waits for rest, and checks.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::rng::Rng;
use crate::scratch::Scratch;
use crate::script::plot;
use crate::workers::{Noticed, Workers};
use crate::{Only, Options, chaos, verify, watch};

/// The time limit from the last strike until no run is live and no atom is ready. Longer than the
/// two minutes that claiming pauses after several runs without work, which strikes can be.
const REST: Duration = Duration::from_secs(240);
const LOOK: Duration = Duration::from_millis(40);

#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) scratch: Scratch,
    pub(crate) workers: Workers,
    /// All is at rest, and counted.
    pub(crate) is_over: AtomicBool,
    /// Supervisors that are stopped at the moment.
    pub(crate) stopped: AtomicU32,
    /// All workers were told to stop, and none is to be started.
    pub(crate) is_stopping: AtomicBool,
    /// Runs whose supervisor was killed.
    pub(crate) orphaned: Mutex<HashSet<String>>,
    pub(crate) only: Only,
    is_verbose: bool,
    label: String,
    began: Instant,
    counts: Mutex<BTreeMap<String, u64>>,
    violations: Mutex<Vec<(String, String)>>,
    log: Mutex<String>,
}

/// The result of a round.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) counts: BTreeMap<String, u64>,
    pub(crate) violations: usize,
}

impl Round {
    pub(crate) fn count(&self, what: &str) {
        *self.counts.lock().unwrap().entry(what.to_owned()).or_default() += 1;
    }

    pub(crate) fn counted(&self, what: &str) -> u64 {
        self.counts.lock().unwrap().get(what).copied().unwrap_or_default()
    }

    /// Adds a line to the round's story, which is shown after a failure.
    pub(crate) fn log(&self, line: String) {
        let _ = writeln!(
            self.log.lock().unwrap(),
            "  {:>7.3} {line}",
            self.began.elapsed().as_secs_f64()
        );
    }

    /// Records a broken promise (0: another fault), once per atom and kind.
    pub(crate) fn violation(&self, promise: u32, atom: &str, what: &str) {
        let key = format!("{promise} {atom} {}", what.chars().take(30).collect::<String>());
        let mut violations = self.violations.lock().unwrap();
        if violations.iter().any(|(known, _)| *known == key) {
            return;
        }
        let at = self.began.elapsed().as_secs_f64();
        let story =
            if atom.is_empty() { String::new() } else { self.scratch.place.open().story(atom) };
        let text = format!(
            "VIOLATION of promise {promise}, {} at {at:.3} s, {atom}: {what}\n{story}",
            self.label
        );
        violations.push((key, text));
    }
}

pub(crate) fn run(options: &Options, number: u64) -> Done {
    let seed = options.seed;
    let mut rng = Rng::new(seed, number + 1);
    let round = Round {
        scratch: Scratch::new(),
        workers: Workers::default(),
        is_over: AtomicBool::new(false),
        stopped: AtomicU32::new(0),
        is_stopping: AtomicBool::new(false),
        orphaned: Mutex::default(),
        is_verbose: options.verbose,
        only: options.only.clone(),
        label: format!("--seed {seed} --round {number}"),
        began: Instant::now(),
        counts: Mutex::default(),
        violations: Mutex::default(),
        log: Mutex::default(),
    };
    file(&round, &mut rng);
    let strikes = rng.range(6, 15);
    let stricken = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| watch::watch(&round));
        scope.spawn(|| {
            chaos::chaos(&round, &mut rng, strikes);
            stricken.store(true, Ordering::Relaxed);
        });
        work(&round, &stricken);
        round.is_over.store(true, Ordering::Relaxed);
    });
    verify::verify(&round, &mut Rng::new(seed, number + 1_000_000));
    round.count("rounds");
    finish(round)
}

fn file(round: &Round, rng: &mut Rng) {
    let mut ids: Vec<String> = Vec::new();
    for _ in 0..rng.range(3, 7) {
        let id = file_one(round, rng, &ids);
        ids.push(id);
    }
}

/// Files an atom, which may depend on any of those. Returns its id.
pub(crate) fn file_one(round: &Round, rng: &mut Rng, others: &[String]) -> String {
    let plot = plot(rng, round.only.kind.as_deref());
    let mut arguments = vec!["create", plot.kind, "--description", &plot.description];
    let blocker = rng.pick(others).cloned().filter(|_| rng.chance(30));
    if let Some(blocker) = &blocker {
        arguments.extend(["--blocked-by", blocker]);
    }
    let made = round.scratch.el(&arguments).data();
    let id = made["id"].as_str().unwrap().to_owned();
    round.log(format!("{id} is {}, blocked by {blocker:?}", plot.kind));
    round.count("atoms");
    id
}

/// Keeps workers running until no work is left and no strike comes any more.
fn work(round: &Round, stricken: &AtomicBool) {
    let db = round.scratch.place.open();
    let mut calm_since: Option<Instant> = None;
    let mut looked = Instant::now() - Duration::from_secs(1);
    let mut is_ready = true;
    loop {
        let live = !db.live().is_empty();
        if looked.elapsed() > Duration::from_millis(400) {
            // Not asked while a stopped process may hold the database.
            is_ready = round.scratch.el(&["ready", "--limit", "1"]).data()["total"] != 0;
            looked = Instant::now();
        }
        let has_work = live || is_ready || db.waits_for_retry();
        for noticed in round
            .workers
            .keep(&round.scratch, has_work && !round.is_stopping.load(Ordering::Relaxed))
        {
            match noticed {
                Noticed::Failed(ran) => {
                    round.violation(0, "", &format!("a worker ended with {}: {ran:?}", ran.status))
                }
                Noticed::Held => round.count("workers sent away that waited after quick failures"),
            }
        }
        let calm = stricken.load(Ordering::Relaxed) && round.stopped.load(Ordering::Relaxed) == 0;
        if calm && !has_work && round.workers.count() == 0 {
            return;
        }
        if calm {
            let since = *calm_since.get_or_insert_with(Instant::now);
            if since.elapsed() > REST {
                let what = format!(
                    "it does not come to rest: live {:?}, ready {is_ready}, workers {}, atoms {:?}",
                    db.live(),
                    round.workers.count(),
                    db.atoms()
                );
                let atom = db.live().first().map(|run| run.atom.clone()).unwrap_or_default();
                round.violation(3, &atom, &what);
                return;
            }
        }
        std::thread::sleep(LOOK);
    }
}

fn finish(round: Round) -> Done {
    round.workers.end();
    let violations = round.violations.into_inner().unwrap();
    let log = round.log.into_inner().unwrap();
    let took = round.began.elapsed().as_secs_f64();
    let root = round.scratch.root().display().to_string();
    if !violations.is_empty() {
        let texts: String = violations.iter().map(|(_, text)| text.as_str()).collect();
        println!("{texts}  kept: {root}\n  what was done in {}:\n{log}", round.label);
    } else if round.is_verbose {
        println!("{} took {took:.1} s\n{log}", round.label);
    }
    round.scratch.end(!violations.is_empty());
    Done { counts: round.counts.into_inner().unwrap(), violations: violations.len() }
}
