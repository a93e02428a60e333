//! Tasks in layers, in worktrees, landed.

use serde_json::json;

use super::{AGGREGATION, Task, plain};
use crate::support::{SOON, TestEnv};

/// Writes and commits a file, after the files of its dependencies exist.
fn writer<'a>(name: &'a str, waits_for: &'a [&'a str]) -> Task<'a> {
    let there: String = waits_for.iter().map(|file| format!("test -f {file}.txt && ")).collect();
    let write = format!(
        "sh {there}echo {name} > {name}.txt && git add {name}.txt && git commit -q -m 'write \
         {name}'"
    );
    Task(
        name,
        waits_for,
        vec![write, format!("sh test -f {name}.txt && el close $EL_ATOM --reason 'wrote {name}'")],
    )
}

/// Writes a file that another task of this kind also writes.
fn clash(name: &str) -> Task<'_> {
    let write = format!(
        "sh echo {name} > same.txt && echo {name} > {name}.txt && git add . && git commit -q -m \
         'write {name}'"
    );
    Task(name, &[], vec![write, "close done".to_owned()])
}

/// Merges all branches. The agent knows their names only from its context.
const SETTLE: &str = "sh for b in $(git for-each-ref --format='%(refname:short)' refs/heads/el); \
    do \
                      git merge-base --is-ancestor $b HEAD || git merge -q $b || { echo both > \
                      same.txt; git add same.txt; git commit -q -m settled; }; \
                      done; test -f one.txt && test -f two.txt";

