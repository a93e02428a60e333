//! A worker's use of the machine and of money: budgets, held-back starts, and the shared pause of
//! an account.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::Signal;

use crate::support::{SOON, TestEnv};

fn limit_in(seconds: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    format!("rate-limit {}", now + seconds)
}

#[test]
fn an_epic_whose_money_is_spent_holds_what_is_in_it() {
    let env = TestEnv::with_tracker();
    let epic = env.create("Epic", &["--type", "epic", "--metadata", r#"{"budget_usd": 0.5}"#]);
    let first = env.create(
        "First",
        &["--parent", &epic, "-d", &TestEnv::script(&["usage 1 1 0.5", "close done"])],
    );
    let second = env.create("Second", &["--parent", &epic]);
    let free = env.create("Elsewhere", &["--priority", "low"]);
    env.work(&["--drain"]);
    assert_eq!(
        [&first, &second, &free, &epic].map(|id| env.status(id)),
        ["closed", "open", "closed", "deferred"]
    );
    let why = env.robot(&["why", &epic]);
    assert!(why["last_comment"]["content"].as_str().unwrap().contains("budget of $0.50"), "{why}");
    let held = env.robot(&["why", &second])["spent_budget"].take();
    assert_eq!(
        held,
        serde_json::json!({"atom_id": epic, "spent_micros": 500_000, "budget_micros": 500_000})
    );
    assert!(
        env.el(&["why", &second]).ok().stdout.contains("Its budget is spent: $0.50 of the $0.50")
    );
    env.el(&["update", &epic, "--metadata", r#"{"budget_usd": 5}"#]).ok();
    env.el(&["reopen", &epic]).ok();
    env.work(&["--drain"]);
    assert_eq!(env.status(&second), "closed");
}

#[test]
fn a_run_that_takes_its_epic_over_the_budget_waits_for_it_and_goes_on_once_that_is_raised() {
    let env = TestEnv::with_tracker();
    env.configure("budget_per_epic = 0.5\n");
    let epic = env.create("Epic", &["--type", "epic"]);
    let script = TestEnv::script(&[
        "usage 1 1 0.6",
        "say 1",
        "result",
        "hang",
        "on-attempt 2",
        "close done",
    ]);
    let id = env.create("In it", &["--parent", &epic, "-d", &script]);
    env.work(&["--drain"]);
    assert_eq!(
        (env.outcomes(&id), env.status(&id), env.status(&epic)),
        (vec!["cancelled".to_owned()], "open".to_owned(), "deferred".to_owned())
    );
    assert!(
        env.last_run(&id)["detail"].as_str().unwrap().starts_with("over budget: "),
        "{:#}",
        env.last_run(&id)
    );
    assert_eq!(env.robot(&["why", &id])["spent_budget"]["atom_id"], epic.as_str());
    env.configure("budget_per_epic = 5\n");
    env.el(&["reopen", &epic]).ok();
    env.work(&["--drain"]);
    assert_eq!(env.outcomes(&id), ["cancelled", "closed"]);
    assert!(env.robot(&["why", &id])["spent_budget"].is_null());
}

#[test]
fn what_an_agent_has_cost_when_it_has_closed_ends_the_others_of_its_epic() {
    let env = TestEnv::with_tracker();
    env.configure("budget_per_epic = 3\n");
    let epic = env.create("Epic", &["--type", "epic"]);
    let spender = TestEnv::script(&["wait-file other", "usage 1 1 2", "say 1", "close done"]);
    let other = TestEnv::script(&["touch other", "hang", "on-attempt 2", "close done"]);
    let [spender, other] = [("Dear", spender), ("Long", other)]
        .map(|(title, script)| env.create(title, &["--parent", &epic, "-d", &script]));
    env.work(&["--drain", "--concurrency", "2"]);
    assert_eq!(
        (env.outcomes(&spender), env.outcomes(&other)),
        (vec!["closed".to_owned()], vec!["cancelled".to_owned()])
    );
    assert_eq!((env.status(&other), env.status(&epic)), ("open".to_owned(), "deferred".to_owned()));
}

#[test]
fn what_is_below_a_closed_parent_without_money_is_held_itself() {
    let env = TestEnv::with_tracker();
    let parent = env.create("Parent", &["--metadata", r#"{"budget_usd": 0}"#]);
    let child = env.create("Child", &["--parent", &parent, "--priority", "high"]);
    let free = env.create("Elsewhere", &["--priority", "low"]);
    env.el(&["close", &parent]).ok();
    env.work(&["--drain"]);
    assert_eq!([&child, &free].map(|id| env.status(id)), ["deferred", "closed"]);
    assert!(
        env.comments(&child)[0].contains(&format!("el reopen {child}")),
        "{:?}",
        env.comments(&child)
    );
}

#[test]
fn a_day_whose_money_is_spent_pauses_until_it_is_over_or_a_person_says_so() {
    let env = TestEnv::with_tracker();
    env.configure("budget_per_day = 0.2\n");
    let first = env.script_atom(&["usage 1 1 0.3", "close done"]);
    let second = env.create("Second", &[]);
    let worker = env.start_work(&[]);
    let paused = worker.wait_for("paused");
    assert!(paused["reason"].as_str().unwrap().contains("day's budget of $0.20"), "{paused}");
    assert_eq!((env.status(&first).as_str(), env.status(&second).as_str()), ("closed", "open"));
    assert!(env.robot(&["why", &second])["pause"]["until"].as_str().unwrap().contains("T00:00:00"));
    // A worker with an end does not wait for midnight.
    for words in
        [&["work", "--drain"][..], &["work", "--once"], &["work", "--drain", "--type", "task"]]
    {
        let spent = env.el(words).fails_with(10);
        assert!(
            spent.stderr.contains("day's budget of $0.20")
                && spent.stderr.contains("el work --resume"),
            "{spent:#?}"
        );
    }
    env.robot(&["work", "--resume"]);
    env.wait_for_status(&second, "closed");
    worker.signal(rustix::process::Signal::INT);
    let _ = worker.wait(SOON);
    env.el(&["work", "--drain"]).ok();
}

#[test]
fn a_worker_without_a_budget_leaves_that_of_another() {
    let env = TestEnv::with_tracker();
    let worker = env.start_work(&["--budget-per-day", "0.2"]);
    worker.wait_for("started");
    env.el(&["work", "--once"]).ok();
    let first = env.script_atom(&["usage 1 1 0.3", "close done"]);
    env.wait_for_status(&first, "closed");
    let second = env.create("Second", &[]);
    let paused = worker.wait_for("paused");
    assert!(paused["reason"].as_str().unwrap().contains("day's budget of $0.20"), "{paused}");
    assert_eq!(env.status(&second), "open");
    worker.signal(rustix::process::Signal::INT);
    let _ = worker.wait(SOON);
    // The bound of a worker that has gone binds nobody.
    env.el(&["work", "--once"]).ok();
    assert_eq!(env.status(&second), "closed");
}

#[test]
fn a_usage_limit_learnt_in_one_project_holds_the_others_until_one_of_them_clears_it() {
    let env = TestEnv::with_tracker();
    let other = |arguments: &[&str]| {
        let mut command = env.command("el");
        command.args(arguments).current_dir(env.path("other"));
        command
    };
    fs::create_dir(env.path("other")).unwrap();
    env.run(&mut other(&["init"])).ok();
    env.script_atom(&[&limit_in(3600), "on-attempt 2", "close done"]);
    let worker = env.start_work(&["--drain"]);
    worker.wait_for("paused");
    // Any look after that writes the account's record.
    env.run(&mut other(&["create", "There"])).ok();
    let there = env.start(&mut other(&["--robot", "work", "--drain"]));
    there.wait_for("paused");
    let record = fs::read_dir(env.home().join(".local/state/el/accounts")).unwrap();
    let text: String =
        record.filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok()).collect();
    assert!(text.contains("usage limit") && !text.contains("/home"), "{text}");
    env.run(&mut other(&["--robot", "work", "--resume"])).ok();
    there.wait(SOON).ok();
    worker.wait(SOON).ok();
}

#[test]
fn a_start_that_is_held_back_is_told_everywhere() {
    let env = TestEnv::with_tracker();
    let id = env.create("Ready", &[]);
    let worker = env.start_work(&["--drain", "--min-memory", "1000000000"]);
    let held = worker.wait_for("held_back");
    assert!(held["reason"].as_str().unwrap().contains("min_memory"), "{held}");
    let why = env.robot(&["why", &id]);
    assert!(
        (why["ready"] == true) && why["held_back"].as_str().unwrap().contains("min_memory"),
        "{why}"
    );
    worker.signal(Signal::INT);
    worker.wait(SOON).ok();
    assert_eq!(env.robot(&["why", &id])["held_back"], serde_json::Value::Null);
}

#[test]
fn starts_are_apart_by_the_interval() {
    let env = TestEnv::with_tracker();
    env.configure("start_interval = \"2s\"\n");
    let ids = [env.create("One", &[]), env.create("Two", &[])];
    env.work(&["--drain", "--concurrency", "2"]);
    let at = |id: &String| {
        el_core::model::Timestamp::parse(env.last_run(id)["started_at"].as_str().unwrap()).unwrap()
    };
    let apart = at(&ids[0]).as_micros().abs_diff(at(&ids[1]).as_micros());
    assert!(apart >= 1_900_000, "{apart}");
}

#[test]
fn a_budget_that_is_no_amount_is_refused() {
    let env = TestEnv::with_tracker();
    let epic = env.create("Everything", &["--type", "epic"]);
    for bad in [r#""abc""#, "-1", "[]", "true", "1e300"] {
        let said = env
            .el(&["update", &epic, "--metadata", &format!("{{\"budget_usd\": {bad}}}")])
            .fails_with(2)
            .stderr;
        assert!(said.contains("budget_usd"), "{said}");
    }
    env.el(&["update", &epic, "--metadata", r#"{"budget_usd": "$2.50"}"#]).ok();
}
