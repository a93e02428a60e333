//! Time, silence, and the account's usage limit.

use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::Signal;

use crate::support::{SOON, TestEnv};

fn in_seconds(seconds: u64) -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + seconds
}

#[test]
fn a_run_whose_time_is_up_is_ended_and_tried_again() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["say on it", "hang", "on-attempt 2", "close faster"]);
    env.work(&["--drain", "--timeout", "1s"]);
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("closed", vec!["timed_out".to_owned(), "closed".to_owned()])
    );
    let first = env.runs(&id).remove(0);
    assert!(first["detail"].as_str().unwrap().contains("time was up"), "{first}");
    env.assert_settled(&first);
}

#[test]
fn the_time_limit_holds_over_all_calls_of_a_run() {
    let env = TestEnv::with_tracker();
    env.configure("execution_timeout = \"2s\"\nmax_attempts = 1\n");
    let id = env.script_atom(&["no-stop-hook", "sleep 1500", "on-resume", "hang"]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!((&run["outcome"], &run["resumes"]), (&"timed_out".into(), &1.into()));
}

#[test]
fn an_agent_that_neither_speaks_nor_does_anything_is_stalled() {
    let env = TestEnv::with_tracker();
    env.configure("stall_timeout = \"1s\"\nmax_attempts = 1\n");
    let id = env.script_atom(&["say thinking", "hang"]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!(run["outcome"], "stalled");
    env.assert_settled(&run);
    assert_eq!(env.status(&id), "blocked");
}

#[test]
fn a_silent_tool_that_works_is_no_stall() {
    let env = TestEnv::with_tracker();
    env.configure("stall_timeout = \"2s\"\n");
    let id = env.script_atom(&[
        "sh end=$(($(date +%s) + 5)); while [ $(date +%s) -lt $end ]; do :; done",
        "close done",
    ]);
    env.work(&["--once"]);
    assert_eq!(env.outcomes(&id), ["closed"]);
}

#[test]
fn a_usage_limit_pauses_all_claiming_and_counts_for_nothing() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    let limit = format!("rate-limit {}", in_seconds(3600));
    let id = env.script_atom(&[&limit]);
    let other = env.create("Another", &["--priority", "low"]);
    let worker = env.start_work(&["--drain"]);
    let paused = worker.wait_for("paused");
    assert!(paused["reason"].as_str().unwrap().contains("usage limit"), "{paused}");
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("open", vec!["usage_limit".to_owned()])
    );
    assert_eq!(env.events(&id).last().unwrap(), "status open");
    assert!(env.robot(&["why", &id])["pause"]["until"].is_string());
    let dry = env.robot(&["work", "--dry-run"]);
    assert_eq!((&dry["ready"], dry["pause"]["until"].is_string()), (&2.into(), true));
    // A second worker does not claim either, and both leave when told to.
    let second = env.start_work(&["--once", "--wait"]);
    second.wait_for("paused");
    assert_eq!(env.robot(&["runs", "--atom", &other])["count"], 0);
    for worker in [worker, second] {
        worker.signal(Signal::INT);
        worker.wait(SOON).ok();
    }
    assert_eq!(env.robot(&["runs"])["count"], 1);
}

#[test]
fn when_the_limit_resets_work_goes_on_by_itself() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    let limit = format!("rate-limit {}", in_seconds(2));
    let id = env.script_atom(&[&limit, "on-attempt 2", "close at last"]);
    let told = env.work(&["--drain"]);
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("closed", vec!["usage_limit".to_owned(), "closed".to_owned()])
    );
    let only = |wanted: &[&str]| -> Vec<String> {
        let kinds = told.iter().map(|event| event["event"].as_str().unwrap());
        kinds.filter(|kind| wanted.contains(kind)).map(str::to_owned).collect()
    };
    assert_eq!(
        only(&["paused", "resumed", "finished"]),
        ["paused", "resumed", "finished"],
        "{told:#?}"
    );
    assert_eq!(only(&["launched", "settled"]), ["launched", "settled", "launched", "settled"]);
}

#[test]
fn a_warning_of_the_limit_and_a_retry_by_the_client_change_nothing() {
    let env = TestEnv::with_tracker();
    let warning = format!("rate-warning {}", in_seconds(3600));
    let id = env.script_atom(&[&warning, "api-retry 529", "close done"]);
    env.work(&["--once"]);
    assert_eq!(env.outcomes(&id), ["closed"]);
    assert_eq!(env.robot(&["work", "--dry-run"])["pause"], serde_json::Value::Null);
}

#[test]
fn bounds_on_turns_and_money_are_failures_with_their_reason() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    let turns = env.script_atom(&["say 1", "say 2", "say 3", "close done"]);
    env.work(&["--once", "--max-turns", "2"]);
    let money = env.script_atom(&["usage 1 1 0.6", "say 1", "say 2", "say 3", "close done"]);
    env.work(&["--once", "--budget-per-run", "1"]);
    for (id, reason) in [(turns, "maximum number of turns (2)"), (money, "maximum budget ($1)")] {
        let run = env.last_run(&id);
        assert_eq!(run["outcome"], "failed");
        assert!(run["detail"].as_str().unwrap().contains(reason), "{run}");
    }
}

#[test]
fn a_run_over_its_own_budget_is_tried_again_as_other_failures_are() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 2\nbudget_per_run = 1\n");
    let turn = ["usage 1 1 1.5", "say 1", "result", "hang"];
    let script = [&turn[..], &["on-attempt 2"], &turn].concat();
    let id = env.script_atom(&script);
    env.work(&["--drain"]);
    assert_eq!(
        (env.outcomes(&id), env.status(&id)),
        (vec!["failed".to_owned(); 2], "blocked".to_owned())
    );
    let detail = env.last_run(&id)["detail"].to_string();
    assert!(detail.contains("over budget: this run cost $1.50 of the $1.00"), "{detail}");
}
