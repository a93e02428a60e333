//! Sudden death of a session, a server, a supervisor, a worker or an agent: no claim is lost, no
//! process lives on, the work goes on.

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Process, Running, SOON, TestEnv, wait_until};

/// A worker with a live run; the first attempt never ends by itself, the second closes. Returns the
/// run.
fn working(env: &TestEnv) -> (Running, String, Value) {
    let steps = [
        "child 300 setsid double-fork pid=child",
        "touch started",
        "hang",
        "on-attempt 2",
        "close second",
    ];
    let id = env.script_atom(&steps);
    let worker = env.start_work(&["--drain"]);
    env.wait_for_file("started");
    env.wait_for_file("child");
    let run = env.last_run(&id);
    (worker, id, run)
}

fn supervisor(env: &TestEnv, run: &Value) -> Process {
    let pid = run["supervisor"]["pid"].as_u64().unwrap();
    env.processes().into_iter().find(|process| u64::from(process.pid) == pid).unwrap()
}

fn agent(env: &TestEnv, run: &Value) -> Process {
    let pid = run["agent_pid"].as_u64().unwrap();
    env.processes().into_iter().find(|process| u64::from(process.pid) == pid).unwrap()
}

fn server(env: &TestEnv) -> Process {
    let pid = env.tmux(&["display-message", "-p", "#{pid}"]).unwrap();
    env.processes().into_iter().find(|process| process.pid.to_string() == pid.trim()).unwrap()
}

/// Stops a supervisor, as in a suspended machine. tmux would wake a stopped pane, so tmux is
/// stopped first.
struct Frozen([Process; 2]);

fn freeze(env: &TestEnv, run: &Value) -> Frozen {
    let frozen = Frozen([server(env), supervisor(env, run)]);
    frozen.0.iter().for_each(|process| process.signal(Signal::STOP));
    frozen
}

impl Frozen {
    fn thaw(self) {
        self.0.iter().rev().for_each(|process| process.signal(Signal::CONT));
    }
}

/// Asserts that the first attempt ended as `outcome` without a living process, and the second
/// attempt closed the atom.
#[track_caller]
fn assert_went_on(env: &TestEnv, id: &str, outcome: &str) {
    assert_eq!(
        (env.status(id).as_str(), env.outcomes(id)),
        ("closed", vec![outcome.to_owned(), "closed".to_owned()])
    );
    for run in env.runs(id) {
        env.assert_settled(&run);
    }
}

#[test]
fn stopped_processes_are_named_with_the_way_to_go_on() {
    let env = TestEnv::with_tracker();
    let (worker, _, run) = working(&env);
    let doctor_tells = |what: &str, way: &str| {
        wait_until(what, SOON, || {
            let told = env.el(&["doctor"]).stdout;
            (told.contains(what) && told.contains(way)).then_some(())
        });
    };
    worker.signal(Signal::STOP);
    let pid = worker.pid();
    let what = format!("the worker, process {pid}, is stopped");
    doctor_tells(&what, &format!("kill -CONT {pid} lets it go on"));
    worker.signal(Signal::CONT);

    let frozen = freeze(&env, &run);
    let [server, pid] = [frozen.0[0].pid, frozen.0[1].pid];
    let way = format!("kill -CONT {pid} {server} lets it go on");
    let what = format!("the supervisor of {}", run["id"].as_str().unwrap());
    doctor_tells(&what, &way);
    let stop = env.start_el(&["work", "--stop"]);
    wait_until("the way to go on", SOON, || stop.stderr().contains(&way).then_some(()));
    frozen.thaw();
    stop.wait(SOON).ok();
}

#[test]
fn a_session_that_is_killed_from_outside_is_interrupted_and_tried_again() {
    let env = TestEnv::with_tracker();
    let (worker, id, run) = working(&env);
    let session = run["session"].as_str().unwrap();
    env.tmux(&["kill-session", "-t", &format!("={session}")]).unwrap();
    worker.wait(SOON).ok();
    assert_went_on(&env, &id, "interrupted");
    let detail = env.runs(&id)[0]["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("terminated without closing the atom"), "{detail}");
}

#[test]
fn a_tmux_server_that_ends_takes_no_atom_along() {
    let env = TestEnv::with_tracker();
    let (worker, id, _) = working(&env);
    env.tmux(&["kill-server"]).unwrap();
    worker.wait(SOON).ok();
    assert_went_on(&env, &id, "interrupted");
}

#[test]
fn a_tmux_server_that_is_killed_takes_no_atom_along() {
    let env = TestEnv::with_tracker();
    let (worker, id, _) = working(&env);
    server(&env).kill();
    worker.wait(SOON).ok();
    assert_went_on(&env, &id, "interrupted");
}

#[test]
fn a_supervisor_that_is_terminated_from_outside_is_interrupted_and_charges_nothing() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    let (worker, id, run) = working(&env);
    supervisor(&env, &run).signal(Signal::TERM);
    worker.wait(SOON).ok();
    assert_went_on(&env, &id, "interrupted");
}

