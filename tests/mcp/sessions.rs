//! The command line's rules hold here too: a run's fence, check and review; the actor; the project.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Client;
use crate::support::{SOON, TestEnv, wait_until};

/// A project with a live run of the scripted agent, which ends as soon as `go` exists.
fn at_work(more: &str) -> (TestEnv, crate::support::Running, String, Value) {
    let env = TestEnv::with_tracker();
    env.configure(more);
    let id = env.script_atom(&["touch begun", "wait-file go"]);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("begun");
    let run = env.last_run(&id);
    (env, worker, id, run)
}

fn in_session(env: &TestEnv, run: &Value) -> Client {
    let mut client = Client::of(&mut env.el_as_run(run, &["mcp"]));
    client.initialize("2025-06-18");
    client
}

#[test]
fn a_session_does_its_own_work_and_is_refused_once_its_run_is_over() {
    let (env, worker, id, run) = at_work("");
    let mut client = in_session(&env, &run);
    let other = env.create("Another", &[]);
    assert!(client.fails("in_session", "claim", json!({"id": other})).contains(&id));
    client.fails("in_session", "claim", json!({}));
    let own = client.ok("claude_code", json!({"task": "script: close"}));
    assert!(own.contains("does not start one") || own.contains("it waits for"), "{own}");
    let own = own.split_whitespace().nth(1).unwrap().to_owned();
    client.fails("in_session", "claude_code_result", json!({"task_id": own, "wait": 60}));
    client.ok("claude_code_cancel", json!({"task_id": own}));
    client.ok("comment", json!({"id": id, "text": "half way"}));
    client.ok("create", json!({"title": "Found on the way", "discovered_from": id}));
    client.ok("close", json!({"ids": [id], "reason": "by MCP"}));
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&id), ["closed"]);
    // The server was part of the run's tree, which is gone. An escaped server can do nothing.
    client.ended();
    let late = env.run(&mut env.el_as_run(&run, &["mcp"])).fails_with(5);
    assert!(late.stderr.contains("stop working on it"), "{late:?}");
}

#[test]
fn work_that_is_to_be_reviewed_is_not_closed_by_whoever_did_it() {
    let (env, worker, id, run) = at_work("review = true\n");
    let mut client = in_session(&env, &run);
    let said = client.fails("refused", "close", json!({"ids": [id]}));
    assert!(said.contains("el submit"), "{said}");
    client.fails("refused", "update", json!({"ids": [id], "status": "closed"}));
    client.ok("update", json!({"ids": [id], "status": "review"}));
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    assert_eq!(env.status(&id), "review");
}

#[test]
fn a_required_check_runs_before_a_close_and_can_be_called_off() {
    let (env, worker, id, run) = at_work(
        "verify = \"sh -c 'touch checking; while [ ! -e may-pass ]; do sleep 0.1; done; exit 0'\"\n\
         require_verify = true\n",
    );
    let mut client = in_session(&env, &run);
    let closing = client.begin(
        "tools/call",
        json!({"name": "close", "arguments": {"ids": [id]}, "_meta": {"progressToken": 7}}),
    );
    env.wait_for_file("checking");
    let told = client.wait_for("progress", |message| message["method"] == "notifications/progress");
    assert_eq!(told["params"]["progressToken"], 7);
    client.ok("show", json!({"id": id}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": closing}}));
    let is_over = || {
        env.processes()
            .iter()
            .all(|p| !p.words.iter().any(|word| word.contains("may-pass")))
            .then_some(())
    };
    wait_until("the check to be ended", SOON, is_over);
    assert_eq!(env.status(&id), "in_progress");
    assert_eq!(env.last_run(&id)["verify"]["status"], "pending");
    std::fs::write(env.project("may-pass"), "").unwrap();
    client.ok("close", json!({"ids": [id], "reason": "checked"}));
    assert_eq!(env.last_run(&id)["verify"]["status"], "passed");
    assert!(
        client.rest(Duration::from_millis(200)).iter().all(|m| m["id"] != closing),
        "it was called off"
    );
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&id), ["closed"]);
}

