//! Handing over, waiting, calling off.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Client;
use crate::support::{Process, SOON, TestEnv, wait_until};

fn task_id(said: &str) -> String {
    said.split_whitespace().nth(1).unwrap().to_owned()
}

#[track_caller]
fn hand_over(client: &mut Client, steps: &[&str]) -> String {
    let said = client.ok("claude_code", json!({"task": TestEnv::script(steps)}));
    assert!(said.starts_with("Task t-"), "{said}");
    task_id(&said)
}

fn wait_for(env: &TestEnv, id: &str, status: &str) {
    wait_until(status, SOON, || {
        (env.robot(&["tasks", "show", id])["status"] == status).then_some(())
    });
}

#[test]
fn a_task_is_handed_over_at_once_and_its_end_is_told() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    assert_eq!(client.ok("claude_code_status", json!({})), "no task is under way");
    let before = Instant::now();
    let said = client.ok(
        "claude_code",
        json!({"task": TestEnv::script(&["say working", "wait-file go", "close All is well"])}),
    );
    assert!(before.elapsed() < Duration::from_secs(10), "{said}");
    assert!(
        said.contains(" for claude: ") && said.contains("A worker was started for it"),
        "{said}"
    );
    let id = task_id(&said);
    wait_for(&env, &id, "running");
    let status = client.ok("claude_code_status", json!({"task_id": id}));
    assert!(status.starts_with(&format!("{id} running (claude, ")), "{status}");
    assert!(client.ok("claude_code_status", json!({})).starts_with(&format!("{id} running")));
    assert!(
        client.ok("claude_code_result", json!({"task_id": id})).contains("It has not ended yet")
    );
    let second = client.ok("claude_code", json!({"task": "script: close"}));
    assert!(second.contains("it waits for") && !second.contains("was started"), "{second}");
    let queued = client.ok("claude_code_status", json!({"task_id": task_id(&second)}));
    assert!(queued.contains("queued (claude, at place 1)"), "{queued}");
    std::fs::write(env.project("go"), "").unwrap();
    let result = client.ok("claude_code_result", json!({"task_id": id, "wait": 30}));
    assert!(result.starts_with(&format!("{id} completed (claude, ")), "{result}");
    assert!(
        result.contains("\nResult:\n  All is well\n") && result.contains("\nLast output:\n"),
        "{result}"
    );
    client.ok("claude_code_result", json!({"task_id": task_id(&second), "wait": 30}));
    let told = || Some(client.ok("inbox", json!({}))).filter(|text| text.contains(&id));
    let told = wait_until("the end in the inbox", SOON, told);
    assert!(told.contains("in #claude-code-tester") && told.contains("completed"), "{told}");
    assert_eq!(env.robot(&["tasks", "show", &id])["delegated_by"], "tester");
}

#[test]
fn it_works_where_it_is_told_to() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    std::fs::create_dir(env.project("side")).unwrap();
    let id = task_id(&client.ok(
        "claude_code",
        json!({"task": "script: touch here\nscript: close", "workdir": "side"}),
    ));
    assert!(
        client.ok("claude_code_result", json!({"task_id": id, "wait": 30})).contains("completed")
    );
    assert!(env.project("side/here").exists());
}

#[test]
fn a_prompt_may_have_a_megabyte() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let text = format!(
        "Big\n\nscript: close\n{}THE-END",
        "Read all of \"this\" \\ line.\n".repeat(60_000)
    );
    let id = task_id(&client.ok("claude_code", json!({"task": text})));
    assert!(
        client.ok("claude_code_result", json!({"task_id": id, "wait": 60})).contains("completed")
    );
    assert_eq!(env.robot(&["tasks", "show", &id])["task_prompt"], text);
}

