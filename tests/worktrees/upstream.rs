//! Where a team merges pull requests, work is in the fetched branch of the remote first.

use std::os::unix::fs::PermissionsExt as _;

use super::landing::{fates, finished};
use super::squashes::finished_on;
use crate::support::TestEnv;

/// A project whose `main` has an upstream in a bare repository beside it.
fn with_remote(track: &str) -> TestEnv {
    let env = TestEnv::with_repository("");
    env.git(&["init", "-q", "--bare", "--initial-branch=main", "../remote.git"]);
    env.git(&["remote", "add", "origin", "../remote.git"]);
    env.git(&["push", "-q", track, "origin", "main"]);
    env.git(&["fetch", "-q", "origin"]);
    env
}

/// Squashes a branch at the remote, as its pull request would, and fetches that.
fn squash_there(env: &TestEnv, id: &str) {
    env.git(&["clone", "-q", "../remote.git", "../other"]);
    env.git(&["-C", "../other", "fetch", "-q", "../project", &format!("el/{id}")]);
    env.git(&["-C", "../other", "merge", "-q", "--squash", "FETCH_HEAD"]);
    env.git(&["-C", "../other", "commit", "-q", "-m", "squashed (#1)"]);
    env.git(&["-C", "../other", "push", "-q", "origin", "main"]);
    env.git(&["fetch", "-q", "origin"]);
}

/// An atom whose branch has two commits in the same lines.
fn two_commits(env: &TestEnv) -> String {
    let id = finished(env, "base.txt", "one");
    let tree = env.path("tmp").join(&id);
    std::fs::write(tree.join("base.txt"), "two\n").unwrap();
    env.git(&["-C", tree.to_str().unwrap(), "commit", "-q", "-a", "-m", "two"]);
    id
}

fn has_landed(env: &TestEnv) -> bool {
    env.robot(&["worktrees"])["items"][0]["landed"].as_bool().unwrap()
}

#[test]
fn what_was_merged_there_and_fetched_has_landed() {
    let env = with_remote("--set-upstream");
    let id = two_commits(&env);
    assert!(!has_landed(&env));
    squash_there(&env, &id);
    let main = env.git(&["rev-parse", "main"]);
    assert!(has_landed(&env));
    assert_eq!(env.robot(&["land", "--all"])["count"], 0);
    assert_eq!(env.robot(&["ready"])["count"], 0, "no conflict is filed");
    assert_eq!(fates(&env, 0, &[&id]), [(id.clone(), "already".to_owned())]);
    let told = env.el(&["land", &id]).ok().stdout;
    assert!(told.contains("at the remote: main here gets it by git pull"), "{told}");
    assert_eq!(env.git(&["rev-parse", "main"]), main, "the branch here is a person's to move");
    let needs = env.robot(&["status"])["needs"].to_string();
    assert!(!needs.contains(&id), "{needs}");
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 1);
}

#[test]
fn what_builds_on_a_squash_there_waits_for_a_pull() {
    let env = with_remote("--set-upstream");
    let below = two_commits(&env);
    let above = finished_on(&env, &below, "own.txt", "own");
    squash_there(&env, &below);
    let main = env.git(&["rev-parse", "main"]);
    for words in [&["land", &above, "--dry-run"][..], &["land", "--all"]] {
        let held = env.el(words).fails_with(4).stdout;
        assert!(held.contains("which main here lacks: git pull, then el land"), "{held}");
    }
    assert_eq!(env.git(&["rev-parse", "main"]), main);
    env.git(&["merge", "-q", "--ff-only", "origin/main"]);
    assert_eq!(fates(&env, 0, &["--all"]), [(above, "landed".to_owned())]);
    assert_eq!(env.git(&["diff", "--name-only", "origin/main", "main"]), "own.txt");
}

#[test]
fn without_an_upstream_the_only_remote_counts_and_of_two_none_does() {
    let env = with_remote("--porcelain");
    let id = two_commits(&env);
    squash_there(&env, &id);
    env.git(&["remote", "add", "-f", "other", "../remote.git"]);
    assert!(!has_landed(&env), "nobody said which of them is meant");
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 0);
    env.git(&["remote", "remove", "other"]);
    assert!(has_landed(&env));
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 1);
}

#[test]
fn what_the_branch_here_has_of_its_own_is_looked_at_first() {
    let env = with_remote("--set-upstream");
    let id = two_commits(&env);
    squash_there(&env, &id);
    env.git(&["commit", "-q", "--allow-empty", "-m", "of its own"]);
    assert!(!has_landed(&env), "a pull would merge, and a person does that");
    env.git(&["merge", "-q", "--no-edit", "origin/main"]);
    assert!(has_landed(&env));
}

