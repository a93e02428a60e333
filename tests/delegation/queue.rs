//! The queue: one task at a time, in order, without loss.

use std::collections::BTreeSet;
use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Process, SOON, TestEnv, wait_until};

#[test]
fn a_task_that_comes_while_its_agent_is_busy_says_its_place_and_what_it_waits_for() {
    let env = TestEnv::with_tracker();
    let first = env.hand_over(
        &["touch begun", "wait-file go", "append order first", "close"],
        &["--title", "First"],
    );
    env.wait_for_file("begun");
    let low = env.hand_over(&["append order low", "close"], &["--priority", "low"]);
    assert_eq!(
        (&low["queue"]["position"], &low["queue"]["executing"][0]["task_id"]),
        (&json!(1), &first["id"])
    );
    let urgent = env.hand_over(&["append order urgent", "close"], &["--priority", "urgent"]);
    assert_eq!((&urgent["queue"]["position"], &urgent["queue"]["ahead"]), (&json!(1), &json!([])));
    let normal = env.hand_over(&["append order normal", "close"], &["--priority", "normal"]);
    assert_eq!(
        (&normal["queue"]["position"], &normal["queue"]["ahead"][0]["task_id"]),
        (&json!(2), &urgent["id"])
    );
    let said = env.el(&["run", "--", "script: append order last\nscript: close"]).ok().stdout;
    assert!(said.contains("position 3") && said.contains("First"), "{said}");
    let held = env
        .hand_over(&["append order held", "close"], &["--blocked-by", low["id"].as_str().unwrap()]);
    assert_eq!(
        (&held["queue"]["position"], &held["queue"]["holds"][0]["hold"]),
        (&json!(null), &json!("blocked"))
    );

    let queue = env.robot(&["queue"])["items"][0].take();
    assert_eq!(
        (
            &queue["is_executing"],
            &queue["current_task_id"],
            &queue["queued_tasks"],
            &queue["agent_name"]
        ),
        (&json!(true), &first["id"], &json!(4), &json!("claude"))
    );
    let order: Vec<&Value> =
        queue["waiting"].as_array().unwrap().iter().map(|task| &task["task_id"]).collect();
    assert_eq!((order[0], order[1], order[3]), (&urgent["id"], &normal["id"], &low["id"]));
    assert_eq!(queue["held"][0]["task_id"], held["id"]);
    assert_eq!(env.task(&normal["id"])["position"], 2);
    let shown = env.el(&["queue"]).ok().stdout;
    assert!(shown.contains("claude  executing · 4 wait") && shown.contains("held back"), "{shown}");
    env.go("go");
    env.wait_for_task(&held["id"], "completed");
    let done = fs::read_to_string(env.project("order")).unwrap();
    assert_eq!(done, "firsturgentnormallastlowheld");
    env.wait_for_workers_to_leave();
    let idle = env.robot(&["queue"])["items"][0].take();
    assert_eq!(
        (&idle["is_executing"], &idle["current_task_id"], &idle["queued_tasks"]),
        (&json!(false), &json!(null), &json!(0))
    );
}

/// Counts the runs that were live when each run began, the run itself included.
fn most_at_once(runs: &[Value]) -> usize {
    let at = |run: &Value, key: &str| run[key].as_str().unwrap().to_owned();
    let live_at = |moment: &str| {
        runs.iter()
            .filter(|r| {
                at(r, "started_at").as_str() <= moment && moment < at(r, "ended_at").as_str()
            })
            .count()
    };
    runs.iter().map(|run| live_at(&at(run, "started_at"))).max().unwrap()
}

#[test]
fn two_workers_of_one_agent_do_one_thing_at_a_time() {
    let env = TestEnv::with_tracker();
    for _ in 0..6 {
        env.script_atom(&["sleep 50", "close"]);
    }
    let workers = [env.start_work(&["--drain"]), env.start_work(&["--drain"])];
    for worker in workers {
        worker.wait(SOON).ok();
    }
    let runs = env.robot(&["runs"])["items"].as_array().unwrap().clone();
    assert_eq!((runs.len(), most_at_once(&runs)), (6, 1));
}

