//! Whatever an agent starts, ignores or leaves behind: no process of its tree lives once its run is
//! settled.

use std::time::{Duration, Instant};

use crate::support::{Process, SOON, TestEnv, wait_until};

fn is_alive(env: &TestEnv, pid: u32) -> bool {
    env.process_known_as(pid).is_some()
}

#[test]
fn a_deaf_agent_and_its_deaf_children_are_killed_when_their_time_is_up() {
    let mut env = TestEnv::with_tracker();
    env.configure("execution_timeout = \"2s\"\nmax_attempts = 1\n");
    let id = env.script_atom(&[
        "say on it",
        "ignore-signals",
        "child 300 setsid pid=one",
        "child 300 setsid double-fork ignore-signals pid=two",
        "child 300 setsid double-fork clean-env ignore-signals pid=three",
        "hang",
    ]);
    let worker = env.start_work(&["--once"]);
    let pids = [
        env.wait_for_file("one").parse().unwrap(),
        env.wait_for_file("two").parse().unwrap(),
        env.stray("three"),
    ];
    let agent = env.last_run(&id)["agent_pid"].as_u64().unwrap();
    worker.wait(SOON).fails_with(9);
    let run = env.last_run(&id);
    assert_eq!((&run["outcome"], &run["exit_signal"]), (&"timed_out".into(), &9.into()));
    env.assert_settled(&run);
    for pid in pids.into_iter().chain([u32::try_from(agent).unwrap()]) {
        assert!(!is_alive(&env, pid), "{pid}");
    }
    assert_eq!(env.status(&id), "blocked");
}

#[test]
fn an_agent_that_forks_and_exits_takes_its_children_along() {
    let mut env = TestEnv::with_tracker();
    let steps = [
        "child 300 setsid double-fork pid=marked",
        "child 300 setsid double-fork clean-env pid=clean",
        "close done and gone",
    ];
    let id = env.script_atom(&steps);
    env.work(&["--once"]);
    let (marked, clean) = (env.wait_for_file("marked").parse().unwrap(), env.stray("clean"));
    assert!(!is_alive(&env, marked) && !is_alive(&env, clean));
    assert_eq!(env.outcomes(&id), ["closed"]);
    env.assert_settled(&env.last_run(&id));
}

#[test]
fn a_child_that_would_close_later_never_does() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    let id = env.script_atom(&[
        "child 3 setsid double-fork close pid=closer",
        "no-stop-hook",
        "on-resume",
        "say no",
    ]);
    env.work(&["--once"]);
    assert!(!is_alive(&env, env.wait_for_file("closer").parse().unwrap()));
    assert_eq!(
        (env.status(&id), env.outcomes(&id)),
        ("blocked".to_owned(), vec!["violation".to_owned()])
    );
}

#[test]
fn a_child_that_holds_the_output_open_holds_nothing_up() {
    let env = TestEnv::with_tracker();
    let id =
        env.script_atom(&["child 300 setsid double-fork hold-stdout pid=holder", "close done"]);
    let start = Instant::now();
    env.work(&["--once"]);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(!is_alive(&env, env.wait_for_file("holder").parse().unwrap()));
    assert_eq!(env.outcomes(&id), ["closed"]);
}

#[test]
fn an_agent_that_closes_and_lingers_gets_its_grace_and_no_more() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["close done", "linger 300"]);
    let start = Instant::now();
    env.work(&["--once"]);
    let took = start.elapsed();
    assert!(took > Duration::from_secs(1) && took < Duration::from_secs(20), "{took:?}");
    let run = env.last_run(&id);
    assert_eq!(run["outcome"], "closed");
    env.assert_settled(&run);
}

#[test]
fn an_agent_that_closes_and_never_ends_its_turn_is_ended() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["close done", "hang"]);
    env.start_work(&["--once"]).wait(SOON).ok();
    assert_eq!(env.outcomes(&id), ["closed"]);
    env.assert_settled(&env.last_run(&id));
}

#[test]
fn the_last_turn_after_the_close_is_let_finish() {
    let env = TestEnv::with_tracker();
    env.configure("close_grace = \"20s\"\n");
    let id = env.script_atom(&[
        "close done",
        "touch closed",
        "wait-file go",
        "sh echo committed > last.txt",
        "say that was it",
    ]);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("closed");
    assert_eq!(env.status(&id), "closed");
    assert_eq!(env.last_run(&id)["outcome"], serde_json::Value::Null);
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    assert_eq!(env.wait_for_file("last.txt"), "committed");
    assert_eq!(env.last_run(&id)["exit_code"], 0, "it ended by itself");
}

#[test]
fn a_tool_that_runs_on_after_the_close_stretches_the_grace() {
    let env = TestEnv::with_tracker();
    // The agent is silent while the tool takes three times the grace.
    let id = env.script_atom(&["close done", "sh sleep 3; echo committed > late.txt"]);
    env.work(&["--once"]);
    assert_eq!(env.wait_for_file("late.txt"), "committed");
    assert_eq!(env.outcomes(&id), ["closed"]);
}

