//! A database that cannot be used: the message, and no further damage.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{SOON, TestEnv};

#[track_caller]
fn fails(env: &TestEnv, words: &[&str], exit: i32, code: &str) -> Value {
    let ran = env.run(env.command("el").arg("--robot").args(words)).fails_with(exit);
    let error = ran.json()["error"].take();
    assert_eq!(error["code"], code, "{words:?}: {error}");
    error
}

#[test]
fn one_that_another_process_holds_for_a_second_is_waited_for() {
    let env = TestEnv::with_tracker();
    let database = env.database();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let creating = env.start_el(&["create", "Waits"]);
    let closing = env.start_el(&["--robot", "next", "--claim"]);
    // Readers wait for no writer.
    assert_eq!(env.robot(&["list"])["count"], 0);
    std::thread::sleep(Duration::from_secs(1));
    database.execute_batch("COMMIT").unwrap();
    creating.wait(SOON).ok();
    closing.wait(SOON).ok();
    assert_eq!(env.robot(&["list"])["count"], 1);
}

#[test]
#[ignore = "a process of the test below"]
fn stopped_holder() {
    let (Some(file), Some(held)) =
        (std::env::var_os("EL_TEST_DATABASE"), std::env::var_os("EL_TEST_HELD"))
    else {
        return;
    };
    let database = rusqlite::Connection::open(file).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::fs::write(held, "").unwrap();
    rustix::process::kill_process(rustix::process::getpid(), Signal::STOP).unwrap();
    // Another thread may take the signal, and this one go on for a moment.
    std::thread::sleep(Duration::from_secs(1));
}

#[test]
fn a_stopped_process_that_keeps_a_lock_is_named_with_the_call_that_lets_it_go_on() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let env = TestEnv::with_tracker();
    let (file, held) = (env.project(".eluent/el.db"), env.path("tmp/held"));
    let mut command = env.command(std::env::current_exe().unwrap().to_str().unwrap());
    command.args(["--ignored", "--exact", "cli::database::stopped_holder"]);
    command.env("EL_TEST_DATABASE", &file).env("EL_TEST_HELD", &held);
    let holder = env.start(&mut command);
    env.wait_for_file(&held);
    let error = fails(&env, &["create", "Behind it"], 7, "busy");
    assert_eq!(error["details"]["stopped"], holder.pid(), "{error}");
    let remedy = format!("kill -CONT {}", holder.pid());
    assert!(error["hint"].as_str().unwrap().contains(&remedy), "{error}");
    env.run(env.command("sh").args(["-c", &remedy])).ok();
    holder.wait(SOON).ok();
    env.create("After it", &[]);
}

#[test]
fn a_reader_that_stands_still_blocks_nobody() {
    let env = TestEnv::with_tracker();
    // In the middle of a read transaction.
    let reader = env.database();
    reader.execute_batch("BEGIN; SELECT count(*) FROM atoms").unwrap();
    let id = env.create("Beside it", &[]);
    env.el(&["close", &id]).ok();
    env.work(&["--once"]);
    let seen: i64 = reader.query_row("SELECT count(*) FROM atoms", [], |row| row.get(0)).unwrap();
    assert_eq!(seen, 0, "it still reads what it began with");
}

#[test]
fn one_of_a_newer_el_is_refused_and_not_touched() {
    let env = TestEnv::with_tracker();
    env.create("Kept", &[]);
    env.database().execute_batch("PRAGMA user_version = 999").unwrap();
    for words in [&["list"][..], &["create", "x"], &["doctor"], &["work", "--once"]] {
        let ran = env.run(env.command("el").arg("--robot").args(words));
        let text = ran.json().to_string();
        assert!(text.contains("newer"), "{words:?}: {text}");
    }
    let error = fails(&env, &["list"], 6, "newer_database");
    assert_eq!(error["details"]["found"], 999);
    assert!(error["hint"].as_str().unwrap().contains("newer el"), "{error}");
    let kept: i64 =
        env.database().query_row("SELECT count(*) FROM atoms", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 1);
}

#[test]
fn a_file_that_is_no_database_is_told_and_left_alone() {
    for content in [
        "this is not a database, and long enough to be looked at as one by SQLite, which reads a \
         header of one hundred bytes",
        "x",
    ] {
        let env = TestEnv::with_tracker();
        let file = env.project(".eluent/el.db");
        for side in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(env.project(format!(".eluent/el.db{side}")));
        }
        std::fs::write(&file, content).unwrap();
        let error = fails(&env, &["list"], 1, "not_a_database");
        assert!(error["hint"].as_str().unwrap().contains("backup"), "{error}");
        fails(&env, &["create", "x"], 1, "not_a_database");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), content);
    }
}

