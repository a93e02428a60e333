//! Interruptions of the last step of `el land`: branch, index and files are all as before, or all
//! moved.

use std::fs;

use rustix::process::Signal;

use crate::support::{Process, SOON, TestEnv, wait_until};
use crate::worktrees::hooks::hook;
use crate::worktrees::landing::{fates, finished};

/// A person's view of the checkout.
fn seen(env: &TestEnv) -> (Vec<(String, Vec<u8>)>, String, String) {
    (env.user_files(), env.git(&["rev-parse", "HEAD"]), env.git(&["status", "--porcelain", "-uno"]))
}

/// The delay for writing a `.slow` file in the user's checkout; the checkouts of agents and of `el
/// land` have no such filter.
fn filter(env: &TestEnv, script: &str) {
    let top = env.project("").canonicalize().unwrap();
    env.program(
        "smudge",
        &format!("#!/bin/sh\ntest \"$PWD\" = {} || exec cat\n{script}\n", top.display()),
    );
}

fn with_filter(env: &TestEnv, script: &str) {
    filter(env, script);
    for (key, value) in [("smudge", "smudge"), ("clean", "cat"), ("required", "true")] {
        env.git(&["config", &format!("filter.slow.{key}"), value]);
    }
    fs::write(env.project(".gitattributes"), "*.slow filter=slow\n").unwrap();
    env.git(&["add", ".gitattributes"]);
    env.git(&["commit", "-q", "-m", "attributes"]);
}

/// An atom that adds, changes and removes a file; the filter comes in between.
fn slow_one(env: &TestEnv) -> String {
    fs::write(env.project("old.txt"), "old\n").unwrap();
    env.git(&["add", "old.txt"]);
    env.git(&["commit", "-q", "-m", "old"]);
    let id = finished(env, "base.txt", "changed");
    let tree = env.path("tmp").join(&id);
    let at = tree.to_str().unwrap();
    fs::create_dir(tree.join("new")).unwrap();
    for name in ["new/a.txt", "x.slow", "z.txt"] {
        fs::write(tree.join(name), format!("{name}\n")).unwrap();
    }
    env.git(&["-C", at, "rm", "-q", "old.txt"]);
    env.git(&["-C", at, "add", "-A"]);
    env.git(&["-C", at, "commit", "-q", "-m", "more"]);
    id
}

#[test]
fn a_lock_on_the_branch_or_a_hook_that_refuses_leaves_everything_as_it_was() {
    for mode in ["rebase", "merge"] {
        let env = TestEnv::with_repository(&format!("land_mode = \"{mode}\"\n"));
        let id = finished(&env, "a.txt", "x");
        let before = seen(&env);
        for lock in ["refs/heads/main.lock", "HEAD.lock", "index.lock"] {
            let lock = env.project(".git").join(lock);
            fs::write(&lock, "").unwrap();
            let refused = env.el(&["--robot", "land", &id]).fails_with(4).json();
            let message = refused["error"]["message"].as_str().unwrap();
            assert!(
                message.contains("lock") && refused["error"]["retryable"] == true,
                "{refused:#}"
            );
            let hint = refused["error"]["hint"].as_str().unwrap();
            assert!(hint.contains(&format!(": rm {}", lock.display())), "{hint}");
            fs::remove_file(&lock).unwrap();
            assert_eq!(seen(&env), before, "{}", lock.display());
        }
        for state in ["prepared", "committed"] {
            hook(
                &env,
                "reference-transaction",
                &format!("test $1 = {state} && {{ echo 'not today' >&2; exit 1; }}; exit 0"),
            );
            if state == "prepared" {
                let refused = env.el(&["land", &id]).fails_with(4);
                assert!(
                    refused.stdout.contains("not today") && !refused.stdout.contains("hint:"),
                    "{refused:#?}"
                );
                assert_eq!(seen(&env), before);
                let told = env.robot(&["worktrees"]);
                assert_eq!(told["items"][0]["landed"], false);
            }
        }
        // A hook that runs afterwards changes nothing.
        assert_eq!(fates(&env, 0, &[&id]), [(id.clone(), "landed".to_owned())]);
        assert!(env.project("a.txt").exists() && seen(&env).2.is_empty());
        assert!(env.git(&["reflog", "-1", "main"]).contains("el land"));
    }
}