#[test]
fn who_waits_hears_how_it_goes_and_holds_nobody_up() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let id = hand_over(&mut client, &["say working", "wait-file go", "close"]);
    let params = json!({"name": "claude_code_result", "arguments": {"task_id": id, "wait": 60},
        "_meta": {"progressToken": "tok"}});
    let waiting = client.begin("tools/call", params);
    let is_progress = |message: &Value| message["method"] == "notifications/progress";
    let first = client.wait_for("progress", is_progress);
    assert_eq!(first["params"]["progressToken"], "tok");
    assert!(first["params"]["message"].as_str().unwrap().starts_with(&id), "{first}");
    assert!(first.get("id").is_none());
    // Others are answered meanwhile, and changes made.
    client.ok("create", json!({"title": "Meanwhile"}));
    let second = client.wait_for("more progress", is_progress);
    assert!(
        second["params"]["progress"].as_f64() > first["params"]["progress"].as_f64(),
        "{first} {second}"
    );
    std::fs::write(env.project("go"), "").unwrap();
    assert!(client.called(waiting).text.contains("completed"));
    assert!(
        client.rest(Duration::from_millis(300)).iter().all(|m| !is_progress(m)),
        "progress after the answer"
    );
}

#[test]
fn a_wait_that_is_called_off_has_no_answer_and_leaves_the_task_alone() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let id = hand_over(&mut client, &["wait-file go", "close"]);
    let waiting = client.begin_call("claude_code_result", json!({"task_id": id, "wait": 600}));
    client.ok("ready", json!({}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": waiting, "reason": "enough"}}));
    client.ok("ready", json!({}));
    assert_eq!(client.rest(Duration::from_millis(500)), Vec::<Value>::new());
    assert!(env.robot(&["tasks", "show", &id])["completed_at"].is_null());
    std::fs::write(env.project("go"), "").unwrap();
    assert!(
        client.ok("claude_code_result", json!({"task_id": id, "wait": 30})).contains("completed")
    );
}

#[test]
fn a_wait_ends_with_its_time_and_with_the_conversation() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let id = hand_over(&mut client, &["wait-file go", "close"]);
    let before = Instant::now();
    assert!(
        client
            .ok("claude_code_result", json!({"task_id": id, "wait": 1}))
            .contains("It has not ended yet")
    );
    assert!(before.elapsed() >= Duration::from_secs(1));
    let waiting = client.begin_call("claude_code_result", json!({"task_id": id, "wait": 600}));
    client.ok("ready", json!({}));
    let rest = client.end();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert!(
        rest[0]["id"] == waiting
            && rest[0]["result"]["content"][0]["text"].as_str().unwrap().contains("not ended"),
        "{rest:?}"
    );
    std::fs::write(env.project("go"), "").unwrap();
    wait_for(&env, &id, "completed");
}

#[test]
fn a_task_is_called_off_whether_it_waits_or_runs() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let first = hand_over(&mut client, &["touch begun", "hang"]);
    let second = hand_over(&mut client, &["close"]);
    env.wait_for_file("begun");
    assert!(client.ok("claude_code_cancel", json!({"task_id": second})).contains("it is held"));
    let said = client.ok("claude_code_cancel", json!({"task_id": first, "reason": "done by hand"}));
    assert!(said.contains("is being ended"), "{said}");
    assert!(
        client
            .ok("claude_code_result", json!({"task_id": first, "wait": 60}))
            .contains("cancelled")
    );
    env.assert_settled(&env.last_run(&first));
    assert!(
        env.comments(&first).iter().any(|text| text.contains("done by hand")),
        "{:?}",
        env.comments(&first)
    );
    assert_eq!(env.status(&second), "deferred");
    assert!(env.runs(&second).is_empty());
}

