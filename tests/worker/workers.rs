//! `el workers` of one machine.

use rustix::process::Signal;

use crate::support::{SOON, TestEnv, wait_until};

#[test]
fn workers_are_listed_with_their_runs_and_one_that_was_killed_is_gone() {
    let env = TestEnv::with_tracker();
    assert!(env.el(&["workers"]).ok().stdout.contains("No worker is there"));
    let atom = env.script_atom(&["hang"]);
    let worker = env.start_work(&["--name", "forge"]);
    worker.wait_for("launched");
    let row = env.robot(&["workers", "show", "forge"])["items"][0].take();
    assert_eq!(
        (&row["name"], &row["pid"], &row["agents"][0], &row["state"]),
        (&"forge".into(), &worker.pid().into(), &"claude".into(), &"working".into())
    );
    assert_eq!(row["runs"][0]["atom_id"], atom.as_str(), "{row}");
    assert!(row["seen_at"].is_string() && !row["host"].as_str().unwrap().is_empty(), "{row}");
    let listed = env.el(&["workers"]).ok().stdout;
    assert!(listed.contains("forge") && listed.contains("1/1"), "{listed}");
    let shown = env.el(&["workers", "show", "forge"]).ok().stdout;
    assert!(shown.contains("serves claude") && shown.contains(&atom), "{shown}");
    let id = row["worker_id"].as_str().unwrap();
    assert_eq!(env.el(&["workers", "list", "-q"]).ok().stdout.trim(), id);
    assert_eq!(env.robot(&["workers", "show", id])["count"], 1);
    env.el(&["workers", "show", "anvil"]).fails_with(3);
    env.el(&["work", "--name", " ", "--once"]).fails_with(2);

    worker.signal(Signal::KILL);
    drop(worker.wait(SOON));
    let state = || env.robot(&["workers"])["items"][0]["state"].take();
    wait_until("the end of the worker", SOON, || (state() == "gone").then_some(()));
    env.el(&["work", "--stop"]).ok();
}
