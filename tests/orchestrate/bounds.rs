//! Bounds of a plan: held work is not begun, agents cannot lift bounds, and skipped work is not
//! called done.

use super::{AGGREGATION, Task, plain};
use crate::support::{SOON, TestEnv};

#[test]
fn a_plan_that_is_to_be_filed_only_has_nothing_worked_on() {
    let env = TestEnv::with_plan(&[plain("one", &[]), plain("two", &[])]);
    let epic = env.create("Write the manual", &["--type", "epic"]);
    let child = env.create(
        "A child from before",
        &["--parent", &epic, "-d", &TestEnv::script(&["close done"])],
    );
    for words in [
        &["orchestrate", &epic, "--plan-only"][..],
        &["orchestrate", "resume", &epic, "--plan-only"],
    ] {
        env.el(words).ok();
        let [one, two] = ["one", "two"].map(|name| env.task_of(&epic, name));
        assert_eq!([&child, &one, &two].map(|atom| env.runs(atom).len()), [0, 0, 0], "{words:?}");
    }
}

#[test]
fn what_is_filed_only_is_held_from_every_worker_until_it_is_resumed() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    env.el(&["orchestrate", "Write the manual", "--plan-only", "--isolate", "none"]).ok();
    let epic = env.epic();
    let one = env.task_of(&epic, "one");
    let added = env.create("Added by a person", &["--parent", &epic]);
    env.work(&["--drain"]);
    env.el(&["next", "--claim"]).ok();
    assert_eq!([&one, &added].map(|atom| env.status(atom)), ["open", "open"]);
    let why = env.el(&["why", &one]).ok().stdout;
    assert!(why.contains(&format!("el orchestrate resume {epic}")), "{why}");
    assert_eq!(env.robot(&["why", &one])["holds"][0]["hold"], "plan");

    env.el(&["close", &added]).ok();
    env.el(&["orchestrate", "resume", &epic, "--isolate", "none"]).ok();
    assert_eq!(env.status(&one), "closed");
}

#[test]
fn a_plan_whose_time_is_over_begins_nothing_however_often_it_is_resumed() {
    let env = TestEnv::with_plan(&[plain("one", &[]), plain("two", &[])]);
    env.start_plan(&["--plan-only"]).wait(SOON).ok();
    let epic = env.epic();
    env.database().execute("UPDATE orchestrations SET worked = 5000000", []).unwrap();
    for _ in 0..2 {
        env.el(&["orchestrate", "resume", &epic, "--plan-timeout", "2s"]).fails_with(7);
    }
    let [one, two] = ["one", "two"].map(|name| env.task_of(&epic, name));
    assert_eq!([&one, &two].map(|atom| env.runs(atom).len()), [0, 0]);
}

#[test]
fn closing_the_epic_ends_what_is_begun_for_it() {
    let env = TestEnv::with_plan(&[plain("one", &[]), plain("two", &["one"])]);
    env.start_plan(&["--plan-only"]).wait(SOON).ok();
    let epic = env.epic();
    env.el(&["close", &epic, "--force", "--reason", "enough"]).ok();
    env.el(&["orchestrate", "resume", &epic]).fails_with(4);
    assert_eq!(env.runs(&env.task_of(&epic, "one")).len(), 0);
}

#[test]
fn an_agent_lifts_no_bound_of_its_plan_and_ends_no_other_part_of_it() {
    let mut env = TestEnv::with_plan(&[]);
    let folder = env.path("tmp");
    let say = |n: usize, words: &str| {
        format!(
            "sh P=$(el show $EL_ATOM --robot | grep -o '\"parent_id\":\"[^\"]*' | cut -d'\"' -f4); \
             {words}; echo $? > {}/{n}",
            folder.display()
        )
    };
    let attempts = [
        "el update $P --metadata '{\"budget_usd\": 9999}'",
        "el update $EL_ATOM --clear-parent",
        "el dep remove $P $EL_ATOM --type parent_child",
        "el close $P",
        "el close $(el list --parent $P --robot | grep -o '\"id\":\"[^\"]*' | cut -d'\"' -f4 | \
         grep -v $EL_ATOM | tail -1)",
        "el phase set $P --phase aggregation --file /dev/null",
    ];
    let mut steps: Vec<String> =
        attempts.iter().enumerate().map(|(n, words)| say(n, words)).collect();
    steps.push("close done".to_owned());
    env.scripts(&[Task("one", &[], steps), plain("two", &["one"])]);
    env.start_plan(&["--budget-per-epic", "5"]).wait(SOON * 2).ok();
    for (n, words) in attempts.iter().enumerate() {
        let code = std::fs::read_to_string(folder.join(n.to_string())).unwrap();
        assert_eq!(code.trim(), "8", "{words}");
    }
    let epic = env.epic();
    assert_eq!(env.show(&epic)["metadata"]["budget_usd"], 5.0);
    assert_eq!(env.outcomes(&env.task_of(&epic, "two")), ["closed"]);
}

