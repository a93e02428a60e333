//! A person outranks a run: a person's change stands, and the run is ended cleanly.

use serde_json::{Value, json};

use crate::support::{Running, SOON, TestEnv};

/// A worker with a live run, whose agent closes the atom as soon as the file `go` exists. A second
/// attempt closes at once.
fn working(env: &TestEnv) -> (Running, String) {
    let id = env.script_atom(&[
        "touch started",
        "wait-file go",
        "close by the agent",
        "on-attempt 2",
        "close second",
    ]);
    let worker = env.start_work(&["--drain"]);
    env.wait_for_file("started");
    (worker, id)
}

#[test]
fn a_persons_close_stands_and_the_agent_is_ended() {
    let env = TestEnv::with_tracker();
    let (worker, id) = working(&env);
    env.el(&["close", &id, "--reason", "I did it myself"]).ok();
    worker.wait(SOON).ok();
    let run = env.last_run(&id);
    assert_eq!(run["outcome"], "superseded");
    env.assert_settled(&run);
    let atom = env.show(&id);
    assert_eq!(
        (&atom["status"], &atom["close_reason"]),
        (&json!("closed"), &json!("I did it myself"))
    );
    assert_eq!(env.outcomes(&id).len(), 1, "it is not tried again");
}

#[test]
fn every_status_that_a_person_sets_stands() {
    for status in ["blocked", "review", "testing", "deferred", "wont_do", "discard"] {
        let env = TestEnv::with_tracker();
        let (worker, id) = working(&env);
        env.el(&["update", &id, "--status", status]).ok();
        worker.wait(SOON).ok();
        assert_eq!(
            (env.status(&id).as_str(), env.outcomes(&id)),
            (status, vec!["superseded".to_owned()])
        );
        env.assert_settled(&env.last_run(&id));
    }
}

#[test]
fn an_atom_that_a_person_opens_again_gets_another_attempt_and_never_two_at_once() {
    let env = TestEnv::with_tracker();
    let (worker, id) = working(&env);
    env.run(env.command("el").args(["reopen", &id])).fails_with(4);
    env.el(&["update", &id, "--status", "open"]).ok();
    worker.wait(SOON).ok();
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("closed", vec!["superseded".to_owned(), "closed".to_owned()])
    );
    let runs = env.runs(&id);
    assert!(runs[1]["started_at"].as_str() >= runs[0]["ended_at"].as_str(), "{runs:#?}");
}

#[test]
fn a_cancelled_run_holds_its_atom_until_a_retry() {
    let env = TestEnv::with_tracker();
    let (worker, id) = working(&env);
    let asked = env.robot(&["cancel", &id, "--reason", "wrong branch"]);
    assert_eq!((&asked["atom_id"], &asked["mode"]), (&json!(id), &json!("hold")));
    worker.wait(SOON).ok();
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("deferred", vec!["cancelled".to_owned()])
    );
    assert!(env.comments(&id)[0].contains("wrong branch"));
    env.assert_settled(&env.last_run(&id));
    env.run(env.command("el").args(["cancel", &id])).fails_with(4);
    assert_eq!(env.work(&["--drain"]).last().unwrap()["summary"]["claimed"], 0);
    env.el(&["retry", &id]).ok();
    env.work(&["--drain"]);
    assert_eq!(env.outcomes(&id), ["cancelled", "closed"]);
}

#[test]
fn a_cancelled_run_may_put_its_atom_back_and_asking_again_is_no_error() {
    let env = TestEnv::with_tracker();
    let (worker, id) = working(&env);
    let run = env.last_run(&id)["id"].as_str().unwrap().to_owned();
    env.el(&["cancel", &run, "--requeue"]).ok();
    // The run may be over already, which gives another answer and does no harm.
    let again = env.run(env.command("el").args(["cancel", &run, "--requeue"]));
    assert!([0, 4].contains(&again.status), "{again:#?}");
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&id), ["cancelled", "closed"]);
}

#[test]
fn a_released_atom_is_open_again() {
    let env = TestEnv::with_tracker();
    let (worker, id) = working(&env);
    let released = env.robot(&["release", &id]);
    assert_eq!(released["id"], id.as_str());
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&id), ["cancelled", "closed"]);
}