#[test]
fn a_branch_begins_at_what_the_remote_has_now_or_had_last() {
    let env = with_remote("--set-upstream");
    let settings = "isolate = \"worktree\"\nworktree_base = \"origin/main\"\n";
    env.git(&["clone", "-q", "../remote.git", "../other"]);
    let push = |name: &str| {
        std::fs::write(env.path("other").join(name), "x\n").unwrap();
        env.git(&["-C", "../other", "add", name]);
        env.git(&["-C", "../other", "commit", "-q", "-m", name]);
        env.git(&["-C", "../other", "push", "-q", "origin", "main"]);
    };
    let begins_with = |wanted: &str| {
        let id =
            env.script_atom(&[&format!("sh ls > {}/seen", env.path("tmp").display()), "close x"]);
        env.work(&["--once"]);
        assert_eq!(env.status(&id), "closed");
        let seen = std::fs::read_to_string(env.path("tmp/seen")).unwrap();
        assert_eq!(seen.trim(), wanted);
    };
    push("first");
    // Where work lands by pull requests, the remote is what it is compared with.
    env.configure("isolate = \"worktree\"\nland_via = \"pr\"\nworktree_fetch = true\n");
    begins_with("base.txt\nfirst");
    env.git(&["update-ref", "refs/remotes/origin/main", "main"]);
    env.configure(settings);
    begins_with("base.txt");
    env.configure(&format!("{settings}worktree_fetch = true\n"));
    begins_with("base.txt\nfirst");
    push("second");
    std::fs::rename(env.path("remote.git"), env.path("away.git")).unwrap();
    begins_with("base.txt\nfirst");
    let run = env.robot(&["runs"])["items"][0].take();
    let pane = env.read_run_file(&run, "pane.log");
    assert!(pane.contains("its base could not be fetched"), "{pane}");
}

#[test]
fn a_landing_is_pushed_only_when_told_and_never_over_commits_of_others() {
    let env = with_remote("--set-upstream");
    let there = || env.git(&["-C", "../remote.git", "rev-parse", "main"]);
    let before = there();
    let first = finished(&env, "a.txt", "one");
    env.el(&["land", &first]).ok();
    finished(&env, "b.txt", "two");
    let would = env.robot(&["land", "--all", "--push", "--dry-run"]);
    let to = &would["pushed_to"];
    assert_eq!((&to["remote"], &to["branch"]), (&"origin".into(), &"main".into()));
    let own = env.git(&["log", "--format=%h %s", "origin/main..main"]);
    assert_eq!(to["commits"], serde_json::json!([own]), "what lies here goes along");
    let told = env.el(&["land", "--all", "--push", "--dry-run"]).ok().stdout;
    assert!(told.contains(&own), "{told}");
    assert_eq!(there(), before, "nothing was pushed");
    let told = env.el(&["land", "--all", "--push"]).ok().stdout;
    assert!(told.contains("main is pushed to origin/main"), "{told}");
    assert_eq!(there(), env.git(&["rev-parse", "main"]));
    env.robot(&["land", "--all", "--push"]);

    env.git(&["clone", "-q", "../remote.git", "../other"]);
    env.git(&["-C", "../other", "commit", "-q", "--allow-empty", "-m", "of somebody else"]);
    env.git(&["-C", "../other", "push", "-q", "origin", "main"]);
    let theirs = there();
    let third = finished(&env, "c.txt", "three");
    let told = env.el(&["--robot", "land", "--all", "--push"]).fails_with(4).json();
    assert_eq!(told["error"]["code"], "not_pushed", "{told}");
    assert!(told["error"]["message"].as_str().unwrap().starts_with("nothing was landed"), "{told}");
    assert!(!env.project("c.txt").exists(), "{third} waits, so that no pull is in its way");
    let told = env.el(&["land", "--all", "--push"]).fails_with(4).stderr;
    assert!(
        told.contains("has commits that main lacks") && told.contains("git pull --no-rebase"),
        "{told}"
    );
    assert_eq!(there(), theirs);
    env.git(&["pull", "-q", "--no-rebase", "--no-edit"]);
    env.el(&["land", "--all", "--push"]).ok();
    assert_eq!(there(), env.git(&["rev-parse", "main"]));

    let hook = env.path("remote.git/hooks/pre-receive");
    std::fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let fourth = finished(&env, "d.txt", "four");
    let told = env.el(&["--robot", "land", "--all", "--push"]).fails_with(4).json();
    assert_eq!(told["error"]["code"], "not_pushed", "{told}");
    let item = &told["error"]["details"]["items"][0];
    assert_eq!((&item["atom_id"], &item["fate"]), (&fourth.into(), &"landed".into()), "{told}");
    let landed = "main here has the landed work, and was not pushed: ";
    assert!(told["error"]["message"].as_str().unwrap().starts_with(landed), "{told}");
    // A hook of the person's own ends the push in another way.
    std::fs::rename(&hook, env.project(".git/hooks/pre-push")).unwrap();
    let told = env.el(&["land", "--all", "--push"]);
    assert!(told.status != 0 && told.stderr.contains(landed), "{told:#?}");
    std::fs::remove_file(env.project(".git/hooks/pre-push")).unwrap();
    std::fs::rename(env.path("remote.git"), env.path("away.git")).unwrap();
    let told = env.el(&["land", "--all", "--push"]);
    assert!(told.status != 0 && told.stderr.contains("nothing was landed: "), "{told:#?}");
    std::fs::rename(env.path("away.git"), env.path("remote.git")).unwrap();
    // A branch that was deleted there is made again.
    env.git(&["-C", "../remote.git", "update-ref", "-d", "refs/heads/main"]);
    env.el(&["land", "--all", "--push"]).ok();
    assert_eq!(there(), env.git(&["rev-parse", "main"]));

    env.git(&["remote", "add", "second", "../other"]);
    env.git(&["branch", "--unset-upstream", "main"]);
    let told = env.el(&["land", "--all", "--push"]).fails_with(6).stderr;
    assert!(told.contains("git push -u REMOTE main"), "{told}");
    env.configure("worktree = \"always\"\nland_via = \"pr\"\n");
    env.el(&["land", "--all", "--push"]).fails_with(6);
}
