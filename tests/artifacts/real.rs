//! The real client writes its summary to the requested path, and two files, then closes.

use serde_json::{Value, json};

use super::{results, sent};
use crate::support::{RealClaude, TestEnv};

const SUMMARY: &str = "# Task Completion Summary\n\n## Objective\nSay hello\n\n## Accomplishments\n\
    - Wrote a greeting\n\n## Key Deliverables\n\
    - `hello.txt` - The greeting\n- `docs/hello.md` - How it is said\n\n## Test Results\n\
    ✅ All 2 tests passed\n\n## Important Notes\n- None\n\n## Status\n✅ COMPLETED\n";

fn writes(path: impl Into<String>, content: &str) -> Value {
    json!({ "tool": "Write", "input": { "file_path": path.into(), "content": content } })
}

/// The id of the project's next atom is not known in advance, so the scenario uses a variable.
fn steps(summary: &str, folder: &str) -> Value {
    json!({"steps": [
        writes(format!("{folder}/hello.txt"), "hello\n"),
        writes(format!("{folder}/docs/hello.md"), "# Hello\n"),
        writes(summary, SUMMARY),
        {"bash": "el close ${ID} --reason 'said hello'"},
        {"text": "Done."},
    ]})
}

#[track_caller]
fn assert_handed_back(env: &TestEnv, id: &str, summary: &str) {
    let run = env.last_run(id);
    assert_eq!((&run["outcome"], &run["artifacts"]), (&json!("closed"), &json!(3)), "{run:#}");
    assert_eq!(
        (&run["summary"]["status"], &run["summary"]["is_fallback"]),
        (&json!("completed"), &json!(false)),
        "{run:#}"
    );
    let answer = env.robot(&["artifacts", "show", id]);
    assert_eq!(
        sent(&answer),
        [format!("{summary} copied"), "hello.txt copied".into(), "docs/hello.md copied".into()]
    );
    let results = results(env, &run);
    assert_eq!((&results["version"], &results["run"]["outcome"]), (&json!(1), &json!("closed")));
    assert_eq!(results["artifacts"][2]["description"], "How it is said");
    assert_eq!(env.el(&["artifacts", "get", id, "hello.txt"]).ok().stdout, "hello\n");
}

#[test]
fn it_writes_its_summary_in_the_project_and_two_files_and_closes() {
    let mut env = TestEnv::with_tracker();
    let folder = env.project("").canonicalize().unwrap().display().to_string();
    let steps = steps(&format!("{folder}/.eluent/summaries/${{ID}}.md"), &folder);
    let Some(api) = RealClaude::start(&mut env, &steps) else { return };
    let id = env.create("Say hello", &[]);
    env.work(&["--once"]);
    assert_handed_back(&env, &id, &format!(".eluent/summaries/{id}.md"));
    let asked = api.messages().remove(0)["body"]["messages"].to_string();
    assert!(
        asked.contains(&format!(".eluent/summaries/{id}.md"))
            && asked.contains("## Key Deliverables"),
        "{asked}"
    );
}

#[test]
fn it_may_write_its_summary_outside_of_a_working_folder_elsewhere_and_nothing_else_there() {
    let mut env = TestEnv::with_tracker();
    let elsewhere = env.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let folder = elsewhere.canonicalize().unwrap().display().to_string();
    let summaries = env.project(".eluent").canonicalize().unwrap().join("summaries");
    let mut scenario = steps(&format!("{}/${{ID}}.md", summaries.display()), &folder);
    let intrusion = writes(env.project("intruder.txt").display().to_string(), "x");
    scenario["steps"].as_array_mut().unwrap().insert(0, intrusion);
    let Some(_api) = RealClaude::start(&mut env, &scenario) else { return };
    let id = env.create("Say hello", &[]);
    env.work(&["--once", "--workdir", elsewhere.to_str().unwrap()]);
    assert_handed_back(
        &env,
        &id,
        &env.project(format!(".eluent/summaries/{id}.md")).display().to_string(),
    );
    assert!(!env.project("intruder.txt").exists());
}

#[test]
fn it_may_write_its_summary_though_it_may_write_nothing_else() {
    let mut env = TestEnv::with_tracker();
    let folder = env.project("").canonicalize().unwrap().display().to_string();
    let steps = steps(&format!("{folder}/.eluent/summaries/${{ID}}.md"), &folder);
    let Some(_api) = RealClaude::start(&mut env, &steps) else { return };
    let id = env.create("Look only", &[]);
    env.work(&["--once", "--permission-mode", "dontAsk"]);
    let run = env.last_run(&id);
    assert_eq!(
        (&run["outcome"], &run["summary"]["status"], &run["artifacts"]),
        (&json!("closed"), &json!("completed"), &json!(1)),
        "{run:#}"
    );
    assert!(!env.project("hello.txt").exists());
}

#[test]
fn it_wrote_its_summary_but_forgot_to_close_and_is_sent_back() {
    let mut env = TestEnv::with_tracker();
    let folder = env.project("").canonicalize().unwrap().display().to_string();
    let scenario = json!({"steps": [
        writes(format!("{folder}/.eluent/summaries/${{ID}}.md"), "## Status\n✅ COMPLETED\n"),
        {"text": "I have written the summary."},
        {"bash": "el close ${ID} --reason reminded", "when": "is still in progress in the tracker"},
        {"text": "Closed."},
    ]});
    let Some(_api) = RealClaude::start(&mut env, &scenario) else { return };
    let id = env.create("Forget it", &[]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!(
        (&run["outcome"], &run["stop_blocks"], &run["summary"]["status"]),
        (&json!("closed"), &json!(1), &json!("completed"))
    );
}