#[test]
fn a_running_atom_is_nobody_elses_to_claim_or_to_retry() {
    let env = TestEnv::with_tracker();
    let (worker, id) = working(&env);
    for words in [&["claim", &id][..], &["claim", &id, "--force"], &["retry", &id]] {
        let ran = env.run(env.command("el").arg("--robot").args(words)).fails_with(4);
        assert_eq!(ran.json()["error"]["code"], "claimed", "{words:?}");
    }
    assert_eq!(env.robot(&["next"]), Value::Null);
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    assert_eq!(env.show(&id)["close_reason"], "by the agent");
}

#[test]
fn what_a_person_writes_meanwhile_disturbs_no_run() {
    let env = TestEnv::with_tracker();
    let (worker, id) = working(&env);
    env.el(&["comment", "add", &id, "how is it going?"]).ok();
    env.el(&["update", &id, "--title", "Another title", "--priority", "high", "-l", "seen"]).ok();
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&id), ["closed"]);
}

#[test]
fn a_run_that_is_over_can_change_nothing_and_is_told_why() {
    let env = TestEnv::with_tracker();
    let (worker, id) = working(&env);
    let run = env.last_run(&id);
    env.el(&["cancel", &id]).ok();
    worker.wait(SOON).ok();
    let before = (env.robot(&["history"])["total"].clone(), env.show(&id));
    let writes: [&[&str]; 7] = [
        &["close", &id, "--reason", "late"],
        &["update", &id, "--status", "wont_do"],
        &["comment", "add", &id, "late"],
        &["create", "--title", "late"],
        &["reopen", &id],
        &["release", &id],
        &["dep", "add", &id, &id],
    ];
    for write in writes {
        let ran = env.run(env.el_as_run(&run, &["--robot"]).args(write)).fails_with(5);
        let error = ran.json()["error"].take();
        assert_eq!(
            (&error["code"], &error["details"]["run"]),
            (&json!("stale_run"), &run["id"]),
            "{write:?}"
        );
        assert!(error["hint"].as_str().unwrap().contains("stop working"), "{error}");
    }
    assert_eq!((env.robot(&["history"])["total"].clone(), env.show(&id)), before);
    // Its supervisor is gone, and with it the way to the tracker. The Stop hook lets it stop.
    env.run(&mut env.el_as_run(&run, &["show", &id])).fails_with(5);
    env.run(&mut env.el_as_run(&run, &["--help"])).ok();
    assert_eq!(env.run(&mut env.el_as_run(&run, &["hook", "stop"])).ok().stdout, "");
}

#[test]
fn a_run_cannot_end_what_another_run_works_on() {
    let env = TestEnv::with_tracker();
    let theirs = env.script_atom(&["touch theirs", "wait-file go", "close mine"]);
    let steps = format!("sh el --robot close {theirs} > refused.json; echo $? > code");
    let worker = env.start_work(&["--drain", "--concurrency", "2"]);
    env.wait_for_file("theirs");
    let own = env.script_atom(&[&steps, "close own"]);
    env.wait_for_end(&own, 1);
    assert_eq!(env.wait_for_file("code"), "4");
    assert!(env.wait_for_file("refused.json").contains("claimed"));
    assert_eq!(env.status(&theirs), "in_progress");
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&theirs), ["closed"]);
}

#[test]
fn several_runs_are_cancelled_in_one_call() {
    let env = TestEnv::with_tracker();
    let names = ["one", "two"];
    let ids = names.map(|name| env.script_atom(&[&format!("touch {name}"), "hang"]));
    let worker = env.start_work(&["--drain", "--concurrency", "2", "--isolate", "none"]);
    names.iter().for_each(|name| drop(env.wait_for_file(name)));
    assert_eq!(env.robot(&["cancel", &ids[0], &ids[1]])["count"], 2);
    worker.wait(SOON);
    for id in &ids {
        assert_eq!(
            (env.outcomes(id), env.status(id).as_str()),
            (vec!["cancelled".into()], "deferred")
        );
    }
}
