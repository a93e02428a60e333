//! While a worktree is prepared: the worker goes on, and the run can be ended as at any other time.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Process, Running, SOON, TestEnv, wait_until};

/// A setup that waits for the file `tmp/go`, and notes another setup in the same worktree.
const SETUP: &str = "#!/bin/sh
exec 9> busy
flock --nonblock 9 || touch ROOT/tmp/overlaps
touch ROOT/tmp/began-$EL_ATOM
until test -e ROOT/tmp/go || test -e ROOT/tmp/go-$EL_ATOM; do sleep 0.05; done
";

/// An environment with waiting setups, and further configuration.
fn with_slow_setup(more: &str) -> TestEnv {
    let env = TestEnv::with_repository(&format!(
        "isolate = \"worktree\"\nworktree_setup = \"set-up\"\n{more}"
    ));
    env.program("set-up", &SETUP.replace("ROOT", env.path("").to_str().unwrap()));
    env
}

fn let_setups_end(env: &TestEnv) {
    fs::write(env.path("tmp/go"), "").unwrap();
}

/// A worker, and an atom whose worktree is being set up.
fn preparing(env: &TestEnv, arguments: &[&str]) -> (Running, String) {
    let id = env.script_atom(&["close done"]);
    let worker = env.start_work(arguments);
    env.wait_for_file(env.path(format!("tmp/began-{id}")));
    (worker, id)
}

fn assert_no_overlap(env: &TestEnv) {
    assert!(!env.path("tmp/overlaps").exists(), "two setups ran in one worktree");
}

fn supervisor(env: &TestEnv, run: &Value) -> Process {
    let pid = run["supervisor"]["pid"].as_u64().unwrap();
    env.processes().into_iter().find(|process| u64::from(process.pid) == pid).unwrap()
}

#[test]
fn ctrl_c_is_heard_and_nothing_more_is_claimed() {
    let env = with_slow_setup("");
    let (worker, id) = preparing(&env, &[]);
    let next = env.create("Not any more", &[]);
    worker.signal(Signal::INT);
    assert_eq!(worker.wait_for("draining")["running"], 1);
    assert!(env.path(format!("tmp/began-{id}")).exists() && !env.path("tmp/go").exists());
    let_setups_end(&env);
    worker.wait(SOON).ok();
    assert_eq!([&id, &next].map(|id| env.status(id)), ["closed", "open"]);
    assert_eq!(env.outcomes(&next).len(), 0);
}

#[test]
fn a_cancel_or_a_stop_ends_the_preparation_and_all_that_the_setup_started() {
    for (stop, status) in [(false, "deferred"), (true, "open")] {
        let env = with_slow_setup("");
        let (worker, id) = preparing(&env, &[]);
        let run = env.last_run(&id);
        let run_id = run["id"].as_str().unwrap();
        let setup = env.processes_of_run(run_id);
        assert!(
            setup.iter().any(|process| process.words.iter().any(|word| word.ends_with("set-up"))),
            "{setup:?}"
        );
        if stop {
            env.el(&["work", "--stop"]).ok();
        } else {
            env.el(&["cancel", &id]).ok();
        }
        let ended = env.wait_for_end(&id, 1);
        assert_eq!(ended["outcome"], "cancelled", "{ended:#}");
        assert_eq!(env.status(&id), status);
        env.assert_settled(&ended);
        worker.signal(Signal::INT);
        worker.wait(SOON).ok();
        // An interrupted preparation is repeated.
        let_setups_end(&env);
        env.el(&["retry", &id]).ok();
        env.work(&["--drain"]);
        assert_eq!(env.status(&id), "closed");
        assert_no_overlap(&env);
    }
}

#[test]
fn the_ends_of_other_runs_are_told_and_others_are_claimed_meanwhile() {
    let env = with_slow_setup("");
    let (worker, slow) = preparing(&env, &["--drain", "--concurrency", "2"]);
    for _ in 0..2 {
        let id = env.script_atom(&["close done"]);
        fs::write(env.path(format!("tmp/go-{id}")), "").unwrap();
        let told = wait_until("its end", SOON, || {
            worker.told().into_iter().find(|told| told["event"] == "settled" && told["atom"] == *id)
        });
        assert_eq!(told["outcome"], "closed", "{told:#}");
    }
    assert_eq!(env.status(&slow), "in_progress");
    let_setups_end(&env);
    worker.wait(SOON).ok();
    assert_eq!(env.status(&slow), "closed");
}

#[test]
fn a_worker_that_is_killed_meanwhile_is_not_needed_and_a_drain_waits_for_its_run() {
    for more in [&["--drain"][..], &["--once"]] {
        let env = with_slow_setup("");
        let (worker, id) = preparing(&env, &[]);
        worker.signal(Signal::KILL);
        worker.wait(SOON).fails_with(137);
        let second = env.start_work(more);
        assert_eq!(second.wait_for("adopted")["atom"], *id);
        let_setups_end(&env);
        second.wait(SOON).ok();
        assert_eq!((env.status(&id), env.outcomes(&id)), ("closed".into(), vec!["closed".into()]));
        assert_no_overlap(&env);
    }
}

#[test]
fn a_supervisor_that_is_killed_meanwhile_leaves_no_setup_to_the_next_one() {
    let env = with_slow_setup("");
    let (worker, id) = preparing(&env, &["--drain"]);
    let run = env.last_run(&id);
    let lease = env.database().query_row(
        "SELECT lease_until - heartbeat_at FROM runs WHERE id = ?1",
        [run["id"].as_str().unwrap()],
        |row| row.get::<_, i64>(0),
    );
    assert_eq!(lease.unwrap(), 5_000_000, "the configured lease");
    fs::remove_file(env.path(format!("tmp/began-{id}"))).unwrap();
    supervisor(&env, &run).kill();
    env.wait_for_file(env.path(format!("tmp/began-{id}")));
    let lost = env.wait_for_end(&id, 1);
    assert_eq!(lost["outcome"], "lost", "{lost:#}");
    env.assert_settled(&lost);
    let_setups_end(&env);
    worker.wait(SOON).ok();
    assert_eq!((env.status(&id), env.outcomes(&id).len()), ("closed".into(), 2));
    assert_no_overlap(&env);
}

#[test]
fn the_agents_time_begins_when_its_worktree_is_ready() {
    let env = with_slow_setup("execution_timeout = \"3s\"\nstall_timeout = \"2s\"\n");
    let (worker, id) = preparing(&env, &["--drain"]);
    std::thread::sleep(Duration::from_millis(3_500));
    let_setups_end(&env);
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&id), ["closed"], "{:#}", env.last_run(&id));
}

#[test]
fn an_agent_cannot_have_a_setup_run() {
    let env = with_slow_setup("");
    let (worker, id) = preparing(&env, &["--drain"]);
    let run = env.last_run(&id);
    let arguments = ["supervise", run["id"].as_str().unwrap(), "--workplace"];
    let mut command = env.command("el");
    command.args(arguments).env("EL_SESSION", env.session_socket(&run));
    let ran = env.run(&mut command).fails_with(1);
    assert!(ran.stderr.contains("only the run's own supervisor"), "{ran:#?}");
    let_setups_end(&env);
    worker.wait(SOON).ok();
    assert_no_overlap(&env);
}