#[test]
fn files_that_could_not_all_be_written_are_put_back() {
    let env = TestEnv::with_repository("");
    with_filter(&env, "cat >/dev/null; exit 1");
    let id = slow_one(&env);
    let before = seen(&env);
    let refused = env.el(&["land", &id]).fails_with(4);
    assert!(refused.stdout.contains("x.slow"), "{refused:#?}");
    assert_eq!(seen(&env), before);
    assert!(!env.project("new").exists() && !env.project(".git/el-landing").exists());
    filter(&env, "cat");
    assert_eq!(fates(&env, 0, &[&id]), [(id, "landed".to_owned())]);
    assert!(
        env.project("new/a.txt").exists()
            && env.project("x.slow").exists()
            && !env.project("old.txt").exists()
    );
    assert_eq!(seen(&env).2, "");
}

/// Kills `el land` while git writes the files, and git too if `with_git`; else git finishes by
/// itself. The locks left by git are removed.
fn kill_while_files_move(env: &TestEnv, id: &str, with_git: bool) {
    let (flag, go) = (env.path("tmp/waiting"), env.path("tmp/go"));
    let script = format!(
        "touch {}; until test -e {}; do sleep 0.02; done; cat",
        flag.display(),
        go.display()
    );
    filter(env, &script);
    let landing = env.start_el(&["land", id]);
    env.wait_for_file(&flag);
    landing.signal(Signal::KILL);
    let _ = landing.wait(SOON);
    if with_git {
        env.processes().iter().for_each(Process::kill);
    }
    fs::write(&go, "").unwrap();
    wait_until("the end of git", SOON, || env.processes().is_empty().then_some(()));
    let _ = fs::remove_file(env.project(".git/index.lock"));
}

#[test]
fn a_land_killed_while_git_moves_the_files_is_put_back_and_done_again() {
    let env = TestEnv::with_repository("");
    with_filter(&env, "cat");
    let id = slow_one(&env);
    let head = seen(&env).1;
    kill_while_files_move(&env, &id, true);
    assert_eq!(env.git(&["rev-parse", "main"]), head);
    assert_ne!(seen(&env).2, "", "something has moved");
    // Git may have had no time to release its other locks; each is named, and a single command
    // removes them.
    let locks = ["index.lock", "HEAD.lock", "refs/heads/main.lock"]
        .map(|name| env.project(".git").join(name));
    locks.iter().for_each(|lock| fs::write(lock, "").unwrap());
    let told = env.el(&["land", &id]).fails_with(4).stderr;
    assert!(told.contains("index.lock") && told.contains("killed while it moved files"), "{told}");
    let (_, command) = told.split_once("any more: ").unwrap();
    let (command, _) = command.split_once(';').unwrap();
    assert_eq!(locks.iter().filter(|lock| lock.exists()).count(), 3, "el itself takes none away");
    let _ = env.run(env.command("sh").args(["-c", command])).ok();
    assert!(!locks.iter().any(|lock| lock.exists()), "{command}");
    assert_eq!(fates(&env, 0, &[&id]), [(id.clone(), "landed".to_owned())]);
    assert_all_moved(&env);
    assert!(!env.project(".git/el-landing").exists());
}

#[track_caller]
fn assert_all_moved(env: &TestEnv) {
    assert_eq!(seen(env).2, "");
    assert_eq!(fs::read_to_string(env.project("x.slow")).unwrap(), "x.slow\n");
    assert!(!env.project("old.txt").exists());
}

