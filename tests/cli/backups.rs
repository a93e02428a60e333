//! Backups that make themselves, and what they bring back.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::support::{SOON, TestEnv, wait_until};

/// The folder of the backups of a test's tracker.
fn folder(env: &TestEnv) -> PathBuf {
    let all = env.home().join(".local/state/el/backups");
    let mut found = fs::read_dir(all).unwrap();
    found.next().unwrap().unwrap().path()
}

fn list(env: &TestEnv) -> Vec<Value> {
    env.robot(&["backup", "list"])["items"].as_array().unwrap().clone()
}

fn titles(env: &TestEnv) -> Vec<String> {
    let atoms = env.robot(&["list", "--all"])["items"].take();
    let mut titles: Vec<String> =
        atoms.as_array().unwrap().iter().map(|a| a["title"].as_str().unwrap().into()).collect();
    titles.sort();
    titles
}

/// Makes the hourly backup due.
fn make_due(env: &TestEnv) {
    let due = fs::File::options().write(true).open(folder(env).join("due")).unwrap();
    due.set_modified(SystemTime::now() - Duration::from_secs(1)).unwrap();
}

fn hints(env: &TestEnv, words: &[&str]) -> String {
    let ran = env.run(env.command("el").arg("--robot").args(words));
    assert_ne!(ran.status, 0, "{ran:#?}");
    ran.json()["error"]["hint"].as_str().unwrap().to_owned()
}

fn remove_database(env: &TestEnv) {
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(env.project(format!(".eluent/el.db{end}")));
    }
}

#[test]
fn a_backup_is_listed_and_brought_back_and_what_it_replaces_is_kept() {
    let env = TestEnv::with_tracker();
    env.create("One", &[]);
    let made = env.robot(&["backup", "now"])["backup"].take();
    assert_eq!(made["reason"], "manual");
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder(&env)), 0o700);
    assert_eq!(mode(made["path"].as_str().unwrap().as_ref()), 0o600);

    let two = env.create("Two", &[]);
    let would = env.robot(&["restore", "--dry-run"]);
    assert_eq!(would["change"], serde_json::json!({ "back": 0, "changed": 0, "gone": 1 }));
    assert_eq!(titles(&env), ["One", "Two"]);

    let restored = env.robot(&["restore"]);
    assert_eq!(titles(&env), ["One"]);
    let kept = restored["replaced"].as_str().unwrap().to_owned();
    assert_eq!(list(&env)[0]["reason"], "replaced");
    assert_eq!(
        (list(&env)[0]["atoms"].clone(), list(&env)[1]["atoms"].clone()),
        (2.into(), 1.into())
    );
    // By number, and by file.
    env.robot(&["restore", "1"]);
    assert_eq!(env.status(&two), "open");
    env.robot(&["restore", &kept]);
    assert_eq!(titles(&env), ["One", "Two"]);
    let error = env.run(env.command("el").args(["--robot", "restore", "99"])).fails_with(3).json();
    assert_eq!(error["error"]["code"], "no_backup");
    env.el(&["restore", "3 days ago"]).fails_with(3);
    env.el(&["restore", "nonsense"]).fails_with(2);
    assert!(env.robot(&["history"])["items"].to_string().contains("restored"));
    env.el(&["doctor"]).ok();
}

#[test]
fn a_file_with_a_schema_of_its_own_is_refused() {
    let env = TestEnv::with_tracker();
    env.create("One", &[]);
    let made = env.robot(&["backup", "now"])["backup"]["path"].as_str().unwrap().to_owned();
    let changes = [
        "CREATE TRIGGER theirs AFTER INSERT ON comments BEGIN DELETE FROM atoms; END",
        "CREATE TABLE theirs (x)",
        "CREATE VIEW theirs AS SELECT 1",
        "DROP INDEX runs_live",
    ];
    for change in changes {
        let file = env.path("theirs.db");
        let _ = fs::remove_file(&file);
        fs::copy(&made, &file).unwrap();
        rusqlite::Connection::open(&file).unwrap().execute_batch(change).unwrap();
        let ran = env.el(&["restore", file.to_str().unwrap()]);
        assert_ne!(ran.status, 0, "{change}");
        assert!(ran.stderr.contains("is not as el makes it"), "{change}: {ran:?}");
        assert_eq!(titles(&env), ["One"]);
    }
    env.el(&["restore", &made]).ok();
}

