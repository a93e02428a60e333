//! Changes of atoms: all or none, validated before writing, and recorded with the actor.

use serde_json::{Value, json};

use crate::support::TestEnv;

#[test]
fn a_status_that_is_none_is_refused_and_the_project_lives_on() {
    let env = TestEnv::with_tracker();
    let id = env.create("It", &[]);
    for status in ["banana", "", "closed;", "open\u{1b}[31m"] {
        let ran = env
            .run(env.command("el").args(["--robot", "update", &id, "--status", status]))
            .fails_with(2);
        let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("wont_do"), "it says what would be right: {message}");
    }
    env.el(&["update", &id, "--status", "Wont-Do"]).ok();
    assert_eq!(env.status(&id), "wont_do");
    for words in [&["list", "--all"][..], &["show", &id], &["stats"], &["doctor"]] {
        env.el(words).ok();
    }
}

#[test]
fn several_ids_are_changed_together_or_not_at_all() {
    let env = TestEnv::with_tracker();
    let (a, b, c) = (env.create("A", &[]), env.create("B", &[]), env.create("C", &[]));
    env.el(&["update", &c, "--status", "wont_do"]).ok();
    let before = env.robot(&["list", "--all"]);
    let events = env.robot(&["history"])["total"].clone();
    let commands: [(&[&str], i32); 11] = [
        (&["close", &a, &b, "zzzz"], 3),
        (&["close", &a, &b, &c], 4),
        (&["close", &a, &b, "--if-status", "blocked"], 4),
        (&["update", &a, "zzzz", "--priority", "high"], 3),
        (&["update", &a, &c, "--status", "blocked", "--if-status", "open"], 4),
        (&["discard", &a, "zzzz"], 3),
        (&["reopen", &c, "zzzz"], 3),
        (&["show", &a, "zzzz"], 3),
        (&["retry", &c, "zzzz"], 3),
        (&["reject", &a, "zzzz", "-r", "no"], 3),
        (&["cancel", "zzzz", &a], 3),
    ];
    for (words, exit) in commands {
        env.run(env.command("el").args(words)).fails_with(exit);
    }
    assert_eq!(env.robot(&["list", "--all"]), before);
    assert_eq!(env.robot(&["history"])["total"], events);
    let closed = env.robot(&["close", &a, &b, &a, "-r", "both"]);
    assert_eq!(closed["count"], 2, "an id that is given twice is changed once");
    assert_eq!(env.robot(&["show", &a, &b])["count"], 2);
    env.el(&["update", &a, &b, "--status", "review"]).ok();
    let rejected = env.robot(&["reject", &a, &b, "-r", "tests are missing"]);
    assert_eq!((rejected["count"].clone(), env.status(&b)), (2.into(), "open".to_owned()));
    env.el(&["update", &a, &b, "--status", "blocked"]).ok();
    assert_eq!(env.robot(&["retry", &a, &b])["count"], 2);
    assert_eq!(env.status(&a), "open");
}

#[test]
fn closing_again_is_no_error_and_the_first_reason_stands() {
    let env = TestEnv::with_tracker();
    let id = env.create("It", &[]);
    env.el(&["close", &id, "-r", "first"]).ok();
    let again = env.robot(&["close", &id, "-r", "second"]);
    assert_eq!((&again["status"], &again["close_reason"]), (&json!("closed"), &json!("first")));
    assert_eq!(env.comments(&id), ["second"]);
    env.el(&["close", &id]).ok();
    assert_eq!(env.comments(&id).len(), 1);
}

#[test]
fn one_command_opens_an_atom_again_and_all_that_is_said_of_its_status_names_that() {
    let env = TestEnv::with_tracker();
    for (status, verb, other) in [
        ("blocked", "el retry", "el reopen"),
        ("deferred", "el reopen", "el retry"),
        ("testing", "el reopen", "el retry"),
        ("closed", "el reopen", "el retry"),
        ("wont_do", "el reopen", "el retry"),
        ("discard", "el reopen", "el retry"),
    ] {
        let id = env.create("One", &[]);
        env.el(&["update", &id, "--status", status]).ok();
        let mut said = env.el(&["why", &id]).ok().stdout;
        if matches!(status, "closed" | "wont_do" | "discard") {
            said += &env.el(&["retry", &id]).fails_with(4).stderr;
            let end = if status == "closed" { "wont_do" } else { "closed" };
            said += &env.el(&["update", &id, "--status", end]).fails_with(4).stderr;
        }
        assert!(said.contains(verb) && !said.contains(other), "{status}: {said}");
        env.el(&[verb.strip_prefix("el ").unwrap(), &id]).ok();
        assert_eq!(env.status(&id), "open");
    }
}

