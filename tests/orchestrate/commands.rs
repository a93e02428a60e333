//! Arguments, refusals and messages of the commands.

use rustix::process::Signal;
use serde_json::Value;

use super::{Task, plain};
use crate::support::{SOON, TestEnv, wait_until};

/// Begins a plan, and ends with the code. Returns the last line, which is the whole answer.
#[track_caller]
fn answer(env: &TestEnv, arguments: &[&str], code: i32) -> Value {
    let ran = env.el(&[&["--robot", "orchestrate"], arguments].concat());
    assert_eq!(ran.status, code, "{ran:#?}");
    let last = ran.stdout.lines().last().unwrap_or_default();
    let answer: Value = serde_json::from_str(last).unwrap();
    let ended = if code == 0 { &answer["data"] } else { &answer["error"]["details"] };
    ended.clone()
}

#[test]
fn a_goal_is_several_words_or_an_atom_and_never_a_slip_of_the_keys() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    let refused = env.el(&["orchestrate", "banana"]).fails_with(3).stderr;
    assert!(refused.contains("in a sentence"), "{refused}");
    env.el(&["orchestrate", "--plan-only"]).fails_with(2);
    env.el(&["orchestrate", ""]).fails_with(2);
    env.el(&["orchestrate", "resume", "banana"]).fails_with(3);
    let atom = env.create("Write the manual", &[]);
    let refused = env.el(&["orchestrate", "resume", &atom]).fails_with(4).stderr;
    assert!(!refused.contains("bound on cost"), "no agent would have cost anything: {refused}");
    assert_eq!(env.robot(&["orchestrate", "status"])["count"], 0, "nothing was begun");
    let begun = ["orchestrate", "--plan-only", "--isolate", "none", "Write it all down"];
    assert!(env.el(&begun).ok().stderr.contains("bound on cost"));

    std::fs::write(env.project("goal.md"), "# Write the manual #\n\nAll of it.\n").unwrap();
    let ended = answer(&env, &["--goal-file", "goal.md", "--plan-only", "--isolate", "none"], 0);
    let goal = &ended["overview"]["epic"];
    assert_eq!(
        (&goal["title"], &goal["description"]),
        (&"Write the manual".into(), &"All of it.".into())
    );
    assert_eq!(ended["state"], "planned");
    let long = format!("Write the manual {}", "and all that belongs to it ".repeat(20));
    let ended = answer(&env, &[&long, "--plan-only", "--isolate", "none"], 0);
    let goal = &ended["overview"]["epic"];
    assert!(goal["title"].as_str().unwrap().chars().count() <= 80, "a list can show it: {goal}");
    assert_eq!(goal["description"], long.trim());
    let ended = answer(&env, &[&atom, "--plan-only", "--isolate", "none"], 0);
    assert_eq!(ended["epic_id"], atom.as_str());
    assert_eq!(env.show(&atom)["issue_type"], "epic");
}

#[test]
fn a_mistyped_command_never_becomes_a_plan() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    let epic = env.create("Write the manual", &["--type", "epic"]);
    for (words, meant) in [
        (&["stauts", &epic, "--plan-only"][..], format!("el orchestrate status {epic}")),
        (&["resum", &epic], format!("el orchestrate resume {epic}")),
        (&["ls", "all"], "el orchestrate list".to_owned()),
        (&["shwo"], "el orchestrate show EPIC".to_owned()),
        (&["cancel", &epic], format!("el cancel {epic}")),
        (&["delete", &epic], format!("el discard {epic}")),
        (&["cancle", &epic[..epic.len() - 1]], format!("el cancel {epic}")),
        (&["halt", &epic], "el orchestrate --help".to_owned()),
        (&["pause", &epic[epic.len() - 4..epic.len() - 1]], format!("el show {epic}")),
        (&[&format!("cancel {epic}")], format!("el cancel {epic}")),
        (&[&epic, "again"], format!("el orchestrate resume {epic}")),
    ] {
        let ran = env.el(&[&["--robot", "orchestrate"], words].concat()).fails_with(2);
        assert_eq!(ran.json()["error"]["details"]["meant"], meant, "{words:?}");
    }
    for words in [&["list", "all"][..], &["status", &epic, "now"], &["resume"]] {
        env.el(&[&["orchestrate"], words].concat()).fails_with(2);
    }
    assert_eq!(env.robot(&["orchestrate", "list"])["count"], 0, "nothing was begun");
    assert_eq!(env.robot(&["list", "--all"])["count"], 1, "nothing was filed");

    let filed = answer(&env, &["--plan-only", "--isolate", "none", "--", "list", "all"], 0);
    assert_eq!(filed["overview"]["epic"]["title"], "list all");
    answer(&env, &["--plan-only", "--isolate", "none", "List all of it"], 0);
    assert_eq!(env.robot(&["orchestrate"])["count"], 2, "the bare noun lists");
}

