//! The real client with the plugin: a new session learns about ready work, and a session with an
//! open atom is sent back once.

use serde_json::{Value, json};

use crate::support::{Ran, RealClaude, TestEnv};

const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../plugin");

fn claude(env: &TestEnv, more: &[&str]) -> Ran {
    let words = [
        "-p",
        "Look after the work.",
        "--output-format",
        "stream-json",
        "--verbose",
        "--plugin-dir",
        PLUGIN,
    ];
    env.run(env.command("claude").args(words).args(more)).ok()
}

fn event(ran: &Ran, key: &str, value: &str) -> Value {
    let mut events = ran.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.rfind(|event| event[key] == value).unwrap_or_else(|| panic!("no {value}: {ran:#?}"))
}

#[test]
fn a_session_that_claims_an_atom_is_sent_back_once_until_it_has_closed_it() {
    for by_mcp in [true, false] {
        let mut env = TestEnv::with_tracker();
        let id = env.create("Waits to be taken", &[]);
        let claim = if by_mcp {
            json!({"tool": "mcp__plugin_el_el__claim", "input": {}})
        } else {
            json!({"tool": "Bash", "input": {"command": "el next --claim",
                "description": "take it"}})
        };
        let steps = json!({"steps": [
            claim,
            {"text": "I have taken it. That is all."},
            {"tool": "mcp__plugin_el_el__close", "input": {"ids": [id],
                "reason": "after a reminder"}},
            {"text": "Closed."},
        ]});
        let Some(api) = RealClaude::start(&mut env, &steps) else { return };
        let ran = claude(&env, &["--allowedTools", "mcp__plugin_el_el", "Bash(el *)"]);
        let init = event(&ran, "subtype", "init");
        assert!(
            init["tools"].as_array().unwrap().contains(&json!("mcp__plugin_el_el__ready")),
            "{init}"
        );
        assert!(
            init["plugins"].to_string().contains("\"el\"")
                && init["slash_commands"].to_string().contains("el:next"),
            "{init}"
        );
        let requests: Vec<String> =
            api.messages().iter().map(|request| request["body"].to_string()).collect();
        assert!(
            requests[0].contains("This project tracks its work with el.")
                && requests[0].contains("Waits to be taken")
        );
        assert_eq!(requests.len(), 4, "one reminder, and no more");
        let reminder = format!("You have claimed {id}");
        assert!(
            !requests[1].contains(&reminder) && requests[2].contains(&reminder),
            "{}",
            requests[2]
        );
        let atom = env.show(&id);
        assert_eq!(
            (&atom["status"], &atom["close_reason"]),
            (&json!("closed"), &json!("after a reminder"))
        );
    }
}

#[test]
fn what_the_setup_installs_does_the_same_as_the_plugin() {
    let mut env = TestEnv::with_tracker();
    let id = env.create("Waits to be taken", &[]);
    env.el(&["setup", "claude"]).ok();
    let steps = json!({"steps": [
        {"tool": "Bash", "input": {"command": format!("el claim {id}"), "description": "take it"}},
        {"text": "I have taken it. That is all."},
        {"tool": "mcp__el__close", "input": {"ids": [id], "reason": "after a reminder"}},
        {"text": "Closed."},
    ]});
    let Some(api) = RealClaude::start(&mut env, &steps) else { return };
    let words = ["-p", "Look after the work.", "--output-format", "stream-json", "--verbose"];
    let ran = env
        .run(env.command("claude").args(words).args(["--allowedTools", "mcp__el", "Bash(el *)"]))
        .ok();
    let init = event(&ran, "subtype", "init");
    assert!(
        init["slash_commands"].to_string().contains("el:next")
            && init["skills"].to_string().contains("\"el\""),
        "{init}"
    );
    let requests: Vec<String> =
        api.messages().iter().map(|request| request["body"].to_string()).collect();
    assert!(requests[0].contains("This project tracks its work with el."));
    assert_eq!(requests.len(), 4, "one reminder, and no more");
    assert!(requests[2].contains(&format!("You have claimed {id}")), "{}", requests[2]);
    assert_eq!(env.show(&id)["close_reason"], "after a reminder");
}

#[test]
fn the_slash_command_for_the_next_atom_lets_its_model_run_el() {
    let mut env = TestEnv::with_tracker();
    let id = env.create("Waits to be taken", &[]);
    let steps = json!({"steps": [
        {"tool": "Bash", "input": {"command": "el next --claim", "description": "take it"}},
        {"tool": "Bash", "input": {"command": format!("el close {id} --reason \"what was done\""),
            "description": "end it"}},
        {"text": "Closed."},
    ]});
    let Some(api) = RealClaude::start(&mut env, &steps) else { return };
    env.run(env.command("claude").args(["-p", "/el:next", "--plugin-dir", PLUGIN])).ok();
    assert!(api.messages()[0]["body"].to_string().contains("Claim one atom"));
    assert_eq!(env.show(&id)["close_reason"], "what was done");
}

#[test]
fn the_slash_command_for_what_is_ready_shows_it_to_the_model() {
    let mut env = TestEnv::with_tracker();
    env.create("Waits to be taken", &[]);
    let Some(api) = RealClaude::start(&mut env, &json!({"steps": [{"text": "One is ready."}]}))
    else {
        return;
    };
    for name in ["/el:ready", "/el:board", "/el:review"] {
        // No hook says it here: the model sees the command's output.
        let settings = "{\"disableAllHooks\":true}";
        env.run(env.command("claude").args([
            "-p",
            name,
            "--plugin-dir",
            PLUGIN,
            "--settings",
            settings,
        ]))
        .ok();
        let said = api.messages().pop().unwrap()["body"]["messages"].to_string();
        assert!(name == "/el:review" || said.contains("Waits to be taken"), "{name}: {said}");
        assert!(!said.contains("!`el"), "{name}: {said}");
    }
}

#[test]
fn a_session_that_claims_nothing_is_left_alone() {
    let with_tracker = TestEnv::with_tracker();
    with_tracker.create("Somebody else's", &[]);
    for mut env in [with_tracker, TestEnv::new()] {
        let Some(api) = RealClaude::start(
            &mut env,
            &json!({"steps": [{"text": "Hello."}, {"text": "Never said."}]}),
        ) else {
            return;
        };
        let ran = claude(&env, &[]);
        assert_eq!(event(&ran, "type", "result")["result"], "Hello.");
        assert_eq!(api.messages().len(), 1);
    }
}

#[test]
fn its_tools_change_nothing_where_they_are_not_allowed() {
    let mut env = TestEnv::with_tracker();
    let id = env.create("Stays open", &[]);
    let steps = json!({"steps": [{"tool": "mcp__plugin_el_el__close", "input": {"ids": [id]}},
        {"text": "I was not allowed to."}]});
    let Some(_api) = RealClaude::start(&mut env, &steps) else { return };
    let ran = claude(&env, &[]);
    assert_eq!(
        event(&ran, "type", "result")["permission_denials"][0]["tool_name"],
        "mcp__plugin_el_el__close"
    );
    assert_eq!(env.status(&id), "open");
}
