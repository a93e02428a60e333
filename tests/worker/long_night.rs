//! A long night: the troubles of `night.rs` in a random order, over many atoms and two workers.
//! `scripts/test --thorough` runs it; `EL_NIGHT_SEED` repeats a night.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::Signal;

use crate::support::{Running, SOON, SmallDisk, TestEnv, wait_until};

/// The shortest lease that can be set.
const LEASE: Duration = Duration::from_secs(5);
const ATOMS: usize = 40;
/// No night takes longer.
const NIGHT: Duration = Duration::from_secs(600);

/// A generator of Marsaglia (xorshift64).
struct Dice(u64);

impl Dice {
    fn roll_die(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// The steps of an atom, and whether its agent fails by itself.
fn random_steps(dice: &mut Dice, nth: usize) -> (Vec<String>, bool) {
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    // Troubles of the account are few: each makes all others wait.
    match (nth % 10, dice.roll_die(4)) {
        (0, _) => (lines(&["api-error 529 overloaded", "on-attempt 2", "close done"]), false),
        (3, _) => {
            let limit = format!("rate-limit {}", now + 12 + dice.roll_die(8));
            (lines(&[&limit, "on-attempt 2", "close done"]), false)
        }
        (6, 0..2) => {
            let refused = ["api-retry 401", "api-retry 401", "hang", "on-attempt 2", "close done"];
            (lines(&refused), false)
        }
        (9, _) => (lines(&["say I cannot do this", "exit 3"]), true),
        (_, 0) => (lines(&["say quick", "close done"]), false),
        (_, rest) => {
            let slow = format!("sleep {}", rest + dice.roll_die(3));
            (lines(&["say on it", &slow, "say nearly", "close done"]), false)
        }
    }
}

fn start_worker(env: &TestEnv, name: &str) -> Running {
    env.start_work(&["--concurrency", "2", "--name", name])
}

/// Stops all that belongs to the project for longer than a lease, tmux first, which wakes a
/// stopped pane.
fn suspend_machine(env: &TestEnv) {
    let mut machine = env.processes();
    let server = env.tmux(&["display-message", "-p", "#{pid}"]).unwrap_or_default();
    machine.sort_by_key(|process| process.pid.to_string() != server.trim());
    machine.iter().for_each(|process| process.signal(Signal::STOP));
    std::thread::sleep(LEASE + LEASE / 2);
    machine.iter().rev().for_each(|process| process.signal(Signal::CONT));
}

#[test]
#[ignore = "minutes long: scripts/test --thorough"]
fn after_troubles_in_any_order_only_what_an_agent_failed_at_is_blocked() {
    let seed = std::env::var("EL_NIGHT_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    eprintln!("EL_NIGHT_SEED={seed}");
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let env = TestEnv::new();
    let disk = SmallDisk::mount_at(&env.project(".eluent"), 16);
    env.el(&["init", "--name", "t"]).ok();
    env.configure(&format!("max_attempts = 1\nlease = \"{}s\"\n", LEASE.as_secs()));
    let mut workers = ["early", "late"].map(|name| Some(start_worker(&env, name)));
    let began = Instant::now();
    let count = |status: &str| env.robot(&["list", "--status", status])["count"].as_u64().unwrap();
    let (mut filed, mut bad, mut told) = (0, Vec::new(), Vec::new());
    while count("closed") + count("blocked") < ATOMS as u64 {
        // A limit's time is near when its atom is claimed, so few wait at once.
        while filed < ATOMS && count("open") < 3 {
            let (steps, fails) = random_steps(&mut dice, filed);
            let id = env.script_atom(&steps.iter().map(String::as_str).collect::<Vec<_>>());
            bad.extend(fails.then_some(id));
            filed += 1;
        }
        assert!(began.elapsed() < NIGHT, "{told:?}\n{}", env.el(&["list", "--waiting"]).stdout);
        std::thread::sleep(Duration::from_millis(500 + dice.roll_die(2_500)));
        // A person renews the key.
        if env.robot(&["stats"])["pause"]["kind"] == "account" {
            env.robot(&["work", "--resume"]);
            told.push("resume");
        }
        match (dice.roll_die(12), &disk) {
            (0, _) => {
                let _ = env.tmux(&["kill-server"]);
                told.push("tmux");
            }
            (1, Some(disk)) => {
                // Also the room that a shorter log gives back.
                for _ in 0..5 + dice.roll_die(20) {
                    disk.fill();
                    std::thread::sleep(Duration::from_millis(100));
                }
                disk.free();
                told.push("disk");
            }
            (2, _) if !told.ends_with(&["suspend"]) => {
                suspend_machine(&env);
                told.push("suspend");
            }
            (3, _) => {
                let at = usize::from(dice.roll_die(2) == 1);
                let worker = workers[at].take().unwrap();
                worker.signal(Signal::KILL);
                drop(worker.wait(SOON));
                workers[at] = Some(start_worker(&env, "again"));
                told.push("worker");
            }
            _ => {}
        }
    }

    // The morning.
    let atoms = env.robot(&["list", "--all"])["items"].take();
    let mut blocked: Vec<&str> = atoms
        .as_array()
        .unwrap()
        .iter()
        .filter(|atom| atom["status"] == "blocked")
        .map(|atom| atom["id"].as_str().unwrap())
        .collect();
    blocked.sort_unstable();
    bad.sort_unstable();
    let why = |id: &&str| env.el(&["why", id]).stdout;
    let stories: String =
        blocked.iter().filter(|id| !bad.contains(&id.to_string())).map(why).collect();
    assert_eq!(blocked, bad, "seed {seed}, {told:?}\n{stories}");
    let screen = env.el(&["stats"]).ok().stdout;
    assert!(screen.lines().count() <= 40, "one screen: {screen}");
    eprintln!("{} s, {told:?}\n{screen}", began.elapsed().as_secs());
    for worker in workers.into_iter().flatten() {
        worker.signal(Signal::INT);
        worker.wait(SOON).ok();
    }
    wait_until("the end of all", SOON, || env.processes().is_empty().then_some(()));
}