#[test]
fn who_cannot_take_part_is_refused_before_anything_is_filed() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    env.configure("[agents.screen]\nexecutor = \"interactive\"\n");
    let refused = env.el(&["orchestrate", "Write it", "--agent", "screen"]).fails_with(6).stderr;
    assert!(refused.contains("screen") && refused.contains("executor"), "{refused}");
    assert_eq!(env.robot(&["orchestrate", "status"])["count"], 0);
}

#[test]
fn a_bad_value_of_a_flag_is_bad_usage_wherever_it_is_checked() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    for (flag, value) in [
        ("--max-tasks", "0"),
        ("--budget-per-epic", "much"),
        ("--plan-timeout", "never"),
        ("--check-rounds", "some"),
        ("--asks-again", "1.5"),
        ("--check", "sh -c 'exit"),
        ("--concurrency", "0"),
        ("--timeout", "soon"),
        ("--agent", ","),
        ("--isolate", "perhaps"),
    ] {
        let error = env
            .el(&["--robot", "orchestrate", "Write it", flag, value])
            .fails_with(2)
            .json()["error"]
            .take();
        assert!(
            error["message"].as_str().unwrap().contains(flag.trim_start_matches('-')),
            "{flag} {value}: {error}"
        );
    }
    for (command, flag) in [("work", "--max-load"), ("work", "--max-turns")] {
        env.el(&[command, "--once", flag, "x"]).fails_with(2);
    }
    env.configure("[agents.reviewer]\nmodel = \"opus\"\n");
    let refused =
        env.el(&["orchestrate", "Write it", "--agent", "claude,reviwer"]).fails_with(2).stderr;
    assert!(
        refused.contains("no agent 'reviwer'") && refused.contains("claude, reviewer"),
        "{refused}"
    );
    assert_eq!(env.robot(&["orchestrate", "status"])["count"], 0, "nothing was begun");
}

#[test]
fn a_reader_that_goes_away_changes_nothing_of_how_it_ended() {
    let env =
        TestEnv::with_plan(&[Task("bad", &[], vec!["exit 1".to_owned()]), plain("fine", &[])]);
    env.configure("max_attempts = 1\n");
    for (n, format) in ["", "--robot"].into_iter().enumerate() {
        let line = format!(
            "{{ el {format} orchestrate Write the manual --isolate none; echo $? > code-{n}; }} | \
             true"
        );
        env.run(env.command("sh").args(["-c", &line])).ok();
        assert_eq!(env.wait_for_file(format!("code-{n}")), "4", "{format}");
    }
}

#[test]
fn a_plan_is_changed_by_hand_and_goes_on_with_what_was_settled_for_it() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    let planned = answer(
        &env,
        &[
            "Write the manual",
            "--plan-only",
            "--isolate",
            "none",
            "--asks-again",
            "5",
            "--check",
            "true",
        ],
        0,
    );
    let epic = planned["epic_id"].as_str().unwrap();
    let text = env.el(&["phase", "show", epic, "--phase", "task_list"]).ok().stdout;
    let mut list: Value = serde_json::from_str(&text).unwrap();
    let mut more = list["tasks"][0].clone();
    more["id"] = "two".into();
    more["title"] = "Chapter two".into();
    more["estimated_tokens"] = "many".into();
    list["tasks"].as_array_mut().unwrap().push(more);
    std::fs::write(env.project("plan.json"), list.to_string()).unwrap();
    let set = env.robot(&["phase", "set", epic, "--phase", "task_list", "--file", "plan.json"]);
    assert!(set["left_out"][0].as_str().unwrap().contains("tasks[1].estimated_tokens"), "{set:#}");
    assert_eq!(set["commands"][0], format!("el orchestrate resume {epic}"));

    let ended = answer(&env, &["resume", epic, "--isolate", "none", "--plan-timeout", "1h"], 0);
    assert_eq!(
        (&ended["state"], &ended["overview"]["epic"]["status"]),
        (&"done".into(), &"closed".into())
    );
    assert_eq!(ended["overview"]["tasks"].as_array().unwrap().len(), 2);
    let settings = &ended["overview"]["settings"];
    assert_eq!(
        (&settings["asks_again"], &settings["time_s"]),
        (&5.into(), &3600.into()),
        "{settings:#}"
    );
    assert_eq!(ended["overview"]["checks"][0]["passed"], true);
    assert_eq!(answer(&env, &["resume", epic], 0)["state"], "done", "a plan that is over stays so");
}

