//! `kill -9` of the orchestrating process while real clients are at work.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{analysis, block, completion, each, plan, progress, question, task, task_list};
use crate::real::{assert_run, project};
use crate::support::{SOON, TestEnv, wait_until};

#[test]
fn a_plan_killed_while_a_client_works_shows_how_far_it_is_and_goes_on_with_the_same_atoms() {
    let elsewhere = TestEnv::new();
    let go = elsewhere.path("out/go");
    let worker = |id: &str, rest: Value| {
        json!({"match": format!("the task `{id}`"), "steps": [
            {"text": progress(id, 40), "bash": "el show ${ID}"},
            rest,
            {"text": completion(id)},
        ]})
    };
    let close = json!({"bash": "el close ${ID} --reason 'it is written'"});
    let mut held = close.clone();
    held["wait_file"] = json!(go);
    let scenario = json!({"routes": [
        analysis(2),
        task_list(&[task("one", &[]), task("two", &["one"])]),
        question("aggregation", &json!([{"text": block("aggregation", &json!({"status": "success",
            "summary": "One manual"}))}])),
        worker("one", held),
        worker("two", close),
    ]});
    let Some((env, api)) = project(&scenario) else { return };
    let driving = env.start_el(&["orchestrate", "Write a manual of two chapters"]);
    wait_until("that a task is filed", SOON * 2, || {
        env.database()
            .query_row("SELECT count(*) FROM planned_tasks", [], |row| row.get::<_, i64>(0))
            .ok()
            .filter(|n| *n == 2)
    });
    let seen = wait_until("the percent", SOON, || {
        Some(plan(&env)).filter(|plan| plan["tasks"][0]["percent"] == 40)
    });
    assert_eq!(seen["tasks"][0]["standing"], "running", "{seen:#}");
    let epic = seen["epic"]["id"].as_str().unwrap();
    let shown = env.el(&["orchestrate", "status", epic]).ok().stdout;
    assert!(shown.contains("40%"), "{shown}");

    driving.signal(Signal::KILL);
    driving.wait(SOON).fails_with(137);
    wait_until("that nobody drives it", SOON, || (plan(&env)["driven"] == false).then_some(()));
    std::fs::write(&go, "").unwrap();
    env.start_el(&["orchestrate", "resume", epic]).wait(SOON * 2).ok();

    let done = plan(&env);
    assert_eq!(
        (&done["state"], &done["epic"]["close_reason"]),
        (&json!("done"), &json!("One manual")),
        "{done:#}"
    );
    let ids = |plan: &Value| {
        [each(plan, "tasks", "atom_id"), each(plan, "phases", "run_id")[..2].to_vec()].concat()
    };
    assert_eq!(ids(&done), ids(&seen), "the same atoms, and nothing is asked twice");
    let atoms = [each(&done, "tasks", "atom_id"), each(&done, "phases", "atom_id")].concat();
    assert_eq!(env.robot(&["list", "--all", "--parent", epic])["count"], atoms.len());
    for id in &atoms {
        assert_eq!(env.outcomes(id), ["closed"], "{id} was done once");
        assert_run(&env, &env.last_run(id), "closed");
    }
    let mut sessions: Vec<String> =
        api.messages().iter().map(|message| message["session"].to_string()).collect();
    sessions.sort();
    sessions.dedup();
    assert_eq!(sessions.len(), atoms.len(), "one conversation for each");
    env.wait_for_sessions(&[]);
}
