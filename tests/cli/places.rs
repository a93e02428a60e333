//! The place of the tracker, and the part that git sees.

use std::path::Path;

use crate::support::{Ran, TestEnv};

fn el_in(env: &TestEnv, folder: &Path, words: &[&str]) -> Ran {
    env.run(env.command("el").current_dir(folder).args(words))
}

fn git(env: &TestEnv, words: &[&str]) -> String {
    env.run(env.command("git").args(words)).ok().stdout
}

#[test]
fn it_is_found_from_every_folder_below() {
    let env = TestEnv::with_tracker();
    let id = env.create("It", &[]);
    let deep = env.project("a/b c/ü");
    std::fs::create_dir_all(&deep).unwrap();
    assert!(el_in(&env, &deep, &["list"]).ok().stdout.contains(&id));
    el_in(&env, &deep, &["close", &id]).ok();
    assert_eq!(env.status(&id), "closed");
    let outside = el_in(&env, &env.path("home"), &["--robot", "list"]).fails_with(3).json();
    assert_eq!(outside["error"]["code"], "no_database");
    assert!(outside["error"]["details"]["searched_from"].as_str().unwrap().ends_with("/home"));
}

#[test]
fn a_linked_worktree_shares_the_database_of_the_main_one() {
    let env = TestEnv::with_tracker();
    git(&env, &["init", "-q"]);
    git(&env, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&env, &["worktree", "add", "-q", env.path("linked").to_str().unwrap()]);
    let id = env.create("Seen from both", &[]);
    std::fs::create_dir(env.path("linked/below")).unwrap();
    for folder in ["linked", "linked/below"] {
        assert!(el_in(&env, &env.path(folder), &["list"]).ok().stdout.contains(&id), "{folder}");
    }
    el_in(&env, &env.path("linked"), &["init"]).fails_with(4);
    assert!(!env.path("linked/.eluent").exists());
}

#[test]
fn in_a_worktree_init_makes_the_tracker_of_the_main_one() {
    let env = TestEnv::new();
    git(&env, &["init", "-q"]);
    git(&env, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&env, &["worktree", "add", "-q", env.path("linked").to_str().unwrap()]);
    el_in(&env, &env.path("linked"), &["init"]).ok();
    assert!(env.project(".eluent/el.db").exists() && !env.path("linked/.eluent").exists());
}

#[test]
fn a_flag_and_a_variable_name_another_database() {
    let mut env = TestEnv::with_tracker();
    let here = env.create("Here", &[]);
    let other = env.path("other.db");
    let other = other.to_str().unwrap();
    env.el(&["init", "--db", other, "--name", "o"]).ok();
    assert_eq!(env.robot(&["list", "--db", other])["count"], 0);
    env.set("EL_DB", other);
    let there = env.create("There", &[]);
    assert!(there.starts_with("o-"));
    env.run(env.command("el").args(["show", &here])).fails_with(3);
    env.set("EL_DB", "");
    assert_eq!(env.status(&here), "open", "an empty variable says nothing");
}

#[test]
fn init_twice_is_refused_and_harms_nothing() {
    let env = TestEnv::with_tracker();
    let id = env.create("Kept", &[]);
    let before = std::fs::read_to_string(env.project(".eluent/config.toml")).unwrap();
    let ran = env.run(env.command("el").args(["--robot", "init", "--name", "other"])).fails_with(4);
    let error = ran.json()["error"].take();
    assert_eq!(error["code"], "exists");
    assert!(
        !error.to_string().contains("force") && !error.to_string().contains("rm "),
        "it names no way to destroy: {error}"
    );
    assert_eq!(env.status(&id), "open");
    assert_eq!(std::fs::read_to_string(env.project(".eluent/config.toml")).unwrap(), before);
    // Below a project a second tracker is refused, unless requested.
    std::fs::create_dir(env.project("below")).unwrap();
    el_in(&env, &env.project("below"), &["init"]).fails_with(4);
    el_in(&env, &env.project("below"), &["init", "--nested"]).ok();
    assert!(!el_in(&env, &env.project("below"), &["list"]).ok().stdout.contains(&id));
}

