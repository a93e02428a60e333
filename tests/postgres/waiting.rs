//! A worker that has nothing to do.

use std::thread;
use std::time::Duration;

use super::way::Way;
use super::with_tracker;
use crate::support::{SOON, wait_until};

/// Waits until nothing was asked for some seconds: a worker that looks does so every second.
fn wait_for_rest(way: &Way) {
    wait_until("a worker that rests", SOON, || {
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
