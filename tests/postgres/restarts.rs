//! A server that is started anew while workers and agents are at it.

use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::crashing::OwnServer;
use crate::support::{Running, SOON, TestEnv, wait_until};

/// Longer than a worker took to give up when it asked without a pause.
const OUTAGE: Duration = Duration::from_secs(3);

fn wait_for_warning(worker: &Running, part: &str) {
    wait_until(part, SOON, || worker.stdout().contains(part).then_some(()));
}

/// A worker that has nothing to do, and has noticed that its server was killed.
fn left_alone() -> Option<(TestEnv, OwnServer, Running)> {
    let (env, server, _) = OwnServer::with_tracker()?;
    let worker = env.start_work(&[]);
    worker.wait_for("started");
    server.signal(Signal::KILL);
    // A worker at rest looks within half a minute.
    wait_for_warning(&worker, "waiting for the server");
    Some((env, server, worker))
}

#[test]
fn a_worker_waits_for_its_server_and_tells_so_once() {
    let Some((env, server, worker)) = left_alone() else { return };
    thread::sleep(OUTAGE);
    server.start_again(&env);
    wait_for_warning(&worker, "the server answers again");
    let atom = env.script_atom(&["close done"]);
    assert_eq!(env.wait_for_end(&atom, 1)["outcome"], "closed");
    env.el(&["work", "--stop"]).ok();
    let told = worker.wait(SOON).ok();
    assert_eq!(told.stdout.matches("waiting for the server").count(), 1, "{}", told.stdout);
    assert!(!told.stdout.contains("is tried again"), "{}", told.stdout);
}

#[test]
fn a_worker_that_waits_for_its_server_ends_by_an_interrupt() {
    let Some((_env, _server, worker)) = left_alone() else { return };
    worker.signal(Signal::INT);
    let told = worker.wait(SOON);
    assert!(told.stdout.contains("\"stopped_by\":\"interrupt\""), "{told:?}");
}

#[test]
fn a_worker_that_starts_without_its_server_waits_for_it() {
    let Some((env, server, _)) = OwnServer::with_tracker() else { return };
    server.signal(Signal::KILL);
    env.el(&["work", "--once"]).fails_with(6);
    let worker = env.start_work(&["--name", "forge"]);
    wait_for_warning(&worker, "waiting for the server");
    thread::sleep(OUTAGE);
    server.start_again(&env);
    wait_for_warning(&worker, "the server answers again");
    worker.wait_for("started");
    let atom = env.script_atom(&["close done"]);
    assert_eq!(env.wait_for_end(&atom, 1)["outcome"], "closed");
    env.el(&["work", "--stop"]).ok();
    let told = worker.wait(SOON).ok();
    assert_eq!(told.stdout.matches("waiting for the server").count(), 1, "{}", told.stdout);
}

#[test]
fn an_agent_closes_its_atom_while_the_server_is_started_anew() {
    let Some((env, server, _)) = OwnServer::with_tracker() else { return };
    // The outage is shorter than what is left of a lease.
    env.configure("lease = \"60s\"\n");
    let atom = env.script_atom(&["touch began", "wait-file go", "touch asks", "close done"]);
    let worker = env.start_work(&["--drain"]);
    env.wait_for_file("began");
    server.signal(Signal::KILL);
    wait_for_warning(&worker, "waiting for the server");
    std::fs::write(env.project("go"), "").unwrap();
    env.wait_for_file("asks");
    thread::sleep(OUTAGE);
    server.start_again(&env);
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&atom), ["closed"]);
}

#[test]
fn who_waits_for_a_task_waits_for_the_server_too() {
    let Some((env, server, _)) = OwnServer::with_tracker() else { return };
    env.configure("lease = \"60s\"\n");
    let script = TestEnv::script(&["touch began", "wait-file go", "close done"]);
    let caller = env.start(env.command("el").args(["run", &script, "--wait"]));
    env.wait_for_file("began");
    server.signal(Signal::KILL);
    wait_until("a word of it", SOON, || {
        caller.stderr().contains("waiting for the server").then_some(())
    });
    thread::sleep(OUTAGE);
    server.start_again(&env);
    std::fs::write(env.project("go"), "").unwrap();
    let told = caller.wait(SOON).ok();
    assert_eq!(told.stderr.matches("waiting for the server").count(), 1, "{}", told.stderr);
    env.el(&["work", "--stop"]).ok();
}