#[test]
fn an_agent_that_is_terminated_from_outside_charges_nothing_unless_it_goes_on() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    for signal in ["TERM", "HUP"] {
        let die = format!("die {signal}");
        let id = env.script_atom(&[&*die, "on-attempt 2", "close done"]);
        env.el(&["work", "--drain"]).ok();
        assert_eq!(env.outcomes(&id), ["interrupted", "closed"]);
        let detail = env.runs(&id)[0]["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(&format!("from outside, by SIG{signal}")), "{detail}");
    }
}

#[test]
fn a_socket_that_is_deleted_harms_nothing() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["touch started", "wait-file go", "close done"]);
    let worker = env.start_work(&["--drain"]);
    env.wait_for_file("started");
    let folder = std::fs::read_dir(env.path("tmux")).unwrap().next().unwrap().unwrap().path();
    for socket in std::fs::read_dir(folder).unwrap() {
        std::fs::remove_file(socket.unwrap().path()).unwrap();
    }
    let next = env.script_atom(&["close next"]);
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    assert_eq!(
        (env.outcomes(&id), env.outcomes(&next)),
        (vec!["closed".to_owned()], vec!["closed".to_owned()])
    );
    wait_until("the end of all", SOON, || env.processes().is_empty().then_some(()));
}

#[test]
fn a_killed_supervisor_is_noticed_and_its_tree_is_ended() {
    let env = TestEnv::with_tracker();
    let (worker, id, run) = working(&env);
    supervisor(&env, &run).kill();
    assert_eq!(worker.wait_for("recovered")["run"], run["id"]);
    worker.wait(SOON).ok();
    assert_went_on(&env, &id, "lost");
}

#[test]
fn a_killed_supervisor_and_worker_are_found_by_the_next_worker() {
    let env = TestEnv::with_tracker();
    let (worker, id, run) = working(&env);
    worker.signal(Signal::KILL);
    worker.wait(SOON).fails_with(137);
    supervisor(&env, &run).kill();
    assert_eq!(env.status(&id), "in_progress", "nobody was there to say otherwise");
    let told = env.work(&["--drain"]);
    assert!(
        told.iter().any(|event| event["event"] == "recovered" && event["run"] == run["id"]),
        "{told:#?}"
    );
    assert_went_on(&env, &id, "lost");
}

#[test]
fn a_killed_worker_leaves_a_run_that_settles_by_itself() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["touch started", "wait-file go", "close done"]);
    let worker = env.start_work(&["--drain"]);
    env.wait_for_file("started");
    worker.signal(Signal::KILL);
    worker.wait(SOON).fails_with(137);
    std::fs::write(env.project("go"), "").unwrap();
    let run = env.wait_for_end(&id, 1);
    assert_eq!(run["outcome"], "closed");
    env.assert_settled(&run);
    let told = env.work(&["--drain"]);
    assert_eq!(told.last().unwrap()["summary"]["claimed"], 0, "{told:#?}");
}

#[test]
fn a_run_of_a_killed_worker_that_fails_is_still_settled_and_tried_again() {
    let env = TestEnv::with_tracker();
    let (worker, id, run) = working(&env);
    worker.signal(Signal::KILL);
    worker.wait(SOON).fails_with(137);
    agent(&env, &run).kill();
    assert_eq!(env.wait_for_end(&id, 1)["outcome"], "failed");
    assert_eq!(env.status(&id), "open");
    env.work(&["--drain"]);
    assert_went_on(&env, &id, "failed");
}

#[test]
fn a_killed_agent_is_a_failure_with_its_signal() {
    let env = TestEnv::with_tracker();
    let (worker, id, run) = working(&env);
    agent(&env, &run).kill();
    worker.wait(SOON).ok();
    assert_went_on(&env, &id, "failed");
    assert_eq!(env.runs(&id)[0]["exit_signal"], 9);
}

