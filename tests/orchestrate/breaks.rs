//! Interruptions at every step, by `kill -9`, by a person, or by a second process: the same atoms
//! in the end, each once.

use rustix::process::Signal;

use super::{ANALYSIS, plain};
use crate::support::{SOON, TestEnv, wait_until};

/// Each step of the flow, recognised by its effect on the database.
const STEPS: [(&str, &str); 10] = [
    ("the epic is filed", "SELECT count(*) FROM orchestrations"),
    ("the analysis is asked for", "SELECT count(*) FROM questions WHERE name = 'analysis'"),
    ("its run has begun", "SELECT count(*) FROM events WHERE kind = 'run_started'"),
    ("it is answered", "SELECT count(*) FROM questions WHERE name = 'analysis' AND state = 'data'"),
    ("the list is asked for", "SELECT count(*) FROM questions WHERE name = 'task_list'"),
    (
        "it is answered",
        "SELECT count(*) FROM questions WHERE name = 'task_list' AND state = 'data'",
    ),
    ("the tasks are filed", "SELECT count(*) FROM planned_tasks"),
    (
        "one is worked on",
        "SELECT count(*) FROM runs r JOIN planned_tasks p ON p.atom_id = r.atom_id",
    ),
    (
        "the results are brought together",
        "SELECT count(*) FROM questions WHERE name = 'aggregation'",
    ),
    (
        "the result is there",
        "SELECT count(*) FROM questions WHERE name = 'aggregation' AND state = 'data'",
    ),
];

fn tasks() -> [super::Task<'static>; 3] {
    [plain("one", &[]), plain("two", &[]), plain("three", &["one", "two"])]
}

/// Returns everything below the epic in the end, after any number of interruptions.
fn all_done() -> Vec<(String, String)> {
    let titles = ["Bring the results together", "Cut into tasks", "Look at what it takes"]
        .map(|what| format!("{what}: Write the manual"));
    let tasks = ["one", "three", "two"].map(|name| format!("Chapter {name}"));
    let mut all: Vec<_> =
        titles.into_iter().chain(tasks).map(|title| (title, "closed".to_owned())).collect();
    all.sort();
    all
}

/// Resumes until the plan is over. Asserts that all atoms exist once.
#[track_caller]
fn assert_goes_on(env: &TestEnv, after: &str) {
    let epic = env.epic();
    let ran = env.el(&["orchestrate", "resume", &epic]);
    assert_eq!(ran.status, 0, "after {after}: {ran:#?}");
    assert_eq!(env.atoms_of(&epic), all_done(), "after {after}");
    assert_eq!(env.status(&epic), "closed", "after {after}");
    let told = env.comments(&epic);
    assert_eq!(told.len(), 1, "the result is told once, after {after}: {told:?}");
    let live: i64 = env
        .database()
        .query_row("SELECT count(*) FROM runs WHERE ended_at IS NULL", [], |row| row.get(0))
        .unwrap();
    assert_eq!(live, 0, "after {after}");
    env.assert_order(&epic);
}

/// Begins a plan, and kills its process when the query counts something.
fn killed_when(name: &str, query: &str) {
    let env = TestEnv::with_plan(&tasks());
    let plan = env.start_plan(&["--isolate", "none"]);
    let database = env.database();
    wait_until(name, SOON, || {
        let count: i64 = database.query_row(query, [], |row| row.get(0)).unwrap();
        (count > 0).then_some(())
    });
    plan.signal(Signal::KILL);
    drop(plan);
    if name == "the tasks are filed" {
        // A plan that was broken off is held, whoever works.
        let begun = env.robot(&["runs"])["total"].clone();
        env.work(&["--drain", "--isolate", "none"]);
        assert_eq!(env.robot(&["runs", "--live"])["count"], 0);
        let titles = env.atoms_of(&env.epic());
        let held = titles.iter().filter(|(title, _)| title.starts_with("Chapter"));
        assert!(held.clone().count() == 3 && held.clone().all(|(_, status)| status == "open"));
        assert!(begun.as_i64() <= Some(2), "{begun}");
    }
    assert_goes_on(&env, name);
}

#[test]
fn killed_while_it_plans_it_goes_on_with_the_same_atoms() {
    STEPS[..5].iter().for_each(|(name, query)| killed_when(name, query));
}

