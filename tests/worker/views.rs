//! Views of runs for people and programs, during and after the runs.

use serde_json::{Value, json};

use crate::support::{Running, SOON, TestEnv};

fn working(env: &TestEnv) -> (Running, String) {
    let id = env.script_atom(&[
        "say the first words",
        "touch started",
        "wait-file go",
        "say the last words",
        "close all done",
    ]);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("started");
    (worker, id)
}

fn go(env: &TestEnv, worker: Running) {
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
}

#[test]
fn logs_follow_a_run_to_its_end() {
    let env = TestEnv::with_tracker();
    let (worker, id) = working(&env);
    let follow = env.start_el(&["logs", &id, "-f"]);
    let raw = env.start_el(&["logs", &id, "-f", "--raw"]);
    crate::support::wait_until("the first words", SOON, || {
        follow.stdout().contains("the first words").then_some(())
    });
    assert!(!follow.stdout().contains("the last words"));
    go(&env, worker);
    let ran = follow.wait(SOON).ok();
    assert!(ran.stdout.contains("the last words") && ran.stdout.contains("el close"), "{ran:#?}");
    assert!(ran.stderr.contains("closed"), "{ran:#?}");
    let run = env.last_run(&id);
    assert_eq!(raw.wait(SOON).ok().stdout, env.read_run_file(&run, "transcript.jsonl"));
}

#[test]
fn logs_of_a_run_that_is_over_are_all_there() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["say one", "say two", "stderr complaint", "close done"]);
    env.work(&["--once"]);
    let run = env.last_run(&id)["id"].as_str().unwrap().to_owned();
    let by_run = env.el(&["logs", &run]).ok().stdout;
    assert_eq!(env.el(&["logs", &id]).ok().stdout, by_run);
    assert!(by_run.contains("one") && by_run.contains("two"));
    assert_eq!(env.el(&["logs", &id, "--file", "stderr"]).ok().stdout, "complaint\n");
    assert!(env.el(&["logs", &id, "--file", "prompt"]).ok().stdout.contains("# Work Item"));
    let last = env.el(&["logs", &id, "-n", "1"]).ok().stdout;
    assert!(by_run.ends_with(&last) && last.len() < by_run.len(), "{last}");
    let robot = env.robot(&["logs", &id]);
    assert_eq!(
        (&robot["items"][0]["type"], &robot["truncated"]),
        (&json!("system"), &json!(false))
    );
    assert_eq!(robot["count"], robot["items"].as_array().unwrap().len());
    let missing = env.run(env.command("el").args(["logs", &id, "--file", "supervisor"]));
    assert!(missing.status == 0 || missing.status == 3, "{missing:#?}");
}

#[test]
fn runs_are_listed_newest_first_and_filtered() {
    let env = TestEnv::with_tracker();
    let failing = env.script_atom(&["exit 1", "on-attempt 2", "close second"]);
    env.work(&["--drain"]);
    let (worker, running) = working(&env);
    let atoms = |words: &[&str]| -> Vec<(Value, Value)> {
        let runs = env.robot(words)["items"].take();
        runs.as_array()
            .unwrap()
            .iter()
            .map(|run| (run["atom_id"].clone(), run["outcome"].clone()))
            .collect()
    };
    let all = atoms(&["runs"]);
    assert_eq!(
        all,
        [
            (json!(running), Value::Null),
            (json!(failing), json!("closed")),
            (json!(failing), json!("failed"))
        ]
    );
    assert_eq!(atoms(&["runs", "--live"]), all[..1]);
    assert_eq!(atoms(&["runs", "--outcome", "failed"]), all[2..]);
    assert_eq!(atoms(&["runs", "--atom", &failing]), all[1..]);
    let cut = env.robot(&["runs", "--limit", "1"]);
    assert_eq!(
        (&cut["count"], &cut["total"], &cut["truncated"]),
        (&1.into(), &3.into(), &true.into())
    );
    let table = env.el(&["runs"]).ok().stdout;
    assert!(table.contains(&running) && table.contains("failed"), "{table}");
    let shown = env.robot(&["runs", "show", &running]);
    assert!(
        std::path::Path::new(shown["folder"].as_str().unwrap()).join("transcript.jsonl").exists()
    );
    let page = env.el(&["runs", "show", &failing]).ok().stdout;
    assert!(
        page.contains("attempt 2") && page.contains("closed") && page.contains("Conversation"),
        "{page}"
    );
    go(&env, worker);
}

#[test]
fn why_tells_what_holds_an_atom_and_how_each_attempt_ended() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 2\n");
    let id = env.script_atom(&["exit 7", "on-attempt 2", "api-error 400 the request is bad"]);
    let waits = env.create("Waits for it", &["--blocked-by", &id]);
    let why = |id: &str| env.el(&["why", id]).ok().stdout;
    assert!(why(&id).contains("It is ready"));
    env.work(&["--drain"]);
    let told = why(&id);
    for part in [
        "It is blocked",
        "#1 claude",
        "code 7",
        "#2 claude",
        "the request is bad",
        "Given up after 2",
    ] {
        assert!(told.contains(part), "no {part:?} in {told}");
    }
    assert!(why(&waits).contains(&format!("blocked by {id}")));
    let robot = env.robot(&["why", &id]);
    assert_eq!(
        (&robot["ready"], &robot["attempts"][1]["outcome"]),
        (&false.into(), &"failed".into())
    );
    assert_eq!(robot["holds"], json!([{"hold": "status", "status": "blocked"}]));
}