#[test]
fn five_tasks_in_three_layers_are_done_in_worktrees_brought_together_and_landed() {
    let mut env = TestEnv::with_tracker();
    env.git(&["init", "-q"]);
    std::fs::write(env.project("base.txt"), "base\n").unwrap();
    env.git(&["add", "base.txt"]);
    env.git(&["commit", "-q", "-m", "base"]);
    // The first two meet: both are at work at the same time, or neither ends.
    let meet = |own: &str, other: &str| {
        let folder = env.path("tmp");
        [
            format!("touch {}/{own}", folder.display()),
            format!("wait-file {}/{other}", folder.display()),
        ]
    };
    let mut tasks = [
        writer("one", &[]),
        writer("two", &[]),
        writer("three", &["one"]),
        writer("four", &["one", "two"]),
        writer("five", &["three", "four"]),
    ];
    tasks[0].2.splice(0..0, meet("one", "two"));
    tasks[1].2.splice(0..0, meet("two", "one"));
    env.scripts(&tasks);
    let all = "sh test -f one.txt && test -f two.txt && test -f three.txt && test -f four.txt && \
        test -f five.txt && \
               echo all > index.txt && git add index.txt && git commit -q -m index";
    env.script_of("aggregation", &[all, AGGREGATION]);

    let ran = env.start_plan(&["--concurrency", "3"]).wait(SOON * 3).ok();
    assert!(ran.stdout.contains("All of it is one whole"), "{ran:#?}");
    assert!(!ran.stdout.contains("share the folder"), "each has its own: {ran:#?}");
    let epic = env.epic();
    let plan = env.plan_of(&epic);
    assert_eq!((&plan["state"], &plan["ended_at"].is_string()), (&json!("done"), &true));
    let layers: Vec<_> = plan["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["layer"].as_i64().unwrap())
        .collect();
    assert_eq!(layers, [0, 0, 1, 1, 2]);
    assert_eq!(env.status(&epic), "closed");
    env.assert_order(&epic);
    for name in ["one", "two", "three", "four", "five"] {
        let atom = env.task_of(&epic, name);
        assert_eq!(env.outcomes(&atom), ["closed"]);
        let workdir = env.last_run(&atom)["workdir"].as_str().unwrap().to_owned();
        assert!(workdir.ends_with(&format!(".eluent/worktrees/{atom}")), "{workdir}");
    }
    env.wait_for_sessions(&[]);

    assert!(!env.project("one.txt").exists(), "nothing is landed yet");
    env.robot(&["land", "--all"]);
    for file in ["one", "two", "three", "four", "five", "index"] {
        assert!(env.project(format!("{file}.txt")).is_file(), "{file} is not on main");
    }
    assert_eq!(env.git(&["rev-parse", "--abbrev-ref", "HEAD"]), "main");
    assert_eq!(env.robot(&["land", "--all"])["count"], 0);
    env.robot(&["worktrees", "prune"]);
    assert_eq!(env.git(&["branch", "--list", "el/*"]), "");
}

#[test]
fn a_plan_is_filed_edited_by_a_person_and_resumed() {
    let env =
        TestEnv::with_plan(&[plain("one", &[]), plain("two", &["one"]), plain("three", &["two"])]);
    env.start_plan(&["--plan-only"]).wait(SOON).ok();
    let epic = env.epic();
    assert_eq!(env.plan_of(&epic)["state"], "planned");
    let [one, two, three] = ["one", "two", "three"].map(|name| env.task_of(&epic, name));
    assert_eq!(
        [&one, &two, &three].map(|atom| env.runs(atom).len()),
        [0, 0, 0],
        "nobody has begun"
    );
    // A person without any knowledge of the protocol.
    env.el(&["discard", &two]).ok();
    let more =
        env.create("A preface", &["--parent", &epic, "-d", &TestEnv::script(&["close done"])]);
    env.el(&["dep", "add", &more, &three]).ok();
    env.el(&["orchestrate", "resume", &epic]).ok();
    assert_eq!(
        [&one, &two, &three, &more].map(|atom| env.status(atom)),
        ["closed", "discard", "closed", "closed"]
    );
    assert_eq!(env.status(&epic), "closed", "what was thrown away is missed by nobody");
    env.assert_order(&epic);
    assert_eq!(
        env.atoms_of(&epic).len(),
        6,
        "three questions, and the tasks but for the one that was thrown away"
    );
}

#[test]
fn a_failed_task_holds_only_what_waits_for_it() {
    let mut env = TestEnv::with_plan(&[]);
    env.configure("max_attempts = 1\n");
    let mended =
        Task("one", &[], ["exit 3", "on-attempt 2", "close done"].map(str::to_owned).into());
    env.scripts(&[mended, plain("two", &["one"]), plain("three", &[])]);
    env.start_plan(&[]).wait(SOON).fails_with(4);
    let epic = env.epic();
    let plan = env.plan_of(&epic);
    let standings: Vec<_> =
        plan["tasks"].as_array().unwrap().iter().map(|task| task["standing"].clone()).collect();
    assert_eq!(
        (plan["state"].clone(), standings),
        (json!("incomplete"), vec!["stuck".into(), "done".into(), "held".into()])
    );
    assert!(env.comments(&epic)[0].contains("### Missing"), "{:?}", env.comments(&epic));
    let failed = env.task_of(&epic, "one");
    env.el(&["retry", &failed]).ok();
    env.el(&["orchestrate", "resume", &epic]).ok();
    assert_eq!(env.status(&epic), "closed");
    assert_eq!(env.outcomes(&failed), ["failed", "closed"]);
    env.assert_order(&epic);
}

#[test]
fn a_failed_check_becomes_tasks_and_is_run_again() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    let folder = env.path("tmp/answers");
    let fix = Task("fix", &[], vec!["write mended yes".to_owned(), "close done".to_owned()]);
    std::fs::write(folder.join("fixes.json"), super::list(&[fix]).to_string()).unwrap();
    let steps = [
        "record failures.json",
        &format!("answer-file task_list {}", folder.join("fixes.json").display()),
    ];
    env.script_of("failures", &steps);
    let check =
        "sh -c 'echo looked >> looks; test -e mended || { echo it is not mended; exit 1; }'";
    env.start_plan(&["--isolate", "none", "--check", check]).wait(SOON).ok();
    let epic = env.epic();
    assert_eq!(env.status(&epic), "closed");
    assert_eq!(std::fs::read_to_string(env.project("looks")).unwrap(), "looked\nlooked\n");
    assert!(
        std::fs::read_to_string(env.project("failures.json")).unwrap().contains("it is not mended")
    );
    let plan = env.plan_of(&epic);
    let passed: Vec<_> =
        plan["checks"].as_array().unwrap().iter().map(|check| check["passed"].clone()).collect();
    assert_eq!(passed, [json!(false), json!(true)]);
}