#[test]
fn data_that_does_not_fit_is_told_field_by_field_and_changes_nothing() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    let planned = answer(&env, &["Write the manual", "--plan-only", "--isolate", "none"], 0);
    let epic = planned["epic_id"].as_str().unwrap();
    let before = env.robot(&["phase", "show", epic, "--phase", "task_list"]);
    let set = |name: &str, text: &str| {
        std::fs::write(env.project(name), text).unwrap();
        env.el(&["phase", "set", epic, "--phase", "task_list", "--file", name]).fails_with(2).stderr
    };
    let told = set("fields.json", r#"{"tasks":[{"id":"a"}]}"#);
    assert!(told.contains("`tasks[0].title`") && told.contains("`tasks[0].description`"), "{told}");
    assert!(set("text.md", "no data at all").contains("not JSON"));
    assert!(set("other.json", r#"{"phase":"analysis","data":{}}"#).contains("'analysis'"));
    let cycle = r#"{"tasks":[{"id":"a","title":"A","description":"d","dependencies":["b"]},
                             {"id":"b","title":"B","description":"d","dependencies":["a"]}]}"#;
    set("cycle.json", cycle);
    // Programs get the reasons too.
    set("cut.md", "<<<ORCHESTRATOR_RESPONSE>>>\n{\"phase\": \"task_list\", \"data\": {\"tas");
    set("twice.md", "```json\n{\"tasks\": []}\n```\nor\n```json\n{\"tasks\": []}\n```\n");
    for name in ["cycle.json", "cut.md", "twice.md"] {
        let words = ["--robot", "phase", "set", epic, "--phase", "task_list", "--file", name];
        let error = env.el(&words).fails_with(2).json()["error"].take();
        let details = &error["details"];
        let told = ["fields", "reasons"].map(|key| details[key].as_array().map_or(0, Vec::len));
        assert!(told[0] + told[1] > 0 && error["hint"].is_string(), "{name}: {error}");
    }
    assert_eq!(env.robot(&["phase", "show", epic, "--phase", "task_list"]), before);
    env.el(&["phase", "show", epic, "--phase", "aggregation"]).fails_with(3);
    env.el(&["phase", "show", epic, "--phase", "analysis", "--round", "0"]).fails_with(2);
    env.el(&["phase", "set", epic, "--phase", "task_list", "--round", "0", "--file", "cycle.json"])
        .fails_with(2);
}

#[test]
fn a_failed_task_is_told_with_what_to_do_and_only_its_followers_are_held() {
    let env = TestEnv::with_plan(&[
        Task("bad", &[], vec!["exit 1".to_owned()]),
        plain("after", &["bad"]),
        plain("fine", &[]),
    ]);
    env.configure("max_attempts = 1\n");
    let ended = answer(&env, &["Write the manual", "--isolate", "none"], 4);
    assert_eq!(ended["state"], "incomplete", "{ended:#}");
    let epic = ended["epic_id"].as_str().unwrap();
    let bad = env.task_of(epic, "bad");
    let commands: Vec<&str> =
        ended["commands"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(
        commands,
        [
            format!("el why {bad}"),
            format!("el retry {bad}"),
            format!("el orchestrate resume {epic}")
        ]
    );
    let drawn = env.el(&["orchestrate", "status", epic]).ok().stdout;
    assert!(
        drawn.contains("held by") && drawn.contains("Layer 2") && !drawn.contains('\x1b'),
        "{drawn}"
    );
    assert!(drawn.lines().all(|line| line.trim_end() == line), "{drawn}");
}

#[test]
fn money_that_is_used_up_has_its_exit_code_and_more_of_it_goes_on() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    let ended =
        answer(&env, &["Write the manual", "--isolate", "none", "--budget-per-epic", "0.002"], 8);
    assert_eq!(ended["state"], "budget_used_up", "{ended:#}");
    let epic = ended["epic_id"].as_str().unwrap();
    assert!(ended["commands"].to_string().contains("--budget-per-epic USD"), "{ended:#}");
    assert_eq!(
        answer(&env, &["resume", epic, "--isolate", "none", "--budget-per-epic", "5"], 0)["state"],
        "done"
    );
}

#[test]
fn nothing_of_a_check_stays_when_its_process_is_killed_or_stopped() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    let script = "echo $$ > began; setsid sleep 600 & sleep 600";
    let check = ["--isolate", "none", "--check", &format!("sh -c '{script}'")];
    let sleeping = || {
        env.processes()
            .into_iter()
            .filter(|process| process.words.iter().any(|word| word == "600"))
            .count()
    };
    let begun = || {
        std::fs::read_to_string(env.project("began"))
            .is_ok_and(|text| text.ends_with('\n'))
            .then_some(())
    };

    let plan = env.start_plan(&check);
    wait_until("the check", SOON, begun);
    wait_until("what it starts", SOON, || (sleeping() > 0).then_some(()));
    plan.signal(Signal::KILL);
    plan.wait(SOON);
    wait_until("the end of a killed check", SOON, || (sleeping() == 0).then_some(()));

    std::fs::remove_file(env.project("began")).unwrap();
    let epic = env.epic();
    let plan = env.start_el(&["orchestrate", "resume", &epic]);
    wait_until("the check again", SOON, begun);
    plan.signal(Signal::INT);
    let ran = plan.wait(SOON).fails_with(4);
    assert!(ran.stdout.contains(&format!("el orchestrate resume {epic}")), "{ran:#?}");
    assert_eq!(sleeping(), 0);
    assert_eq!(
        answer(&env, &["resume", &epic, "--isolate", "none", "--check", "true"], 0)["state"],
        "done"
    );
}
