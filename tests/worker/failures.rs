//! Failed attempts: the reports, the retries, and the end of retries.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::support::{SOON, TestEnv};

#[test]
fn a_failed_attempt_is_tried_again_and_the_next_one_is_told_of_it() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&[
        "say half of it",
        "exit 7",
        "on-attempt 2",
        "record second.json",
        "close done",
    ]);
    env.work(&["--drain"]);
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("closed", vec!["failed".to_owned(), "closed".to_owned()])
    );
    let first = env.runs(&id).remove(0);
    assert_eq!((&first["exit_code"], &first["attempt"]), (&7.into(), &1.into()));
    assert!(first["detail"].as_str().unwrap().contains("code 7"), "{first}");
    let second = env.recorded("second.json");
    let prompt = second["prompt"].as_str().unwrap();
    assert!(
        prompt.contains("Attempt:** 2") && prompt.contains("attempt 1 by claude ended as failed"),
        "{prompt}"
    );
    let events =
        ["created", "status in_progress", "run_started", "run_ended failed", "status open"];
    assert_eq!(env.events(&id)[..5], events);
}

#[test]
fn after_its_attempts_an_atom_is_blocked_and_a_comment_says_why() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 2\n");
    let id = env.script_atom(&["api-error 400 the request is bad"]);
    let told = env.work(&["--drain"]);
    assert_eq!(env.outcomes(&id), ["failed", "failed"]);
    assert_eq!(env.status(&id), "blocked");
    let comment = &env.comments(&id)[0];
    assert!(
        comment.contains("2 attempts")
            && comment.contains("the request is bad")
            && comment.contains("el retry"),
        "{comment}"
    );
    let last = told.iter().rfind(|event| event["event"] == "settled").unwrap();
    assert_eq!((&last["status"], &last["retry_at"]), (&json!("blocked"), &json!(null)));
}

#[test]
fn a_person_gives_a_blocked_atom_fresh_attempts() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    let id = env.script_atom(&["exit 1", "on-attempt 2", "exit 1", "on-attempt 3", "close third"]);
    env.work(&["--drain"]);
    assert_eq!(env.status(&id), "blocked");
    env.el(&["retry", &id]).ok();
    env.work(&["--drain"]);
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id).len()),
        ("blocked", 2),
        "one fresh attempt, which failed too"
    );
    env.el(&["reopen", &id]).ok();
    env.work(&["--drain"]);
    assert_eq!(env.outcomes(&id), ["failed", "failed", "closed"]);
}

#[test]
fn an_agent_killed_by_a_signal_failed() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    for (name, number) in [("KILL", 9), ("ABRT", 6)] {
        let id = env.script_atom(&[&format!("die {name}")]);
        env.work(&["--once"]);
        let run = env.last_run(&id);
        assert_eq!(
            (&run["outcome"], &run["exit_signal"]),
            (&json!("failed"), &json!(number)),
            "{name}"
        );
        env.assert_settled(&run);
    }
}

#[test]
fn a_back_off_holds_the_atom_and_a_drain_waits_for_it() {
    let env = TestEnv::with_tracker();
    env.configure("retry_backoff = \"2s\"\n");
    let id = env.script_atom(&["exit 1", "on-attempt 2", "close second"]);
    let worker = env.start_work(&["--drain"]);
    let settled = worker.wait_for("settled");
    assert!(settled["retry_at"].is_string(), "{settled}");
    let why = env.el(&["why", &id]).ok().stdout;
    // By then the second attempt may run already.
    assert!(why.contains("failed") && why.contains("code 1"), "{why}");
    worker.wait(SOON).ok();
    let runs = env.runs(&id);
    assert_eq!(env.outcomes(&id), ["failed", "closed"]);
    assert!(
        runs[1]["started_at"].as_str().unwrap() >= settled["retry_at"].as_str().unwrap(),
        "{runs:#?}"
    );
}

#[test]
fn a_program_that_cannot_be_started_is_no_fault_of_the_work() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    env.program("claude", "#!/nonexistent/interpreter\n");
    let id = env.script_atom(&["close never"]);
    env.work(&["--drain"]);
    // Two more attempts than for failures of the work itself.
    assert_eq!(env.outcomes(&id), ["launch_failed", "launch_failed", "launch_failed"]);
    assert_eq!(env.status(&id), "blocked");
    let run = env.last_run(&id);
    let detail = run["detail"].as_str().unwrap();
    assert!(detail.contains("could not be started") && detail.contains("claude"), "{detail}");
    env.assert_settled(&run);
}

#[test]
fn a_tmux_that_starts_no_session_stops_the_worker_and_loses_no_atom() {
    let env = TestEnv::with_tracker();
    env.program(
        "tmux",
        "#!/bin/sh\n[ \"$1\" = -V ] && exec echo 'tmux 3.4'\n\
        echo 'no room for a session' >&2; exit 1\n",
    );
    let id = env.script_atom(&["close never"]);
    let ran = env.run(env.command("el").args(["--robot", "work"])).fails_with(6);
    let last: serde_json::Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["error"]["details"]["field"], "tmux", "{last}");
    assert!(last["error"]["message"].as_str().unwrap().contains("no room for a session"), "{last}");
    assert_eq!(env.status(&id), "open");
    assert_eq!(env.outcomes(&id), ["launch_failed", "launch_failed", "launch_failed"]);
}

#[test]
fn a_session_that_does_not_start_is_told_once() {
    let env = TestEnv::with_tracker();
    env.program(
        "tmux",
        "#!/bin/sh\n[ \"$1\" = -V ] && exec echo 'tmux 3.4'\n\
        echo 'no room for a session' >&2; exit 1\n",
    );
    let id = env.script_atom(&["close never"]);
    let told = env.el(&["work", "--once"]).fails_with(9).stdout;
    assert_eq!(told.matches("no room for a session").count(), 1, "{told}");
    let detail = env.last_run(&id)["detail"].as_str().unwrap().to_owned();
    assert_eq!(detail.matches("the session could not be started").count(), 1, "{detail}");
}

