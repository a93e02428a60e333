//! Ids: typed short, in any case, and never mistaken for another's.

use serde_json::Value;

use crate::support::TestEnv;

fn short(id: &str) -> &str {
    id.rsplit_once('-').unwrap().1
}

#[track_caller]
fn finds(env: &TestEnv, typed: &str, id: &str) {
    assert_eq!(env.robot(&["show", typed])["id"], id, "{typed:?}");
}

#[track_caller]
fn fails(env: &TestEnv, typed: &str, exit: i32) -> Value {
    let ran = env.run(env.command("el").args(["--robot", "show", "--", typed]));
    ran.fails_with(exit).json()["error"].take()
}

#[test]
fn an_id_is_found_with_and_without_its_prefix_and_in_any_case() {
    let env = TestEnv::with_tracker();
    let id = env.create("The only one", &[]);
    let short = short(&id);
    for typed in [
        &id,
        short,
        &id.to_uppercase(),
        &short.to_uppercase(),
        &short[..1],
        &format!("t-{}", &short[..2]),
        &format!("  {id} "),
    ] {
        finds(&env, typed, &id);
    }
}

#[test]
fn a_beginning_is_enough_and_the_middle_or_the_end_never_is() {
    let env = TestEnv::with_tracker();
    let id = env.create("The only one", &[]);
    let short = short(&id);
    for typed in
        [&short[1..], &short[2..], &format!("{short}0"), &id[1..id.len() - 1], &format!("x{id}")]
    {
        if !short.starts_with(typed) {
            fails(&env, typed, 3);
        }
    }
    for typed in
        ["%", "_", "*", "t-%", "t-", "-", "' OR 1=1 --", "t-' OR '1'='1", "../x", "\u{202e}"]
    {
        assert_eq!(fails(&env, typed, 3)["code"], "not_found", "{typed}");
    }
}

#[test]
fn an_id_of_another_project_is_not_found_here() {
    let env = TestEnv::with_tracker();
    let id = env.create("Ours", &[]);
    for prefix in ["other", "tt", "run", "t-t", ""] {
        fails(&env, &format!("{prefix}-{}", short(&id)), 3);
    }
}

#[test]
fn an_empty_id_from_an_unset_variable_touches_nothing() {
    let env = TestEnv::with_tracker();
    let id = env.create("The only one", &[]);
    let before = env.show(&id);
    let commands: [&[&str]; 14] = [
        &["show", ""],
        &["close", ""],
        &["close", &id, ""],
        &["update", "", "--status", "wont_do"],
        &["update", " ", "--status", "wont_do"],
        &["reopen", ""],
        &["discard", ""],
        &["claim", ""],
        &["release", ""],
        &["comment", "add", "", "x"],
        &["dep", "add", "", &id],
        &["dep", "add", &id, ""],
        &["create", "Child", "--parent", ""],
        &["retry", ""],
    ];
    for words in commands {
        let ran = env.run(env.command("el").arg("--robot").args(words)).fails_with(2);
        assert_eq!(ran.json()["error"]["code"], "invalid_value", "{words:?}");
    }
    for words in [
        &["cancel", ""][..],
        &["why", ""],
        &["logs", ""],
        &["attach", ""],
        &["runs", "show", ""],
        &["history", ""],
        &["runs", "--atom", ""],
    ] {
        let ran = env.run(env.command("el").arg("--robot").args(words));
        assert!([2, 3].contains(&ran.status), "{words:?}: {ran:#?}");
    }
    assert_eq!(env.show(&id), before);
    assert_eq!(env.robot(&["list", "--all"])["count"], 1);
}

#[test]
fn an_ambiguous_id_lists_its_candidates_and_changes_none() {
    let env = TestEnv::with_tracker();
    // 33 short parts and 32 letters: two begin with the same.
    let many: String = (0..33).map(|n| format!("{{\"title\":\"Atom {n}\"}}\n")).collect();
    std::fs::write(env.project("many.jsonl"), many).unwrap();
    let made = env.robot(&["create", "--file", "many.jsonl"])["items"].take();
    let mut ids: Vec<&str> =
        made.as_array().unwrap().iter().map(|atom| atom["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    let pair = ids.windows(2).find(|pair| short(pair[0])[..1] == short(pair[1])[..1]).unwrap();
    let letter = &short(pair[0])[..1];
    let expected: Vec<&str> =
        ids.iter().copied().filter(|id| short(id).starts_with(letter)).collect();
    let ran = env.run(env.command("el").args(["--robot", "close", letter])).fails_with(4);
    let error = ran.json()["error"].take();
    assert_eq!(error["code"], "ambiguous_id");
    let candidates: Vec<&str> = error["details"]["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["id"].as_str().unwrap())
        .collect();
    assert_eq!(candidates, expected);
    let human = env.run(env.command("el").args(["close", letter])).fails_with(4);
    assert!(
        human.stderr.contains(pair[0])
            && human.stderr.contains("Atom ")
            && human.stderr.contains("more characters"),
        "{human:#?}"
    );
    assert_eq!(env.robot(&["list", "--status", "open"])["count"], 33);
    for id in ids {
        finds(&env, id, id);
        finds(&env, short(id), id);
    }
}

#[test]
fn letters_that_look_alike_are_read_as_what_was_meant() {
    let env = TestEnv::with_tracker();
    let id = env.create("The only one", &[]);
    let typed: String = short(&id)
        .chars()
        .map(|c| match c {
            '0' => 'O',
            '1' => 'l',
            c => c,
        })
        .collect();
    finds(&env, &typed, &id);
}

#[test]
fn a_run_is_found_by_a_beginning_too() {
    let env = TestEnv::with_tracker();
    let id = env.create("Done", &[]);
    env.work(&["--once"]);
    let run = env.last_run(&id)["id"].as_str().unwrap().to_owned();
    for typed in [&run, &run[..6], &run.to_uppercase(), &id] {
        assert_eq!(env.robot(&["runs", "show", typed])["id"], run.as_str(), "{typed}");
    }
}

#[test]
fn the_prefix_is_made_of_the_folders_name_and_can_be_chosen() {
    for (name, prefix) in [("My Project (2)", "my-project-2"), ("日本", "p"), ("run", "runs")] {
        let env = TestEnv::new();
        assert_eq!(env.robot(&["init", "--name", name])["repo_name"], prefix);
        let id = env.create("It", &[]);
        assert!(id.starts_with(&format!("{prefix}-")), "{id}");
        finds(&env, &id, &id);
        finds(&env, short(&id), &id);
    }
    let env = TestEnv::new();
    assert_eq!(env.robot(&["init"])["repo_name"], "project");
}