#[test]
fn an_empty_file_and_another_programs_database_are_told() {
    let env = TestEnv::with_tracker();
    std::fs::write(env.path("empty.db"), "").unwrap();
    let empty = env.path("empty.db");
    let error = fails(&env, &["list", "--db", empty.to_str().unwrap()], 1, "not_a_database");
    assert!(error["message"].as_str().unwrap().contains("el init"), "{error}");
    // For any schema version, the current one included.
    for version in 1..=20 {
        let other = env.path(format!("other-{version}.db"));
        let tables = format!("CREATE TABLE x (y); PRAGMA user_version = {version};");
        rusqlite::Connection::open(&other).unwrap().execute_batch(&tables).unwrap();
        let error = fails(&env, &["list", "--db", other.to_str().unwrap()], 1, "not_a_database");
        assert!(error["message"].as_str().unwrap().contains("another program"), "{error}");
    }
}

#[test]
fn a_damaged_file_is_told_and_never_a_panic() {
    let env = TestEnv::with_tracker();
    let text: String = (0..500)
        .map(|n| format!("{{\"title\":\"Atom {n}\",\"description\":\"{}\"}}\n", "x".repeat(300)))
        .collect();
    std::fs::write(env.project("many.jsonl"), text).unwrap();
    env.el(&["create", "--file", "many.jsonl"]).ok();
    env.database().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let file = env.project(".eluent/el.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let (from, to) = (bytes.len() / 4, bytes.len() / 4 * 3);
    bytes[from..to].fill(0x5a);
    std::fs::write(&file, bytes).unwrap();
    for words in [&["list"][..], &["search", "atom"], &["create", "x"], &["stats"]] {
        let ran = env.run(env.command("el").arg("--robot").args(words));
        assert!([0, 1].contains(&ran.status), "{words:?}: {ran:#?}");
        ran.json();
        assert!(!ran.stderr.contains("panicked"), "{ran:#?}");
    }
    let error = fails(&env, &["show", "x"], 1, "damaged");
    assert!(error["hint"].as_str().unwrap().contains("copy the folder .eluent away"), "{error}");
    let doctor = env.run(env.command("el").args(["--robot", "doctor"]));
    assert!(
        doctor.stdout.contains("malformed") || doctor.stdout.contains("serious"),
        "{doctor:#?}"
    );
}

#[test]
fn a_disk_that_takes_no_more_is_told_and_leaves_nothing_half_done() {
    let env = TestEnv::with_tracker();
    let id = env.create("Kept", &[]);
    env.database().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    std::fs::write(env.project("big"), "x ".repeat(200_000)).unwrap();
    let before = env.robot(&["history"]);
    // The limit of a file's size stands for a disk without room.
    let full = |words: &str| {
        env.run(
            env.command("sh")
                .args(["-c", &format!("trap '' XFSZ; ulimit -f 80; exec el --robot {words}")]),
        )
    };
    for words in [
        "create Big --description-file big",
        &format!("comment add {id} - < big"),
        "init --db other.db --name x",
    ] {
        let error = full(words).fails_with(1).json()["error"].take();
        assert_eq!(error["code"], "disk", "{words}: {error}");
        assert!(error["hint"].as_str().unwrap().contains("make room"), "{error}");
    }
    full("list").ok();
    assert_eq!(env.robot(&["history"]), before);
    env.robot(&["create", "Big", "--description-file", "big"]);
    // Work begun on a full disk is completed on a disk with room.
    env.el(&["init", "--db", "other.db", "--name", "x"]).ok();
    env.el(&["create", "It", "--db", "other.db"]).ok();
}

#[test]
fn a_record_that_cannot_be_read_does_not_hide_the_others() {
    let env = TestEnv::with_tracker();
    let (bad, good) = (env.create("Bad", &[]), env.create("Good", &[]));
    let database = env.database();
    database.execute_batch("PRAGMA ignore_check_constraints = ON").unwrap();
    database.execute("UPDATE atoms SET status = 'banana' WHERE id = ?1", [&bad]).unwrap();
    drop(database);
    let listed = env.run(env.command("el").args(["--robot", "list"])).ok();
    assert!(listed.stdout.contains(&good), "{listed:#?}");
    assert_eq!(env.status(&good), "open");
    assert_eq!(env.status(&bad), "blocked", "what cannot be read is not worked on");
    let ready = env.robot(&["ready"]);
    assert_eq!((&ready["count"], &ready["items"][0]["id"]), (&1.into(), &good.clone().into()));
    let doctor = env.run(env.command("el").args(["--robot", "doctor"]));
    assert!(doctor.stdout.contains(&bad), "the doctor names it: {doctor:#?}");
    // A person can repair the database.
    env.el(&["update", &bad, "--status", "open"]).ok();
    assert_eq!(env.status(&bad), "open");
}

#[test]
fn a_folder_that_may_not_be_written_is_told() {
    let env = TestEnv::with_tracker();
    let id = env.create("Readable", &[]);
    env.database().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let set = |path: &std::path::Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap()
    };
    set(&env.path(""), 0o755);
    set(&env.project(".eluent/el.db"), 0o444);
    set(&env.project(".eluent"), 0o555);
    // Root may write everywhere, so the test switches to `nobody`.
    let other = |words: &[&str]| {
        let is_root = rustix::process::geteuid().is_root();
        let mut command = if is_root { env.command("setpriv") } else { env.command("el") };
        if is_root {
            command.args([
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                env!("CARGO_BIN_EXE_el"),
            ]);
        }
        env.run(command.args(words))
    };
    let shown = other(&["--robot", "show", &id]);
    let written = other(&["--robot", "create", "x"]);
    set(&env.project(".eluent"), 0o755);
    for ran in [shown, written] {
        let error = ran.fails_with(1).json()["error"].take();
        assert_eq!(error["code"], "read_only", "{error}");
        assert!(error["hint"].as_str().unwrap().contains("writable"), "{error}");
    }
    assert_eq!(env.robot(&["list"])["count"], 1);
}