#[test]
fn nothing_is_filed_that_nobody_could_begin_or_nobody_may_hand_over() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    env.configure("claude_code_path = \"/nowhere/claude\"\n");
    client.fails("config", "claude_code", json!({"task": "script: close"}));
    env.configure("delegates = [\"gendry\"]\n");
    let said = client.fails("refused", "claude_code", json!({"task": "script: close"}));
    assert!(
        said.contains("exit 8") && said.contains("tester may not") && said.contains("gendry"),
        "{said}"
    );
    assert_eq!(env.robot(&["list", "--all"])["count"], 0);
    let mut allowed = Client::of(env.command("el").args(["mcp", "--actor", "gendry"]));
    allowed.initialize("2025-06-18");
    hand_over(&mut allowed, &["close"]);
}

#[test]
fn a_worker_that_has_left_leaves_nothing_behind_in_the_server() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let said = client.ok("claude_code", json!({"task": "script: close"}));
    let pid = said.split("(pid ").nth(1).unwrap().split(')').next().unwrap().to_owned();
    client.ok("claude_code_result", json!({"task_id": task_id(&said), "wait": 30}));
    let is_reaped = || (!std::path::Path::new(&format!("/proc/{pid}")).exists()).then_some(());
    wait_until("the worker to be gone, and reaped", SOON, is_reaped);
    let said = client.ok("claude_code", json!({"task": "script: close"}));
    assert!(said.contains("A worker was started for it"), "{said}");
    client.ok("claude_code_result", json!({"task_id": task_id(&said), "wait": 30}));
}

#[test]
fn a_server_that_outlives_an_upgrade_starts_the_new_el() {
    let mut env = TestEnv::with_tracker();
    env.show_folder_of(env!("CARGO_BIN_EXE_fake-agent"));
    let own = env.path("bin/own-el");
    let install = || {
        std::fs::copy(env!("CARGO_BIN_EXE_el"), env.path("bin/new-el")).unwrap();
        std::fs::rename(env.path("bin/new-el"), &own).unwrap();
    };
    install();
    let mut client = Client::of(env.command(own.to_str().unwrap()).arg("mcp"));
    client.initialize("2025-06-18");
    install();
    let said = client.ok("claude_code", json!({"task": "script: close"}));
    assert!(
        client
            .ok("claude_code_result", json!({"task_id": task_id(&said), "wait": 30}))
            .contains("completed")
    );
}

#[test]
fn who_waits_does_not_wait_for_a_worker_that_is_gone() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let said = client.ok(
        "claude_code",
        json!({"task": TestEnv::script(&["touch begun", "wait-file go", "close"])}),
    );
    let worker = said.split("(pid ").nth(1).unwrap().split(')').next().unwrap().parse().unwrap();
    env.wait_for_file("begun");
    let second = hand_over(&mut client, &["close"]);
    let waiting = client.begin_call("claude_code_result", json!({"task_id": second, "wait": 60}));
    Process { pid: worker, words: Vec::new() }.kill();
    std::fs::write(env.project("go"), "").unwrap();
    assert!(client.called(waiting).text.contains("completed"));
    assert_eq!(
        (env.outcomes(&task_id(&said)), env.outcomes(&second)),
        (vec!["closed".to_owned()], vec!["closed".to_owned()])
    );
}

#[test]
fn a_server_that_is_killed_while_it_hands_over_leaves_a_whole_task_or_none() {
    let env = TestEnv::with_tracker();
    for round in 0..6 {
        let mut client = Client::start(&env);
        client.begin_call("claude_code", json!({"task": "script: close"}));
        std::thread::sleep(Duration::from_millis(round * 6));
        Process { pid: client.pid(), words: Vec::new() }.kill();
    }
    let mut client = Client::start(&env);
    let last = hand_over(&mut client, &["close"]);
    assert!(
        client.ok("claude_code_result", json!({"task_id": last, "wait": 60})).contains("completed")
    );
    let tasks = env.robot(&["tasks"])["items"].take();
    for task in tasks.as_array().unwrap() {
        let id = task["id"].as_str().unwrap();
        wait_for(&env, id, "completed");
        assert_eq!(
            (env.outcomes(id), &task["delegated_by"]),
            (vec!["closed".to_owned()], &json!("tester"))
        );
    }
}