#[test]
fn the_author_is_the_flag_the_variable_gits_user_or_the_login() {
    let mut env = TestEnv::with_tracker();
    let by = |env: &TestEnv, words: &[&str]| {
        env.robot(&[&["create", "It"], words].concat())["created_by"].clone()
    };
    assert_eq!(by(&env, &[]), "Test", "git's user");
    env.set("EL_ACTOR", "ada");
    assert_eq!((by(&env, &[]), by(&env, &["--actor", "bob"])), (json!("ada"), json!("bob")));
    let without_git = env.path("bin").to_str().unwrap().to_owned();
    env.set("EL_ACTOR", "").set("PATH", without_git).set("USER", "login-name");
    assert_eq!(by(&env, &[]), "login-name", "without git");
}

#[test]
fn every_change_has_its_event_with_its_author_and_what_was() {
    let env = TestEnv::with_tracker();
    let id = env.create("Old title", &["-p", "low"]);
    env.el(&["update", &id, "--title", "New title", "-p", "1", "-l", "x", "--actor", "ada"]).ok();
    env.el(&["update", &id, "--title", "New title"]).ok();
    let events = env.robot(&["history", &id])["items"].take();
    assert_eq!(
        events.as_array().unwrap().len(),
        2,
        "a change that changes nothing is no event: {events:#}"
    );
    let data = &events[1]["data"];
    assert_eq!(events[1]["actor"], "ada");
    assert_eq!(data["title"], json!({"from": "Old title", "to": "New title"}));
    assert_eq!(
        (&data["priority"], &data["labels"]),
        (&json!({"from": 3, "to": 1}), &json!({"from": [], "to": ["x"]}))
    );
}