#[test]
fn why_and_show_tell_of_a_run_that_is_on() {
    let env = TestEnv::with_tracker();
    let (worker, id) = working(&env);
    let run = env.last_run(&id)["id"].as_str().unwrap().to_owned();
    assert!(env.el(&["why", &id]).ok().stdout.contains(&format!("is working on it in {run}")));
    assert_eq!(env.show(&id)["run_id"], run.as_str());
    let page = env.el(&["runs", "show", &run]).ok().stdout;
    assert!(page.contains("Lease until") && page.contains("Supervisor"), "{page}");
    go(&env, worker);
}

#[test]
fn attach_tells_a_robot_the_command_and_says_when_there_is_no_session() {
    let env = TestEnv::with_tracker();
    let never = env.create("Never worked on", &["-p", "someday"]);
    let ran = env.run(env.command("el").args(["--robot", "attach", &never])).fails_with(4);
    assert_eq!(ran.json()["error"]["code"], "no_run");
    let (worker, id) = working(&env);
    let attach = env.robot(&["attach", &id]);
    let command: Vec<&str> =
        attach["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let session = env.last_run(&id)["session"].as_str().unwrap().to_owned();
    assert_eq!(
        &command[1..],
        [
            "-u",
            "-L",
            attach["socket"].as_str().unwrap(),
            "-f",
            "/dev/null",
            "attach-session",
            "-t",
            &format!("={session}")
        ]
    );
    let ran = env.run(env.command("el").args(["attach", &id])).fails_with(2);
    assert!(ran.stderr.contains("terminal") && ran.stderr.contains("el logs"), "{ran:#?}");
    go(&env, worker);
    let ran = env.run(env.command("el").args(["--robot", "attach", &id])).fails_with(3);
    assert!(ran.json()["error"]["hint"].as_str().unwrap().contains("el logs"), "{ran:#?}");
}

#[test]
fn a_person_at_a_terminal_sees_each_session_and_a_summary() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&[
        "usage 10 10 0.25",
        "say looking around",
        "touch started",
        "wait-file go",
        "close done",
    ]);
    let screen = env.screen(100, 20, "el work --drain");
    env.wait_for_file("started");
    let text = screen.wait_for("looking around");
    let line = text.lines().find(|line| line.contains("◐")).unwrap();
    assert!(
        line.contains(&id) && line.contains("1 turn") && line.contains("Play a script"),
        "{text}"
    );
    std::fs::write(env.project("go"), "").unwrap();
    let text = screen.wait_for("[exit 0]");
    assert!(!text.contains('◐'), "the live line is taken away: {text}");
    assert!(text.contains("Done: 1 closed of 1 claimed") && text.contains("$0.5"), "{text}");
}

#[test]
fn ctrl_c_at_a_terminal_says_what_happens() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["touch started", "wait-file go", "close done"]);
    let screen = env.screen(100, 20, "el work");
    env.wait_for_file("started");
    screen.press("C-c");
    screen.wait_for("1 still running; Ctrl-C again leaves them");
    screen.press("C-c");
    let text = screen.wait_for("Left running");
    assert!(text.contains("el work adopts them"), "{text}");
    assert_eq!(env.status(&id), "in_progress");
    std::fs::write(env.project("go"), "").unwrap();
    assert_eq!(env.wait_for_end(&id, 1)["outcome"], "closed");
}

#[test]
fn a_reader_that_goes_away_ends_no_worker() {
    let env = TestEnv::with_tracker();
    let ids = [env.create("One", &[]), env.create("Two", &[])];
    for line in ["el --robot work --once", "el work --once"] {
        env.run(
            env.command("sh")
                .args(["-c", &format!("{{ {line}; echo $? > code; }} | head -c 1 > /dev/null")]),
        )
        .ok();
        assert_eq!(env.wait_for_file("code"), "0", "{line}");
    }
    for id in ids {
        assert_eq!(env.status(&id), "closed");
    }
}

#[test]
fn why_names_the_command_that_the_permissions_held_back() {
    let env = TestEnv::with_tracker();
    let held = "el update $EL_ATOM --status blocked --reason 'no way to push'";
    let id = env.script_atom(&["denied git push origin", held]);
    env.work(&["--once"]);
    assert_eq!(env.last_run(&id)["denied_tools"], serde_json::json!(["Bash(git push origin)"]));
    let why = env.el(&["why", &id]).ok().stdout;
    for words in ["its permissions denied Bash(git push origin)", "“no way to push”"] {
        assert!(why.contains(words), "no {words} in {why}");
    }
}

#[test]
fn logs_of_a_program_have_its_errors_where_they_came() {
    let env = TestEnv::with_tracker();
    env.program(
        "robot",
        "#!/bin/sh\necho begins\necho '    at line 3' >&2\nsleep 0.3\necho '{\"n\": 1}'\n\
         sleep 0.3\nprintf 'no such table' >&2\nexit 3\n",
    );
    env.configure("[agents.robot]\nexecutor = \"command\"\ncommand = [\"robot\"]\n");
    let id = env.create("For the robot", &[]);
    env.el(&["work", "--once", "--agent", "robot"]).fails_with(9);
    let shown = env.el(&["logs", &id]).ok().stdout;
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("no {text:?}: {shown}"));
    assert!(at("    at line 3") < at("{\"n\": 1}") && at("{\"n\": 1}") < at("no such table"));
    assert!(at("begins") < at("{\"n\": 1}"), "{shown}");
    // For programs, the output stays the output.
    assert_eq!(env.el(&["logs", &id, "--raw"]).ok().stdout, "begins\n{\"n\": 1}\n");
    assert_eq!(env.robot(&["logs", &id])["items"], json!(["begins", {"n": 1}]));
    assert_eq!(env.el(&["logs", &id, "--file", "transcript"]).ok().stdout.lines().count(), 2);
}
