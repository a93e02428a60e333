//! The real Claude Code client accepts el's flags, prompt and hook. `el` is a stub here: these
//! tests distinguish a change of the client from a fault of el.

use serde_json::{Value, json};

use crate::support::{Ran, RealClaude, TestEnv};

const ID: &str = "5d1c9f0a-1111-4222-8333-0123456789ab";

fn stubbed() -> TestEnv {
    let env = TestEnv::new();
    env.program("el", "#!/bin/sh\necho \"$*\" >> el.log\necho \"did $1\"\n");
    env
}

fn claude(env: &TestEnv, prompt: &str, more: &[&str]) -> Ran {
    std::fs::write(env.project("prompt.md"), prompt).unwrap();
    let mut command = env.command("sh");
    command.args([
        "-c",
        "exec claude \"$@\" < prompt.md",
        "sh",
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
    ]);
    env.run(command.args(more))
}

fn result(ran: &Ran) -> Value {
    let mut events = ran.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.rfind(|event| event["type"] == "result").unwrap_or_else(|| panic!("no result: {ran:#?}"))
}

fn el_log(env: &TestEnv) -> String {
    std::fs::read_to_string(env.project("el.log")).unwrap_or_default()
}

#[test]
fn it_runs_el_when_a_rule_allows_it() {
    let mut env = stubbed();
    let steps = json!({"steps": [{"text": "I will.",
        "bash": "el close ${ID} --reason \"all; done\""}, {"text": "Closed."}]});
    let Some(api) = RealClaude::start(&mut env, &steps) else { return };
    let ran =
        claude(&env, "atom: t-1a2b", &["--session-id", ID, "--allowedTools", "Bash(el *)"]).ok();
    assert_eq!(el_log(&env), "close t-1a2b --reason all; done\n");
    assert_eq!(result(&ran)["result"], "Closed.");
    assert_eq!(result(&ran)["is_error"], false);
    assert!(api.messages().iter().all(|m| m["session"] == ID));
}

#[test]
fn it_does_not_run_el_without_a_rule_and_still_ends_well() {
    let mut env = stubbed();
    let steps = json!({"steps": [{"bash": "el close ${ID} --reason x"}, {"text": "end"}]});
    let Some(_api) = RealClaude::start(&mut env, &steps) else { return };
    let ran = claude(&env, "atom: t-1a2b", &["--permission-mode", "acceptEdits"]).ok();
    assert_eq!(el_log(&env), "");
    assert_eq!(result(&ran)["permission_denials"].as_array().unwrap().len(), 1);
}

#[test]
fn its_stop_hook_sends_it_back_to_close() {
    let mut env = stubbed();
    env.program(
        "gate",
        "#!/bin/sh\n[ -s el.log ] || printf \
        '{\"decision\":\"block\",\"reason\":\"You have not closed it.\"}'\n",
    );
    let settings = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "gate",
        "timeout": 20}]}]}});
    std::fs::write(env.project("settings.json"), settings.to_string()).unwrap();
    let steps = json!({"steps": [
        {"text": "I think that is all."},
        {"bash": "el close ${ID} --reason reminded", "when": "You have not closed it."},
        {"text": "Closed."},
    ]});
    let Some(_api) = RealClaude::start(&mut env, &steps) else { return };
    let more = ["--settings", "settings.json", "--allowedTools", "Bash(el *)"];
    let ran = claude(&env, "atom: t-1a2b", &more).ok();
    assert_eq!(el_log(&env), "close t-1a2b --reason reminded\n");
    assert_eq!(result(&ran)["result"], "Closed.");
}

#[test]
fn it_resumes_a_conversation_with_a_nudge() {
    let mut env = stubbed();
    let steps = json!({"steps": [{"text": "one"}, {"bash": "el close ${ID} --reason nudged"},
        {"text": "two"}]});
    let Some(api) = RealClaude::start(&mut env, &steps) else { return };
    claude(&env, "atom: t-1a2b", &["--session-id", ID]).ok();
    let second =
        claude(&env, "Close it now.", &["--resume", ID, "--allowedTools", "Bash(el *)"]).ok();
    assert_eq!(el_log(&env), "close t-1a2b --reason nudged\n");
    assert_eq!(result(&second)["session_id"], ID);
    let last = api.messages().pop().unwrap()["body"]["messages"].to_string();
    assert!(last.contains("atom: t-1a2b") && last.contains("Close it now."), "{last}");
}

