//! `el sync github` refuses some calls, in a sentence and without a change.

use serde_json::json;

use super::{REPO, with_github};
use crate::support::{SOON, TestEnv, github_client};

#[test]
fn a_place_that_is_not_known_is_asked_for() {
    let Some(gh) = github_client() else { return };
    let (env, github) = with_github(&gh);
    github.issue(1, json!({}));
    let ran = env.el(&["sync", "github"]).fails_with(6);
    assert!(ran.stderr.contains("no repository at GitHub is known here"), "{ran:#?}");
    env.git(&["init", "-q"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "base"]);
    env.git(&["remote", "add", "origin", crate::support::SHOP]);
    assert_eq!(env.robot(&["sync", "github"])["created"], 1);
    env.git(&["remote", "add", "upstream", "http://github.localhost/other/shop.git"]);
    let ran = env.el(&["sync", "github"]).fails_with(6);
    assert!(ran.stderr.contains("the remotes name several repositories"), "{ran:#?}");
    env.el(&["sync", "github", "-R", "no such name"]).fails_with(2);
}

#[test]
fn a_call_that_fails_is_told_and_changes_nothing() {
    let Some(gh) = github_client() else { return };
    let (env, github) = with_github(&gh);
    github.issue(1, json!({}));
    for (code, message) in [
        (401, "Bad credentials"),
        (403, "API rate limit exceeded"),
        (403, "You have exceeded a secondary rate limit"),
        (502, "Bad gateway"),
    ] {
        github.fail("query", code, message);
        let ran = env.el(&["sync", "github", "-R", REPO]);
        assert!(ran.status != 0 && !ran.stderr.contains("internal"), "{ran:#?}");
    }
    env.el(&["sync", "github", "-R", "github.localhost/acme/nothing"]).fails_with(6);
    assert_eq!(env.robot(&["list", "--all"])["total"], 0);
    assert_eq!(super::sync(&env, &[])["created"], 1);
}

#[test]
fn an_agents_session_reaches_nothing() {
    let Some(gh) = github_client() else { return };
    let (env, github) = with_github(&gh);
    let id = env.script_atom(&["touch begun", "wait-file go", "close done"]);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("begun");
    let run = env.last_run(&id);
    for more in [&["--dry-run"][..], &["--push", &id, "--yes"]] {
        let words = [&["sync", "github", "-R", REPO], more].concat();
        env.run(&mut env.el_as_run(&run, &words)).fails_with(8);
    }
    assert_eq!(github.calls().len(), 0);
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
}

#[test]
fn a_repositorys_word_on_the_place_counts_only_when_trusted() {
    let Some(gh) = github_client() else { return };
    let mut env = TestEnv::with_tracker();
    let github = crate::support::Github::start(&mut env, &gh);
    github.issue(1, json!({}));
    std::fs::write(env.project(".eluent/config.toml"), format!("pr_repo = \"{REPO}\"\n")).unwrap();
    env.el(&["sync", "github"]).fails_with(6);
    assert_eq!(github.calls().len(), 0);
    env.el(&["trust", "--yes"]).ok();
    assert_eq!(env.robot(&["sync", "github"])["created"], 1);
}

#[test]
fn a_gh_that_is_missing_or_too_old_is_named() {
    let mut env = TestEnv::with_tracker();
    env.set("PATH", env.path("bin").display().to_string());
    let sync = |env: &TestEnv| env.el(&["sync", "github", "-R", REPO]).fails_with(6).stderr;
    assert!(sync(&env).contains("gh is not installed"));
    env.program("gh", "#!/bin/sh\necho 'gh version 2.4.0 (2021-12-21)'\n");
    assert!(sync(&env).contains("this is gh 2.4.0"));
}