#[test]
fn killed_while_it_works_it_goes_on_with_the_same_atoms() {
    STEPS[5..].iter().for_each(|(name, query)| killed_when(name, query));
}

#[test]
fn killed_at_every_event_it_comes_to_its_end_all_the_same() {
    let env = TestEnv::with_plan(&tasks());
    let count = {
        let database = env.database();
        move || -> i64 {
            database.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap()
        }
    };
    let mut plan = env.start_plan(&["--isolate", "none"]);
    let epic = env.epic();
    let mut kills = 0;
    while env.status(&epic) != "closed" {
        let before = count();
        let is_over = || env.status(&epic) == "closed";
        wait_until("another event", SOON, || (count() > before || is_over()).then_some(()));
        // Waits for the death: a dying process still holds the plan.
        drop(plan);
        plan = env.start_el(&["orchestrate", "resume", &epic]);
        kills += 1;
        assert!(kills < 200, "it does not end: {:#}", env.plan_of(&epic));
    }
    drop(plan);
    assert!(kills > 5, "{kills}");
    assert_goes_on(&env, "a kill at every event");
}

#[test]
fn what_a_person_breaks_off_goes_on_later() {
    let env = TestEnv::with_plan(&tasks());
    env.script_of("analysis", &["wait-file go", ANALYSIS]);
    let plan = env.start_plan(&["--isolate", "none"]);
    let epic = env.epic();
    wait_until("the analysis", SOON, || {
        (env.robot(&["runs", "--live"])["count"] == 1).then_some(())
    });
    // Twice: the first call waits for running work.
    plan.signal(Signal::INT);
    wait_until("that it heard", SOON, || {
        (plan.stdout() + &plan.stderr()).contains("Ctrl-C again").then_some(())
    });
    plan.signal(Signal::INT);
    let ran = plan.wait(SOON).fails_with(4);
    assert!((ran.stdout + &ran.stderr).contains("orchestrate resume"));
    assert_eq!(env.plan_of(&epic)["driven"], false);
    assert_eq!(env.outcomes(&env.question(&epic, "analysis")), ["live"], "its supervisor goes on");
    std::fs::write(env.project("go"), "").unwrap();
    assert_goes_on(&env, "Ctrl-C");
    assert_eq!(
        env.outcomes(&env.question(&epic, "analysis")),
        ["closed"],
        "and its answer was not lost"
    );
}

#[test]
fn a_second_one_at_the_same_time_is_sent_away() {
    let env = TestEnv::with_plan(&tasks());
    env.script_of("analysis", &["wait-file go", ANALYSIS]);
    let plan = env.start_plan(&["--isolate", "none"]);
    let epic = env.epic();
    wait_until("that it drives", SOON, || (env.plan_of(&epic)["driven"] == true).then_some(()));
    for words in [["orchestrate", "resume", &epic], ["orchestrate", "--isolate=none", &epic]] {
        let ran = env.el(&words).fails_with(4);
        assert!(ran.stderr.contains("another el orchestrate drives"), "{ran:#?}");
    }
    // A plain worker may take the plan's atoms, but files nothing.
    let worker = env.start_work(&["--drain"]);
    std::fs::write(env.project("go"), "").unwrap();
    plan.wait(SOON).ok();
    worker.wait(SOON).ok();
    assert_goes_on(&env, "a second one");
}

#[test]
fn a_signal_in_a_back_off_is_told_as_what_it_is() {
    let mut env = TestEnv::with_plan(&[]);
    env.configure("retry_backoff = \"10m\"\n");
    env.scripts(&[super::Task(
        "one",
        &[],
        vec!["exit 1".to_owned(), "on-attempt 2".to_owned(), "close done".to_owned()],
    )]);
    for (signal, by) in [(Signal::TERM, "by a signal"), (Signal::INT, "by Ctrl-C")] {
        let plan = env.start_plan(&["--isolate", "none"]);
        let ended = "SELECT count(*) FROM runs r JOIN planned_tasks p ON p.atom_id = r.atom_id \
            JOIN atoms a ON a.id = p.atom_id \
                     WHERE r.ended_at IS NOT NULL AND a.status = 'open'";
        let database = env.database();
        wait_until("the back-off", SOON, || {
            (database.query_row(ended, [], |row| row.get::<_, i64>(0)).unwrap() > 0).then_some(())
        });
        plan.signal(signal);
        let ran = plan.wait(SOON).fails_with(4);
        let epic = env.epic();
        assert!(ran.stdout.contains(&format!("{epic} was broken off {by}")), "{ran:#?}");
        assert!(ran.stdout.contains(&format!("el orchestrate resume {epic}")), "{ran:#?}");
        env.el(&["discard", &env.task_of(&epic, "one")]).ok();
    }
}