#[test]
fn a_log_that_another_process_left_behind_is_taken_in() {
    let env = TestEnv::with_tracker();
    let id = env.create("Written before the kill", &[]);
    // A process that dies with an open log leaves -wal and -shm in place.
    let holder = env.database();
    let _: i64 = holder.query_row("SELECT count(*) FROM atoms", [], |row| row.get(0)).unwrap();
    env.el(&["comment", "add", &id, "in the log"]).ok();
    for name in ["el.db", "el.db-wal"] {
        std::fs::copy(env.project(format!(".eluent/{name}")), env.path(name)).unwrap();
    }
    drop(holder);
    let copy = env.robot(&["show", &id, "--db", env.path("el.db").to_str().unwrap()]);
    assert_eq!(copy["comments"][0]["content"], "in the log");
}

#[test]
fn a_new_database_is_its_owners_alone_and_one_that_is_there_keeps_its_mode() {
    let env = TestEnv::new();
    env.el(&["init"]).ok();
    env.create("One", &[]);
    let mode = |name: &str| {
        std::fs::metadata(env.project(name)).ok().map(|meta| meta.permissions().mode() & 0o777)
    };
    assert_eq!(mode(".eluent/el.db"), Some(0o600));
    let writer = rusqlite::Connection::open(env.project(".eluent/el.db")).unwrap();
    writer.execute("UPDATE atoms SET priority = 1", []).unwrap();
    for beside in [".eluent/el.db-wal", ".eluent/el.db-shm"] {
        assert_eq!(mode(beside), Some(0o600), "{beside}");
    }
    drop(writer);
    std::fs::set_permissions(env.project(".eluent/el.db"), std::fs::Permissions::from_mode(0o660))
        .unwrap();
    env.create("Two", &[]);
    assert_eq!(mode(".eluent/el.db"), Some(0o660));
}

#[test]
fn an_actor_that_is_no_name_is_refused() {
    let mut env = TestEnv::with_tracker();
    let long = "x".repeat(101);
    for actor in ["a\u{1b}[2Jb", "two\nlines", &long] {
        let error = env.el(&["--robot", "create", "x", "--actor", actor]).fails_with(2).json();
        assert_eq!(error["error"]["details"]["field"], "actor", "{error}");
        env.set("EL_ACTOR", actor);
        env.el(&["create", "x"]).fails_with(2);
        env.el(&["create", "x", "--actor", "ann"]).ok();
        assert!(!env.el(&["hook", "pre-compact"]).ok().stdout.is_empty());
        env.unset("EL_ACTOR");
    }
}
