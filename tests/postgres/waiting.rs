//! The questions of those who wait: a worker that has nothing to do, and supervisors of silent
//! agents.

use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::crashing::OwnServer;
use super::way::Way;
use super::with_tracker;
use crate::serve::{Board, Listener};
use crate::support::{SOON, TestEnv, wait_until};

/// Waits until nothing was asked for some seconds: whoever looks does so every second.
fn wait_for_rest(way: &Way) {
    wait_until("nobody asks", SOON, || {
        let before = way.asked();
        thread::sleep(Duration::from_secs(4));
        (way.asked() <= before + 1).then_some(())
    });
}

#[test]
fn an_idle_worker_asks_three_times_a_minute_at_the_most_and_is_told_of_work() {
    let Some((mut env, url)) = with_tracker() else { return };
    let way = Way::to(&url, env.path("way"));
    env.set("EL_DATABASE_URL", way.url());
    let worker = env.start_work(&[]);
    wait_for_rest(&way);
    let before = way.asked();
    thread::sleep(Duration::from_secs(60));
    let asked = way.asked() - before;
    assert!((1..=3).contains(&asked), "{asked} questions in a minute");
    env.set("EL_DATABASE_URL", &url);
    let atom = env.script_atom(&["close done"]);
    assert_eq!(env.wait_for_end(&atom, 1)["outcome"], "closed");
    wait_for_rest(&way);
    env.el(&["work", "--stop"]).ok();
    worker.wait(SOON).ok();
}

#[test]
fn a_worker_to_whom_no_message_comes_looks_by_itself() {
    let Some((mut env, url)) = with_tracker() else { return };
    let way = Way::without_messages(&url, env.path("way"));
    env.set("EL_DATABASE_URL", way.url());
    let worker = env.start_work(&[]);
    worker.wait_for("started");
    let before = way.asked();
    // At rest it would ask thrice a minute.
    wait_until("many looks", SOON, || (way.asked() > before + 30).then_some(()));
    let atom = env.script_atom(&["close done"]);
    assert_eq!(env.wait_for_end(&atom, 1)["outcome"], "closed");
    env.el(&["work", "--stop"]).ok();
    worker.wait(SOON).ok();
}

/// Agents that wait, with supervisors whose heartbeats are more than [`SOON`] apart. Their worker
/// has left them.
fn left_alone(env: &TestEnv, count: usize) -> Vec<String> {
    env.configure("lease = \"20m\"\n");
    let names = || (0..count).map(|n| format!("began-{n}"));
    let script = |name: String| env.script_atom(&[&format!("touch {name}"), "hang"]);
    let atoms: Vec<String> = names().map(script).collect();
    let worker = env.start_work(&["--concurrency", &count.to_string()]);
    names().for_each(|name| drop(env.wait_for_file(name)));
    worker.signal(Signal::TERM);
    worker.wait(SOON).ok();
    atoms
}

#[test]
fn a_silent_agents_supervisor_asks_nothing_between_heartbeats_and_is_told_of_its_end() {
    let Some((mut env, url)) = with_tracker() else { return };
    let way = Way::to(&url, env.path("way"));
    env.set("EL_DATABASE_URL", way.url());
    let atoms = left_alone(&env, 3);
    wait_for_rest(&way);
    let before = way.asked();
    thread::sleep(Duration::from_secs(20));
    let asked = way.asked() - before;
    assert!(asked <= 3, "{asked} questions of three supervisors in 20 s");
    env.set("EL_DATABASE_URL", &url);
    // One of the three listens for all. Whichever it is, the others are told after its end.
    for atom in &atoms[..2] {
        env.el(&["cancel", atom]).ok();
        assert_eq!(env.wait_for_end(atom, 1)["outcome"], "cancelled");
    }
    // An atom that a person takes out of a run's hands.
    env.el(&["close", &atoms[2], "--force"]).ok();
    assert_eq!(env.wait_for_end(&atoms[2], 1)["outcome"], "superseded");
}

#[test]
fn a_supervisor_to_whom_no_message_comes_looks_by_itself() {
    let Some((mut env, url)) = with_tracker() else { return };
    let way = Way::without_messages(&url, env.path("way"));
    env.set("EL_DATABASE_URL", way.url());
    let atoms = left_alone(&env, 1);
    env.set("EL_DATABASE_URL", &url);
    env.el(&["cancel", &atoms[0]]).ok();
    assert_eq!(env.wait_for_end(&atoms[0], 1)["outcome"], "cancelled");
}

/// How much is asked in half a minute.
fn asked_in_half_a_minute(way: &Way) -> usize {
    let before = way.asked();
    thread::sleep(Duration::from_secs(30));
    way.asked() - before
}

#[test]
fn who_waits_for_a_task_asks_little_and_is_told_of_its_end() {
    let Some((mut env, _server, url)) = OwnServer::with_tracker() else { return };
    env.configure("lease = \"20m\"\n");
    let worker = env.start_work(&[]);
    worker.wait_for("started");
    let way = Way::to(&url, env.path("way"));
    env.set("EL_DATABASE_URL", way.url());
    let script = TestEnv::script(&["touch began", "wait-file go", "close done"]);
    let waiting = env.start(env.command("el").args(["run", &script, "--wait"]));
    env.wait_for_file("began");
    env.set("EL_DATABASE_URL", &url);
    let asked = asked_in_half_a_minute(&way);
    assert!((1..=80).contains(&asked), "{asked} questions in half a minute");
    std::fs::write(env.project("go"), "").unwrap();
    waiting.wait(SOON).ok();
    env.el(&["work", "--stop"]).ok();
    worker.wait(SOON).ok();
}

#[test]
fn a_board_asks_nothing_while_nobody_looks_and_little_while_somebody_does() {
    let Some((mut env, _server, url)) = OwnServer::with_tracker() else { return };
    let way = Way::to(&url, env.path("way"));
    env.set("EL_DATABASE_URL", way.url());
    let board = Board::start(&env, &[]);
    env.set("EL_DATABASE_URL", &url);
    wait_for_rest(&way);
    let before = way.asked();
    thread::sleep(Duration::from_secs(10));
    assert_eq!(way.asked(), before, "nobody looks");
    let mut listener = Listener::open(&board, "/api/events", "");
    let asked = asked_in_half_a_minute(&way);
    assert!((1..=200).contains(&asked), "{asked} questions in half a minute");
    let id = env.create("New", &[]);
    while listener.next_change().data["atoms"][0]["id"] != id.as_str() {}
}
