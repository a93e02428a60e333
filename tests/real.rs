//! The real Claude Code client against the scripted Messages API, in tmux, started by the real
//! `el work`.

mod delegation;
mod endings;
mod failures;
mod mcp;
pub(crate) mod orchestrate;
mod plugin;
mod review;
mod sandbox;
mod tools;
mod trust;

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::support::{RealClaude, TestEnv};

/// The key that every client here gets.
const KEY: &str = "sk-ant-api03-dummy-dummy-dummy-fake";

/// A project whose agent is the real client, with an API that plays this scenario. `None` without a
/// client.
#[track_caller]
fn project(scenario: &Value) -> Option<(TestEnv, RealClaude)> {
    let mut env = TestEnv::with_tracker();
    let api = RealClaude::start(&mut env, scenario)?;
    let log = env.path("tmux.log");
    let tmux = env.run(env.command("sh").args(["-c", "command -v tmux"])).ok().stdout;
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" >> {}\nexec {} \"$@\"\n",
        log.display(),
        tmux.trim()
    );
    env.program("tmux", &script);
    // The client starts after its context is written; the probe records the file's mode then.
    let client = std::fs::canonicalize(env.path("bin/claude")).unwrap();
    let script = format!(
        "#!/bin/sh\nstat -c %a {}/*.md >> {} 2>/dev/null\nexec {} \"$@\"\n",
        env.project(".eluent/agent-context").display(),
        env.path("tmp/context.modes").display(),
        client.display()
    );
    env.program("claude", &script);
    Some((env, api))
}

/// Asserts the facts after every run: the outcome; no living process; record and transcript exist,
/// the context does not; no key or token is in an argument of tmux or in a file.
#[track_caller]
fn assert_run(env: &TestEnv, run: &Value, outcome: &str) {
    assert_eq!(run["outcome"], outcome, "{run:#}");
    env.assert_settled(run);
    assert_eq!((&run["agent"], &run["executor"]), (&"claude".into(), &"claude".into()));
    let token = env.token(run);
    let said = std::fs::read_to_string(env.path("tmux.log")).unwrap();
    assert!(said.contains("new-session"));
    assert!(!said.contains(KEY) && !said.contains(&token), "{said}");
    let modes = std::fs::read_to_string(env.path("tmp/context.modes")).unwrap();
    assert!(!modes.is_empty() && modes.lines().all(|mode| mode == "600"), "{modes}");
    let folder = env.run_file(run, "");
    for file in std::fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|file| file.is_file())
    {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert!(!text.contains(KEY) && !text.contains(&token), "{}", file.display());
        assert_eq!(
            std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600,
            "{}",
            file.display()
        );
    }
    let transcript = env.read_run_file(run, "transcript.jsonl");
    let conversation = run["conversation"].as_str().unwrap();
    assert!(
        transcript.lines().next().is_some_and(|line| line.contains(conversation)),
        "{transcript}"
    );
    let exit: Value = serde_json::from_str(&env.read_run_file(run, "exit.json")).unwrap();
    assert_eq!(exit["run"], run["id"]);
}

/// Returns the text of the client's last result event.
fn result(env: &TestEnv, run: &Value) -> Value {
    let transcript = env.read_run_file(run, "transcript.jsonl");
    let mut events = transcript.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events
        .rfind(|event| event["type"] == "result")
        .unwrap_or_else(|| panic!("no result: {transcript}"))
}