#[test]
fn tasks_that_do_not_fit_together_are_left_to_the_one_that_brings_them_together() {
    let mut env = TestEnv::with_tracker();
    env.git(&["init", "-q"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "base"]);
    env.scripts(&[clash("one"), clash("two")]);
    let told = env.path("tmp/told.json");
    env.script_of("aggregation", &[&format!("record {}", told.display()), SETTLE, AGGREGATION]);
    env.start_plan(&["--concurrency", "2"]).wait(SOON * 2).ok();
    let epic = env.epic();
    assert_eq!(env.status(&epic), "closed");
    let asks = env.question(&epic, "aggregation");
    let told = std::fs::read_to_string(told).unwrap();
    let names: Vec<String> =
        ["one", "two"].map(|name| format!("git merge el/{}", env.task_of(&epic, name))).into();
    assert_eq!(
        names.iter().filter(|words| told.contains(*words)).count(),
        1,
        "one fits, the other is to be merged: {told}"
    );
    env.robot(&["land", &asks]);
    assert_eq!(std::fs::read_to_string(env.project("same.txt")).unwrap(), "both\n");
}

#[test]
fn what_a_person_has_put_below_a_task_group_is_part_of_the_plan() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    env.start_plan(&["--plan-only"]).wait(SOON).ok();
    let epic = env.epic();
    let group = env.create("A group", &["--type", "epic", "--parent", &epic]);
    let deep =
        env.create("Deep within", &["--parent", &group, "-d", &TestEnv::script(&["close done"])]);
    let outside = env.create("Elsewhere", &["-d", &TestEnv::script(&["close done"])]);
    env.el(&["orchestrate", "resume", &epic]).ok();
    assert_eq!([&epic, &deep, &outside].map(|atom| env.status(atom)), ["closed", "closed", "open"]);
}

#[test]
fn a_task_that_builds_on_work_in_conflict_waits_for_an_agent_that_brings_it_together() {
    let mut env = TestEnv::with_tracker();
    env.git(&["init", "-q"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "base"]);
    let third = Task(
        "three",
        &["one", "two"],
        vec![
            "sh grep -q both same.txt && echo 3 > three.txt && git add . && git commit -q -m three"
                .to_owned(),
            "close done".to_owned(),
        ],
    );
    let fourth =
        Task("four", &["three"], vec!["sh test -f three.txt".to_owned(), "close done".to_owned()]);
    env.scripts(&[clash("one"), clash("two"), third, fourth]);
    env.script_of("joining", &[SETTLE, "close settled"]);
    env.script_of("aggregation", &["sh test -f three.txt && grep both same.txt", AGGREGATION]);
    env.start_plan(&["--concurrency", "2"]).wait(SOON * 3).ok();
    let epic = env.epic();
    let three = env.task_of(&epic, "three");
    assert_eq!(env.status(&epic), "closed");
    assert_eq!(env.outcomes(&three), ["launch_failed", "closed"]);
    let joining = env.task_of(&epic, "three/join");
    assert_eq!(env.status(&joining), "closed");
    assert_eq!(env.show(&joining)["parent_id"], json!(epic));
    env.robot(&["land", &three]);
    assert_eq!(std::fs::read_to_string(env.project("same.txt")).unwrap(), "both\n");
    assert!(env.project("three.txt").exists());
}

