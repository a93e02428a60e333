//! A worker's claims: the selection, the number, the order, and never an atom twice.

use serde_json::{Value, json};

use crate::support::{SOON, TestEnv, wait_until};

/// Returns the atoms in the order of their launch.
fn launched(told: &[Value]) -> Vec<&str> {
    told.iter()
        .filter(|event| event["event"] == "launched")
        .map(|event| event["atom"].as_str().unwrap())
        .collect()
}

#[test]
fn one_atom_or_as_many_as_asked_for() {
    let env = TestEnv::with_tracker();
    for n in 0..5 {
        env.create(&format!("Atom {n}"), &[]);
    }
    assert_eq!(launched(&env.work(&["--once"])).len(), 1);
    assert_eq!(launched(&env.work(&["--max", "2"])).len(), 2);
    assert_eq!(env.robot(&["list", "--status", "open"])["count"], 2);
    let told = env.work(&["--max", "9"]);
    assert_eq!(launched(&told).len(), 2, "nothing more is ready, so it leaves");
    let told = env.work(&["--once"]);
    assert_eq!(
        told.last().unwrap()["summary"],
        json!({"claimed": 0, "outcomes": [], "turns": 0, "cost_micros": 0, "estimated_micros": 0,
            "seconds": 0, "left_running": 0})
    );
}

#[test]
fn an_assignee_that_is_no_agent_is_told() {
    let env = TestEnv::with_tracker();
    let id = env.create("It", &["--assignee", "nobody"]);
    let told = env.el(&["work", "--drain"]).ok();
    assert!(told.stdout.contains("Nothing was ready"), "{told:#?}");
    let want = format!("{id} is ready and assigned to nobody, which is no agent here");
    assert!(told.stderr.contains(&want), "{told:#?}");
    env.el(&["update", &id, "--clear-assignee"]).ok();
    assert!(!env.el(&["work", "--drain"]).ok().stderr.contains("no agent here"));
    assert_eq!(env.status(&id), "closed");
}

#[test]
fn the_important_and_the_old_come_first_and_the_blocked_after_its_blocker() {
    let env = TestEnv::with_tracker();
    let low = env.create("Low", &["--priority", "low"]);
    let first = env.create("First", &[]);
    let second = env.create("Second", &[]);
    let critical = env.create(
        "Critical, when the low one is done",
        &["--priority", "critical", "--blocked-by", &low],
    );
    let high = env.create("High", &["--priority", "high"]);
    let told = env.work(&["--drain"]);
    assert_eq!(launched(&told), [high, first, second, low, critical]);
}

#[test]
fn filters_choose_and_the_rest_is_left() {
    let env = TestEnv::with_tracker();
    let epic = env.create("An epic", &["--type", "epic"]);
    let child = env.create("Child", &["--parent", &epic]);
    let bug = env.create("Bug", &["--type", "bug"]);
    let labelled = env.create("Labelled", &["-l", "api,fast"]);
    let half = env.create("Half labelled", &["-l", "api"]);
    let low = env.create("Low", &["-p", "low"]);
    let hers = env.create("Hers", &["--assignee", "gendry"]);
    let filters: [(&[&str], &str); 5] = [
        (&["--parent", &epic], &child),
        (&["--type", "bug"], &bug),
        (&["--label", "api,fast"], &labelled),
        (&["--priority", "low"], &low),
        (&["--assignee", "gendry"], &hers),
    ];
    for (filter, id) in filters {
        let told = env.work(&[filter, &["--drain"]].concat());
        assert_eq!(launched(&told), [id], "{filter:?}");
    }
    assert_eq!((env.status(&half), env.status(&epic)), ("open".to_owned(), "open".to_owned()));
    let ran = env
        .run(env.command("el").args(["--robot", "work", "--once", "--parent", "t-none"]))
        .fails_with(3);
    assert_eq!(ran.json()["error"]["code"], "not_found");
}

#[test]
fn what_belongs_to_others_is_left_to_them() {
    let env = TestEnv::with_tracker();
    let others = env.create("Ada's", &["--assignee", "ada"]);
    let mine = env.create("The agent's", &["--assignee", "claude"]);
    let epic = env.create("Never worked on", &["--type", "epic"]);
    let later = env.create("Later", &["--defer-until", "3d"]);
    let taken = env.create("Taken", &[]);
    env.el(&["claim", &taken, "--actor", "ada"]).ok();
    let told = env.work(&["--drain"]);
    assert_eq!(launched(&told), [mine]);
    for (id, status) in
        [(others, "open"), (epic, "open"), (later, "deferred"), (taken, "in_progress")]
    {
        assert_eq!(env.status(&id), status);
    }
}

#[test]
fn a_deferred_atom_is_claimed_when_its_date_has_come() {
    let env = TestEnv::with_tracker();
    let id = env.create("Soon", &["--defer-until", "1s"]);
    let worker = env.start_work(&[]);
    assert_eq!(worker.wait_for("settled")["atom"], id.as_str());
    assert_eq!(env.status(&id), "closed");
}

#[test]
fn three_at_a_time_are_three_and_not_four() {
    let env = TestEnv::with_tracker();
    let ids: Vec<String> = (0..4)
        .map(|n| env.script_atom(&[&format!("touch started-{n}"), "wait-file go", "close done"]))
        .collect();
    let worker = env.start_work(&["--drain", "--concurrency", "3"]);
    for n in 0..3 {
        env.wait_for_file(format!("started-{n}"));
    }
    let warning = worker.wait_for("warning");
    assert!(
        warning["message"].as_str().unwrap().contains("3 sessions share the folder"),
        "{warning}"
    );
    assert_eq!(env.robot(&["runs", "--live"])["count"], 3);
    assert_eq!(env.sessions().len(), 3);
    assert_eq!(env.status(&ids[3]), "open");
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    for id in &ids {
        assert_eq!(env.outcomes(id), ["closed"]);
    }
}