#[test]
fn an_init_that_is_killed_anywhere_is_finished_by_the_next() {
    let env = TestEnv::with_tracker();
    for step in 0..24u64 {
        let folder = env.project(format!("killed-{step}"));
        std::fs::create_dir(&folder).unwrap();
        let mut command = env.command("el");
        command.args(["init", "--nested"]).current_dir(&folder);
        let first = env.start(&mut command);
        std::thread::sleep(std::time::Duration::from_micros(step * step * 60));
        first.signal(rustix::process::Signal::KILL);
        first.wait(crate::support::SOON);
        // Either the first had done it all, or this does.
        let next = el_in(&env, &folder, &["--robot", "init", "--nested"]);
        let done = next.status == 0 || next.json()["error"]["code"] == "exists";
        assert!(done, "{step}: {next:#?}");
        el_in(&env, &folder, &["create", "It"]).ok();
        let doctor = el_in(&env, &folder, &["--robot", "doctor"]);
        assert_eq!(doctor.json()["data"]["serious"], 0, "{step}: {doctor:#?}");
    }
}

#[test]
fn git_sees_the_configuration_and_nothing_else() {
    let env = TestEnv::with_tracker();
    git(&env, &["init", "-q"]);
    let id = env.script_atom(&["close done"]);
    env.work(&["--once", "--preserve-sessions"]);
    env.start_el(&["show", &id]).wait(crate::support::SOON).ok();
    assert!(env.project(".eluent/runs").exists() && env.context(&id).exists());
    let status = git(&env, &["status", "--porcelain", "--untracked-files=all"]);
    let mut seen: Vec<&str> = status.lines().map(|line| line.trim_start_matches("?? ")).collect();
    seen.sort_unstable();
    assert_eq!(seen, [".eluent/config.toml"]);
    let hooks = std::fs::read_dir(env.project(".git/hooks")).unwrap();
    assert!(
        hooks
            .map(|hook| hook.unwrap().file_name())
            .all(|name| name.to_str().unwrap().ends_with(".sample")),
        "no hook is installed"
    );
}

#[test]
fn reading_makes_nothing_and_a_folder_that_is_gone_is_told() {
    let env = TestEnv::new();
    env.run(env.command("el").arg("list")).fails_with(3);
    assert!(!env.project(".eluent").exists());
    std::fs::create_dir(env.path("gone")).unwrap();
    let mut command = env.command("sh");
    command.args(["-c", "cd ../gone && rmdir ../gone && exec el --robot list"]);
    let ran = env.run(&mut command);
    assert_eq!(ran.status, 3, "{ran:#?}");
    ran.json();
}

#[test]
fn a_project_behind_a_link_is_one_project() {
    let env = TestEnv::with_tracker();
    std::os::unix::fs::symlink(env.project(""), env.path("link")).unwrap();
    let id = env.script_atom(&["touch started", "wait-file go", "close done"]);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("started");
    let attach = el_in(&env, &env.path("link"), &["--robot", "attach", &id]).ok().json();
    let here = env.robot(&["attach", &id]);
    assert_eq!(attach["data"]["socket"], here["socket"]);
    let through = env
        .run(
            env.command("el")
                .args(["--robot", "attach", &id, "--db"])
                .arg(env.path("link/.eluent/el.db")),
        )
        .ok()
        .json();
    assert_eq!(through["data"]["socket"], here["socket"]);
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(crate::support::SOON).ok();
}

#[test]
fn a_caller_without_a_home_or_a_name_can_use_the_tracker() {
    let env = TestEnv::with_tracker();
    let bare = |words: &[&str]| {
        let mut command = env.command("el");
        command.env_clear().env("PATH", env.path("bin")).args(words);
        env.run(&mut command)
    };
    let made = bare(&["--robot", "create", "From cron"]).ok().json();
    assert!(!made["data"]["created_by"].as_str().unwrap().is_empty());
    bare(&["list"]).ok();
    bare(&["config", "show"]).ok();
}