#[test]
fn an_agent_does_as_many_as_its_settings_say() {
    let env = TestEnv::with_tracker();
    env.configure("concurrency = 4\n[agents.ada]\nmax_parallel = 2\n[agents.gendry]\n");
    for n in 0..6 {
        env.create(
            &format!("Atom {n}"),
            &["-d", "script: sleep 300\nscript: close", "-a", if n < 4 { "ada" } else { "gendry" }],
        );
    }
    env.work(&["--drain", "--agent", "ada,gendry"]);
    let of = |agent: &str| {
        let runs = env.robot(&["runs"])["items"].as_array().unwrap().clone();
        runs.into_iter().filter(|run| run["agent"] == agent).collect::<Vec<_>>()
    };
    let (ada, gendry) = (of("ada"), of("gendry"));
    assert_eq!((ada.len(), most_at_once(&ada)), (4, 2), "its own setting");
    assert_eq!((gendry.len(), most_at_once(&gendry)), (2, 1), "one at a time unless it says more");
    assert!(most_at_once(&[ada, gendry].concat()) >= 2);
}

#[test]
fn each_agent_of_a_worker_has_its_own_settings() {
    let env = TestEnv::with_tracker();
    env.configure("[agents.ada]\nmodel = \"haiku\"\n[agents.gendry]\nmodel = \"opus\"\n");
    for agent in ["ada", "gendry"] {
        env.create(
            agent,
            &["-d", &format!("script: record {agent}.json\nscript: close"), "-a", agent],
        );
    }
    env.work(&["--drain", "--agent", "ada,gendry"]);
    for (agent, model) in [("ada", "haiku"), ("gendry", "opus")] {
        let seen = env.recorded(&format!("{agent}.json"));
        assert!(seen["argv"].to_string().contains(model), "{seen}");
        assert_eq!(seen["env"]["EL_ACTOR"], agent);
    }
}

/// Issue 3, "How it is shown", 5. Returns the ends of the runs whose agent was started. A worker
/// killed between claim and session leaves a run without an agent.
fn outcomes_of_work(env: &TestEnv, id: &str) -> Vec<String> {
    let mut outcomes = env.outcomes(id);
    outcomes.retain(|outcome| outcome != "launch_failed");
    outcomes
}

#[test]
fn a_worker_that_is_killed_in_the_middle_of_a_queue_of_twenty_loses_nothing_and_does_nothing_twice()
{
    let env = TestEnv::with_tracker();
    let steps = ["append done $EL_ATOM\\n", "sleep 30", "close"];
    let tasks: Vec<Value> = (0..20).map(|_| env.hand_over(&steps, &[])).collect();
    let ids = || tasks.iter().map(|task| task["id"].as_str().unwrap());
    let done = || fs::read_to_string(env.project("done")).unwrap_or_default().lines().count();
    // A worker that was faster than the next call has left, and that call started another.
    let mut pid =
        tasks.iter().rev().find_map(|task| task["started_worker"]["pid"].as_u64()).unwrap();
    for at_least in [4, 9, 14] {
        wait_until("some to be done", SOON, || (done() >= at_least).then_some(()));
        Process { pid: u32::try_from(pid).unwrap(), words: Vec::new() }.kill();
        wait_until("its death", SOON, || {
            (!fs::exists(format!("/proc/{pid}/exe")).unwrap_or(false)).then_some(())
        });
        let left = env.robot(&["queue"])["items"][0].take();
        assert_eq!(left["is_served"], false, "{left}");
        assert!(left["queued_tasks"].as_u64().unwrap() > 0, "it was to be in the middle");
        // The next handed-over task revives the queue.
        let more = env.hand_over(&["close"], &["--priority", "urgent"]);
        pid = more["started_worker"]["pid"].as_u64().unwrap();
    }
    for id in ids() {
        env.wait_for_task(&json!(id), "completed");
        assert_eq!(outcomes_of_work(&env, id), ["closed"], "{id} was done once");
    }
    let text = fs::read_to_string(env.project("done")).unwrap();
    let each: Vec<&str> = text.lines().collect();
    assert_eq!((each.len(), each.iter().collect::<BTreeSet<_>>().len()), (20, 20));
    env.wait_for_workers_to_leave();
}

#[test]
fn a_foreground_worker_goes_on_with_the_queue_of_one_that_was_killed() {
    let env = TestEnv::with_tracker();
    let ids: Vec<String> =
        (0..20).map(|_| env.script_atom(&["append done $EL_ATOM\\n", "close"])).collect();
    let worker = env.start_work(&["--drain"]);
    let done = || fs::read_to_string(env.project("done")).unwrap_or_default().lines().count();
    wait_until("some to be done", SOON, || (done() >= 7).then_some(()));
    worker.signal(Signal::KILL);
    worker.wait(SOON).fails_with(137);
    assert!(env.robot(&["ready"])["total"].as_u64().unwrap() > 0, "it was to be in the middle");
    env.work(&["--drain"]);
    for id in &ids {
        assert_eq!(
            (env.status(id).as_str(), outcomes_of_work(&env, id)),
            ("closed", vec!["closed".to_owned()])
        );
    }
    assert_eq!(done(), 20);
}
