//! An environment is isolated, and leaves nothing behind.

use std::time::Duration;

use crate::support::{SOON, TestEnv, wait_until};

#[test]
fn commands_see_nothing_of_the_caller_but_path() {
    let env = TestEnv::new();
    let ran = env.run(&mut env.command("env")).ok();
    let names: Vec<&str> = ran.stdout.lines().filter_map(|l| Some(l.split_once('=')?.0)).collect();
    assert!(!names.contains(&"CARGO_MANIFEST_DIR"), "{names:?}");
    let tmux = ran.stdout.lines().find_map(|l| l.strip_prefix("TMUX_TMPDIR=")).unwrap();
    assert!(tmux.len() < 60, "a socket's path must fit below {tmux}");
    let git = env.run(env.command("git").args(["config", "user.email"])).ok();
    assert_eq!(git.stdout, "test@example.com\n");
}

#[test]
fn robot_answers_are_taken_out_of_their_envelope() {
    let env = TestEnv::new();
    env.program(
        "el",
        "#!/bin/sh\n[ \"$1\" = --robot ] && echo \
        '{\"status\":\"ok\",\"data\":{\"id\":\"t-1\"}}' || exit 3\n",
    );
    assert_eq!(env.robot(&["show", "t-1"])["id"], "t-1");
    env.el(&["show", "t-1"]).fails_with(3);
    env.start_el(&["work"]).wait(SOON).fails_with(3);
}

#[test]
fn a_private_tmux_server_ends_with_its_environment() {
    let env = TestEnv::new();
    env.run(env.command("tmux").args([
        "-L",
        "el-test",
        "-f",
        "/dev/null",
        "new-session",
        "-d",
        "sleep",
        "300",
    ]))
    .ok();
    let pids: Vec<u32> = wait_until("server and pane", SOON, || {
        let found = env.processes();
        (found.iter().any(|p| p.words[0] == "sleep")).then(|| found.iter().map(|p| p.pid).collect())
    });
    assert!(pids.len() >= 2, "{pids:?}");
    drop(env);
    let alive = |pid: &u32| std::path::Path::new(&format!("/proc/{pid}/exe")).read_link().is_ok();
    wait_until("their end", SOON, || (!pids.iter().any(alive)).then_some(()));
}

#[test]
fn a_command_that_is_dropped_is_killed() {
    let env = TestEnv::new();
    let running = env.start(env.command("sleep").arg("300"));
    assert_eq!(env.processes().iter().map(|p| p.pid).collect::<Vec<_>>(), [running.pid()]);
    drop(running);
    assert_eq!(env.processes(), []);
}

#[test]
#[should_panic(expected = "in vain for: what never comes")]
fn a_wait_says_what_did_not_come() {
    wait_until("what never comes", Duration::from_millis(50), || None::<()>);
}
