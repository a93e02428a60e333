//! The real client on its own screen, against the scripted API.

use serde_json::{Value, json};

use super::{is_cancelled_at_its_question, shown, wait_for_action};
use crate::support::{RealClaude, SOON, TestEnv};

/// Prepares the home as after a person's first start of the client, without further questions.
fn prepare(env: &TestEnv, trusted: bool) {
    let folder = env.project("").canonicalize().unwrap();
    let state = json!({
        "hasCompletedOnboarding": true, "theme": "dark",
        // The last 20 characters of the key that every client here gets.
        "customApiKeyResponses": {"approved": ["dummy-dummy-dummy-fake"[2..].to_owned()],
            "rejected": []},
        "projects": {folder.to_str().unwrap(): {"hasTrustDialogAccepted": trusted}},
    });
    std::fs::write(env.home().join(".claude.json"), state.to_string()).unwrap();
}

fn project(scenario: &Value, more: &str) -> Option<(TestEnv, RealClaude)> {
    let mut env = TestEnv::with_tracker();
    let api = RealClaude::start(&mut env, scenario)?;
    env.configure(&format!("executor = \"interactive\"\n{more}"));
    prepare(&env, true);
    Some((env, api))
}

#[test]
fn it_takes_its_work_from_the_screen_closes_it_and_leaves() {
    let steps = json!({"steps": [{"text": "I will do it.",
        "bash": "el close ${ID} --reason \"done on a screen\""}, {"text": "Closed it."}]});
    let Some((env, api)) = project(&steps, "close_grace = \"30s\"") else { return };
    let id = env.create(
        "Do it",
        &["-d", "Line one\n\nLine two with `ticks`, $(touch owned) and \"quotes\""],
    );
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!(
        (&run["outcome"], env.show(&id)["close_reason"].as_str()),
        (&"closed".into(), Some("done on a screen")),
        "{run:#}"
    );
    assert_eq!(
        (&run["exit_code"], &run["exit_signal"]),
        (&0.into(), &Value::Null),
        "it left by /exit"
    );
    env.assert_settled(&run);
    let asked = api.messages();
    let main: Vec<&Value> =
        asked.iter().filter(|asked| asked["session"] == run["conversation"]).collect();
    let sent = main[0]["body"]["messages"].to_string();
    assert!(
        sent.contains("Line two with `ticks`, $(touch owned)") && sent.contains("## Instructions"),
        "{sent}"
    );
    assert!(!env.project("owned").exists());
    assert!(env.read_run_file(&run, "pane.log").contains("I will do it."));
    assert!(env.read_run_file(&run, "transcript.jsonl").contains("done on a screen"));
    assert!(
        run["turns"].as_i64().unwrap() >= 1 && run["tokens_out"].as_i64().unwrap() > 0,
        "{run:#}"
    );
}

#[test]
fn it_waits_at_a_permission_prompt_and_is_cancelled() {
    let steps = json!({"steps": [{"text": "I will.", "bash": "touch allowed"}, {"text": "end"}]});
    let Some((env, _api)) = project(&steps, "permission_mode = \"default\"") else { return };
    let id = env.create("Do it", &[]);
    is_cancelled_at_its_question(&env, &id, "waiting for a person: Do you want to");
}

#[test]
fn its_summary_ends_the_work_where_the_settings_say_so() {
    let content = "# Task Completion Summary\n\n## Accomplishments\n- Wrote the parser\n\
        - Tested it\n\n## Status\n✅ COMPLETED\n";
    let file = "${DIR}/.eluent/summaries/${ID}.md";
    let steps = |dir: &str| {
        json!({"vars": {"DIR": dir}, "steps": [
            {"text": "Writing.", "tool": "Write", "input": {"file_path": file, "content": content}},
            {"text": "The summary is written.", "delay_ms": 3000},
            {"text": "I have nothing to add."},
        ]})
    };
    let mut env = TestEnv::with_tracker();
    let folder = env.project("").canonicalize().unwrap();
    let Some(_api) = RealClaude::start(&mut env, &steps(folder.to_str().unwrap())) else { return };
    env.configure("executor = \"interactive\"\ncompletion = \"summary\"\nclose_grace = \"30s\"");
    prepare(&env, true);
    let id = env.create("Do it", &[]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!(
        (&run["outcome"], env.show(&id)["close_reason"].as_str()),
        (&"closed".into(), Some("Wrote the parser; Tested it")),
        "{run:#}"
    );
    env.assert_settled(&run);
}

#[test]
fn it_dies_with_its_supervisor_and_the_next_attempt_works() {
    let steps = json!({"counter": "global", "steps": [
        {"text": "Long work.", "bash": "el comment add ${ID} begun; sleep 300"},
        {"text": "Again.", "bash": "el close ${ID} --reason second"},
        {"text": "Closed."},
    ]});
    let Some((env, _api)) = project(&steps, "allowed_tools = [\"Bash\"]\nclose_grace = \"30s\"")
    else {
        return;
    };
    let id = env.create("Do it", &[]);
    let worker = env.start_work(&["--drain"]);
    let run = wait_for_action(&env, &id, "sleep 300");
    crate::support::wait_until("its comment", SOON, || {
        (env.comments(&id).len() == 1).then_some(())
    });
    let pid = run["supervisor"]["pid"].as_u64().unwrap();
    env.processes().into_iter().find(|process| u64::from(process.pid) == pid).unwrap().kill();
    worker.wait_for("recovered");
    worker.wait(SOON * 2).ok();
    assert_eq!(env.outcomes(&id), ["lost", "closed"], "{}", shown(&env, &env.last_run(&id)));
    env.runs(&id).iter().for_each(|run| env.assert_settled(run));
}

#[test]
fn a_folder_that_is_not_trusted_is_told_and_never_trusted_for_you() {
    let steps = json!({"steps": [{"bash": "el close ${ID} --reason x"}, {"text": "end"}]});
    let Some((env, api)) = project(&steps, "retry_backoff = \"1h\"") else { return };
    prepare(&env, false);
    let id = env.create("Do it", &[]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!(run["outcome"], "launch_failed", "{run:#}");
    let detail = run["detail"].as_str().unwrap();
    assert!(
        detail.contains("whether this folder is trusted") && detail.contains("by hand"),
        "{detail}"
    );
    assert_eq!(api.messages().len(), 0);
    let state: Value =
        serde_json::from_str(&std::fs::read_to_string(env.home().join(".claude.json")).unwrap())
            .unwrap();
    assert!(!state.to_string().contains("\"hasTrustDialogAccepted\":true"), "{state:#}");
}

#[test]
fn a_home_that_was_never_used_is_told() {
    let Some((env, _api)) = project(&json!({"steps": []}), "retry_backoff = \"1h\"") else {
        return;
    };
    std::fs::remove_file(env.home().join(".claude.json")).unwrap();
    let id = env.create("Do it", &[]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!(run["outcome"], "launch_failed", "{run:#}");
    assert!(!run["detail"].as_str().unwrap().is_empty());
    env.assert_settled(&run);
}

#[test]
fn a_limit_that_is_reached_pauses_everyone() {
    let headers = json!({"retry-after": "3600", "anthropic-ratelimit-unified-status": "rejected"});
    let steps = json!({"steps": [{"status": 429, "type": "rate_limit_error", "headers": headers,
        "repeat": 0}]});
    let Some((env, _api)) = project(&steps, "") else { return };
    let id = env.create("Do it", &[]);
    env.el(&["work", "--once"]).fails_with(10);
    let run = env.last_run(&id);
    assert_eq!(run["outcome"], "usage_limit", "{run:#}");
    env.assert_settled(&run);
}
