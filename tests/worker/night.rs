//! A compressed night: whatever the account, the service and the machine do, in the morning only
//! atoms with failed agents are blocked, and a single screen tells the story.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::Signal;
use serde_json::json;

use super::full_disk::fill;
use crate::support::{SOON, SmallDisk, TestEnv};

/// The shortest lease that can be set.
const LEASE: Duration = Duration::from_secs(5);

#[test]
fn in_the_morning_only_what_an_agent_failed_at_is_blocked() {
    let env = TestEnv::new();
    let disk = SmallDisk::mount_at(&env.project(".eluent"), 16);
    env.el(&["init", "--name", "t"]).ok();
    env.configure(&format!("max_attempts = 1\nlease = \"{}s\"\n", LEASE.as_secs()));
    let worker = env.start_work(&["--concurrency", "3"]);

    // The service is down during two runs.
    let down = ["api-error 529 overloaded", "on-attempt 2", "close done"];
    let mut done: Vec<String> = (0..2).map(|_| env.script_atom(&down)).collect();
    done.iter().for_each(|id| drop(env.wait_for_status(id, "closed")));

    // The usage limit is reached, and resets.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let limit = format!("rate-limit {}", now + 2);
    let limited = env.script_atom(&[&limit, "on-attempt 2", "close done"]);
    env.wait_for_status(&limited, "closed");

    // An agent fails by itself.
    let bad = env.script_atom(&["say I cannot do this", "exit 3"]);
    env.wait_for_status(&bad, "blocked");

    // A person ends the tmux server with three sessions.
    let script = |n: usize| {
        let touch = format!("touch night-{n}");
        env.script_atom(&["say on it", &touch, "hang", "on-attempt 2", "close done"])
    };
    let killed: Vec<String> = (0..3).map(script).collect();
    (0..3).for_each(|n| drop(env.wait_for_file(format!("night-{n}"))));
    env.tmux(&["kill-server"]).unwrap();
    killed.iter().for_each(|id| drop(env.wait_for_status(id, "closed")));

    // The disk is full, and an agent cannot close what it did.
    if let Some(disk) = &disk {
        let tries = ["touch begun", "wait-file full", "close done", "touch tried", "exit 1"];
        let unclosed = env.script_atom(&[&tries[..], &["on-attempt 2", "close done"]].concat());
        env.wait_for_file("begun");
        fill(disk, &env);
        std::fs::write(env.project("full"), "").unwrap();
        env.wait_for_file("tried");
        disk.free();
        env.wait_for_end(&unclosed, 2);
        assert_eq!(env.outcomes(&unclosed), ["interrupted", "closed"]);
    }

    // The machine is suspended for longer than a lease, and wakes in any order.
    let awake = env.project("awake");
    let steps = ["say before", "touch asleep", "wait-file awake", "close done"];
    let asleep = env.script_atom(&[&steps[..], &["on-attempt 2", "close done"]].concat());
    env.wait_for_file("asleep");
    let mut machine = env.processes();
    let server = env.tmux(&["display-message", "-p", "#{pid}"]).unwrap();
    // tmux wakes a stopped pane, so tmux sleeps first.
    machine.sort_by_key(|process| process.pid.to_string() != server.trim());
    machine.iter().for_each(|process| process.signal(Signal::STOP));
    std::thread::sleep(LEASE + LEASE / 2);
    machine.iter().rev().for_each(|process| process.signal(Signal::CONT));
    std::fs::write(&awake, "").unwrap();
    env.wait_for_status(&asleep, "closed");

    // At last the key becomes invalid, with a queue waiting.
    let refused = ["api-retry 401", "api-retry 401", "hang", "on-attempt 2", "close done"];
    let key = env.script_atom(&refused);
    let paused = worker.wait_for_event(|event| event["kind"] == "account");
    assert!(paused["reason"].as_str().unwrap().contains("el work --resume"), "{paused}");
    let waiting: Vec<String> = (0..3).map(|_| env.create("Behind it", &[])).collect();

    // The morning.
    let blocked = env.robot(&["list", "--status", "blocked"])["items"].take();
    let blocked: Vec<&str> =
        blocked.as_array().unwrap().iter().map(|atom| atom["id"].as_str().unwrap()).collect();
    assert_eq!(blocked, [bad.as_str()]);
    let screen = env.el(&["stats"]).ok().stdout;
    for word in ["closed", "failed", "outage", "usage_limit", "interrupted", "account_error"] {
        assert!(screen.contains(word), "no {word} in {screen}");
    }
    assert!(screen.contains("el work --resume"), "{screen}");
    assert!(screen.lines().count() <= 40, "one screen: {screen}");
    assert_eq!(env.robot(&["stats"])["pause"]["kind"], "account");

    // The worker still waits, and goes on at a person's word.
    env.robot(&["work", "--resume"]);
    done.extend(waiting);
    done.push(key);
    done.iter().for_each(|id| drop(env.wait_for_status(id, "closed")));
    assert_eq!(env.outcomes(&bad), ["failed"]);
    worker.signal(Signal::INT);
    let ran = worker.wait(SOON).ok();
    let last: serde_json::Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["event"], json!("finished"));
}
