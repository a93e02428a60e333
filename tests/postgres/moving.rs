//! A tracker moves to a server and back.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use super::{on_server, with_tracker};
use crate::support::{SOON, SmallDisk, TestEnv};

/// A tracker in a file, and the address of an empty schema.
fn in_file() -> Option<(TestEnv, String)> {
    let (env, url) = on_server()?;
    env.el(&["init", "--name", "t"]).ok();
    env.configure("");
    Some((env, url))
}

/// Returns the export of a tracker, and its events.
fn held(env: &TestEnv) -> String {
    let exported = env.el(&["export"]).ok().stdout;
    format!("{exported}{}", env.robot(&["history"]))
}

#[test]
fn it_goes_to_a_server_and_comes_back_and_the_old_side_says_where_it_is() {
    let Some((mut env, url)) = in_file() else { return };
    let atom = env.script_atom(&["close done"]);
    env.create("Zwölf 👩‍🚀 \"of them\"", &["-d", "it's\nlong"]);
    env.work(&["--once"]);
    let before = held(&env);
    let planned = env.robot(&["db", "move", "--to", &url, "--dry-run"]);
    assert_eq!(planned["state"], "planned");
    assert!(env.robot(&["db"])["closed"].is_null());
    let moved = env.robot(&["db", "move", "--to", &url]);
    assert_eq!((&moved["state"], &moved["rows"]), (&"moved".into(), &planned["rows"]));
    for words in [&["create", "x"][..], &["reopen", &atom], &["work", "--once"]] {
        let told = env.el(words).fails_with(6).stderr;
        assert!(told.contains(&format!("this tracker was moved to {url}")), "{told}");
        assert!(told.contains("EL_DATABASE_URL"), "{told}");
    }
    let read = env.el(&["list", "--all"]).ok();
    assert!(read.stdout.contains("Zwölf") && read.stderr.contains("was moved to"), "{read:?}");
    let state = env.el(&["db"]).ok().stdout;
    assert!(state.contains("was moved to"), "{state}");
    let told = env.el(&["restore"]).fails_with(3).stderr + &env.el(&["doctor"]).stdout;
    assert!(told.contains("was moved to"), "{told}");

    env.set("EL_DATABASE_URL", &url);
    assert_eq!(held(&env), before);
    let new = env.create("On the server", &[]);
    env.robot(&["undo", "--list"]);
    env.el(&["close", &new]).ok();
    let before = held(&env);
    let back = env.el(&["db", "move", "--to", ".eluent/el.db"]).ok().stdout;
    assert!(back.contains("both sides are equal"), "{back}");
    let told = env.el(&["create", "x"]).fails_with(6).stderr;
    assert!(told.contains(".eluent/el.db on "), "{told}");
    env.unset("EL_DATABASE_URL");
    assert_eq!(held(&env), before);
    env.create("At home", &[]);
    let again = env.robot(&["db", "move", "--to", &url]);
    assert_eq!(again["state"], "moved");
}

#[test]
fn a_dump_does_not_go_where_the_tracker_was_moved_away() {
    let Some((mut env, url)) = in_file() else { return };
    env.el(&["db", "move", "--to", &url]).ok();
    env.set("EL_DATABASE_URL", &url);
    env.el(&["db", "dump", "d1.db"]).ok();
    let later = env.create("Later", &[]);
    env.el(&["db", "move", "--to", ".eluent/el.db"]).ok();
    let told = env.el(&["--db", "d1.db", "db", "move", "--to", &url]).fails_with(4).stderr;
    assert!(told.contains("is a copy") && told.contains("a file that is not there yet"), "{told}");
    let told = env.el(&["create", "x"]).fails_with(6).stderr;
    assert!(told.contains("was moved to"), "{told}");
    assert_eq!(env.status(&later), "open");
    env.unset("EL_DATABASE_URL");
    assert_eq!(env.status(&later), "open");
    env.el(&["db", "move", "--to", &url]).ok();
}