#[test]
fn an_agent_that_kills_its_supervisor_dies_with_it_and_is_tried_again() {
    let env = TestEnv::with_tracker();
    // In a sandbox it has no supervisor to kill.
    env.configure("sandbox = \"off\"\n");
    let steps = [
        "child 300 setsid double-fork pid=child",
        "sh kill -9 $(cut -d' ' -f4 /proc/$PPID/stat); sleep 300",
        "on-attempt 2",
        "close second",
    ];
    let id = env.script_atom(&steps);
    env.work(&["--drain"]);
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("closed", vec!["lost".to_owned(), "closed".to_owned()])
    );
    assert!(!is_alive(&env, env.wait_for_file("child").parse().unwrap()));
    for run in env.runs(&id) {
        env.assert_settled(&run);
    }
}

#[test]
fn an_agent_that_runs_tmux_kill_server_ends_no_session_of_el() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&[
        "sh tmux kill-server > said.txt 2>&1; echo $? >> said.txt",
        "close survived",
    ]);
    env.work(&["--once"]);
    assert_eq!(env.outcomes(&id), ["closed"], "{}", env.wait_for_file("said.txt"));
}

/// The process is not among the supervisor's descendants; only its environment shows the run. In a
/// sandbox it could not reach such a server.
#[test]
fn a_process_that_a_server_of_someone_else_started_for_the_run_is_ended_too() {
    let env = TestEnv::with_tracker();
    env.configure("sandbox = \"off\"\n");
    let outside = |words: &[&str]| {
        env.run(env.command("tmux").args(["-L", "outside", "-f", "/dev/null"]).args(words)).ok()
    };
    outside(&["new-session", "-d", "sleep", "600"]);
    let socket = outside(&["display-message", "-p", "#{socket_path}"]).stdout;
    let (socket, stray) = (socket.trim(), env.path("bin/stray"));
    let window = format!("cd $PWD && export EL_SESSION=$EL_SESSION && exec {}", stray.display());
    env.program(
        "escape",
        &format!(
            "#!/bin/sh\ntmux -S {socket} new-window -d \"{window}\"\n\
            while [ ! -e escaped ]; do sleep 0.05; done\n"
        ),
    );
    env.program(
        "stray",
        "#!/bin/sh\ntrap '' HUP INT TERM\necho $$ > escaped.new\n\
        mv escaped.new escaped\nexec sleep 600\n",
    );
    let id = env.script_atom(&["sh escape", "close done"]);
    env.work(&["--once"]);
    assert_eq!(env.outcomes(&id), ["closed"]);
    assert!(!is_alive(&env, env.wait_for_file("escaped").parse().unwrap()));
}

#[test]
fn fifty_background_processes_are_ended_within_the_grace_of_one() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&[
        "sh for i in $(seq 50); do setsid sleep 300 & done; echo started > started",
        "close done",
    ]);
    let start = Instant::now();
    env.work(&["--once"]);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    env.assert_settled(&env.last_run(&id));
}

#[test]
fn the_supervisor_and_its_session_end_with_the_run() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["close done"]);
    env.work(&["--once"]);
    let supervisor =
        u32::try_from(env.last_run(&id)["supervisor"]["pid"].as_u64().unwrap()).unwrap();
    wait_until("the end of the supervisor", SOON, || (!is_alive(&env, supervisor)).then_some(()));
    // The server had no other session, and no worker keeps the server.
    wait_until("the end of all", SOON, || (env.processes() == Vec::<Process>::new()).then_some(()));
}

/// `git clean` takes the tracker, or a restored backup replaces it: further changes to the old file
/// would be lost.
#[test]
fn a_worker_whose_database_is_gone_ends_its_sessions_and_says_so() {
    for (take, word) in [("rm -f el.db*", "deleted"), ("cp el.db new; mv new el.db", "replaced")] {
        let env = TestEnv::with_tracker();
        env.configure("concurrency = 2\nisolate = \"none\"\n");
        let ids = [0, 1].map(|_| env.script_atom(&["touch $EL_ATOM.there", "hang"]));
        let worker = env.start_work(&[]);
        let runs = ids.each_ref().map(|id| {
            env.wait_for_file(format!("{id}.there"));
            env.last_run(id)["id"].as_str().unwrap().to_owned()
        });
        env.run(env.command("sh").args(["-c", &format!("cd .eluent && {take}")])).ok();
        let ran = worker.wait(SOON).fails_with(6);
        assert!(ran.stdout.contains(word) && ran.stdout.contains("2 sessions"), "{ran:#?}");
        for run in &runs {
            assert!(env.processes_of_run(run).is_empty(), "{run}");
        }
    }
}
