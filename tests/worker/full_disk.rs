//! A disk without room is nobody's fault.

use std::fs;

use crate::support::{SOON, SmallDisk, TestEnv, wait_until};

/// Takes all room, also that in the log of the database.
pub(super) fn fill(disk: &SmallDisk, env: &TestEnv) {
    let database = env.database();
    wait_until("a disk without room", SOON, || {
        database.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").ok()?;
        disk.fill();
        (fs::metadata(env.project(".eluent/el.db-wal")).ok()?.len() == 0).then_some(())
    });
}

#[test]
fn a_close_that_found_no_room_is_charged_to_nobody_and_the_atom_is_closed_later() {
    let env = TestEnv::new();
    let Some(disk) = SmallDisk::mount_at(&env.project(".eluent"), 4) else { return };
    env.el(&["init", "--name", "t"]).ok();
    env.configure("max_attempts = 1\n");
    let worker = env.start_work(&[]);
    // An agent that ends well is asked once more, and finds room or not, as it happens.
    let steps = ["touch begun", "wait-file full", "close done", "touch tried", "exit 1"];
    let atom = env.script_atom(&[&steps[..], &["on-attempt 2", "close done"]].concat());
    env.wait_for_file("begun");
    fill(&disk, &env);
    fs::write(env.project("full"), "").unwrap();
    env.wait_for_file("tried");
    assert_eq!(env.status(&atom), "in_progress", "it cannot be read as anything else");
    disk.free();
    env.wait_for_end(&atom, 2);
    assert_eq!(env.outcomes(&atom), ["interrupted", "closed"]);
    let why = env.el(&["why", &atom]).ok().stdout;
    assert!(why.contains("the disk of the tracker was full"), "{why}");
    let next = env.script_atom(&["close done"]);
    env.wait_for_status(&next, "closed");
    worker.signal(rustix::process::Signal::INT);
    worker.wait(SOON).ok();
}

#[test]
fn a_launch_that_found_no_room_is_charged_to_nobody() {
    let env = TestEnv::with_tracker();
    let Some(disk) = SmallDisk::mount_at(&env.project(".eluent/runs"), 4) else { return };
    env.configure("max_attempts = 1\n");
    disk.fill();
    let atom = env.script_atom(&["close done"]);
    let worker = env.start_work(&[]);
    env.wait_for_end(&atom, 1);
    assert_eq!(env.outcomes(&atom)[0], "interrupted");
    disk.free();
    env.wait_for_status(&atom, "closed");
    worker.signal(rustix::process::Signal::INT);
    worker.wait(SOON).ok();
}