#[test]
fn a_time_means_the_last_backup_before_it() {
    let env = TestEnv::with_tracker();
    for title in ["One", "Two"] {
        env.create(title, &[]);
        env.el(&["backup", "now"]).ok();
    }
    // As if the first had been made three hours ago.
    let first = list(&env)[1]["path"].as_str().unwrap().to_owned();
    let then = env.run(env.command("date").args(["-u", "-d", "-3 hours", "+%Y-%m-%dT%H-%M-%S"]));
    let name = format!("{}.000000Z-hourly.db", then.ok().stdout.trim());
    fs::rename(&first, folder(&env).join(name)).unwrap();
    env.robot(&["restore", "2 hours ago"]);
    assert_eq!(titles(&env), ["One"]);
}

#[test]
fn a_lost_or_damaged_database_is_offered_back() {
    for damage in ["removed", "emptied", "scribbled", "only the file"] {
        let env = TestEnv::with_tracker();
        env.create("Kept", &[]);
        env.el(&["backup", "now"]).ok();
        let file = env.project(".eluent/el.db");
        match damage {
            "removed" => fs::remove_dir_all(env.project(".eluent")).unwrap(),
            "emptied" => {
                remove_database(&env);
                fs::write(&file, "").unwrap();
            }
            "scribbled" => {
                env.database().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
                let mut bytes = fs::read(&file).unwrap();
                let from = bytes.len() / 8;
                bytes[from..].fill(0x5a);
                fs::write(&file, bytes).unwrap();
            }
            _ => fs::remove_file(&file).unwrap(),
        }
        let hint = hints(&env, &["list"]);
        assert!(hint.contains("el restore brings back") && hint.contains("1 atoms"), "{hint}");
        let restored = env.robot(&["restore"]);
        assert_eq!(titles(&env), ["Kept"], "{damage}");
        assert!(restored["fault"].is_string());
        let kept = restored["replaced"].as_str().map(PathBuf::from);
        assert_eq!(kept.is_none(), damage == "removed", "{damage}");
        if let Some(kept) = kept {
            assert!(fs::read_dir(kept).unwrap().count() > 0);
        }
        assert!(env.robot(&["doctor"])["findings"].to_string().find("integrity").is_none());
        env.create("On it goes", &[]);
    }
}

#[test]
fn init_tells_of_the_backups_of_an_earlier_tracker() {
    let env = TestEnv::with_tracker();
    env.create("Kept", &[]);
    env.el(&["backup", "now"]).ok();
    fs::remove_dir_all(env.project(".eluent")).unwrap();
    let ran = env.el(&["init", "--name", "t"]).ok();
    assert!(ran.stderr.contains("el restore"), "{ran:#?}");
    env.el(&["restore"]).ok();
    assert_eq!(titles(&env), ["Kept"]);
}

#[test]
fn the_hourly_one_makes_itself_once_and_only_after_a_change() {
    let env = TestEnv::with_tracker();
    env.create("Before it is due", &[]);
    assert_eq!(list(&env).len(), 0);
    make_due(&env);
    env.robot(&["list"]);
    let started: Vec<_> = (0..8).map(|n| env.start_el(&["create", &format!("A{n}")])).collect();
    started.into_iter().for_each(|el| drop(el.wait(SOON).ok()));
    wait_until("the hourly backup", SOON, || (list(&env).len() == 1).then_some(()));
    assert_eq!(list(&env)[0]["reason"], "hourly");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(list(&env).len(), 1, "eight that wrote made one");
    // Nothing has changed since: none is made, and the next look is an hour off.
    env.robot(&["backup", "now", "--if-changed"]);
    let before = list(&env).len();
    env.robot(&["backup", "now", "--if-changed"]);
    assert_eq!(list(&env).len(), before);
    let due = fs::metadata(folder(&env).join("due")).unwrap().modified().unwrap();
    assert!(due > SystemTime::now() + Duration::from_secs(3000));
}