#[test]
fn what_cannot_be_moved_is_told_and_nothing_is_changed() {
    let Some((mut env, url)) = in_file() else { return };
    env.create("Kept", &[]);
    let code = |env: &TestEnv, to: &str, exit: i32| {
        let told = env.el(&["--robot", "db", "move", "--to", to]).fails_with(exit).json();
        assert!(env.robot(&["db"])["closed"].is_null());
        told["error"]["code"].as_str().unwrap().to_owned()
    };
    assert_eq!(code(&env, "postgres://ann:s3cret@db/shop", 2), "invalid_value");
    assert_eq!(code(&env, "mysql://db/shop", 6), "server_address");
    assert_eq!(code(&env, "postgres:///shop?host=/nowhere", 6), "server_unreachable");
    assert_eq!(code(&env, ".", 2), "invalid_value");
    assert_eq!(code(&env, "URL", 2), "invalid_value");
    assert_eq!(code(&env, "no/such/folder.db", 3), "not_found");
    assert_eq!(code(&env, ".eluent/el.db", 4), "target_in_use");
    std::fs::write(env.project("text"), "no database, and long enough to be one: ".repeat(9))
        .unwrap();
    assert_eq!(code(&env, "text", 6), "not_a_database");
    rusqlite::Connection::open(env.project("foreign"))
        .unwrap()
        .execute_batch("CREATE TABLE theirs (x TEXT)")
        .unwrap();
    assert_eq!(code(&env, "foreign", 6), "not_a_database");
    env.run(env.command("mkfifo").arg("pipe")).ok();
    assert_eq!(code(&env, "pipe", 6), "not_a_file");
    assert_eq!(code(&env, "/proc/x.db", 6), "database");
    assert_eq!(code(&env, "postgres://db/a%00b", 6), "server_address");
    for (to, exit) in [("text", 4), ("pipe", 6), ("/proc/x.db", 6)] {
        let told = env.el(&["db", "dump", to]).fails_with(exit).stderr;
        assert!(told.contains("not there yet"), "{told}");
    }
    env.set("EL_DATABASE_URL", &url);
    env.el(&["init", "--name", "other"]).ok();
    env.create("Theirs", &[]);
    env.unset("EL_DATABASE_URL");
    assert_eq!(code(&env, &url, 4), "target_in_use");
    let worker = env.start_work(&[]);
    worker.wait_for("started");
    assert_eq!(code(&env, "elsewhere.db", 4), "in_use");
    env.el(&["work", "--stop"]).ok();
    worker.wait(SOON).ok();
    assert_eq!(env.robot(&["db", "move", "--to", "elsewhere.db"])["state"], "moved");
    assert_eq!(env.robot(&["--db", "elsewhere.db", "list", "--all"])["count"], 1);
}

#[test]
fn a_kill_at_any_moment_leaves_one_side_at_most_that_can_be_changed() {
    let Some((mut env, url)) = in_file() else { return };
    for n in 0..40 {
        env.create(&format!("Atom {n}"), &["-d", &"long ".repeat(500)]);
    }
    let mut moved_home = 0;
    for round in 0..30_u64 {
        let before = held(&env);
        let moving = env.start_el(&["db", "move", "--to", &url]);
        // The rounds meet different moments; what has to hold does so at each.
        std::thread::sleep(Duration::from_millis(round * 15));
        moving.signal(Signal::KILL);
        let _ = moving.wait(SOON);
        let can = |env: &TestEnv| env.el(&["create", "Probe"]).status == 0;
        let home = can(&env);
        env.set("EL_DATABASE_URL", &url);
        let there = env.el(&["db"]).stdout.contains("as needed") && can(&env);
        env.unset("EL_DATABASE_URL");
        assert!(!(home && there), "round {round}");
        if !home && !there {
            assert!(env.el(&["db", "move", "--to", &url]).ok().stdout.contains("Finished"));
        } else if home {
            let told = env.robot(&["db", "move", "--to", &url]);
            assert_eq!(told["state"], "moved");
        } else {
            moved_home += 1;
        }
        env.set("EL_DATABASE_URL", &url);
        let now = held(&env);
        if !home && !there {
            assert_eq!(now, before, "round {round}");
        }
        assert!(now.matches("Atom ").count() >= 40);
        env.robot(&["db", "move", "--to", ".eluent/el.db"]);
        env.unset("EL_DATABASE_URL");
    }
    eprintln!("{moved_home} of 30 were done before the kill");
    let listed: Value = env.robot(&["list", "--limit", "0"]);
    assert!(listed["count"].as_u64().unwrap() >= 40);
}

#[test]
fn a_file_that_does_not_fit_on_its_disk_is_not_left_there() {
    let Some((env, _)) = with_tracker() else { return };
    let Some(disk) = SmallDisk::mount_at(&env.path("small"), 4) else { return };
    let text = "x".repeat(100_000);
    (0..60).for_each(|n| drop(env.create(&format!("Long {n}"), &["-d", &text])));
    disk.fill();
    let target = env.path("small/moved.db");
    for room in [false, true] {
        if room {
            disk.free();
        }
        let refused = env.el(&["db", "move", "--to", target.to_str().unwrap()]).fails_with(6);
        assert!(refused.stderr.contains("make room on the disk"), "{}", refused.stderr);
        let left = std::fs::read_dir(env.path("small")).unwrap().flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert!(left.iter().all(|name| name == "filler"), "{left:?}");
    }
    env.create("It goes on", &[]);
}