#[test]
fn work_that_the_last_run_leaves_out_is_not_called_done() {
    let mut env = TestEnv::with_tracker();
    env.git(&["init", "-q"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "base"]);
    let clash = |name: &'static str| {
        let write = format!(
            "sh echo {name} > same.txt && git add same.txt && git commit -q -m 'write {name}'"
        );
        Task(name, &[], vec![write, "close done".to_owned()])
    };
    env.scripts(&[clash("one"), clash("two")]);
    env.script_of("aggregation", &[AGGREGATION]);
    let said = env.start_plan(&["--concurrency", "2"]).wait(SOON * 2).fails_with(4).stdout;
    let epic = env.epic();
    let left_out: Vec<String> = ["one", "two"]
        .map(|name| env.task_of(&epic, name))
        .into_iter()
        .filter(|id| said.contains(&format!("el diff {id}")))
        .collect();
    assert_eq!(left_out.len(), 1, "{said}");
    assert!(said.contains("has not the work of") && said.contains("el land --all"), "{said}");
}

#[test]
fn whoever_mends_a_failed_check_begins_with_what_was_checked() {
    let mut env = TestEnv::with_tracker();
    env.git(&["init", "-q"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "base"]);
    let commit = |what: &str| format!("sh {what} && git add . && git commit -q -m work");
    env.scripts(&[Task("one", &[], vec![commit("echo one > one.txt"), "close done".to_owned()])]);
    let mend = commit(
        "test -f one.txt && if test -f first.txt; then echo 2 > second.txt; else echo 1 > \
         first.txt; fi",
    );
    let fixes = env.path("tmp/answers").join("fixes.json");
    std::fs::write(
        &fixes,
        super::list(&[Task("fix", &[], vec![mend, "close done".to_owned()])]).to_string(),
    )
    .unwrap();
    let looks = "sh test -f one.txt";
    env.script_of("failures", &[looks, &format!("answer-file task_list {}", fixes.display())]);
    env.start_plan(&[
        "--check",
        "sh -c 'test -f one.txt && test -f first.txt && test -f second.txt'",
    ])
    .wait(SOON * 3)
    .ok();
    let plan = env.plan_of(&env.epic());
    let passed: Vec<_> = plan["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| check["passed"].as_bool().unwrap())
        .collect();
    assert_eq!(passed, [false, false, true]);
}

#[test]
fn more_money_than_there_was_ends_what_runs_and_leaves_it_to_be_gone_on_with() {
    let mut env = TestEnv::with_plan(&[]);
    let there = env.path("tmp").join("two");
    let costly =
        ["usage 1 1 0.9", &format!("wait-file {}", there.display()), "say 1", "result", "hang"]
            .map(str::to_owned);
    let cheap = [&format!("touch {}", there.display()), "hang", "on-attempt 2", "close done"]
        .map(|step: &str| step.to_owned());
    let costly = [&costly[..], &["on-attempt 2".to_owned(), "close done".to_owned()]].concat();
    env.scripts(&[Task("one", &[], costly), Task("two", &[], cheap.into())]);
    env.start_plan(&["--budget-per-epic", "0.5", "--isolate", "none", "--concurrency", "2"])
        .wait(SOON * 2)
        .fails_with(8);
    let epic = env.epic();
    let tasks = ["one", "two"].map(|name| env.task_of(&epic, name));
    for task in &tasks {
        assert_eq!(
            (env.outcomes(task), env.status(task)),
            (vec!["cancelled".to_owned()], "open".to_owned())
        );
    }
    env.el(&["orchestrate", "resume", &epic, "--budget-per-epic", "5", "--isolate", "none"]).ok();
    assert_eq!(tasks.map(|task| env.status(&task)), ["closed", "closed"]);
}

#[test]
fn a_plan_whose_tasks_were_all_thrown_away_says_what_a_person_can_do() {
    let env = TestEnv::with_plan(&[plain("one", &[]), plain("two", &[])]);
    env.start_plan(&["--plan-only"]).wait(SOON).ok();
    let epic = env.epic();
    for name in ["one", "two"] {
        env.el(&["discard", &env.task_of(&epic, name)]).ok();
    }
    let ran = env.el(&["orchestrate", "resume", &epic]).fails_with(4);
    for words in ["all were thrown away", "el create --parent", "el phase set", "el close"] {
        assert!(ran.stdout.contains(words), "{words}: {ran:#?}");
    }
    env.create("Afresh", &["--parent", &epic, "-d", &TestEnv::script(&["close done"])]);
    env.el(&["orchestrate", "resume", &epic]).ok();
    assert_eq!(env.status(&epic), "closed");
}

#[test]
fn what_a_plan_waits_for_outside_of_it_is_named() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    env.start_plan(&["--plan-only"]).wait(SOON).ok();
    let (epic, outside) = (env.epic(), env.create("Elsewhere", &[]));
    env.el(&["dep", "add", &outside, &env.task_of(&epic, "one")]).ok();
    let ran = env.el(&["orchestrate", "resume", &epic]).fails_with(4);
    assert!(
        ran.stdout.contains(&format!("outside of it: {outside}"))
            && ran.stdout.contains(&format!("el why {outside}")),
        "{ran:#?}"
    );
}

#[test]
fn a_check_that_there_is_not_is_told_before_anything_begins() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    let ran = env.start_plan(&["--check", "no-such-program --all"]).wait(SOON).fails_with(2);
    assert!(ran.stderr.contains("no-such-program") && ran.stderr.contains("sh -c"), "{ran:#?}");
    assert_eq!(env.robot(&["list", "--all"])["count"], 0);
    // A file that the plan may make is waited for.
    env.start_plan(&["--plan-only", "--check", "./made-by-the-plan"]).wait(SOON).ok();
    let epic = env.epic();
    env.el(&["orchestrate", "resume", &epic, "--check", "no-such-program"]).fails_with(2);
}
