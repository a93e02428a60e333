//! `el run`: the prompt, the folder and the time of a task.

use std::fs;

use serde_json::json;

use crate::support::TestEnv;

#[test]
fn a_prompt_of_any_size_comes_from_a_file_or_from_stdin() {
    let env = TestEnv::with_tracker();
    let filler = "Read all of this, line after line.\n".repeat(60_000);
    let prompt =
        format!("# Big work\n\nscript: record seen.json\nscript: close\n\n{filler}THE-END\n");
    fs::write(env.project("big.md"), &prompt).unwrap();
    let answer = env.robot(&["run", "--file", "big.md"]);
    assert_eq!(answer["title"], "Big work");
    env.wait_for_task(&answer["id"], "completed");
    let seen = env.recorded("seen.json");
    let text = seen["prompt"].as_str().unwrap();
    assert!(text.len() > prompt.len() && text.contains("THE-END"));
    let mut piped = env.command("sh");
    piped.args(["-c", "printf 'From a pipe\\nscript: close' | el --robot run -"]);
    let answer = env.run(&mut piped).ok().json()["data"].take();
    assert_eq!(answer["title"], "From a pipe");
    env.wait_for_task(&answer["id"], "completed");
    assert_eq!(
        env.el(&["--robot", "run", "  "]).fails_with(2).json()["error"]["details"]["field"],
        "prompt"
    );
}

#[test]
fn a_task_has_its_own_folder_and_time() {
    let env = TestEnv::with_tracker();
    let folder = env.path("elsewhere");
    fs::create_dir(&folder).unwrap();
    let more = [
        "--workdir",
        folder.to_str().unwrap(),
        "--timeout",
        "90m",
        "--priority",
        "urgent",
        "--label",
        "api",
    ];
    let answer = env.hand_over(&["record seen.json", "close"], &more);
    let task = env.wait_for_task(&answer["id"], "completed");
    assert_eq!((&task["timeout_ms"], &task["priority"]), (&json!(5_400_000), &json!(0)));
    let seen: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.join("seen.json")).unwrap()).unwrap();
    assert_eq!(seen["cwd"], folder.to_str().unwrap());
    let atom = env.show(answer["id"].as_str().unwrap());
    assert_eq!(
        (&atom["delegation"]["by"], &atom["labels"][0]),
        (&atom["created_by"], &json!("api"))
    );
    for (flag, value) in [
        ("--workdir", "/nonexistent"),
        ("--timeout", "soon"),
        ("--timeout", "0s"),
        ("--verify", "a | b"),
        ("--priority", "x"),
    ] {
        env.el(&["run", flag, value, "x"]).fails_with(2);
    }
}

#[test]
fn a_task_has_an_hour_unless_it_is_given_another_time() {
    let env = TestEnv::with_tracker();
    let limit = |task: &serde_json::Value| {
        let run = env.last_run(env.wait_for_task(&task["id"], "completed")["id"].as_str().unwrap());
        let launch: serde_json::Value =
            serde_json::from_str(&env.read_run_file(&run, "launch.json")).unwrap();
        launch["agent"]["execution_timeout"].clone()
    };
    let usual = env.hand_over(&["close"], &[]);
    assert_eq!(limit(&usual), json!({"secs": 3600, "nanos": 0}));
    let longer = env.hand_over(&["close"], &["--timeout", "2h"]);
    assert_eq!(limit(&longer), json!({"secs": 7200, "nanos": 0}));
    // A running worker has read its settings already.
    env.wait_for_workers_to_leave();
    env.configure("execution_timeout = \"10m\"\n");
    let configured = env.hand_over(&["close"], &[]);
    assert_eq!(limit(&configured), json!({"secs": 600, "nanos": 0}));
}

#[test]
fn whoever_makes_more_than_two_run_at_once_is_warned() {
    let env = TestEnv::with_tracker();
    env.configure("[agents.ada]\n[agents.bob]\n[agents.cat]\n[agents.dan]\n");
    let warned = |answer: &serde_json::Value| {
        answer["warnings"].to_string().contains("runs are at work at once")
    };
    let begin = |agent: &str| {
        let answer = env.hand_over(
            &[&format!("touch begun-{agent}"), "wait-file go", "close"],
            &["--agent", agent],
        );
        env.wait_for_file(format!("begun-{agent}"));
        answer
    };
    let mut all: Vec<_> = ["ada", "bob"].into_iter().map(begin).collect();
    assert!(all.iter().all(|answer| !warned(answer)), "{all:#?}");
    // A task that waits behind another starts no third worker.
    all.push(env.hand_over(&["close"], &["--agent", "bob"]));
    assert!(!warned(&all[2]), "{:#}", all[2]);
    all.push(begin("cat"));
    assert!(warned(&all[3]) && all[3]["warnings"].to_string().contains("3 runs"), "{:#}", all[3]);
    let said = env.el(&["run", "--agent", "dan", "--", "script: close"]).ok();
    assert!(said.stderr.contains("4 runs are at work at once"), "{said:#?}");
    env.go("go");
    for answer in &all {
        env.wait_for_task(&answer["id"], "completed");
    }
    env.wait_for_workers_to_leave();
}

#[test]
fn a_task_from_a_linked_worktree_is_done_there() {
    let env = TestEnv::with_tracker();
    let linked = env.path("linked tree");
    let linked = linked.to_str().unwrap();
    for words in [
        &["init", "-q"][..],
        &["commit", "-q", "--allow-empty", "-m", "first"],
        &["worktree", "add", "-q", "-b", "side", linked],
    ] {
        env.run(env.command("git").args(words)).ok();
    }
    let below = env.path("linked tree/below");
    fs::create_dir(&below).unwrap();
    let run = |more: &[&str]| {
        let mut command = env.command("el");
        command
            .current_dir(&below)
            .args(["--robot", "run"])
            .args(more)
            .args(["--", "script: touch made\nscript: close"]);
        let answer = env.run(&mut command).ok().json()["data"].take();
        env.wait_for_task(&answer["id"], "completed")
    };
    assert_eq!(run(&[])["workdir"], linked);
    assert!(env.path("linked tree/made").exists() && !env.project("made").exists());
    // An explicit option wins over the current folder.
    assert_eq!(run(&["--workdir", "."])["workdir"], below.to_str().unwrap());
    // A worker keeps the settings of its start.
    env.wait_for_workers_to_leave();
    let named = env.path("named");
    fs::create_dir(&named).unwrap();
    env.configure(&format!("working_directory = \"{}\"\n", named.display()));
    run(&[]);
    assert!(named.join("made").exists());
}

#[test]
fn a_folder_that_is_gone_is_that_tasks_fault_alone() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    let folder = env.path("gone");
    fs::create_dir(&folder).unwrap();
    let busy = env.hand_over(&["touch begun", "wait-file go", "close"], &[]);
    env.wait_for_file("begun");
    let lost = env.hand_over(&["close"], &["--workdir", folder.to_str().unwrap()]);
    let after = env.hand_over(&["close"], &[]);
    fs::remove_dir(&folder).unwrap();
    env.go("go");
    env.wait_for_task(&busy["id"], "completed");
    env.wait_for_task(&after["id"], "completed");
    let task = env.wait_for_task(&lost["id"], "failed");
    assert!(task["detail"].as_str().unwrap().contains("gone"), "{task:#}");
}
