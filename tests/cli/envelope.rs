//! `--robot`: a single JSON document on stdout, for success and every failure, and a meaningful
//! exit code.

use serde_json::{Value, json};

use crate::support::{Ran, TestEnv};

fn robot(env: &TestEnv, words: &[&str]) -> Ran {
    env.run(env.command("el").args(words).arg("--robot"))
}

/// Returns the keys of an object in order.
fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Asserts a failure with this exit code and error code. Returns the error.
#[track_caller]
fn fails(env: &TestEnv, words: &[&str], exit: i32, code: &str) -> Value {
    let ran = robot(env, words).fails_with(exit);
    let mut envelope = ran.json();
    assert_eq!(keys(&envelope), ["status", "error"], "{ran:#?}");
    assert_eq!(envelope["status"], "error");
    let error = envelope["error"].take();
    assert_eq!(keys(&error), ["code", "message", "hint", "details", "retryable"]);
    assert_eq!(error["code"], code, "{words:?}: {error}");
    assert!(
        error["details"].is_object()
            && error["retryable"].is_boolean()
            && !error["message"].as_str().unwrap().is_empty()
    );
    assert_eq!((ran.stdout.lines().count(), ran.stderr.as_str()), (1, ""), "{words:?}");
    // A person gets the same code, on stderr alone.
    let human = env.run(env.command("el").args(words)).fails_with(exit);
    assert_eq!(human.stdout, "", "{words:?}");
    assert!(human.stderr.starts_with("error: "), "{words:?}: {human:#?}");
    error
}

#[test]
fn every_success_is_one_document() {
    let env = TestEnv::with_tracker();
    let (a, b) = (env.create("First", &[]), env.create("Second", &[]));
    let commands: [&[&str]; 27] = [
        &["list"],
        &["ready"],
        &["next"],
        &["show", &a],
        &["search", "First"],
        &["search", "nothing-like-this"],
        &["update", &a, "--priority", "high"],
        &["update", &a, &b, "--priority", "low"],
        &["comment", "add", &a, "a\nb"],
        &["comment", "list", &a],
        &["dep", "add", &a, &b],
        &["dep", "list", &b],
        &["dep", "tree", &b],
        &["dep", "check"],
        &["dep", "remove", &a, &b],
        &["claim", &a],
        &["release", &a],
        &["why", &a],
        &["close", &a, "-r", "done"],
        &["reopen", &a],
        &["discard", &b],
        &["discard", "list"],
        &["discard", "prune"],
        &["history"],
        &["stats"],
        &["runs"],
        &["config", "show"],
    ];
    for words in commands {
        let ran = robot(&env, words).ok();
        assert_eq!(keys(&ran.json()), ["status", "data"], "{words:?}");
        assert_eq!((ran.stdout.lines().count(), ran.stderr.as_str()), (1, ""), "{words:?}");
    }
}

#[test]
fn bad_usage_and_bad_values_are_two() {
    let env = TestEnv::with_tracker();
    let id = env.create("It", &[]);
    fails(&env, &["banana"], 2, "usage");
    fails(&env, &["list", "--banana"], 2, "usage");
    fails(&env, &["show"], 2, "usage");
    fails(&env, &["update", &id], 2, "usage");
    fails(&env, &["create"], 2, "usage");
    fails(&env, &["work", "--once", "--drain"], 2, "usage");
    for (words, field) in [
        (&["update", &id, "--status", "banana"][..], "status"),
        (&["create", "x", "--priority", "9"], "priority"),
        (&["create", "x", "--type", "banana"], "type"),
        (&["create", "x", "--label", "two words"], "label"),
        (&["create", "  "], "title"),
        (&["create", "two\nlines"], "title"),
        (&["create", "x", "--metadata", "[1]"], "metadata"),
        (&["create", "x", "--defer-until", "sometime"], "defer-until"),
        (&["show", ""], "id"),
        (&["config", "set", "lease", "1s"], "lease"),
    ] {
        assert_eq!(fails(&env, words, 2, "invalid_value")["details"]["field"], field, "{words:?}");
    }
    assert_eq!(env.robot(&["list"])["count"], 1, "nothing was created");
}

#[test]
fn what_is_not_there_is_three() {
    let env = TestEnv::with_tracker();
    for words in [
        &["show", "zzzz"][..],
        &["close", "zzzz"],
        &["why", "t-zzzz"],
        &["logs", "zzzz"],
        &["comment", "add", "zzzz", "x"],
    ] {
        let error = fails(&env, words, 3, "not_found");
        assert!(error["hint"].as_str().unwrap().contains("el list"), "{error}");
    }
    let run = fails(&env, &["runs", "show", "run-zzzzzzzz"], 3, "not_found");
    assert!(run["hint"].as_str().unwrap().contains("el runs"), "{run}");
    fails(&env, &["config", "get", "no_such_setting"], 3, "not_found");
    fails(&env, &["create", "--file", "no-such-file.jsonl"], 3, "not_found");
    let nowhere = TestEnv::new();
    let error = fails(&nowhere, &["list"], 3, "no_database");
    assert!(error["hint"].as_str().unwrap().contains("el init"), "{error}");
    fails(&nowhere, &["list", "--db", "nowhere.db"], 3, "no_database");
}