#[test]
fn two_workers_share_the_queue_and_no_atom_is_worked_on_twice() {
    let env = TestEnv::with_tracker();
    let ids: Vec<String> = (0..12).map(|n| env.create(&format!("Atom {n}"), &[])).collect();
    let workers = [0, 1].map(|_| env.start_work(&["--drain", "--concurrency", "2"]));
    let told = workers.map(|worker| {
        let ran = worker.wait(SOON).ok();
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    });
    let mut all: Vec<&str> = told.iter().flat_map(|told| launched(told)).collect();
    all.sort_unstable();
    let mut expected: Vec<&str> = ids.iter().map(String::as_str).collect();
    expected.sort_unstable();
    assert_eq!(all, expected);
    for id in &ids {
        assert_eq!(env.outcomes(id), ["closed"]);
    }
}

#[test]
fn a_dry_run_tells_all_and_touches_nothing() {
    let env = TestEnv::with_tracker();
    let (second, first) = (env.create("Second", &[]), env.create("First", &["-p", "high"]));
    let before = env.robot(&["history"])["total"].clone();
    let dry = env.robot(&["work", "--dry-run", "--model", "opus", "--allow", "Bash(cargo *)"]);
    assert_eq!(
        (&dry["would_claim"][0]["id"], &dry["would_claim"][1]["id"]),
        (&json!(first), &json!(second))
    );
    let call = dry["command"].to_string();
    for part in ["--model", "opus", "Bash(el *)", "Bash(cargo *)", "stream-json"] {
        assert!(call.contains(part), "{call}");
    }
    let human = env.el(&["work", "--dry-run"]).ok();
    assert!(
        human.stdout.contains(&first) && human.stdout.contains("--output-format"),
        "{human:#?}"
    );
    assert_eq!(env.robot(&["history"])["total"], before);
    assert_eq!(env.robot(&["runs"])["count"], 0);
    env.wait_for_sessions(&[]);
    assert!(!env.project(".eluent/runs").exists());
}

#[test]
fn a_worker_that_waits_takes_what_is_filed_later_at_once() {
    let env = TestEnv::with_tracker();
    let worker = env.start_work(&[]);
    worker.wait_for("started");
    let id = env.create("Filed while it waits", &[]);
    assert_eq!(worker.wait_for("settled")["atom"], id.as_str());
    worker.signal(rustix::process::Signal::INT);
    let ran = worker.wait(SOON).ok();
    assert!(ran.stdout.contains("\"draining\""), "{ran:#?}");
}

#[test]
fn a_close_is_settled_within_moments() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["close done"]);
    env.work(&["--once"]);
    let (atom, run) = (env.show(&id), env.last_run(&id));
    let seconds =
        |time: &Value| time.as_str().unwrap()[17..].trim_end_matches('Z').parse::<f64>().unwrap();
    let took = (seconds(&run["ended_at"]) - seconds(&atom["closed_at"])).rem_euclid(60.0);
    // 150 ms on an idle machine; the tests run on a busy machine.
    assert!(took < 3.0, "{took} s");
}

#[test]
fn an_agent_starts_no_worker_of_its_own() {
    let env = TestEnv::with_tracker();
    let id =
        env.script_atom(&["sh el --robot work --once > nested.json; echo $? > code", "close done"]);
    let other = env.create("Not for it", &["--priority", "low"]);
    env.work(&["--once"]);
    assert_eq!(env.wait_for_file("code"), "8");
    assert!(env.wait_for_file("nested.json").contains("in_session"));
    assert_eq!((env.outcomes(&id), env.outcomes(&other).len()), (vec!["closed".to_owned()], 0));
}

#[test]
fn atoms_that_an_agent_files_are_worked_on_too() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["el create --title Found --discovered-from $EL_ATOM", "close done"]);
    env.work(&["--drain"]);
    let all = env.robot(&["list", "--all"])["items"].take();
    let found = all.as_array().unwrap().iter().find(|atom| atom["title"] == "Found").unwrap();
    assert_eq!((&found["status"], &found["created_by"]), (&json!("closed"), &json!("claude")));
    let bonds = env.robot(&["dep", "list", &id]);
    assert!(bonds.to_string().contains("discovered_from"), "{bonds}");
    wait_until("the end of all", SOON, || env.processes().is_empty().then_some(()));
}

#[test]
fn a_worker_beside_another_says_who_is_at_it_and_what_it_waits_for() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["wait-file go", "close"]);
    let first = env.start_work(&["--once"]);
    first.wait_for("launched");
    let second = env.start_el(&["work", "--drain"]);
    let told = wait_until("its word", SOON, || {
        Some(second.stderr()).filter(|text| text.contains("claude is busy"))
    });
    assert!(
        told.contains("another worker is at it: pid")
            && told.contains("claude does one thing at a time"),
        "{told}"
    );
    std::fs::write(env.project("go"), "").unwrap();
    env.wait_for_status(&id, "closed");
    for worker in [first, second] {
        worker.wait(SOON).ok();
    }
    let alone = env.el(&["work", "--drain"]).ok();
    assert!(!alone.stderr.contains("another worker"), "{alone:#?}");
}
