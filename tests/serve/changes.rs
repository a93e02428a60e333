//! The board makes changes as the command line does.

use serde_json::{Value, json};

use super::Board;
use crate::support::TestEnv;

#[test]
fn each_verb_changes_the_atom_in_the_persons_name() {
    let mut env = TestEnv::with_tracker();
    env.set("EL_ACTOR", "ada");
    let board = Board::start(&env, &[]);
    let draft = json!({
        "title": "Parse it", "description": "All of it", "type": "bug", "priority": 1,
        "labels": ["api"],
    });
    let made = board.post("/api/atoms", &draft).data();
    let id = made["id"].as_str().unwrap();
    let atom = env.show(id);
    assert_eq!(
        json!([atom["title"], atom["issue_type"], atom["priority"], atom["labels"]]),
        json!(["Parse it", "bug", 1, ["api"]])
    );
    assert_eq!(atom["created_by"], "ada");
    let does =
        |verb: &str, body: Value| board.post(&format!("/api/atoms/{id}/{verb}"), &body).data();
    does("comment", json!({ "text": "By hand" }));
    assert_eq!(env.comments(id), ["By hand"]);
    assert_eq!(does("priority", json!({ "priority": 4 }))["priority"], 4);
    let put_off = does("defer", json!({ "until": "3d" }));
    assert!(put_off["status"] == "deferred" && put_off["defer_until"].is_string(), "{put_off}");
    assert_eq!(does("reopen", json!({}))["status"], "open");
    env.el(&["update", id, "--status", "blocked"]).ok();
    assert_eq!(does("answer", json!({ "text": "Use port 80" }))["status"], "open");
    assert_eq!(env.comments(id)[1], "Use port 80");
    env.el(&["update", id, "--status", "review"]).ok();
    let note = json!({ "file": "a.rs", "from": 2, "to": 2, "lines": ["let x;"], "text": "Why?" });
    does("reject", json!({ "text": "Not yet", "notes": [note] }));
    let shown = env.show(id);
    assert_eq!(shown["status"], "open");
    let reason = shown["reviews"][0]["reason"].as_str().unwrap();
    assert_eq!(reason, "Not yet\n\na.rs, line 2:\n> let x;\nWhy?");
    env.el(&["update", id, "--status", "review"]).ok();
    assert_eq!(does("approve", json!({}))["status"], "closed");
    assert_eq!(does("reopen", json!({}))["status"], "open");
    let given_up = does("wont_do", json!({ "text": "Not needed" }));
    assert_eq!(
        json!([given_up["status"], given_up["close_reason"]]),
        json!(["wont_do", "Not needed"])
    );
    let by: Vec<Value> = env.robot(&["history", id])["items"].as_array().unwrap().clone();
    assert!(by.iter().all(|event| event["actor"] == "ada"), "{by:#?}");
}

#[test]
fn a_worker_is_started_and_stopped_from_the_page() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["close done"]);
    let board = Board::start(&env, &[]);
    let started = board.post("/api/workers/start", &json!({})).data();
    assert!(started["said"].as_str().unwrap().contains("background"), "{started}");
    env.wait_for_status(&id, "closed");
    board.post("/api/workers/stop", &json!({})).data();
    let workers = env.robot(&["work", "--status"]);
    assert!(workers["workers"]["items"].as_array().is_none_or(Vec::is_empty), "{workers}");
    // No request adds a word to the command, and there are no others.
    assert_eq!(board.post("/api/workers/start", &json!({ "agent": "x" })).status, 400);
    assert_eq!(board.post("/api/workers/--help", &json!({})).status, 404);
}

#[test]
fn a_change_of_what_is_no_longer_so_is_refused() {
    let env = TestEnv::with_tracker();
    let id = env.create("One", &[]);
    env.el(&["update", &id, "--status", "review"]).ok();
    let board = Board::start(&env, &[]);
    let path = format!("/api/atoms/{id}");
    let seen = board.get(&path).data()["updated_at"].take();
    env.el(&["update", &id, "--title", "Another thing"]).ok();
    let answer = board.post(&format!("{path}/approve"), &json!({ "seen": seen }));
    assert_eq!((answer.status, answer.code().as_str()), (409, "changed"), "{answer:#?}");
    assert_eq!(env.status(&id), "review");
    let seen = board.get(&path).data()["updated_at"].take();
    assert_eq!(board.post(&format!("{path}/approve"), &json!({ "seen": seen })).status, 200);
}

#[test]
fn faults_are_told_as_on_the_command_line() {
    let env = TestEnv::with_tracker();
    let id = env.create("One", &[]);
    let board = Board::start(&env, &[]);
    let told = |path: &str, body: Value| {
        let answer = board.post(path, &body);
        (answer.status, answer.code())
    };
    let path = format!("/api/atoms/{id}");
    for (call, body, status, code) in [
        (format!("{path}/approve"), json!({}), 409, "not_in_review"),
        (format!("{path}/cancel"), json!({}), 409, "no_run"),
        (format!("{path}/comment"), json!({ "text": " " }), 400, "invalid_value"),
        (format!("{path}/priority"), json!({ "priority": 9 }), 400, "invalid_value"),
        (format!("{path}/defer"), json!({ "until": "never" }), 400, "invalid_value"),
        (format!("{path}/comment"), json!({ "txet": "x" }), 400, "wrong_body"),
        (format!("{path}/explode"), json!({}), 404, "not_found"),
        ("/api/atoms/t-zzzz/retry".to_owned(), json!({}), 404, "not_found"),
        ("/api/atoms".to_owned(), json!({ "title": "" }), 400, "invalid_value"),
        ("/api/atoms".to_owned(), json!([1]), 400, "wrong_body"),
    ] {
        assert_eq!(told(&call, body), (status, code.to_owned()), "{call}");
    }
    assert_eq!((env.status(&id), env.comments(&id)), ("open".to_owned(), vec![]));
}

#[test]
fn a_board_to_look_at_changes_nothing() {
    let env = TestEnv::with_tracker();
    let id = env.create("One", &[]);
    let board = Board::start(&env, &["--read-only"]);
    assert_eq!(board.get("/api/hello").data()["read_only"], true);
    let before = env.robot(&["history"])["total"].take();
    assert_eq!(board.post("/api/workers/start", &json!({})).status, 403);
    for verb in
        ["approve", "reject", "comment", "answer", "reopen", "retry", "cancel", "priority", "defer"]
    {
        let answer = board.post(&format!("/api/atoms/{id}/{verb}"), &json!({ "text": "x" }));
        assert_eq!((answer.status, answer.code().as_str()), (403, "read_only"), "{verb}");
    }
    assert_eq!(board.post("/api/atoms", &json!({ "title": "x" })).code(), "read_only");
    assert_eq!(env.robot(&["history"])["total"], before);
    assert_eq!(board.get(&format!("/api/atoms/{id}")).data()["title"], "One");
}