#[test]
fn who_acts_is_told_as_for_every_command() {
    let mut env = TestEnv::with_tracker();
    let by = |env: &TestEnv, arguments: &[&str]| {
        let mut client = Client::of(env.command("el").args(arguments));
        client.initialize("2025-06-18");
        let said = client.ok("create", json!({"title": "Whose?"}));
        env.show(said.split_whitespace().nth(1).unwrap())["created_by"].as_str().unwrap().to_owned()
    };
    // Git's name, not the client's, which is "tester" here.
    assert_eq!(by(&env, &["mcp"]), "Test");
    env.set("EL_ACTOR", "ann");
    assert_eq!(by(&env, &["mcp"]), "ann");
    assert_eq!(by(&env, &["mcp", "--actor", "gendry"]), "gendry");
}

#[test]
fn where_there_is_no_tracker_that_is_told_until_there_is_one() {
    let env = TestEnv::new();
    let mut client = Client::start(&env);
    let calls = [
        ("list", json!({})),
        ("create", json!({"title": "x"})),
        ("claude_code", json!({"task": "x"})),
        ("inbox", json!({})),
    ];
    for (tool, arguments) in calls {
        let said = client.fails("no_database", tool, arguments);
        assert!(said.contains("el init"), "{said}");
    }
    env.el(&["init", "--name", "t"]).ok();
    client.ok("create", json!({"title": "Now there is"}));
    std::fs::remove_dir_all(env.project(".eluent")).unwrap();
    client.fails("no_database", "list", json!({}));
    std::fs::create_dir(env.project(".eluent")).unwrap();
    std::fs::write(
        env.project(".eluent/el.db"),
        "no database at all, but long enough to be looked at",
    )
    .unwrap();
    client.fails("not_a_database", "list", json!({}));
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
}

#[test]
fn a_database_of_a_newer_el_is_refused_and_left_alone() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    client.ok("create", json!({"title": "Before"}));
    let version: i64 =
        env.database().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    env.database().pragma_update(None, "user_version", 9_999).unwrap();
    for (tool, arguments) in [("list", json!({})), ("create", json!({"title": "x"}))] {
        let said = client.fails("newer_database", tool, arguments);
        assert!(said.contains("exit 6") && said.contains("restart this server"), "{said}");
    }
    env.database().pragma_update(None, "user_version", version).unwrap();
    assert_eq!(client.ok("list", json!({})).lines().count(), 1);
}

#[test]
fn between_two_calls_the_database_is_nobodys() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    client.ok("create", json!({"title": "One"}));
    let held = std::fs::read_dir(format!("/proc/{}/fd", client.pid()))
        .unwrap()
        .filter_map(|fd| std::fs::read_link(fd.unwrap().path()).ok());
    let held: Vec<_> = held.filter(|path| path.to_string_lossy().contains("el.db")).collect();
    assert!(held.is_empty(), "{held:?}");
    // A waiting call holds the database open, but no transaction: others write at once.
    let id = client.ok("claude_code", json!({"task": TestEnv::script(&["wait-file go", "close"])}));
    let id = id.split_whitespace().nth(1).unwrap().to_owned();
    client.begin_call("claude_code_result", json!({"task_id": id, "wait": 60}));
    client.ok("ready", json!({}));
    let before = Instant::now();
    env.create("Two", &[]);
    assert!(before.elapsed() < Duration::from_secs(10));
    std::fs::write(env.project("go"), "").unwrap();
}

#[test]
fn what_a_session_may_not_do_by_the_command_line_it_may_not_here() {
    let (env, worker, id, run) = at_work("");
    let outside = env.path("outside");
    std::fs::create_dir(&outside).unwrap();
    env.el(&["update", &id, "--label", "review"]).ok();
    let mut client = in_session(&env, &run);
    let said = client.fails(
        "in_session",
        "claude_code",
        json!({"task": "x", "workdir": outside.display().to_string()}),
    );
    assert!(said.contains("(exit 8)") && said.contains("outside of its project"), "{said}");
    let said = client.fails("refused", "update", json!({"ids": [id], "status": "open"}));
    assert!(said.contains("(exit 8)") && said.contains("el close"), "{said}");
    client.fails("refused", "update", json!({"ids": [id], "remove_labels": ["review"]}));
    client.fails(
        "invalid_value",
        "update",
        json!({"ids": [id], "status": "deferred", "defer_until": "10s"}),
    );
    client.fails(
        "invalid_value",
        "update",
        json!({"ids": [id], "status": "deferred", "defer_until": "yesterday"}),
    );
    assert_eq!(env.robot(&["tasks"])["count"], 0);
    std::fs::write(env.project("go"), "").unwrap();
    client.ok("update", json!({"ids": [id], "status": "wont_do"}));
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&id), ["wont_do"]);
}

