//! A plan whose questions and tasks the real client answers.

use serde_json::{Value, json};

use super::{assert_run, project};

/// A text with a block in it, as a model says it.
fn block(phase: &str, data: &Value) -> String {
    let block = format!("{:#}", json!({"phase": phase, "data": data}));
    format!("I have looked.\n\n<<<ORCHESTRATOR_RESPONSE>>>\n{block}\n<<<END_ORCHESTRATOR_RESPONSE>>>\n")
}

#[test]
fn a_goal_is_analysed_cut_into_tasks_done_and_brought_together() {
    let task = |id: &str, before: &[&str]| json!({"id": id, "title": format!("Chapter {id}"), "description": format!("Write chapter {id}"), "dependencies": before});
    let list = json!({"tasks": [task("one", &[]), task("two", &["one"])]});
    let worker = |id: &str| {
        let said = |percent| json!({"task_id": id, "status": "in_progress", "progress_percent": percent});
        let done = json!({"task_id": id, "status": "success", "summary": format!("Chapter {id} is written")});
        json!([
            {"text": block("progress", &said(50)), "bash": "el close ${ID} --reason 'it is written'"},
            {"text": block("completion", &done)},
        ])
    };
    let result = json!({"status": "success", "summary": "Two chapters, one manual", "conflicts": []});
    let scenario = json!({"routes": [
        // Its first answer cannot be used; the same conversation is asked again.
        {"match": "find out what the work below takes", "steps": [
            {"text": block("analysis", &json!({"summary": "Two chapters"}))},
            {"text": block("analysis", &json!({"summary": "Two chapters", "recommended_splits": 2})), "when": "recommended_splits"},
        ]},
        {"match": "Cut the work below into tasks", "steps": [{"text": block("task_list", &list)}]},
        {"match": "Bring their results together", "steps": [
            {"text": block("aggregation", &result), "when": ["Chapter one is written", "Chapter two is written"]},
        ]},
        {"match": "the task `one`", "steps": worker("one")},
        {"match": "the task `two`", "steps": worker("two")},
    ]});
    let Some((env, api)) = project(&scenario) else { return };
    env.el(&["orchestrate", "Write a manual of two chapters"]).ok();
    let plans = env.robot(&["orchestrate", "status"])["items"].take();
    let epic = plans[0]["epic_id"].as_str().unwrap();
    let plan = env.robot(&["orchestrate", "status", epic]);
    assert_eq!((&plan["state"], &plan["epic"]["close_reason"]), (&json!("done"), &json!("Two chapters, one manual")));
    let phases: Vec<&Value> = plan["phases"].as_array().unwrap().iter().collect();
    assert_eq!(phases.iter().map(|phase| phase["state"].as_str().unwrap()).collect::<Vec<_>>(), ["answered"; 3]);
    let asked: Vec<&str> = phases.iter().map(|phase| phase["atom_id"].as_str().unwrap()).collect();
    let tasks: Vec<&str> = plan["tasks"].as_array().unwrap().iter().map(|task| task["atom_id"].as_str().unwrap()).collect();
    assert_eq!(tasks.len(), 2);
    for atom in asked.iter().chain(&tasks) {
        assert_run(&env, &env.last_run(atom), "closed");
        assert_eq!(env.runs(atom).len(), 1);
        assert_eq!(env.comments(atom), [] as [&str; 0], "nobody contradicts");
    }
    let run = env.last_run(asked[0]);
    assert_eq!(run["resumes"], 1);
    assert!(api.messages().iter().filter(|m| m["session"] == run["conversation"]).count() >= 2);
    let run = env.last_run(tasks[1]);
    assert_eq!((&run["percent"], &run["completion"]["summary"]), (&json!(50), &json!("Chapter two is written")));
}
