//! Answers supplied by a person in an agent's place: read as copied, with a report, and never at
//! the cost of work.

use serde_json::Value;

use super::plain;
use crate::support::{SOON, TestEnv, wait_until};

#[test]
fn a_live_answer_is_not_thrown_away_unless_that_is_said() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    env.script_of("analysis", &["wait-file go"]);
    let plan = env.start_plan(&["--isolate", "none"]);
    let epic = env.epic();
    let analysis = || env.plan_of(&epic)["phases"][0].clone();
    let run = wait_until("the analysis", SOON, || analysis()["run_id"].as_str().map(str::to_owned));
    let list = env.path("tmp/answers/tasks.json");
    let set = ["phase", "set", &epic, "--phase", "task_list", "--file", list.to_str().unwrap()];
    let refused = env.el(&set).fails_with(4).stderr;
    assert!(refused.contains(&run) && refused.contains("--supersede"), "{refused}");
    assert_eq!(analysis()["state"], "running");

    let told = env.el(&[&set[..], &["--supersede"]].concat()).ok().stdout;
    assert!(
        told.contains("1 task is new, and filed at once, since the plan is driven just now"),
        "{told}"
    );
    let ran = plan.wait(SOON).ok();
    assert!(ran.stdout.contains("is done"), "{ran:#?}");
    assert_eq!(analysis()["state"], "not_needed", "{:#}", analysis());
    let drawn = env.el(&["orchestrate", "status", &epic]).ok().stdout;
    assert!(drawn.contains("not needed: the list of tasks was supplied"), "{drawn}");
}

#[test]
fn a_list_over_filed_tasks_says_what_becomes_of_each() {
    let env = TestEnv::with_plan(&[
        plain("one", &[]),
        plain("two", &[]),
        plain("three", &[]),
        plain("four", &[]),
    ]);
    let ran = env
        .el(&["orchestrate", "--robot", "Write the manual", "--plan-only", "--isolate", "none"])
        .ok();
    let planned: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    let epic = planned["data"]["epic_id"].as_str().unwrap();
    let [two, three, four] = ["two", "three", "four"].map(|name| env.task_of(epic, name));
    env.el(&["discard", &four]).ok();
    let text = env.el(&["phase", "show", epic, "--phase", "task_list"]).ok().stdout;
    let mut list: Value = serde_json::from_str(&text).unwrap();
    let tasks = list["tasks"].as_array_mut().unwrap();
    tasks[1]["title"] = "Another title".into();
    tasks[2]["id"] = "five".into();
    // As copied from a conversation by a person.
    let pasted = format!(
        "Here it is:\n\n```json\n{}\n```\n\nTell me if it fits.\n",
        list.to_string().replacen("\"tasks\":", "tasks:", 1)
    );
    std::fs::write(env.project("pasted.md"), pasted).unwrap();
    let set = ["phase", "set", epic, "--phase", "task_list", "--file", "pasted.md"];

    let would = env.el(&[&set[..], &["--dry-run"]].concat()).ok().stdout;
    for part in [
        "Would set the list of tasks".to_owned(),
        "repaired: unquoted key (line 4)".to_owned(),
        "1 task is new, and filed when the plan goes on".to_owned(),
        "2 tasks have atoms, which stay as they are".to_owned(),
        format!("1 of these says something else now, which changes no atom: {two}"),
        format!("1 task is in the list no more and stays: {three}"),
        format!("1 task was discarded and stays so: {four}"),
    ] {
        assert!(would.contains(&part), "without {part:?}\n{would}");
    }
    assert_eq!(
        env.el(&["phase", "show", epic, "--phase", "task_list"]).ok().stdout,
        text,
        "nothing was changed"
    );

    let done = env.robot(&set);
    assert_eq!(
        (&done["tasks"]["new"][0], &done["tasks"]["left"][0]["atom_id"]),
        (&"five".into(), &three.into()),
        "{done:#}"
    );
    assert_eq!((&done["dry_run"], &done["driven"]), (&false.into(), &false.into()));
    env.el(&["orchestrate", "resume", epic, "--isolate", "none"]).ok();
    let named = |name: &str| {
        env.plan_of(epic)["tasks"].as_array().unwrap().iter().any(|task| task["task_id"] == name)
    };
    assert!(named("five") && named("three") && !named("four"), "{:#}", env.plan_of(epic));
    assert_eq!(env.show(&two)["title"], "Chapter two");
}

#[test]
fn every_answer_that_could_not_be_used_is_shown_with_what_was_wrong() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    let bad = r#"answer task_list {"tasks": [{"id": "a"}]}"#;
    env.script_of("task_list", &[bad, "on-resume", "say No."]);
    env.start_plan(&["--isolate", "none", "--asks-again", "1"]).wait(SOON).fails_with(4);
    let epic = env.epic();
    let show = ["phase", "show", &epic, "--phase", "task_list"];
    let told = env.el(&show).fails_with(3).stderr;
    assert!(
        told.contains("`tasks[0].title`") && told.contains("no block that could be read"),
        "{told}"
    );
    let error = env.el(&[&show[..], &["--robot"]].concat()).fails_with(3).json()["error"].take();
    assert_eq!(error["details"]["faults"].as_array().unwrap().len(), 2, "{error:#}");

    env.el(&[
        "phase",
        "set",
        &epic,
        "--phase",
        "task_list",
        "--file",
        env.path("tmp/answers/tasks.json").to_str().unwrap(),
    ])
    .ok();
    let shown = env.el(&show).ok();
    assert!(
        serde_json::from_str::<Value>(&shown.stdout).is_ok()
            && shown.stderr.contains("could not be used"),
        "{shown:#?}"
    );
    assert_eq!(env.robot(&show)["faults"].as_array().unwrap().len(), 2);
}
