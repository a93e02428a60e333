//! Ctrl-C, signals and `el work --stop`: how people end a worker, and the fate of its sessions.

use rustix::process::Signal;

use crate::support::{Running, SOON, TestEnv, wait_until};

/// A worker with a live run, whose agent waits for the file `go`.
fn working(env: &TestEnv) -> (Running, String) {
    let id = env.script_atom(&["touch started", "wait-file go", "close done"]);
    let worker = env.start_work(&["--drain"]);
    env.wait_for_file("started");
    (worker, id)
}

fn go(env: &TestEnv) {
    std::fs::write(env.project("go"), "").unwrap();
}

#[test]
fn ctrl_c_once_stops_the_claiming_and_waits() {
    let env = TestEnv::with_tracker();
    let (worker, id) = working(&env);
    let next = env.create("Not any more", &[]);
    worker.signal(Signal::INT);
    assert_eq!(worker.wait_for("draining")["running"], 1);
    go(&env);
    let ran = worker.wait(SOON).ok();
    assert!(!ran.stdout.contains("detached"), "{ran:#?}");
    assert_eq!((env.status(&id).as_str(), env.status(&next).as_str()), ("closed", "open"));
}

#[test]
fn ctrl_c_twice_leaves_the_session_running_and_the_next_worker_adopts_it() {
    let env = TestEnv::with_tracker();
    let (worker, id) = working(&env);
    worker.signal(Signal::INT);
    worker.wait_for("draining");
    worker.signal(Signal::INT);
    let ran = worker.wait(SOON).ok();
    assert!(ran.stdout.contains("\"detached\""), "{ran:#?}");
    assert_eq!(env.status(&id), "in_progress");
    assert_eq!(env.sessions().len(), 1);
    let second = env.start_work(&["--drain"]);
    assert_eq!(second.wait_for("adopted")["atom"], id.as_str());
    go(&env);
    second.wait(SOON).ok();
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("closed", vec!["closed".to_owned()])
    );
}

#[test]
fn the_last_line_of_a_worker_tells_of_what_it_adopted() {
    let env = TestEnv::with_tracker();
    let (worker, _) = working(&env);
    worker.signal(Signal::TERM);
    worker.wait(SOON).ok();
    env.script_atom(&["close done"]);
    let second = env.start_el(&["work", "--drain"]);
    wait_until("the adoption", SOON, || second.stdout().contains("is adopted").then_some(()));
    go(&env);
    let told = second.wait(SOON).ok().stdout;
    assert!(told.contains("Done: 2 closed of 1 claimed and 1 adopted"), "{told}");
}

#[test]
fn a_session_that_was_left_is_settled_without_any_worker() {
    let env = TestEnv::with_tracker();
    let (worker, id) = working(&env);
    worker.signal(Signal::TERM);
    worker.wait(SOON).ok();
    go(&env);
    let run = env.wait_for_end(&id, 1);
    assert_eq!(run["outcome"], "closed");
    env.assert_settled(&run);
    // The server ends with its last session, since no worker keeps the server.
    wait_until("the end of all", SOON, || env.processes().is_empty().then_some(()));
}

#[test]
fn a_closed_terminal_leaves_the_sessions_too() {
    let env = TestEnv::with_tracker();
    let (worker, id) = working(&env);
    worker.signal(Signal::HUP);
    worker.wait(SOON).ok();
    assert_eq!(env.status(&id), "in_progress");
    go(&env);
    assert_eq!(env.wait_for_end(&id, 1)["outcome"], "closed");
}

#[test]
fn stop_ends_workers_and_sessions_and_opens_the_atoms_again() {
    let env = TestEnv::with_tracker();
    let (worker, id) = working(&env);
    let waiting = env.create("Waits", &[]);
    let stopped = env.robot(&["work", "--stop"]);
    assert_eq!(stopped["ended"][0]["atom_id"], id.as_str());
    let run = env.last_run(&id);
    assert_eq!((env.status(&id).as_str(), run["outcome"].as_str()), ("open", Some("cancelled")));
    env.assert_settled(&run);
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&waiting).len(), 0);
    // Stopping is no failure: the next worker continues.
    go(&env);
    env.work(&["--drain"]);
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("closed", vec!["cancelled".to_owned(), "closed".to_owned()])
    );
}

#[test]
fn stop_ends_sessions_that_no_worker_watches_and_says_when_there_is_nothing() {
    let env = TestEnv::with_tracker();
    assert_eq!(env.robot(&["work", "--stop"])["ended"], serde_json::json!([]));
    let (worker, id) = working(&env);
    worker.signal(Signal::KILL);
    worker.wait(SOON).fails_with(137);
    env.el(&["work", "--stop"]).ok();
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("open", vec!["cancelled".to_owned()])
    );
    wait_until("the end of all", SOON, || env.processes().is_empty().then_some(()));
}

#[test]
fn stop_ends_a_deaf_agent() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["ignore-signals", "touch started", "hang"]);
    let worker = env.start_work(&["--drain"]);
    env.wait_for_file("started");
    let told = env.el(&["work", "--stop"]).ok().stderr;
    assert!(told.contains("waiting for") && told.contains(&id), "{told}");
    env.assert_settled(&env.last_run(&id));
    worker.wait(SOON).ok();
}

#[test]
fn ctrl_c_in_the_session_is_a_persons_cancel() {
    let env = TestEnv::with_tracker();
    let (worker, id) = working(&env);
    let session = env.last_run(&id)["session"].as_str().unwrap().to_owned();
    env.tmux(&["send-keys", "-t", &format!("={session}:"), "C-c"]).unwrap();
    worker.wait(SOON).ok();
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("deferred", vec!["cancelled".to_owned()])
    );
    assert!(env.comments(&id)[0].contains("C-c"), "{:?}", env.comments(&id));
    env.assert_settled(&env.last_run(&id));
}

#[test]
fn under_nohup_the_end_of_the_terminal_is_none_of_the_workers_and_agents_hear_signals() {
    let env = TestEnv::with_tracker();
    env.configure("executor = \"command\"\ncommand = [\"agent\"]\n");
    // The bits of the ignored signals: SIGHUP is 1, SIGINT 2.
    env.program(
        "agent",
        "#!/bin/sh\ngrep SigIgn /proc/self/status > ignored\ntouch started\n\
         until test -e go; do sleep 0.05; done\nel close $EL_ATOM --reason done\n",
    );
    let id = env.create("Wait", &[]);
    let script = "trap '' HUP INT; exec el --robot work --drain";
    let worker = env.start(env.command("sh").args(["-c", script]));
    env.wait_for_file("started");
    worker.signal(Signal::HUP);
    // A received signal would take effect before the new atom is claimed.
    let next = env.create("Wait", &[]);
    go(&env);
    let ran = worker.wait(SOON).ok();
    assert!(!ran.stdout.contains("detached"), "{ran:#?}");
    assert_eq!([&id, &next].map(|id| env.status(id)), ["closed", "closed"]);
    let ignored = std::fs::read_to_string(env.project("ignored")).unwrap();
    let mask = u64::from_str_radix(ignored.split_whitespace().last().unwrap(), 16).unwrap();
    assert_eq!(mask & 0b11, 0, "{ignored}");
}
