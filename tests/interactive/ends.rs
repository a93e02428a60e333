//! The ends of a run on a screen: by the atom, by the summary if configured, and by every sudden
//! death.

use super::{project, summary_step, wait_for_action};
use crate::support::{SOON, TestEnv, wait_until};

#[test]
fn a_summary_ends_the_run_where_the_settings_say_so() {
    let env = project("completion = \"summary\"\n");
    let id = env.script_atom(&[&summary_step("✅ COMPLETED"), "touch written", "hang"]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    let atom = env.show(&id);
    assert_eq!((&run["outcome"], &atom["status"]), (&"closed".into(), &"closed".into()), "{run:#}");
    assert_eq!(atom["close_reason"], "Wrote the parser; Tested it");
    let events = env.robot(&["history", &id])["items"].take();
    let closed =
        events.as_array().unwrap().iter().find(|event| event["data"]["to"] == "closed").unwrap();
    assert_eq!(
        (&closed["data"]["via"], &closed["run_id"]),
        (&"summary file".into(), &run["id"]),
        "{closed:#}"
    );
    env.assert_settled(&run);
}

#[test]
fn a_summary_closes_nothing_before_a_required_check_has_passed() {
    let env = project("completion = \"summary\"\n");
    let steps = [
        &summary_step("✅ COMPLETED"),
        "wait-file seen",
        "say all done",
        "on-block",
        "sh el close $EL_ATOM --reason early > early.txt 2>&1; echo \"code $?\" >> early.txt",
        "touch mended",
        "close mended",
    ];
    let script = TestEnv::script(&steps);
    let task = env.robot(&[
        "run",
        "--verify",
        "sh -c 'test -e mended || { echo not yet; exit 1; }'",
        "--require-verify",
        "--",
        &script,
    ]);
    let id = task["id"].as_str().unwrap();
    let refused = || {
        env.runs(id).pop().filter(|run| env.run_file_says(run, "pane.log", "it cannot be closed"))
    };
    let run = wait_until("the summary to be refused", SOON, refused);
    assert_eq!(env.status(id), "in_progress", "{run:#}");
    std::fs::write(env.project("seen"), "").unwrap();
    env.wait_for_status(id, "closed");
    let run = env.wait_for_end(id, 1);
    assert_eq!(
        (&run["outcome"], &run["stop_blocks"], &run["verify"]["status"]),
        (&"closed".into(), &1.into(), &"passed".into()),
        "{run:#}"
    );
    let early = env.wait_for_file("early.txt");
    assert!(early.contains("not yet") && early.ends_with("code 8"), "{early}");
    assert_eq!(env.show(id)["close_reason"], "mended");
    env.assert_settled(&run);
}

#[test]
fn a_summary_that_tells_of_failure_closes_as_one() {
    let env = project("completion = \"summary\"\n");
    let id = env.script_atom(&[&summary_step("❌ FAILED"), "hang"]);
    env.work(&["--once"]);
    assert_eq!(env.show(&id)["close_reason"], "failed: Wrote the parser; Tested it");
}

#[test]
fn a_summary_of_an_earlier_attempt_ends_nothing() {
    let env = project("completion = \"summary\"\n");
    let id = env.script_atom(&["say I look first", "sleep 4000", "close by hand"]);
    std::fs::create_dir_all(env.project(".eluent/summaries")).unwrap();
    std::fs::write(
        env.project(format!(".eluent/summaries/{id}.md")),
        "## Accomplishments\n- old\n",
    )
    .unwrap();
    env.work(&["--once"]);
    assert_eq!(env.show(&id)["close_reason"], "by hand");
}

#[test]
fn without_that_setting_a_summary_is_not_enough_and_the_agent_is_sent_back() {
    let env = project("");
    let id = env.script_atom(&[
        &summary_step("COMPLETED"),
        "say that is all",
        "on-block",
        "say is it not",
        "on-resume",
        "close nudged",
    ]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!(
        (&run["outcome"], &run["stop_blocks"], &run["resumes"]),
        (&"closed".into(), &1.into(), &1.into()),
        "{run:#}"
    );
    assert_eq!(env.show(&id)["close_reason"], "nudged");
}

#[test]
fn one_that_waits_for_ever_at_its_input_line_is_a_violation() {
    let env = project("retry_backoff = \"1h\"");
    let id = env.script_atom(&[
        "say all done",
        "on-block",
        "say really",
        "on-resume",
        "say yes, really",
    ]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!((&run["outcome"], &run["resumes"]), (&"violation".into(), &1.into()), "{run:#}");
    env.assert_settled(&run);
}

#[test]
fn a_client_that_crashes_is_a_failure() {
    let env = project("retry_backoff = \"1h\"");
    let id = env.script_atom(&["say oh", "sleep 1500", "exit 3"]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!((&run["outcome"], &run["exit_code"]), (&"failed".into(), &3.into()), "{run:#}");
    env.assert_settled(&run);
}

#[test]
fn a_killed_supervisor_takes_the_client_and_its_tree_along() {
    let env = project("");
    let steps = [
        "child 300 setsid double-fork pid=child",
        "say at work",
        "hang",
        "on-attempt 2",
        "close second",
    ];
    let id = env.script_atom(&steps);
    let worker = env.start_work(&["--drain"]);
    env.wait_for_file("child");
    let run = wait_for_action(&env, &id, "at work");
    let pid = run["supervisor"]["pid"].as_u64().unwrap();
    env.processes().into_iter().find(|process| u64::from(process.pid) == pid).unwrap().kill();
    assert_eq!(worker.wait_for("recovered")["run"], run["id"]);
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&id), ["lost", "closed"]);
    env.runs(&id).iter().for_each(|run| env.assert_settled(run));
}

#[test]
fn a_session_that_is_killed_from_outside_is_interrupted_and_tried_again() {
    let env = project("");
    let id = env.script_atom(&[
        "child 300 setsid double-fork pid=child",
        "say at work",
        "hang",
        "on-attempt 2",
        "close second",
    ]);
    let worker = env.start_work(&["--drain"]);
    env.wait_for_file("child");
    let run = wait_for_action(&env, &id, "at work");
    env.tmux(&["kill-session", "-t", &format!("={}", run["session"].as_str().unwrap())]).unwrap();
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&id), ["interrupted", "closed"]);
    let first = env.runs(&id).remove(0);
    assert!(first["detail"].as_str().unwrap().contains("terminated without closing"), "{first:#}");
    env.runs(&id).iter().for_each(|run| env.assert_settled(run));
}

#[test]
fn a_deaf_client_is_killed_with_all_of_its_tree() {
    let env = project("");
    let id = env.script_atom(&[
        "ignore-signals",
        "child 300 ignore-signals pid=child",
        "close done",
        "hang",
    ]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!(run["outcome"], "closed");
    env.assert_settled(&run);
    assert_eq!(env.sessions(), Vec::<String>::new());
}

#[test]
fn a_run_out_of_time_is_ended() {
    let env = project("execution_timeout = \"6s\"\nretry_backoff = \"1h\"");
    let id = env.script_atom(&["say slow", "hang"]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!(run["outcome"], "timed_out", "{run:#}");
    env.assert_settled(&run);
}
