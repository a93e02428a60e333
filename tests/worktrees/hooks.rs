//! A repository whose hooks refuse.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::TestEnv;

pub(super) fn hook(env: &TestEnv, name: &str, script: &str) {
    let path = env.project(".git/hooks").join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_commit_that_a_hook_refuses_is_no_commit_and_its_files_are_kept() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    hook(&env, "pre-commit", "echo 'the linter says no' >&2; exit 1");
    let id = env.script_atom(&[
        "sh echo x > a.txt; git add a.txt; git commit -q -m a || true",
        "close done",
    ]);
    env.work(&["--once"]);
    assert_eq!(env.status(&id), "closed");
    let refused = env.el(&["land", &id]).fails_with(4);
    assert!(
        refused.stdout.contains("not committed") && refused.stdout.contains("a.txt"),
        "{refused:#?}"
    );
    assert_eq!(
        env.robot(&["worktrees"])["items"][0]["uncommitted"],
        serde_json::json!(["A  a.txt"])
    );
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 0);
    let tree = env.project(".eluent/worktrees").join(&id);
    assert_eq!(fs::read_to_string(tree.join("a.txt")).unwrap(), "x\n");
    // After a person has repaired and committed the work, it lands.
    hook(&env, "pre-commit", "exit 0");
    env.git(&["-C", tree.to_str().unwrap(), "commit", "-q", "-m", "a"]);
    assert_eq!(env.robot(&["land", &id])["landed"], 1);
}

#[test]
fn hooks_are_for_commits_of_people_and_agents_and_not_for_those_that_el_composes() {
    for mode in ["merge", "rebase"] {
        let env =
            TestEnv::with_repository(&format!("isolate = \"worktree\"\nland_mode = \"{mode}\"\n"));
        let ids = ["a.txt", "b.txt"].map(|file| env.writer(file, "x"));
        env.work(&["--drain"]);
        let asked = env.path("tmp/asked");
        for name in [
            "pre-commit",
            "pre-merge-commit",
            "commit-msg",
            "pre-rebase",
            "post-rewrite",
            "reference-transaction",
        ] {
            hook(&env, name, &format!("echo {name} >> {}; exit 1", asked.display()));
        }
        let refused = env.run(env.command("el").args(["--robot", "land", "--all"]));
        // The checked-out branch is moved by git in that checkout, with the user's own hooks; a
        // refusing hook is reported.
        let document = refused.fails_with(4).json();
        let item = &document["error"]["details"]["items"][0];
        assert_eq!(item["fate"], "held", "{document:#}");
        assert_eq!(
            fs::read_to_string(&asked).unwrap_or_default().lines().next(),
            Some("reference-transaction"),
            "{mode}"
        );
        fs::remove_file(env.project(".git/hooks/reference-transaction")).unwrap();
        assert_eq!(env.robot(&["land", "--all"])["landed"], ids.len());
        assert_eq!(env.robot(&["worktrees", "prune"])["count"], ids.len());
    }
}
