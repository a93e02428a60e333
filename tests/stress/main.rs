//! The stress program: kills at the worst moments, and checks the promises afterwards.
//!
//! A round is a scratch project with scripted agents that close, defer, forget, hang, fork and go
//! deaf. A seeded killer ends workers, supervisors, agents, the tmux server and `el` itself, at
//! random moments and at chosen steps of a run. Throughout the round, and afterwards, the database
//! and `/proc` must show that:
//!
//! 1. no atom ever had two live runs, or the trees of two runs alive;
//! 2. a settled run changed nothing more: its late `el close` ends with exit code 5;
//! 3. no committed change is lost, no atom stays in progress without a worker or person, and no
//!    process with a settled run's `EL_SESSION` lives;
//! 4. an atom closed by its run is closed, and the run's outcome says so;
//!
//! and whether every atom's events tell a legal story. `crowd` lets thirty processes write at once.
//! `plan` has a plan of a hundred tasks worked on, sixteen at a time.
//!
//! ```text
//! cargo test -p el-cli --features test-fakes --test stress         the short part, as in CI
//! cargo test … --test stress -- --rounds 200 --seed 7 --jobs 4     the long part
//! cargo test … --test stress -- --seed 7 --round 31                one round again
//! cargo test … --test stress -- --plan 100 --strikes 30 --seed 7   the plan alone
//! scripts/with-postgres cargo test … --test stress -- …            the same on a server
//! cargo test … --test stress -- --rounds 50 --step Late            at one step alone (`chaos.rs`);
//!                                                    also --strike KillWorker, --kind breeder
//! ```
//! The seed fixes the atoms, their scripts and the strikes, but not the machine's scheduling, so a
//! failed round may have to be repeated. A violation names seed and round, shows the events of the
//! atom, and keeps the folder.

// For the lints: all of this is test code.
#![cfg(test)]

mod chaos;
mod crowd;
mod db;
mod plan;
mod procs;
mod rng;
mod round;
mod scratch;
mod script;
mod strikes;
mod verify;
mod watch;
mod workers;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

#[derive(Debug, Clone)]
struct Options {
    rounds: u64,
    first: u64,
    seed: u64,
    jobs: u64,
    crowd: bool,
    /// The number of the plan's tasks and of strikes.
    plan: usize,
    strikes: u64,
    verbose: bool,
    /// Strikes at this step alone, of this kind alone, on atoms of this kind alone.
    only: Only,
}

#[derive(Debug, Clone, Default)]
struct Only {
    step: Option<String>,
    strike: Option<String>,
    kind: Option<String>,
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        // Another test was asked for, or a list of tests.
        Ok(None) => return ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let began = Instant::now();
    let mut violations = if options.crowd { crowd::run(options.seed) } else { 0 };
    violations += rounds(&options);
    if options.plan > 0 {
        violations += plan::run(options.seed, options.plan, options.strikes);
    }
    println!("stress: {violations} violation(s) in {:.0} s", began.elapsed().as_secs_f64());
    if violations == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs all rounds, several at a time; how many violations there were.
fn rounds(options: &Options) -> usize {
    let next = AtomicU64::new(options.first);
    let end = options.first + options.rounds;
    let total: Mutex<(BTreeMap<String, u64>, usize)> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= end {
                        break;
                    }
                    let done = round::run(options, number);
                    let mut total = total.lock().unwrap();
                    for (what, count) in done.counts {
                        *total.0.entry(what).or_default() += count;
                    }
                    total.1 += done.violations;
                }
            });
        }
    });
    let (counts, violations) = total.into_inner().unwrap();
    for (what, count) in &counts {
        println!("{count:>7}  {what}");
    }
    violations
}

/// Parses the arguments, including those that a test runner passes to every test program.
fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let only = Only::default();
    let mut options = Options {
        rounds: 4,
        first: 0,
        seed: 1,
        jobs: 2,
        crowd: true,
        plan: 100,
        strikes: 20,
        verbose: false,
        only,
    };
    while let Some(word) = words.next() {
        let mut number = || -> Result<u64, String> {
            words
                .next()
                .and_then(|w| w.parse().ok())
                .ok_or_else(|| format!("{word} needs a number"))
        };
        match word.as_str() {
            "--rounds" => (options.rounds, options.crowd, options.plan) = (number()?, false, 0),
            "--round" => {
                (options.first, options.rounds, options.crowd, options.plan) =
                    (number()?, 1, false, 0);
            }
            "--seed" => options.seed = number()?,
            "--jobs" => options.jobs = number()?,
            "--crowd" => (options.crowd, options.rounds, options.plan) = (true, 0, 0),
            "--plan" => {
                (options.plan, options.crowd, options.rounds) =
                    (usize::try_from(number()?).unwrap_or(usize::MAX), false, 0);
            }
            "--strikes" => options.strikes = number()?,
            "--step" => options.only.step = words.next(),
            "--strike" => options.only.strike = words.next(),
            "--kind" => options.only.kind = words.next(),
            "--verbose" => options.verbose = true,
            "--list" => {
                println!("stress: test");
                return Ok(None);
            }
            "--test-threads" | "--format" | "--color" | "--skip" | "-Z" => drop(words.next()),
            flag if flag.starts_with('-') => {}
            name if "stress".contains(name) => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(options))
}