/// Single verbs, several atoms at once, files and tools: each goes by the same rules.
#[test]
fn every_way_into_the_tracker_has_the_rules_of_the_single_verb() {
    let env = TestEnv::with_tracker();
    let epic = env.create("Epic", &["--type", "epic", "--metadata", r#"{"budget_usd":1}"#]);
    let other = env.create("Another epic", &["--type", "epic"]);
    let free = env.create("Free", &[]);
    let waits = env.create("Waits", &[]);
    env.el(&["update", &waits, "--status", "review"]).ok();
    let held = env.create("Held by a person", &[]);
    env.el(&["--actor", "ann", "claim", &held]).ok();
    let labelled = env.create("To be reviewed", &["--label", "review"]);
    let steps = TestEnv::script(&["touch begun", "wait-file go", "close done"]);
    let id = env.create("Mine", &["--parent", &epic, "-d", &steps]);
    let worker = env.start_work(&["--once", &id]);
    env.wait_for_file("begun");
    let run = env.last_run(&id);
    let atoms = || {
        let listed = env.robot(&["list", "--all"])["items"].take();
        let rows = listed.as_array().unwrap().iter();
        let keys = ["id", "status", "metadata", "parent_id", "assignee", "run_options", "title"];
        let mut rows: Vec<_> = rows.map(|row| keys.map(|key| row[key].to_string())).collect();
        rows.sort();
        rows
    };
    let before = atoms();
    let raised = r#"'{"budget_usd":100}'"#;
    for line in [
        format!("el close {waits}"),
        format!("el close {free} {waits}"),
        format!("el close {free} {held}"),
        format!("el close {free} {labelled}"),
        format!("el update {free} {waits} --status closed"),
        format!("el update {free} {held} --status in_progress"),
        format!("el update {epic} --metadata {raised}"),
        format!("el update {free} {epic} --metadata {raised}"),
        format!("el update {id} --metadata {raised}"),
        format!("el update {id} --parent {other}"),
        "el create New --env LD_PRELOAD=/tmp/x".to_owned(),
        r#"echo '{"title":"New","env":{"LD_PRELOAD":"x"}}' | el create --file -"#.to_owned(),
        r#"printf '%s\n' '{"title":"A"}' '{"title":"B","env":["A=b"]}' | el create --file -"#
            .to_owned(),
        r#"el create New --metadata '{"budget_usd":"much"}'"#.to_owned(),
        format!("el --actor ann release {held}"),
        format!("el --db .eluent/../.eluent/el.db close {waits}"),
    ] {
        let ran = env.run(env.in_session(&run, "sh").args(["-c", &line]));
        assert_ne!(ran.status, 0, "{line}: {ran:#?}");
        assert_eq!(atoms(), before, "{line}");
    }
    // An import takes what is newer, and nothing of what a session edited.
    for edit in
        [r#"s/"budget_usd":1/"budget_usd":100/"#, r#"s/"status":"review"/"status":"closed"/"#]
    {
        let later = r#"s/"updated_at":"20../"updated_at":"2099/"#;
        let line = format!("el export | sed -e '{edit}' -e '{later}' | el import -");
        env.run(env.in_session(&run, "sh").args(["-c", &line]));
        assert_eq!(atoms(), before, "{line}");
    }
    let mut client = in_session(&env, &run);
    for (code, tool, given) in [
        ("refused", "close", json!({"ids": [free, waits]})),
        ("claimed", "close", json!({"ids": [free, held]})),
        ("refused", "close", json!({"ids": [free, labelled]})),
        ("refused", "update", json!({"ids": [free, waits], "status": "closed"})),
        ("refused", "update", json!({"ids": [free, labelled], "status": "wont_do"})),
        ("refused", "update", json!({"ids": [labelled], "status": "review"})),
        ("in_session", "update", json!({"ids": [held, free], "status": "in_progress"})),
    ] {
        client.fails(code, tool, given.clone());
        assert_eq!(atoms(), before, "{tool} {given}");
    }
    drop(client);
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&id), ["closed"]);
}
