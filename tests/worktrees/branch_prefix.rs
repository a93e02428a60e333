//! The setting `branch_prefix`, and branches that an earlier prefix named.

use crate::support::TestEnv;

/// An atom whose agent writes and commits a file; the agent of the first attempt fails.
fn twice(env: &TestEnv, file: &str) -> String {
    let first = format!("sh echo half > {file} && git add {file} && git commit -q -m half");
    let second = format!("sh echo whole > {file} && git commit -q -a -m whole");
    env.script_atom(&[&first, "exit 3", "on-attempt 2", &second, "close done"])
}

#[test]
fn branches_have_the_prefix_of_the_setting() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    env.el(&["config", "set", "branch_prefix", "team/bots/"]).ok();
    let up = env.writer("a.txt", "x");
    let down = env.writer("b.txt", "y");
    env.el(&["dep", "add", &up, &down]).ok();
    env.work(&["--drain"]);
    let branches = env.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/team"]);
    let mut expected = [&up, &down].map(|id| format!("team/bots/{id}"));
    expected.sort();
    assert_eq!(branches.lines().collect::<Vec<_>>(), expected);
    assert_eq!(env.git(&["branch", "--list", "el/*"]), "");
    let own = format!("team/bots/{down}");
    let prompt = env.read_run_file(&env.last_run(&down), "prompt.md");
    assert!(prompt.contains(&format!("on the branch {own}")), "{prompt}");
    assert!(env.git(&["show", "--stat", &own]).contains("b.txt"));
    assert_eq!(env.git(&["show", &format!("{own}:a.txt")]), "x", "it builds on the first");
    let why = env.el(&["why", &down]).ok().stdout;
    assert!(why.contains(&format!("branch {own}")), "{why}");
    assert_eq!(env.robot(&["diff", &down])["branch"], own.as_str());
    let refused = env.el(&["land", &up, "--onto", &own]).fails_with(2);
    assert!(refused.stderr.contains(&own), "{}", refused.stderr);
    assert_eq!(env.robot(&["land", "--all"])["landed"], 2);
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 2);
    assert_eq!(env.git(&["branch", "--list", "team/*"]), "");
}

#[test]
fn a_branch_keeps_its_name_when_the_setting_changes() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\nretry_backoff = \"0s\"\n");
    let id = twice(&env, "a.txt");
    env.work(&["--once"]);
    env.el(&["config", "set", "branch_prefix", "bots/"]).ok();
    let new = env.writer("b.txt", "y");
    env.el(&["dep", "add", &id, &new]).ok();
    env.work(&["--drain"]);
    assert_eq!(env.outcomes(&id), ["failed", "closed"]);
    let listed = env.robot(&["worktrees"]);
    let mut named: Vec<_> =
        listed["items"].as_array().unwrap().iter().map(|one| &one["branch"]).collect();
    named.sort_by_key(|name| name.to_string());
    assert_eq!(named, [&format!("bots/{new}"), &format!("el/{id}")]);
    assert_eq!(env.git(&["show", &format!("bots/{new}:a.txt")]), "whole");
    // Back again: what `bots/` named is found as well.
    env.el(&["config", "unset", "branch_prefix"]).ok();
    assert_eq!(env.robot(&["land", "--all"])["landed"], 2);
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 2);
    assert_eq!(env.git(&["branch", "--list"]), "* main");
}

#[test]
fn a_deleted_branch_comes_back_under_its_prefix() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\nbranch_prefix = \"bots/\"\n");
    let write = "sh echo x > a.txt && git add a.txt && git commit -q -m a";
    let rename = "sh git branch -m feat/$EL_ATOM";
    let id = env.script_atom(&[write, rename, "close done"]);
    env.work(&["--drain"]);
    assert_eq!(env.git(&["show", &format!("bots/{id}:a.txt")]), "x");
    assert_eq!(env.git(&["branch", "--list", "el/*"]), "");
}

#[test]
fn a_prefix_that_names_no_branch_is_refused() {
    let env = TestEnv::with_repository("");
    for bad in ["bots", "a..b/", "-x/", "a b/", "a.lock/", "/"] {
        let said = env.el(&["config", "set", "branch_prefix", bad]).fails_with(2).stderr;
        assert!(said.contains("branch_prefix"), "{said}");
    }
    env.configure("branch_prefix = \"bots\"\n");
    let said = env.el(&["work", "--once"]).fails_with(6).stderr;
    assert!(said.contains("branch_prefix") && said.contains("slash"), "{said}");
}