#[test]
fn what_is_in_conflict_is_brought_together_once_for_all_that_build_on_it() {
    let mut env = TestEnv::with_tracker();
    env.git(&["init", "-q"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "base"]);
    let look = |name| {
        let steps = [
            &format!("sh cat same.txt > {name}.txt && git add . && git commit -q -m {name}"),
            "close done",
        ];
        Task(name, &["one", "two"], steps.map(str::to_owned).into())
    };
    env.scripts(&[clash("one"), clash("two"), look("three"), look("four"), look("five")]);
    // No two agents would resolve the conflict alike.
    env.script_of(
        "joining",
        &[&SETTLE.replace("echo both", "echo \"both by $EL_ATOM\""), "close settled"],
    );
    env.start_plan(&["--concurrency", "3"]).wait(SOON * 3).ok();
    let epic = env.epic();
    let plan = env.plan_of(&epic);
    let joins = plan["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|task| task["task_id"].to_string().contains("/join"));
    assert_eq!(joins.count(), 1, "{plan:#}");
    env.el(&["land", "--all"]).ok();
    let seen = ["three", "four", "five"]
        .map(|name| std::fs::read_to_string(env.project(format!("{name}.txt"))).unwrap());
    assert!(seen[0].starts_with("both by ") && seen.iter().all(|one| *one == seen[0]), "{seen:?}");
}

#[test]
fn a_joining_that_joined_nothing_is_told_with_the_way_on() {
    let mut env = TestEnv::with_tracker();
    env.git(&["init", "-q"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "base"]);
    env.scripts(&[clash("one"), clash("two"), plain("three", &["one", "two"])]);
    env.script_of("joining", &["close settled"]);
    env.start_plan(&["--concurrency", "2"]).wait(SOON * 3).fails_with(4);
    let epic = env.epic();
    let [three, joining] = ["three", "three/join"].map(|name| env.task_of(&epic, name));
    assert_eq!([env.status(&three), env.status(&joining)], ["blocked", "closed"]);
    assert!(
        env.comments(&three)[0].contains(&format!("el reopen {joining}")),
        "{:?}",
        env.comments(&three)
    );
    env.script_of("joining", &[SETTLE, "close settled"]);
    env.el(&["reopen", &joining]).ok();
    env.el(&["retry", &three]).ok();
    env.el(&["orchestrate", "resume", &epic]).ok();
    assert_eq!([env.status(&three), env.status(&epic)], ["closed", "closed"]);
}

#[test]
fn what_a_task_did_not_commit_is_told_and_what_it_inherited_is_not_called_its_own() {
    let mut env = TestEnv::with_tracker();
    env.git(&["init", "-q"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "base"]);
    let steps = [
        "sh test -f one.txt && echo 2 > two.txt && git add two.txt && git commit -q -m two && echo \
         left > left.txt",
        "close done",
    ];
    env.scripts(&[writer("one", &[]), Task("two", &["one"], steps.map(str::to_owned).into())]);
    let told = env.path("tmp/told.json");
    env.script_of("aggregation", &[&format!("record {}", told.display()), AGGREGATION]);
    env.start_plan(&["--concurrency", "2"]).wait(SOON * 2).ok();
    let epic = env.epic();
    let run = env.last_run(&env.task_of(&epic, "two"));
    let results: serde_json::Value =
        serde_json::from_str(&env.read_run_file(&run, "RESULTS.json")).unwrap();
    let summary = &results["summary"];
    assert_eq!(summary["uncommitted"], json!(["left.txt"]));
    let named: Vec<_> = summary["deliverables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert!(named.contains(&"two.txt") && !named.contains(&"one.txt"), "{named:?}");
    let told = std::fs::read_to_string(told).unwrap();
    assert!(
        told.contains("Not committed") && told.contains(run["workdir"].as_str().unwrap()),
        "{told}"
    );
}