#[test]
fn what_contradicts_the_present_state_is_four() {
    let env = TestEnv::with_tracker();
    let (a, b) = (env.create("A", &[]), env.create("B", &[]));
    fails(&env, &["init"], 4, "exists");
    env.el(&["dep", "add", &a, &b]).ok();
    let cycle = fails(&env, &["dep", "add", &b, &a], 4, "cycle");
    assert!(cycle["message"].as_str().unwrap().contains(&a), "{cycle}");
    fails(&env, &["dep", "add", &a, &a], 4, "cycle");
    fails(&env, &["claim", &b], 4, "not_ready");
    fails(&env, &["close", &a, "--if-status", "in_progress"], 4, "guard");
    env.el(&["claim", &a, "--actor", "ada"]).ok();
    fails(&env, &["claim", &a], 4, "claimed");
    fails(&env, &["cancel", &a], 4, "no_run");
    env.el(&["update", &a, "--status", "wont_do", "--force"]).ok();
    fails(&env, &["close", &a], 4, "over");
}

#[test]
fn a_bad_configuration_is_six_and_only_for_what_needs_it() {
    let env = TestEnv::with_tracker();
    env.configure("durability = \"maybe\"\n");
    let error = fails(&env, &["config", "get", "durability"], 6, "config");
    assert_eq!(error["details"]["field"], "durability");
    env.el(&["list"]).ok();
}

#[test]
fn the_flag_may_stand_anywhere_before_the_double_dash() {
    let env = TestEnv::with_tracker();
    let id = env.create("It", &[]);
    let expected = env.el(&["--robot", "show", &id]).ok().stdout;
    for words in [
        &["show", "--robot", &id][..],
        &["show", &id, "--robot"],
        &["--json", "show", &id],
        &["show", &id, "--json"],
    ] {
        assert_eq!(env.el(words).ok().stdout, expected, "{words:?}");
    }
    let created = env.el(&["create", "--", "--robot"]).ok();
    assert!(
        created.stdout.contains("Created task") && created.stdout.contains("--robot"),
        "{created:#?}"
    );
    let usage = env.run(env.command("el").args(["show", "--", "--robot", "x"])).fails_with(3);
    assert_eq!(usage.stdout, "", "what follows -- is no flag");
}

#[test]
fn nothing_ready_is_an_answer_and_no_error() {
    let env = TestEnv::with_tracker();
    assert_eq!(
        robot(&env, &["next", "--claim"]).ok().json(),
        json!({"status": "ok", "data": null})
    );
    let list =
        json!({"status": "ok", "data": {"count": 0, "total": 0, "truncated": false, "items": []}});
    for words in [&["list"][..], &["runs"], &["search", "x"], &["discard", "list"]] {
        assert_eq!(robot(&env, words).ok().json(), list, "{words:?}");
    }
    let mut ready = list;
    ready["data"]["capped"] = json!(false);
    assert_eq!(robot(&env, &["ready"]).ok().json(), ready);
}

#[test]
fn every_command_has_help_with_examples() {
    let env = TestEnv::new();
    let help = env.el(&["--help"]).ok().stdout;
    let names = help
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    let commands: Vec<&str> = names.filter(|name| !name.starts_with('-')).collect();
    assert!(commands.len() >= 25, "{commands:?}");
    for command in commands {
        let page = env.el(&[command, "--help"]).ok();
        assert!(page.stdout.contains("Examples:"), "{command}: {}", page.stdout);
        assert!(page.stdout.lines().all(|line| line.chars().count() <= 130), "{command}");
    }
    assert!(env.el(&["--version"]).ok().stdout.starts_with("el "));
}

#[test]
fn text_of_every_kind_comes_back_as_it_went_in() {
    let env = TestEnv::with_tracker();
    let nasty = "tab\t nul-free \u{1}\u{1b}[31m \u{7f}\u{9b} \u{202e} \"quotes\" \\ back 漢字 🦀 \
        e\u{301} \r\n last";
    let id = env.create("Odd", &["-d", nasty]);
    assert_eq!(env.show(&id)["description"], nasty);
    let raw = robot(&env, &["show", &id]).ok().stdout;
    assert!(raw.trim_end().chars().all(|c| !c.is_control()), "{raw:?}");
}