#[test]
fn a_supervisor_that_slept_past_its_lease_is_not_reaped_and_goes_on() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["touch started", "wait-file go", "close done"]);
    let worker = env.start_work(&["--drain"]);
    env.wait_for_file("started");
    let frozen = freeze(&env, &env.last_run(&id));
    std::fs::write(env.project("go"), "").unwrap();
    // The agent's `el close` waits for its supervisor.
    wait_until("the end of the lease", SOON, || {
        let until = env.last_run(&id)["lease_until"].as_str().unwrap().to_owned();
        // Both are written the same way, in UTC.
        let clock = env.run(env.command("date").args(["-u", "+%Y-%m-%dT%H:%M:%S"])).stdout;
        (until.as_str() < clock.trim()).then_some(())
    });
    assert_eq!(env.last_run(&id)["outcome"], Value::Null, "one that is alive is not reaped");
    frozen.thaw();
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&id), ["closed"], "the agent goes on with its supervisor");
    env.assert_settled(&env.last_run(&id));
}

#[test]
fn a_database_that_is_locked_for_seconds_delays_a_run_and_ends_none() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["touch started", "wait-file go", "close done", "touch closed"]);
    let worker = env.start_work(&["--drain"]);
    env.wait_for_file("started");
    let database = env.database();
    database.execute_batch("BEGIN EXCLUSIVE").unwrap();
    std::fs::write(env.project("go"), "").unwrap();
    // Longer than the time between two heartbeats.
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert!(!env.project("closed").exists());
    database.execute_batch("COMMIT").unwrap();
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&id), ["closed"]);
}

#[test]
fn a_claim_whose_session_never_came_is_taken_back_when_its_lease_is_over() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["close done"]);
    // The worker dies in the very call of tmux, as if the machine had.
    env.program("tmux", "#!/bin/sh\n[ \"$1\" = -V ] && exec echo 'tmux 3.4'\nkill -9 $PPID\n");
    env.start_work(&["--once"]).wait(SOON).fails_with(137);
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("in_progress", vec!["live".to_owned()])
    );
    std::fs::remove_file(env.path("bin/tmux")).unwrap();
    let worker = env.start_work(&[]);
    worker.wait_for("recovered");
    env.wait_for_end(&id, 2);
    assert_eq!(env.outcomes(&id), ["launch_failed", "closed"]);
    env.assert_settled(&env.last_run(&id));
}

#[test]
fn a_claim_whose_worker_died_before_any_session_is_taken_back_at_once() {
    for stop in [false, true] {
        let env = TestEnv::with_tracker();
        env.configure("lease = \"600s\"\n");
        let id = env.script_atom(&["close done"]);
        env.program("tmux", "#!/bin/sh\n[ \"$1\" = -V ] && exec echo 'tmux 3.4'\nkill -9 $PPID\n");
        env.start_work(&["--once"]).wait(SOON).fails_with(137);
        std::fs::remove_file(env.path("bin/tmux")).unwrap();
        // As if the worker had died a moment earlier, before writing the session's name.
        env.database().execute("UPDATE runs SET session = NULL", []).unwrap();
        if stop {
            env.start_el(&["work", "--stop"]).wait(SOON).ok();
            assert_eq!(env.status(&id), "open");
        } else {
            env.start_work(&["--drain"]).wait(SOON).ok();
            assert_eq!(env.status(&id), "closed");
        }
        assert_eq!(env.outcomes(&id)[0], if stop { "cancelled" } else { "launch_failed" });
    }
}

#[test]
fn a_drain_waits_for_the_claim_of_a_worker_that_died_in_its_launch() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["close done"]);
    env.program("tmux", "#!/bin/sh\n[ \"$1\" = -V ] && exec echo 'tmux 3.4'\nkill -9 $PPID\n");
    env.start_work(&["--once"]).wait(SOON).fails_with(137);
    std::fs::remove_file(env.path("bin/tmux")).unwrap();
    env.start_work(&["--drain"]).wait(SOON).ok();
    assert_eq!((env.status(&id), env.outcomes(&id)), {
        ("closed".to_owned(), vec!["launch_failed".to_owned(), "closed".to_owned()])
    });
}
