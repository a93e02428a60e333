//! The executor `interactive`: the agent has a screen of its own in the session, is told its work
//! by a paste, and is supervised as any other.

mod client;
mod ends;
mod screen;

use serde_json::Value;

use crate::support::{SOON, TestEnv, look_until, wait_until};

/// A project whose agent has a screen, played by the scripted agent.
fn project(more: &str) -> TestEnv {
    let env = TestEnv::with_tracker();
    env.configure(&format!("executor = \"interactive\"\n{more}"));
    env
}

/// The summary of an atom as an agent would write it, in one line of a script.
fn summary_step(status: &str) -> String {
    let lines = [
        "# Task Completion Summary",
        "",
        "## Accomplishments",
        "- Wrote the parser",
        "- Tested it",
        "",
        "## Status",
        status,
    ];
    format!("write .eluent/summaries/$EL_ATOM.md {}", lines.join("\\n"))
}

/// Waits until the run's progress tells that the agent does this; the run.
#[track_caller]
fn wait_for_action(env: &TestEnv, id: &str, action: &str) -> Value {
    let look = || {
        env.runs(id)
            .pop()
            .filter(|run| run["action"].as_str().is_some_and(|text| text.contains(action)))
    };
    look_until(SOON, look).unwrap_or_else(|| panic!("no {action:?}: {:#?}", env.runs(id)))
}

/// What the run's session shows now.
fn shown(env: &TestEnv, run: &Value) -> String {
    let target = format!("={}:", run["session"].as_str().unwrap());
    env.tmux(&["capture-pane", "-p", "-t", &target]).unwrap_or_default()
}

#[track_caller]
fn wait_until_shown(env: &TestEnv, run: &Value, text: &str) {
    wait_until(&format!("{text:?} on the screen"), SOON, || {
        shown(env, run).contains(text).then_some(())
    });
}

/// Works on the atom until its client waits for a person at a permission prompt, and cancels it
/// there: it ends, is held, and what it asked for (`touch allowed`) was not done.
#[track_caller]
fn is_cancelled_at_its_question(env: &TestEnv, id: &str, action: &str) {
    let worker = env.start_work(&["--once"]);
    let run = wait_for_action(env, id, action);
    wait_until_shown(env, &run, "Do you want to proceed?");
    env.el(&["cancel", id]).ok();
    worker.wait(SOON).ok();
    let run = env.last_run(id);
    assert_eq!(
        (&run["outcome"], env.status(id).as_str()),
        (&"cancelled".into(), "deferred"),
        "{run:#}"
    );
    assert!(!env.project("allowed").exists());
    env.assert_settled(&run);
}

/// The words that the agent was called with, as `record FILE` wrote them down.
fn words(recorded: &Value) -> Vec<&str> {
    recorded["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}