#[test]
fn many_quick_failures_in_a_row_make_the_worker_wait() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    let ids: Vec<String> = (0..4).map(|_| env.script_atom(&["exit 1"])).collect();
    let worker = env.start_work(&["--drain"]);
    let paused = worker.wait_for("paused");
    assert_eq!(paused["kind"], "empty_runs");
    assert!(paused["reason"].as_str().unwrap().contains("3 runs in a row failed"), "{paused}");
    assert_eq!(env.robot(&["runs"])["count"], 3);
    assert_eq!(env.status(&ids[3]), "open");
    let why = env.robot(&["why", &ids[3]]);
    assert!(why["pause"]["reason"].as_str().unwrap().starts_with("3 runs in a row"), "{why}");
    worker.signal(rustix::process::Signal::INT);
    worker.wait(SOON).ok();
    // Every worker waits, however often somebody starts one, until a person says so.
    for words in [&["work", "--once"][..], &["work", "--max", "1"]] {
        let told = env.el(words).fails_with(10);
        assert!(told.stderr.contains("3 runs in a row failed"), "{told:#?}");
    }
    assert_eq!(env.status(&ids[3]), "open");
    env.robot(&["work", "--resume"]);
    let good = env.create("Good", &["--priority", "0"]);
    env.work(&["--once"]);
    assert_eq!(env.status(&good), "closed");
}

#[test]
fn failures_without_any_work_are_counted_over_all_workers() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    let ids: Vec<String> = (0..4).map(|_| env.script_atom(&["exit 1"])).collect();
    for _ in 0..3 {
        env.el(&["work", "--once"]).fails_with(9);
    }
    env.el(&["work", "--once"]).fails_with(10);
    assert_eq!(env.status(&ids[3]), "open");
    assert_eq!(env.robot(&["stats"])["pause"]["kind"], "empty_runs");
}

#[test]
fn a_short_run_that_did_some_work_is_no_empty_run() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    (0..4).for_each(|_| drop(env.script_atom(&["say I looked, and gave up", "exit 1"])));
    for _ in 0..4 {
        env.el(&["work", "--once"]).fails_with(9);
    }
    assert_eq!(env.robot(&["stats"])["pause"], json!(null));
}

#[test]
fn a_folder_of_contexts_that_disappears_is_made_again() {
    let env = TestEnv::with_tracker();
    let ids = [
        env.script_atom(&["sh rm -rf .eluent/agent-context", "close one"]),
        env.script_atom(&["close two"]),
    ];
    env.work(&["--drain"]);
    for id in ids {
        assert_eq!(env.outcomes(&id), ["closed"]);
    }
}

#[test]
fn a_run_folder_that_cannot_be_written_fails_the_launch_and_says_so() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["close never"]);
    // A file in the place of the runs folder stops root too.
    std::fs::write(env.project(".eluent/runs"), "").unwrap();
    let ran = env.run(env.command("el").args(["--robot", "work", "--once"]));
    assert!(ran.stdout.contains(".eluent/runs"), "{ran:#?}");
    assert_eq!(env.status(&id), "open");
    std::fs::remove_file(env.project(".eluent/runs")).unwrap();
    env.work(&["--once"]);
    assert_eq!(env.status(&id), "closed");
    let mode = std::fs::metadata(env.project(".eluent/runs")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
}

#[test]
fn why_quotes_the_agent_and_names_its_run() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    let forgets =
        env.script_atom(&["say all done", "on-resume", "say I could not find the schema"]);
    env.work(&["--drain"]);
    let told = env.el(&["why", &forgets]).ok().stdout;
    assert!(told.contains("I could not find the schema"), "{told}");
    assert!(!told.contains("work begins from open"), "{told}");
    let claimed = env.create("by hand", &[]);
    env.el(&["claim", &claimed]).ok();
    let told = env.el(&["why", &claimed]).ok().stdout;
    assert!(told.contains("no run works on it"), "{told}");
    let blocked = env.create("blocked by hand", &[]);
    env.el(&["update", &blocked, "--status", "blocked", "--reason", "no API key"]).ok();
    let told = env.el(&["why", &blocked]).ok().stdout;
    assert!(told.contains("“no API key”"), "{told}");
}

#[test]
fn the_system_prompt_of_an_agent_stands_before_its_work() {
    let env = TestEnv::with_tracker();
    env.configure("system_prompt = \"Answer in Latin.\"\n");
    env.script_atom(&["record prompt.json", "close done"]);
    env.work(&["--drain"]);
    let recorded = env.recorded("prompt.json");
    let prompt = recorded["prompt"].as_str().unwrap();
    let (words, item) = (prompt.find("Answer in Latin."), prompt.find("# Work Item"));
    assert!(words.is_some() && words < item, "{prompt}");
}

#[test]
fn a_back_off_from_before_the_clock_went_back_is_not_told() {
    let env = TestEnv::with_tracker();
    let id = env.create("Once more", &[]);
    let until = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + Duration::from_secs(86_400);
    let until = i64::try_from(until.as_micros()).unwrap();
    let change = "UPDATE atoms SET retry_at = ?1, retry_from = ?1 WHERE id = ?2";
    env.database().execute(change, (until, &id)).unwrap();
    for words in [&["ready"][..], &["list"], &["work", "--dry-run"]] {
        let told = env.el(words).ok().stdout;
        assert!(told.contains(&id) && !told.contains("another try"), "{words:?}: {told}");
    }
}