#[test]
fn a_git_whose_el_land_was_killed_brings_the_move_to_its_end() {
    let env = TestEnv::with_repository("");
    with_filter(&env, "cat");
    let id = slow_one(&env);
    kill_while_files_move(&env, &id, false);
    assert_eq!(env.git(&["rev-parse", "main"]), env.git(&["rev-parse", &format!("el/{id}")]));
    assert_all_moved(&env);
    assert_eq!(fates(&env, 0, &[&id]), [(id.clone(), "already".to_owned())]);
    assert!(!env.project(".git/el-landing").exists());
}

#[test]
fn a_half_moved_landing_is_put_back_even_if_nothing_is_left_to_land() {
    let env = TestEnv::with_repository("");
    with_filter(&env, "cat");
    let id = slow_one(&env);
    kill_while_files_move(&env, &id, true);
    assert_ne!(seen(&env).2, "", "something has moved");
    env.el(&["reopen", &id]).ok();
    assert_eq!(env.robot(&["land", "--all"])["count"], 0);
    assert_eq!(seen(&env).2, "");
    assert!(env.project("old.txt").exists() && !env.project(".git/el-landing").exists());
}

#[test]
fn what_a_person_changed_in_half_moved_files_is_kept_and_the_way_on_is_told() {
    let env = TestEnv::with_repository("");
    with_filter(&env, "cat");
    let id = slow_one(&env);
    kill_while_files_move(&env, &id, true);
    fs::write(env.project("z.txt"), "mine\n").unwrap();
    let before = seen(&env);
    let refused = env.el(&["--robot", "land", &id]).fails_with(4).json();
    assert_eq!(seen(&env), before);
    assert!(refused["error"]["message"].as_str().unwrap().contains("z.txt"), "{refused:#}");
    let hint = refused["error"]["hint"].as_str().unwrap();
    let tip = env.git(&["rev-parse", &format!("el/{id}")]);
    assert!(hint.contains(&format!("reset {tip}")), "{hint}");
    env.git(&["reset", "-q", &tip]);
    assert_eq!(fs::read_to_string(env.project("z.txt")).unwrap(), "mine\n");
    assert_eq!(fates(&env, 0, &[&id]), [(id, "already".to_owned())]);
}

#[test]
fn a_signal_ends_the_check_and_says_what_was_left() {
    for (signal, second) in [(Signal::INT, false), (Signal::TERM, true), (Signal::KILL, false)] {
        let env = TestEnv::with_repository("");
        let flag = env.path("tmp/waiting");
        // The first branch fails, so a good branch has landed at the interruption.
        let when = if second { "test -e bad.txt && exit 1; test -e b.txt || exit 0; " } else { "" };
        let check = format!("{when}setsid sleep 600 & touch {}; sleep 600", flag.display());
        env.configure(&format!("land_check = \"sh -c '{check}'\"\n"));
        let names =
            if second { ["a.txt", "bad.txt", "b.txt"].as_slice() } else { &["a.txt", "b.txt"] };
        let ids: Vec<String> = names.iter().map(|file| finished(&env, file, "x")).collect();
        let before = seen(&env);
        let landing = env.start_el(&["--robot", "land", "--all"]);
        env.wait_for_file(&flag);
        landing.signal(signal);
        let ended = landing.wait(SOON);
        wait_until("the end of the check", SOON, || env.processes().is_empty().then_some(()));
        if signal == Signal::KILL {
            assert_eq!(seen(&env), before);
            continue;
        }
        let answer = ended.fails_with(4).json();
        let items = answer["error"]["details"]["items"].as_array().unwrap();
        let fates: Vec<&str> = items.iter().map(|item| item["fate"].as_str().unwrap()).collect();
        if second {
            assert_eq!(fates, ["landed", "check_failed", "broken_off"], "{answer:#}");
            assert!(env.project("a.txt").exists() && !env.project("b.txt").exists());
        } else {
            assert_eq!(fates, ["broken_off", "broken_off"], "{answer:#}");
            assert_eq!(seen(&env), before);
        }
        env.configure("land_check = \"true\"\n");
        assert_eq!(env.robot(&["land", ids.last().unwrap()])["landed"], 1);
    }
}