/// Nobody but the supervisor is there to look.
#[test]
fn the_hourly_one_is_made_for_a_run_whose_worker_is_gone() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["touch begun", "wait-file go", "close done"]);
    env.el(&["backup", "now"]).ok();
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("begun");
    worker.signal(rustix::process::Signal::KILL);
    drop(worker);
    let run = env.last_run(&id);
    make_due(&env);
    env.run(&mut env.el_as_run(&run, &["comment", "add", &id, "a change"])).ok();
    crate::support::wait_until("the backup", crate::support::SOON, || {
        list(&env).iter().any(|backup| backup["reason"] == "hourly").then_some(())
    });
    fs::write(env.project("go"), "").unwrap();
    env.wait_for_end(&id, 1);
}

#[test]
fn what_takes_much_along_is_preceded_by_a_backup() {
    let env = TestEnv::with_tracker();
    let ids = [env.create("One", &[]), env.create("Two", &[])];
    fs::write(env.project("more.jsonl"), "{\"title\":\"Three\"}\n").unwrap();
    env.el(&["import", "more.jsonl", "--from", "el", "--dry-run"]);
    assert_eq!(list(&env).len(), 0);
    env.el(&["export", "-o", "all.jsonl"]).ok();
    env.el(&["import", "all.jsonl"]).ok();
    env.create("Changed", &[]);
    env.el(&["close", &ids[0], &ids[1], "--force"]).ok();
    env.el(&["discard", &ids[0]]).ok();
    env.el(&["discard", "prune", "--days", "0", "--force"]).ok();
    let reasons: Vec<String> =
        list(&env).iter().map(|b| b["reason"].as_str().unwrap().to_owned()).collect();
    assert_eq!(reasons, ["before_prune", "before_force", "before_import"]);
    env.robot(&["restore", "1"]);
    assert_eq!(env.status(&ids[0]), "discard");
}

#[test]
fn a_full_disk_is_a_warning_and_the_verb_goes_on() {
    let env = TestEnv::with_tracker();
    let ids = [env.create("One", &[]), env.create("Two", &[])];
    // The folder of backups takes nothing: what a full disk does, for a test without a disk.
    let folder = folder(&env);
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "").unwrap();
    let ran = env.el(&["close", &ids[0], &ids[1], "--force"]).ok();
    assert!(ran.stderr.contains("no backup was made"), "{ran:#?}");
    assert_eq!(env.status(&ids[1]), "closed");
    env.el(&["backup", "now"]).fails_with(1);
}

#[test]
fn a_limit_on_the_size_of_files_leaves_no_half_backup() {
    let env = TestEnv::with_tracker();
    env.create("Kept", &["-d", &"x".repeat(50_000)]);
    env.database().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let full = |words: &str| {
        env.run(
            env.command("sh")
                .args(["-c", &format!("trap '' XFSZ; ulimit -f 80; exec el --robot {words}")]),
        )
    };
    full("backup now").fails_with(1);
    full("backup now --if-changed").fails_with(1);
    assert_eq!(list(&env).len(), 0);
    let names: Vec<_> =
        fs::read_dir(folder(&env)).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "the lock, the time that is due, and whose they are: {names:?}");
    let doctor = env.run(env.command("el").args(["--robot", "doctor"])).json().to_string();
    assert!(doctor.contains("hourly backup failed"), "{doctor}");
    env.el(&["backup", "now"]).ok();
    let before = env.robot(&["history"]);
    full("restore").fails_with(1);
    assert_eq!(env.robot(&["history"]), before);
    assert!(!env.project(".eluent/.el.db.restored").exists());
}