#[test]
fn an_atom_waits_for_what_blocks_it_through_its_parents_too() {
    let env = TestEnv::with_tracker();
    let blocker = env.create("Blocker", &[]);
    let epic = env.create("Epic", &["--type", "epic", "--blocked-by", &blocker]);
    let child = env.create("Child", &["--parent", &epic]);
    let ready = |env: &TestEnv| -> Vec<String> {
        let items = env.robot(&["ready"])["items"].take();
        items
            .as_array()
            .unwrap()
            .iter()
            .map(|atom| atom["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ready(&env), [blocker.as_str()]);
    let holds = env.robot(&["why", &child])["holds"].take();
    assert_eq!(holds, json!([{"hold": "blocked", "by": blocker, "bond": "blocks", "via": epic}]));
    assert_eq!(env.robot(&["stats"])["ready"], 1);
    env.el(&["close", &blocker]).ok();
    assert_eq!(ready(&env), [child.as_str()]);
    env.el(&["reopen", &blocker]).ok();
    assert_eq!(ready(&env), [blocker.as_str()], "readiness is never stale");
}

#[test]
fn what_is_needed_only_after_a_failure_is_marked_when_there_was_none() {
    let env = TestEnv::with_tracker();
    let (work, rescue) = (env.create("Work", &[]), env.create("Rescue", &[]));
    env.el(&["dep", "add", &work, &rescue, "--type", "conditional_blocks"]).ok();
    env.el(&["close", &work, "-r", "it went well"]).ok();
    assert_eq!(env.status(&rescue), "wont_do");
    let (work, rescue) = (env.create("Work", &[]), env.create("Rescue", &[]));
    env.el(&["dep", "add", &work, &rescue, "--type", "conditional_blocks"]).ok();
    env.el(&["close", &work, "-r", "Failed: no disk"]).ok();
    assert_eq!(env.robot(&["next"])["id"], rescue.as_str());
}

#[test]
fn next_claims_in_one_step_and_never_what_is_somebody_elses() {
    let env = TestEnv::with_tracker();
    let hers = env.create("Hers", &["-p", "critical", "-a", "ada"]);
    let free = env.create("Free", &[]);
    assert_eq!(env.robot(&["next", "--claim", "--actor", "bob"])["id"], free.as_str());
    assert_eq!(env.robot(&["next", "--claim", "--actor", "bob"]), Value::Null);
    assert_eq!(env.robot(&["next", "--claim", "--actor", "ada"])["id"], hers.as_str());
    assert_eq!(
        (&env.show(&free)["assignee"], &env.show(&free)["status"]),
        (&json!("bob"), &json!("in_progress"))
    );
    // Claiming an own atom is no error.
    env.el(&["claim", &free, "--actor", "bob"]).ok();
    env.el(&["release", &free, "--actor", "bob"]).ok();
    assert_eq!(
        (&env.show(&free)["assignee"], &env.show(&free)["status"]),
        (&Value::Null, &json!("open"))
    );
}

#[test]
fn a_discarded_atom_can_be_restored_until_it_is_pruned() {
    let env = TestEnv::with_tracker();
    let a = env.create("A", &[]);
    env.create("B", &[]);
    env.el(&["discard", &a, "--reason", "a mistake"]).ok();
    assert_eq!(env.robot(&["list"])["count"], 1);
    assert_eq!(env.robot(&["discard", "list"])["items"][0]["id"], a.as_str());
    env.el(&["discard", "restore", &a]).ok();
    assert_eq!(env.status(&a), "open");
    env.el(&["discard", &a]).ok();
    env.el(&["discard", "prune", "--days", "1", "--force"]).ok();
    assert_eq!(env.status(&a), "discard", "it is not old enough");
    env.run(env.command("el").args(["discard", "prune", "--days", "0"])).fails_with(2);
    assert_eq!(env.status(&a), "discard", "nobody could answer");
    env.el(&["discard", "prune", "--days", "0", "--force"]).ok();
    env.run(env.command("el").args(["show", &a])).fails_with(3);
    let events = env.robot(&["history"])["items"].take();
    assert!(
        events
            .as_array()
            .unwrap()
            .iter()
            .any(|event| event["kind"] == "pruned" && event["atom_id"] == a.as_str())
    );
}

#[test]
fn two_blockers_that_are_closed_at_once_free_what_waited_for_both() {
    let env = TestEnv::with_tracker();
    let (a, b) = (env.create("A", &[]), env.create("B", &[]));
    let waits = env.create("Waits for both", &["--blocked-by", &format!("{a},{b}")]);
    env.el(&["close", &a, &b]).ok();
    assert_eq!(env.robot(&["next"])["id"], waits.as_str());
    assert_eq!(env.robot(&["stats"])["ready"], 1);
}

#[test]
fn a_date_beyond_the_calendar_is_refused_and_one_that_is_no_date_told_apart() {
    let env = TestEnv::with_tracker();
    for (text, why) in [
        ("9999-12-31", "its years end with 9999"),
        ("300000000d", "its years end with 9999"),
        ("1969-01-01", "not in the future"),
        ("-5d", "no time that el can read"),
        ("99999-01-01", "no time that el can read"),
    ] {
        let ran = env.el(&["create", "It", "--defer-until", text]).fails_with(2);
        assert!(ran.stderr.contains(why), "{text}: {ran:#?}");
    }
    let id = env.create("It", &["--defer-until", "9999-12-30"]);
    assert_eq!(env.show(&id)["defer_until"], "9999-12-30T00:00:00Z");
    assert_eq!(env.robot(&["list", "--all", "--created-after", "1969-01-01"])["count"], 1);
}

#[test]
fn times_for_people_are_of_their_zone_and_say_so() {
    let mut env = TestEnv::with_tracker();
    let id = env.create("It", &["--defer-until", "2099-01-15T09:30Z"]);
    for (zone, want) in [
        ("UTC", "2099-01-15 09:30 UTC"),
        ("Europe/Berlin", "2099-01-15 10:30 CET"),
        ("No/Where", "09:30 UTC"),
    ] {
        let shown = env.set("TZ", zone).el(&["show", &id]).ok().stdout;
        assert!(shown.contains(want), "{zone}: {shown}");
    }
}

#[test]
fn an_empty_name_is_refused() {
    let env = TestEnv::new();
    for name in ["", " "] {
        env.el(&["init", "--name", name]).fails_with(2);
        assert!(!env.project(".eluent").exists(), "{name:?}");
    }
}

#[test]
fn a_close_says_what_it_freed_and_offers_the_epic() {
    let env = TestEnv::with_tracker();
    let epic = env.create("All of it", &["--type", "epic"]);
    let first = env.create("First", &["--parent", &epic]);
    let gate = env.create("Gate", &[]);
    let next = env.create("Next", &["--parent", &epic, "--blocked-by", &first]);
    let held = env.create("Held twice", &["--blocked-by", &first, "--blocked-by", &gate]);
    let said = env.el(&["close", &first]).ok().stderr;
    assert!(said.contains(&format!("{next} is ready now")), "{said}");
    assert!(!said.contains(&held) && !said.contains("is over"), "{said}");
    let said = env.el(&["close", &next]).ok().stderr;
    assert!(said.contains(&format!("el close {epic}")), "{said}");
}

#[test]
fn the_last_end_in_an_epic_is_told_whatever_ends_it() {
    let ends: [&[&str]; 4] = [
        &["close"],
        &["update", "--status", "wont_do", "--reason", "no need"],
        &["update", "--status", "closed"],
        &["discard"],
    ];
    for end in ends {
        let env = TestEnv::with_tracker();
        let epic = env.create("All of it", &["--type", "epic"]);
        let last = env.create("Last", &["--parent", &epic]);
        let next = env.create("Next", &["--blocked-by", &last]);
        let said = env.el(&[end, &[&last]].concat()).ok().stderr;
        assert!(said.contains(&format!("all in {epic} is over: el close {epic}")), "{said}");
        assert!(said.contains(&format!("{next} is ready now")), "{end:?}: {said}");
        assert_eq!(env.status(&epic), "open");
        let why = env.el(&["why", &epic]).ok().stdout;
        assert!(why.contains(&format!("all in {epic} is over: el close {epic}")), "{why}");
    }
}

#[test]
fn a_setting_closes_an_epic_with_the_last_in_it_and_those_above_it() {
    let env = TestEnv::with_tracker();
    env.configure("epic_autoclose = true");
    let top = env.create("Top", &["--type", "epic"]);
    let epic = env.create("Epic", &["--type", "epic", "--parent", &top]);
    let one = env.create("One", &["--parent", &epic]);
    let two = env.create("Two", &["--parent", &epic]);
    let after = env.create("After", &["--blocked-by", &epic]);
    env.el(&["close", &one]).ok();
    assert_eq!(env.status(&epic), "open");
    let said = env.el(&["update", &two, "--status", "wont_do"]).ok().stderr;
    assert!(said.contains(&format!("closed {epic}, too")), "{said}");
    assert_eq!((env.status(&epic), env.status(&top)), ("closed".into(), "closed".into()));
    let events = env.robot(&["history", &epic])["items"].take();
    let last = events.as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["data"]["via"], "epic_autoclose", "{last}");
    assert_eq!(last["data"]["reason"], "all that it contains is over");
    assert_eq!(env.robot(&["next"])["id"], after.as_str());
    // A task that contains others is no epic, and what a person opened again stays open.
    let task = env.create("Task", &[]);
    let part = env.create("Part", &["--parent", &task]);
    env.el(&["close", &part]).ok();
    // A part that is opened again, or a new one, is told of its closed epic, which holds nothing.
    let doctor = env.el(&["doctor"]).stdout;
    assert!(!doctor.contains("is not over"), "{doctor}");
    let held = format!("{epic} is closed: el reopen {epic}");
    for words in [&["reopen", &one][..], &["create", "Three", "--parent", &epic]] {
        let said = env.el(words).ok().stderr;
        assert!(said.contains(&held), "{words:?}: {said}");
    }
    let doctor = env.el(&["doctor"]).stdout;
    assert!(doctor.contains(&format!("el reopen {epic}")), "{doctor}");
    assert!(doctor.contains(" in it is not over"), "{doctor}");
    assert!(env.el(&["why", &one]).ok().stdout.contains("It is ready"));
    let said = env.el(&["update", &one, "--status", "closed"]).ok().stderr;
    assert!(!said.contains("too"), "nothing closed that was closed: {said}");
    env.el(&["reopen", &epic]).ok();
    assert_eq!((env.status(&task), env.status(&epic)), ("open".into(), "open".into()));
}

#[test]
fn what_an_atom_waits_for_is_added_and_removed() {
    let env = TestEnv::with_tracker();
    let (a, b) = (env.create("A", &[]), env.create("B", &[]));
    let id = env.create("It", &["--blocked-by", &a]);
    let updated = env.robot(&["update", &id, "--blocked-by", &b, "--remove-blocked-by", &a]);
    assert_eq!(updated["changes"]["blocked_by"], json!({"from": [a], "to": [b]}));
    assert_eq!(env.robot(&["why", &id])["holds"][0]["by"], b.as_str());
    assert_eq!(env.events(&id), ["created", "bond_added", "bond_removed", "bond_added"]);
    let again = env.robot(&["update", &id, "--blocked-by", &b]);
    assert_eq!(again["changes"], json!({}));
    env.el(&["update", &b, "--blocked-by", &id]).fails_with(4);
    env.el(&["update", &id, "--blocked-by", &id]).fails_with(4);
    env.el(&["update", &id, "-p", "high", "--blocked-by", "zzzz"]).fails_with(3);
    assert_eq!(env.show(&id)["priority"], 2, "all or nothing");
}

#[test]
fn what_another_close_made_unnecessary_is_not_called_closed() {
    let env = TestEnv::with_tracker();
    let (main, fallback) = (env.create("Main way", &[]), env.create("Another way", &[]));
    env.el(&["dep", "add", &main, &fallback, "--type", "conditional_blocks"]).ok();
    let said = env.el(&["close", &main, &fallback]).ok().stdout;
    assert_eq!(env.status(&fallback), "wont_do");
    assert!(said.contains("Set to wont_do"), "{said}");
}

#[test]
fn a_date_is_refused_where_none_is_kept() {
    let env = TestEnv::with_tracker();
    let id = env.create("Over", &[]);
    env.el(&["close", &id]).ok();
    let said = env.el(&["update", &id, "--defer-until", "3d"]).fails_with(4).stderr;
    assert!(said.contains(&format!("el reopen {id}")), "{said}");
}
