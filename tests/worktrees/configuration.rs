//! A landing that changes what decides about agents, or starts programs, needs a person's word.

use std::fs;

use super::atom_fate;
use super::landing::{fates, finished};
use crate::support::TestEnv;

/// An atom whose branch has this file, too.
fn with_file(env: &TestEnv, file: &str) -> String {
    let id = finished(env, "work.txt", file);
    let tree = env.path("tmp").join(&id);
    fs::create_dir_all(tree.join(file).parent().unwrap()).unwrap();
    fs::write(tree.join(file), "hostile\n").unwrap();
    let at = tree.to_str().unwrap();
    env.git(&["-C", at, "add", "-A", "-f"]);
    env.git(&["-C", at, "commit", "-q", "--no-verify", "-m", "more"]);
    id
}

#[test]
fn configuration_and_hooks_land_only_when_allowed() {
    for file in [
        ".eluent/config.toml",
        ".claude/settings.json",
        "sub/.claude/skills/x/SKILL.md",
        ".mcp.json",
        ".githooks/post-checkout",
        ".husky/pre-commit",
        "tools/hooks/post-checkout",
    ] {
        let env = TestEnv::with_repository("");
        env.git(&["config", "core.hooksPath", "tools/hooks"]);
        let held = with_file(&env, file);
        let plain = finished(&env, "plain.txt", "plain");
        let seen = fates(&env, 4, &["--all"]);
        let expected = [atom_fate(&held, "changes_configuration"), atom_fate(&plain, "landed")];
        assert_eq!(seen, expected, "{file}");
        assert!(!env.git(&["ls-tree", "-r", "--name-only", "main"]).contains(file), "{file}");
        let said = env.el(&["land", &held]).fails_with(4).stdout;
        assert!(said.contains("--allow-config") && said.contains(file), "{said}");
        let why = env.el(&["why", &held]).ok().stdout;
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(why.contains(&format!("el land {held} --allow-config")), "{why}");
        assert_eq!(env.robot(&["why", &held])["decisive_files"], serde_json::json!([file]));
        assert_eq!(env.robot(&["why", &plain])["decisive_files"], serde_json::json!([]));
        if file == ".eluent/config.toml" {
            // The tracker's own file lies there: nothing that is not committed is overwritten.
            let foreseen = fates(&env, 4, &[&held, "--dry-run", "--allow-config"]);
            assert_eq!(foreseen, [atom_fate(&held, "held")]);
            continue;
        }
        assert_eq!(fates(&env, 0, &[&held, "--dry-run", "--allow-config"]).len(), 1);
        assert_eq!(
            fates(&env, 0, &[&held, "--allow-config"]),
            [atom_fate(&held, "landed")],
            "{file}"
        );
    }
}

#[test]
fn no_hook_of_an_agent_runs_when_its_changes_are_committed() {
    let env = TestEnv::with_repository("");
    env.git(&["config", "core.hooksPath", ".githooks"]);
    let id = finished(&env, "work.txt", "work");
    let tree = env.path("tmp").join(&id);
    fs::create_dir(tree.join(".githooks")).unwrap();
    // Git would not even see it, and would run it all the same.
    fs::write(tree.join(".gitignore"), ".githooks\n").unwrap();
    let hook = tree.join(".githooks/pre-commit");
    fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", env.path("pwned").display())).unwrap();
    let chmod = env.run(env.command("chmod").args(["755", hook.to_str().unwrap()]));
    chmod.ok();
    assert_eq!(fates(&env, 4, &[&id, "--commit"]), [atom_fate(&id, "changes_configuration")]);
    assert!(!env.path("pwned").exists());
    fates(&env, 0, &[&id, "--commit", "--allow-config"]);
    assert!(env.path("pwned").exists(), "the hook would not have run at all");
}

#[test]
fn nothing_lands_without_the_check_that_nobody_has_trusted() {
    let env = TestEnv::with_repository("land_check = \"false\"\nretry_backoff = \"1s\"\n");
    let id = finished(&env, "red.txt", "red");
    let main = || env.git(&["rev-parse", "main"]);
    let before = main();
    // One changed value, and the word for the file is lost.
    let file = env.project(".eluent/config.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("retry_backoff = \"1s\"", "retry_backoff = \"0s\"")).unwrap();
    for words in
        [&["land", &id][..], &["land", "--all", "--onto", "main"], &["land", &id, "--dry-run"]]
    {
        let refused = env.el(words).fails_with(6);
        for said in ["land_check does not count", "el trust", "EL_LAND_CHECK=true"] {
            assert!(refused.stderr.contains(said), "{refused:#?}");
        }
        let error = env.el(&[&["--robot"], words].concat()).fails_with(6).json();
        assert_eq!(error["error"]["details"]["field"], "land_check", "{error}");
        assert_eq!(main(), before);
    }
    // The check counts again, and a person may say another for once.
    env.el(&["trust", "--yes"]).ok();
    env.el(&["land", &id]).fails_with(4);
    env.el(&["trust", "--revoke"]).ok();
    env.run(env.command("el").args(["land", &id]).env("EL_LAND_CHECK", "true")).ok();
    assert_ne!(main(), before);
}
