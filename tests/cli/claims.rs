//! A person acting on another's claim, or closing an epic with open atoms.

use serde_json::json;

use crate::support::TestEnv;

/// Runs `el` as this person.
fn by(env: &TestEnv, who: &str, words: &[&str]) -> crate::support::Ran {
    env.run(env.command("el").env("EL_ACTOR", who).arg("--robot").args(words))
}

#[test]
fn a_claim_is_taken_from_somebody_only_with_force_and_history_says_from_whom() {
    let env = TestEnv::with_tracker();
    let taking: [&[&str]; 7] = [
        &["close"],
        &["discard"],
        &["update", "--status", "wont_do"],
        &["release"],
        &["update", "--status", "open"],
        &["update", "--assignee", "bob"],
        &["update", "--status", "deferred", "--defer-until", "2d"],
    ];
    for words in taking {
        let id = env.create("It", &[]);
        by(&env, "ada", &["claim", &id]).ok();
        let words = [&words[..1], &[&id], &words[1..]].concat();
        let error = by(&env, "bob", &words).fails_with(4).json()["error"].take();
        assert_eq!(error["code"], "claimed", "{words:?}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("claimed by ada") && message.contains("--force"), "{message}");
        let shown = env.show(&id);
        assert_eq!(
            (&shown["status"], &shown["assignee"]),
            (&json!("in_progress"), &json!("ada")),
            "{words:?}"
        );
        by(&env, "bob", &[&words[..], &["--force"]].concat()).ok();
        let events = env.robot(&["history", &id])["items"].take();
        let released =
            events.as_array().unwrap().iter().find(|event| event["kind"] == "released").unwrap();
        assert_eq!(
            (&released["actor"], &released["data"]["was"]),
            (&json!("bob"), &json!("ada")),
            "{words:?}"
        );
    }
}

#[test]
fn ones_own_claim_and_what_is_only_assigned_need_no_force() {
    let env = TestEnv::with_tracker();
    let id = env.create("It", &[]);
    by(&env, "ada", &["claim", &id]).ok();
    by(&env, "bob", &["update", &id, "--priority", "high", "--label", "x"]).ok();
    by(&env, "ada", &["update", &id, "--status", "open"]).ok();
    by(&env, "bob", &["update", &id, "--assignee", "bob"]).ok();
    by(&env, "bob", &["claim", &id]).ok();
    by(&env, "bob", &["release", &id]).ok();
    by(&env, "bob", &["update", &id, "--assignee", "ada"]).ok();
    let ran = by(&env, "bob", &["close", &id]).ok();
    assert!(ran.stderr.contains("assigned to ada"), "{ran:#?}");
    assert_eq!(env.status(&id), "closed");
}

#[test]
fn an_epic_is_closed_after_what_is_in_it_or_with_force() {
    let env = TestEnv::with_tracker();
    let epic = env.create("All", &["--type", "epic"]);
    let children: Vec<String> =
        (0..7).map(|n| env.create(&format!("Part {n}"), &["--parent", &epic])).collect();
    for words in [&["close", &epic][..], &["update", &epic, "--status", "closed"]] {
        let error =
            env.run(env.command("el").arg("--robot").args(words)).fails_with(4).json()["error"]
                .take();
        assert_eq!(error["code"], "open_children");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains(&children[0])
                && message.contains("and 2 more")
                && message.contains("--force"),
            "{message}"
        );
    }
    assert_eq!(env.status(&epic), "open");
    env.el(&["update", &children[0], "--status", "wont_do"]).ok();
    let rest: Vec<&str> = children[1..].iter().map(String::as_str).collect();
    env.el(&[&["close", &epic][..], &rest[1..]].concat()).fails_with(4);
    assert_eq!(env.status(&children[2]), "open", "all or none");
    env.el(&[&["close", &epic][..], &rest].concat()).ok();
    env.el(&["close", &epic]).ok();
    let other = env.create("Other", &["--type", "epic"]);
    env.create("Left", &["--parent", &other]);
    env.el(&["close", &other, "--force"]).ok();
    let task = env.create("A task", &[]);
    env.create("Found on the way", &["--parent", &task]);
    env.el(&["close", &task]).ok();
    // At any depth, and along any way round.
    let outer = env.create("Around it", &["--type", "epic"]);
    env.el(&["update", &task, "--parent", &outer]).ok();
    env.el(&["close", &outer]).fails_with(4);
    env.el(&["update", &outer, "--status", "wont_do"]).ok();
    env.el(&["update", &outer, "--status", "closed"]).fails_with(4);
}

#[test]
fn a_session_neither_takes_a_persons_claim_nor_closes_an_epic_over_open_work() {
    let env = TestEnv::with_tracker();
    let claimed = env.create("Ada does it", &[]);
    by(&env, "ada", &["claim", &claimed]).ok();
    let epic = env.create("All", &["--type", "epic"]);
    env.create("Part", &["--parent", &epic, "--defer-until", "2d"]);
    let own = env.script_atom(&["wait-file go", "close"]);
    let worker = env.start_work(&["--once"]);
    worker.wait_for("launched");
    let run = env.last_run(&own);
    let commands: [&[&str]; 6] = [
        &["close", &claimed],
        &["discard", &claimed],
        &["update", &claimed, "--status", "open", "--force"],
        &["update", &claimed, "--assignee", "claude", "--force"],
        &["close", &epic, "--force"],
        &["update", &epic, "--status", "closed", "--force"],
    ];
    for words in commands {
        env.run(&mut env.el_as_run(&run, words)).fails_with(4);
    }
    assert_eq!(
        (env.status(&claimed), env.status(&epic)),
        ("in_progress".to_owned(), "open".to_owned())
    );
    std::fs::write(env.project("go"), "").unwrap();
    env.wait_for_status(&own, "closed");
}