#[test]
fn what_a_person_supplies_while_something_runs_goes_on_at_once() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    env.script_of("analysis", &["say I will not keep to your form"]);
    let epic = env.create("Write the manual", &["--type", "epic"]);
    env.create(
        "A child from before",
        &["--parent", &epic, "-d", &TestEnv::script(&["wait-file go", "close done"])],
    );
    let plan = env.start_el(&[
        "orchestrate",
        &epic,
        "--isolate",
        "none",
        "--concurrency",
        "2",
        "--asks-again",
        "0",
    ]);
    let stopped = "SELECT count(*) FROM questions q JOIN atoms a ON a.id = q.atom_id WHERE \
        a.status = 'blocked'";
    let database = env.database();
    wait_until("that it stops", SOON, || {
        (database.query_row(stopped, [], |row| row.get::<_, i64>(0)).unwrap() > 0).then_some(())
    });
    let list = env.path("tmp/answers").join("tasks.json");
    env.el(&["phase", "set", &epic, "--phase", "task_list", "--file", list.to_str().unwrap()]).ok();
    wait_until("the work", SOON, || {
        (env.status(&env.task_of_if(&epic, "one")?) == "closed").then_some(())
    });
    std::fs::write(env.project("go"), "").unwrap();
    plan.wait(SOON).ok();
    assert_eq!(env.status(&epic), "closed");
}

#[test]
fn an_epic_that_is_closed_while_it_is_driven_begins_nothing_more_and_says_so() {
    let env = TestEnv::with_plan(&[
        super::Task("one", &[], vec!["wait-file go".to_owned(), "close done".to_owned()]),
        plain("two", &["one"]),
    ]);
    let plan = env.start_plan(&["--isolate", "none"]);
    let epic = env.epic();
    wait_until("the work", SOON, || {
        let one = env.task_of_if(&epic, "one")?;
        (env.status(&one) == "in_progress").then_some(())
    });
    env.el(&["close", &epic, "--reason", "enough", "--force"]).ok();
    std::fs::write(env.project("go"), "").unwrap();
    let ran = plan.wait(SOON).fails_with(4);
    assert!(ran.stdout.contains(&format!("el reopen {epic}")), "{ran:#?}");
    let [one, two] = ["one", "two"].map(|name| env.task_of(&epic, name));
    assert_eq!(
        (env.outcomes(&one), env.runs(&two).len()),
        (vec!["closed".to_owned()], 0),
        "what ran was awaited"
    );
    env.el(&["reopen", &epic]).ok();
    env.el(&["orchestrate", "resume", &epic]).ok();
    assert_eq!([env.status(&two), env.status(&epic)], ["closed", "closed"]);
}

#[test]
fn work_that_is_opened_again_below_a_closed_epic_needs_the_epic_opened_too() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    env.start_plan(&["--isolate", "none"]).wait(SOON).ok();
    let epic = env.epic();
    let one = env.task_of(&epic, "one");
    env.el(&["reopen", &one]).ok();
    for _ in 0..2 {
        let ran = env.el(&["orchestrate", "resume", &epic]).fails_with(4);
        assert!(ran.stdout.contains(&format!("el reopen {epic}")), "{ran:#?}");
        assert_eq!(
            (env.status(&one), &env.plan_of(&epic)["state"]),
            ("open".to_owned(), &serde_json::json!("stopped"))
        );
    }
    env.el(&["reopen", &epic]).ok();
    env.el(&["orchestrate", "resume", &epic]).ok();
    assert_eq!([env.status(&one), env.status(&epic)], ["closed", "closed"]);
}
