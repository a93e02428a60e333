//! The agent's end of a run: decided by its calls of the tracker alone.

use crate::support::TestEnv;

#[test]
fn a_close_ends_the_run_and_its_record_stays() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["say I will", "close it works; tested"]);
    let told = env.work(&["--once"]);
    let atom = env.show(&id);
    assert_eq!(
        (&atom["status"], &atom["close_reason"]),
        (&"closed".into(), &"it works; tested".into())
    );
    assert_eq!(atom["run_id"], serde_json::Value::Null);
    let run = env.last_run(&id);
    assert_eq!(run["outcome"], "closed");
    assert_eq!(
        (&run["turns"], &run["cost_micros"], &run["exit_code"]),
        (&2.into(), &2000.into(), &0.into())
    );
    env.assert_settled(&run);
    assert_eq!(
        env.events(&id),
        ["created", "status in_progress", "run_started", "status closed", "run_ended closed"]
    );
    let kinds: Vec<&str> = told.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["started", "launched", "settled", "finished"]);
    assert_eq!(told[3]["summary"]["outcomes"], serde_json::json!([["closed", 1]]));
    for name in
        ["transcript.jsonl", "pane.log", "exit.json", "prompt.md", "settings.json", "launch.json"]
    {
        assert!(!env.read_run_file(&run, name).is_empty(), "{name}");
    }
    assert!(env.read_run_file(&run, "transcript.jsonl").contains("it works; tested"));
    env.wait_for_sessions(&[]);
}

#[test]
fn every_status_that_ends_a_run_is_its_outcome_and_is_not_tried_again() {
    let env = TestEnv::with_tracker();
    let statuses = ["deferred", "wont_do", "discard", "review", "blocked", "testing"];
    let ids = statuses.map(|status| {
        env.script_atom(&["el comment add $EL_ATOM 'because of rain'", &format!("update {status}")])
    });
    env.work(&["--drain"]);
    for (id, status) in ids.iter().zip(statuses) {
        assert_eq!(env.outcomes(id), [status]);
        assert_eq!(env.status(id), status);
        assert_eq!(env.comments(id), ["because of rain"]);
        env.assert_settled(&env.last_run(id));
    }
}

#[test]
fn an_agent_may_report_blocked_and_work_on() {
    let env = TestEnv::with_tracker();
    let steps =
        ["update blocked", "touch reported", "wait-file go", "update testing", "close after all"];
    let id = env.script_atom(&steps);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("reported");
    assert_eq!(env.status(&id), "blocked");
    assert_eq!(
        env.last_run(&id)["outcome"],
        serde_json::Value::Null,
        "a report does not end the run"
    );
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(crate::support::SOON).ok();
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("closed", vec!["closed".to_owned()])
    );
}

#[test]
fn an_agent_that_forgets_is_sent_back_by_the_stop_hook() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["say I think that is all", "on-block", "close reminded"]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!(
        (&run["outcome"], &run["stop_blocks"], &run["resumes"]),
        (&"closed".into(), &1.into(), &0.into())
    );
    let events = [
        "created",
        "status in_progress",
        "run_started",
        "nudged",
        "status closed",
        "run_ended closed",
    ];
    assert_eq!(env.events(&id), events);
}

#[test]
fn one_that_ends_without_closing_is_resumed_once_within_its_run() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&[
        "no-stop-hook",
        "say bye",
        "on-resume",
        "record resumed.json",
        "close now",
    ]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!(env.outcomes(&id), ["closed"]);
    assert_eq!((&run["resumes"], &run["attempt"]), (&1.into(), &1.into()));
    let resumed = env.recorded("resumed.json");
    assert_eq!((&resumed["resumed"], &resumed["session_id"]), (&true.into(), &run["conversation"]));
    assert!(resumed["prompt"].as_str().unwrap().contains(&format!("el close {id}")), "{resumed}");
}

#[test]
fn one_that_never_closes_is_a_violation_and_after_its_attempts_the_atom_is_blocked() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["say all done", "on-resume", "say still done"]);
    let told = env.work(&["--drain"]);
    assert_eq!(env.outcomes(&id), ["violation", "violation"]);
    let run = env.last_run(&id);
    assert_eq!(
        (&run["stop_blocks"], &run["resumes"], &run["attempt"]),
        (&1.into(), &1.into(), &2.into())
    );
    assert_eq!(env.status(&id), "blocked");
    let comments = env.comments(&id);
    assert!(
        comments[0].contains("2 attempts") && comments[0].contains("without closing its atom"),
        "{comments:?}"
    );
    assert_eq!(told.last().unwrap()["summary"]["outcomes"], serde_json::json!([["violation", 2]]));
    env.assert_settled(&run);
}

#[test]
fn a_close_stands_however_the_agent_then_ends() {
    let env = TestEnv::with_tracker();
    let ends = [
        "exit 1",
        "die ABRT",
        "api-error 500",
        "max-turns",
        "rate-limit 4000000000",
        "no-result",
        "partial {",
    ];
    let ids = ends.map(|end| env.script_atom(&["close first", end]));
    env.work(&["--drain"]);
    for (id, end) in ids.iter().zip(ends) {
        assert_eq!(
            (env.outcomes(id), env.status(id)),
            (vec!["closed".to_owned()], "closed".to_owned()),
            "{end}"
        );
    }
}

#[test]
fn an_agent_that_discards_and_prunes_its_atom_has_discarded_it() {
    let env = TestEnv::with_tracker();
    let steps = [
        "update discard",
        "sh el discard prune --days 0 --force > pruned.txt 2>&1 || true",
        "sleep 50",
    ];
    let id = env.script_atom(&steps);
    env.work(&["--once"]);
    assert_eq!(env.outcomes(&id), ["discard"]);
    env.assert_settled(&env.last_run(&id));
    assert_eq!(
        env.status(&id),
        "discard",
        "what a run works on is not pruned: {}",
        env.wait_for_file("pruned.txt")
    );
}

#[test]
fn an_atom_that_is_gone_ends_its_run() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["touch started", "hang"]);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("started");
    env.database().execute("DELETE FROM atoms WHERE id = ?1", [&id]).unwrap();
    worker.wait(crate::support::SOON).ok();
    let runs = env.robot(&["runs"])["items"].take();
    assert_eq!((&runs[0]["outcome"], &runs[0]["atom_id"]), (&"deleted".into(), &id.into()));
    env.assert_settled(&runs[0]);
}

#[test]
fn the_run_that_ends_the_last_in_an_epic_offers_it_or_closes_it() {
    for is_closed in [false, true] {
        let env = TestEnv::with_tracker();
        env.configure(&format!("epic_autoclose = {is_closed}"));
        let epic = env.create("Epic", &["--type", "epic"]);
        let id = env.script_atom(&["close done"]);
        env.el(&["update", &id, "--parent", &epic]).ok();
        let said = env.el(&["work", "--drain"]).ok().stdout;
        let offer = format!("all in {epic} is over: el close {epic}");
        assert_eq!(said.contains(&offer), !is_closed, "{said}");
        assert_eq!(env.status(&epic), if is_closed { "closed" } else { "open" });
    }
}
