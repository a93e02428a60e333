//! The real client with `el mcp` as its server: the model's tools, permissions and actions.

use serde_json::{Value, json};

use super::{assert_run, project};
use crate::support::{Ran, RealClaude, TestEnv};

const SERVERS: &str = "{\"mcpServers\":{\"el\":{\"command\":\"el\",\"args\":[\"mcp\"]}}}";

fn claude(env: &TestEnv, more: &[&str]) -> Ran {
    let words = [
        "-p",
        "Look after the work.",
        "--output-format",
        "stream-json",
        "--verbose",
        "--mcp-config",
        SERVERS,
    ];
    env.run(env.command("claude").args(words).args(more)).ok()
}

fn events(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn result(ran: &Ran) -> Value {
    events(ran)
        .into_iter()
        .rfind(|event| event["type"] == "result")
        .unwrap_or_else(|| panic!("no result: {ran:#?}"))
}

#[test]
fn its_model_files_and_closes_work_where_that_is_allowed() {
    let mut env = TestEnv::with_tracker();
    let id = env.create("Waits to be closed", &[]);
    let steps = json!({"steps": [
        {"tool": "mcp__el__ready", "input": {}},
        {"tools": [
            {"tool": "mcp__el__comment", "input": {"id": id, "text": "by MCP"}},
            {"tool": "mcp__el__create", "input": {"title": "Found on the way",
                "discovered_from": id}},
        ]},
        {"tool": "mcp__el__show", "input": {"id": "nowhere"}},
        {"tool": "mcp__el__close", "input": {"ids": [id], "reason": "closed by MCP"}},
        {"text": "Closed."},
    ]});
    let Some(api) = RealClaude::start(&mut env, &steps) else { return };
    let ran = claude(&env, &["--allowedTools", "mcp__el"]);
    let connected = json!({"name": "el", "status": "connected"});
    let init = events(&ran).into_iter().find(|event| event["subtype"] == "init").unwrap();
    assert!(init["tools"].as_array().unwrap().contains(&json!("mcp__el__claude_code")), "{init}");
    let is_there = |server: &Value| {
        server["name"] == connected["name"] && server["status"] == connected["status"]
    };
    assert!(init["mcp_servers"].as_array().unwrap().iter().any(is_there), "{init}");
    assert_eq!(result(&ran)["permission_denials"], json!([]));
    let atom = env.show(&id);
    assert_eq!(
        (&atom["status"], &atom["close_reason"]),
        (&json!("closed"), &json!("closed by MCP"))
    );
    assert_eq!(
        (env.comments(&id), &atom["comments"][0]["author"]),
        (vec!["by MCP".to_owned()], &json!("Test"))
    );
    assert_eq!(env.robot(&["list"])["items"][0]["title"], "Found on the way");
    let sent = api.messages().pop().unwrap()["body"].to_string();
    for part in [
        "el tracks this project",
        "Waits to be closed",
        "not_found (exit 3)",
        &format!("Closed {id}"),
    ] {
        assert!(sent.contains(part), "{part:?} did not reach the model");
    }
}

#[test]
fn its_model_changes_nothing_where_that_is_not_allowed() {
    let mut env = TestEnv::with_tracker();
    let id = env.create("Stays open", &[]);
    let steps = json!({"steps": [
        {"tool": "mcp__el__close", "input": {"ids": [id]}},
        {"tool": "mcp__el__show", "input": {"id": id}},
        {"text": "I was not allowed to."},
    ]});
    let Some(api) = RealClaude::start(&mut env, &steps) else { return };
    let before = env.show(&id);
    let ran = claude(&env, &["--allowedTools", "mcp__el__show"]);
    let denied = result(&ran)["permission_denials"].take();
    assert_eq!(
        (denied.as_array().unwrap().len(), &denied[0]["tool_name"]),
        (1, &json!("mcp__el__close"))
    );
    assert_eq!(env.show(&id), before);
    let sent = api.messages().pop().unwrap()["body"].to_string();
    assert!(sent.contains("haven't granted it yet") && sent.contains("Stays open"), "{sent}");
}

#[test]
fn an_agent_at_work_closes_its_atom_by_mcp_as_its_run() {
    let steps = json!({"steps": [
        {"tool": "mcp__el__claim", "input": {}},
        {"tool": "mcp__el__close", "input": {"ids": ["${ID}"], "reason": "by MCP, from within"}},
        {"text": "Closed."},
    ]});
    let Some((env, api)) = project(&steps) else { return };
    let id = env.create("Closed from within", &["-p", "high"]);
    let other = env.create("Not its own", &["-p", "low"]);
    env.configure(&format!(
        "extra_args = [\"--mcp-config\", '{SERVERS}']\nallowed_tools = [\"mcp__el\"]\n"
    ));
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_run(&env, &run, "closed");
    assert_eq!(env.show(&id)["close_reason"], "by MCP, from within");
    assert_eq!(env.status(&other), "open");
    let sent = api.messages().pop().unwrap()["body"].to_string();
    assert!(sent.contains("in_session (exit 4)"), "{sent}");
}
