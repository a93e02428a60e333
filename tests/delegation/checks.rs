//! `--verify` and `--require-verify`.

use std::fs;

use serde_json::json;

use crate::support::TestEnv;

#[test]
fn the_check_is_run_after_the_agent_says_that_it_is_done_and_is_part_of_the_record() {
    let env = TestEnv::with_tracker();
    let more = ["--verify", "sh -c 'test -e made && echo all fine && exit 0'"];
    let passed = env.hand_over(&["touch made", "close"], &more);
    let task = env.wait_for_task(&passed["id"], "completed");
    assert_eq!(
        (&task["verify"]["status"], &task["verify"]["exit_code"]),
        (&json!("passed"), &json!(0))
    );
    assert_eq!(task["verify"]["output"], "all fine");
    let failed = env.hand_over(&["close"], &["--verify", "sh -c 'echo 3 tests failed; exit 2'"]);
    let task = env.wait_for_task(&failed["id"], "completed");
    let run = env.last_run(failed["id"].as_str().unwrap());
    assert_eq!(run["verify"], task["verify"]);
    assert_eq!(
        (&run["verify"]["status"], &run["verify"]["exit_code"], &run["verify"]["output"]),
        (&json!("failed"), &json!(2), &json!("3 tests failed"))
    );
    assert!(env.events(failed["id"].as_str().unwrap()).contains(&"verified".to_owned()));
    let waited = env
        .el(&["--robot", "run", "--wait", "--verify", "false", "--", "script: close"])
        .fails_with(1)
        .json();
    assert_eq!(waited["error"]["code"], "verify_failed");
}

#[test]
fn no_check_is_run_of_work_that_is_not_done() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\nverify = \"touch checked\"\n");
    let put_off = env.hand_over(&["update deferred"], &[]);
    env.wait_for_task(&put_off["id"], "deferred");
    let failed = env.hand_over(&["exit 1"], &[]);
    let task = env.wait_for_task(&failed["id"], "failed");
    assert_eq!(task["verify"]["status"], "pending");
    assert!(!env.project("checked").exists());
    // The setting holds for every atom.
    let atom = env.script_atom(&["close"]);
    env.work(&["--drain"]);
    assert_eq!(env.last_run(&atom)["verify"]["status"], "passed");
    assert!(env.project("checked").exists());
}

#[test]
fn a_check_that_takes_too_long_is_ended_with_all_that_it_started() {
    let env = TestEnv::with_tracker();
    env.configure("verify_timeout = \"1s\"\n");
    let task =
        env.hand_over(&["close"], &["--verify", "sh -c 'echo begun; sleep 600 & sleep 600'"]);
    let task = env.wait_for_task(&task["id"], "completed");
    assert_eq!(
        (&task["verify"]["status"], &task["verify"]["output"]),
        (&json!("timed_out"), &json!("begun"))
    );
    env.assert_settled(&env.last_run(task["id"].as_str().unwrap()));
    assert!(
        env.processes().iter().all(|p| !p.words.contains(&"sleep".to_owned())),
        "{:?}",
        env.processes()
    );
}

#[test]
fn a_required_check_keeps_the_agent_from_closing_until_it_passes() {
    let env = TestEnv::with_tracker();
    let steps = [
        "sh el --robot close $EL_ATOM > first.json; echo $? > first.code",
        "sh el update $EL_ATOM --status closed; echo $? > around.code",
        "say so I have to mend it",
        "touch mended",
        "close mended",
    ];
    let more = [
        "--verify",
        "sh -c 'test -e mended || { echo it is broken; exit 1; }'",
        "--require-verify",
    ];
    let answer = env.hand_over(&steps, &more);
    let task = env.wait_for_task(&answer["id"], "completed");
    assert_eq!(
        (&task["verify"]["status"], &task["verify"]["required"]),
        (&json!("passed"), &json!(true))
    );
    assert_eq!(
        (env.wait_for_file("first.code"), env.wait_for_file("around.code")),
        ("8".to_owned(), "8".to_owned())
    );
    let refused: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(env.project("first.json")).unwrap()).unwrap();
    assert_eq!(refused["error"]["code"], "verify_failed");
    assert_eq!(refused["error"]["details"]["verify"]["output"], "it is broken");
    let prompt = env.read_run_file(&env.last_run(answer["id"].as_str().unwrap()), "prompt.md");
    assert!(
        prompt.contains("## Check") && prompt.contains("it is broken"),
        "the agent is told beforehand"
    );
    assert_eq!(
        env.events(answer["id"].as_str().unwrap()).iter().filter(|e| *e == "verified").count(),
        2,
        "it is not run once more"
    );
}

#[test]
fn an_agent_that_is_sent_back_hears_of_the_check() {
    let env = TestEnv::with_tracker();
    let steps = [
        "record begun.json",
        "say I am done",
        "on-block",
        "record sent-back.json",
        "touch mended",
        "close",
    ];
    let answer = env.hand_over(&steps, &["--verify", "test -e mended", "--require-verify"]);
    env.wait_for_task(&answer["id"], "completed");
    let run = env.last_run(answer["id"].as_str().unwrap());
    assert_eq!(run["stop_blocks"], 1);
    // The check takes longer than the client's two minutes for a tool.
    let begun = env.recorded("begun.json");
    for name in ["BASH_DEFAULT_TIMEOUT_MS", "BASH_MAX_TIMEOUT_MS"] {
        assert_eq!(begun["env"][name], "660000", "{name}");
    }
    let transcript = env.read_run_file(&run, "transcript.jsonl");
    assert!(
        transcript.contains("test -e mended") && transcript.contains("is refused while it fails"),
        "{transcript}"
    );
}

#[test]
fn a_required_check_needs_a_command() {
    let env = TestEnv::with_tracker();
    env.el(&["run", "--require-verify", "do it"]).fails_with(2);
    env.configure("verify = \"make | tee log\"\n");
    let error = env.el(&["--robot", "run", "do it"]).fails_with(6).json();
    assert_eq!(error["error"]["details"]["field"], "verify");
    assert_eq!(env.robot(&["list"])["total"], 0);
}
