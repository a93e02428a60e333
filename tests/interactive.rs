//! The executor `interactive`: the agent has a screen in the session, gets its work by a paste, and
//! is supervised like any other.

mod client;
mod ends;
mod screen;

use serde_json::Value;

use crate::support::{SOON, TestEnv, look_until, wait_until};

/// A project with an agent on a screen, played by the scripted agent.
fn project(more: &str) -> TestEnv {
    let env = TestEnv::with_tracker();
    env.configure(&format!("executor = \"interactive\"\n{more}"));
    env
}

/// An agent's summary of an atom, as a line of a script.
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

/// Waits until the run's progress shows this action. Returns the run.
#[track_caller]
fn wait_for_action(env: &TestEnv, id: &str, action: &str) -> Value {
    let look = || {
        env.runs(id)
            .pop()
            .filter(|run| run["action"].as_str().is_some_and(|text| text.contains(action)))
    };
    look_until(SOON, look).unwrap_or_else(|| panic!("no {action:?}: {:#?}", env.runs(id)))
}

/// Returns the present content of the run's session.
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

/// Works on the atom until the client waits at a permission prompt, and cancels the run there. The
/// run ends, the atom is held, and the requested command (`touch allowed`) was not run.
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

/// Returns the agent's arguments, as written by `record FILE`.
fn words(recorded: &Value) -> Vec<&str> {
    recorded["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}