#[test]
fn a_kill_during_a_backup_or_a_restore_leaves_the_old_or_the_new() {
    let env = TestEnv::with_tracker();
    let text: String = (0..800)
        .map(|n| format!("{{\"title\":\"Atom {n}\",\"description\":\"{}\"}}\n", "x".repeat(900)))
        .collect();
    fs::write(env.project("many.jsonl"), text).unwrap();
    env.el(&["create", "--file", "many.jsonl"]).ok();
    env.el(&["backup", "now"]).ok();
    let backup = list(&env)[0]["path"].as_str().unwrap().to_owned();
    env.create("After", &[]);
    for n in 0..12_u64 {
        let words = if n % 2 == 0 { &["restore", &*backup][..] } else { &["backup", "now"] };
        let running = env.start_el(words);
        std::thread::sleep(Duration::from_millis(5 + n * 12));
        running.signal(rustix::process::Signal::KILL);
        drop(running);
        let count = env.robot(&["list", "--all"])["total"].as_i64().unwrap();
        assert!([800, 801].contains(&count), "{n}: {count}");
        assert!(list(&env).iter().all(|backup| backup["atoms"].is_i64()), "{n}: a half backup");
        let sound: String =
            env.database().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
        if count == 800 {
            env.create("After", &[]);
        }
    }
    // The next ones clear away what the killed ones left.
    env.el(&["restore", &backup]).ok();
    let left: Vec<_> = fs::read_dir(folder(&env))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".new-"))
        .collect();
    assert_eq!(left, [""; 0]);
    assert!(!env.project(".eluent/.el.db.restored").exists());
}

#[test]
fn two_restores_at_once_are_one_after_the_other() {
    let env = TestEnv::with_tracker();
    for title in ["One", "Two", "Three"] {
        env.create(title, &[]);
        env.el(&["backup", "now"]).ok();
    }
    let paths: Vec<String> =
        list(&env).iter().map(|b| b["path"].as_str().unwrap().to_owned()).collect();
    let running: Vec<_> = paths.iter().map(|path| env.start_el(&["restore", path])).collect();
    running.into_iter().for_each(|el| drop(el.wait(SOON).ok()));
    assert!((1..=3).contains(&titles(&env).len()));
    let replaced = list(&env).iter().filter(|b| b["reason"] == "replaced").count();
    assert_eq!(replaced, 3);
    env.el(&["doctor"]).ok();
}

#[test]
fn nothing_is_restored_under_a_worker_and_no_run_comes_back_to_life() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["touch started", "wait-file go", "close done"]);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("started");
    env.el(&["backup", "now"]).ok();
    let run = env.last_run(&id)["id"].as_str().unwrap().to_owned();
    let refused = env.run(env.command("el").args(["--robot", "restore"])).fails_with(4).json();
    assert_eq!(refused["error"]["code"], "in_use");
    assert!(refused["error"]["message"].as_str().unwrap().contains(&run), "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("the worker"), "{refused}");
    fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    assert_eq!(env.status(&id), "closed");
    let restored = env.robot(&["restore"]);
    assert_eq!(restored["ended_runs"], serde_json::json!([run]));
    assert_eq!((env.status(&id), env.outcomes(&id)), ("open".into(), vec!["interrupted".into()]));
    assert!(env.robot(&["work", "--status"])["workers"].as_array().unwrap().is_empty());
}

#[test]
fn a_process_that_has_a_lost_database_open_writes_nothing_into_it() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["touch started", "wait-file go", "close done"]);
    env.el(&["backup", "now"]).ok();
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("started");
    remove_database(&env);
    // The sessions tell that an agent is at work.
    let refused = env.run(env.command("el").args(["--robot", "restore"])).fails_with(4).json();
    assert!(refused["error"]["message"].as_str().unwrap().contains("session"), "{refused}");
    fs::write(env.project("go"), "").unwrap();
    drop(worker.wait(SOON));
    wait_until("the session is gone", SOON, || (env.el(&["restore"]).status == 0).then_some(()));
    assert_eq!(env.status(&id), "open");
}

#[test]
fn an_agents_session_has_no_backups() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["sh el backup; el backup now; el restore; true", "close done"]);
    env.work(&["--once"]);
    assert_eq!((env.status(&id), list(&env).len()), ("closed".into(), 0));
}

#[test]
fn a_file_of_another_program_is_a_wrong_word_not_a_fault_of_el() {
    let env = TestEnv::with_tracker();
    fs::write(env.project("notes.txt"), "no database").unwrap();
    let said = env.el(&["restore", "notes.txt"]).fails_with(2).stderr;
    assert!(said.contains("is not an el database"), "{said}");
}