/// The reason for the escaped at-sign in the context file.
#[test]
fn it_expands_an_at_sign_only_at_the_start_or_after_a_blank() {
    let mut env = stubbed();
    let Some(api) = RealClaude::start(&mut env, &json!({"steps": [{"text": "ok"}]})) else {
        return;
    };
    let forms = [
        (true, "@FILE"),
        (true, "see @FILE, please"),
        (true, "> @FILE"),
        (true, "```\n@FILE\n```"),
        (true, "\u{feff}@FILE"),
        (true, "a\u{a0}@FILE"),
        (true, "@\"FILE\""),
        (false, "\\@FILE"),
        (false, "see \\@FILE, please"),
        (false, "> \\@FILE"),
        (false, "\\@\"FILE\""),
        (false, "`@FILE`"),
        (false, "me@FILE"),
    ];
    let mut prompt = String::from("Look:\n");
    for (n, (_, form)) in forms.iter().enumerate() {
        std::fs::write(env.project(format!("f{n}.md")), format!("content-{n}-end")).unwrap();
        prompt.push_str(&format!("\n{}\n", form.replace("FILE", &format!("f{n}.md"))));
    }
    claude(&env, &prompt, &[]).ok();
    let sent = api.messages().pop().unwrap()["body"].to_string();
    for (n, (expanded, form)) in forms.iter().enumerate() {
        assert_eq!(sent.contains(&format!("content-{n}-end")), *expanded, "{form:?}");
    }
}

#[test]
fn an_api_error_is_told_by_is_error_and_not_by_subtype() {
    let mut env = stubbed();
    let steps = json!({"steps": [{"status": 500, "message": "broken", "repeat": 0}]});
    let Some(_api) = RealClaude::start(&mut env, &steps) else { return };
    env.set("CLAUDE_CODE_MAX_RETRIES", "0");
    let ran = claude(&env, "atom: t-1a2b", &[]).fails_with(1);
    let result = result(&ran);
    assert_eq!(
        (&result["subtype"], &result["is_error"], &result["api_error_status"]),
        (&json!("success"), &json!(true), &json!(500))
    );
}

#[test]
fn a_key_that_hits_its_limit_gets_no_rate_limit_event() {
    let mut env = stubbed();
    let headers = json!({"retry-after": "3600", "anthropic-ratelimit-unified-status": "rejected",
                         "anthropic-ratelimit-unified-reset": "1795831700"});
    let steps = json!({"steps": [{"status": 429, "type": "rate_limit_error", "headers": headers,
        "repeat": 0}]});
    let Some(api) = RealClaude::start(&mut env, &steps) else { return };
    let ran = claude(&env, "atom: t-1a2b", &[]).fails_with(1);
    assert_eq!(result(&ran)["api_error_status"], 429);
    assert!(!ran.stdout.contains("rate_limit_event"), "{ran:#?}");
    assert_eq!(api.messages().len(), 1, "a long retry-after is not waited for");
}

#[test]
fn a_subscription_that_hits_its_limit_gets_one_with_the_time_of_its_end() {
    let mut env = stubbed();
    // A reset time in the past is not told.
    let resets_at =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
            + 3600;
    let headers = json!({"retry-after": "3600", "anthropic-ratelimit-unified-status": "rejected",
                         "anthropic-ratelimit-unified-reset": resets_at.to_string(),
                         "anthropic-ratelimit-unified-representative-claim": "five_hour"});
    let steps = json!({"steps": [{"status": 429, "type": "rate_limit_error", "headers": headers,
        "repeat": 0}]});
    let Some(_api) = RealClaude::start(&mut env, &steps) else { return };
    env.set("ANTHROPIC_API_KEY", "")
        .set("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-dummy-dummy-dummy");
    let ran = claude(&env, "atom: t-1a2b", &[]).fails_with(1);
    let mut events = ran.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let info = events.find(|e| e["type"] == "rate_limit_event").unwrap()["rate_limit_info"].take();
    assert_eq!((&info["status"], &info["resetsAt"]), (&json!("rejected"), &json!(resets_at)));
    assert_eq!(info["rateLimitType"], "five_hour");
}
