//! Clones that left files at their remote.

use std::fs;

use crate::support::TestEnv;

/// A clone whose next worktrees need files that lie at the remote alone. Returns the remote's
/// folder.
fn partial_clone(env: &TestEnv) -> std::path::PathBuf {
    let (remote, seed) = (env.path("origin.git"), env.path("seed"));
    let (at, seed) = (remote.to_str().unwrap(), seed.to_str().unwrap());
    env.git(&["clone", "-q", "--bare", ".", at]);
    env.git(&["--git-dir", at, "config", "uploadpack.allowFilter", "true"]);
    env.git(&["--git-dir", at, "config", "uploadpack.allowAnySHA1InWant", "true"]);
    env.git(&["remote", "add", "origin", &format!("file://{at}")]);
    env.git(&["config", "remote.origin.promisor", "true"]);
    env.git(&["config", "remote.origin.partialclonefilter", "blob:none"]);
    env.git(&["clone", "-q", at, seed]);
    fs::write(env.path("seed/base.txt"), "newer\n").unwrap();
    env.git(&["-C", seed, "commit", "-q", "-a", "-m", "newer"]);
    env.git(&["-C", seed, "push", "-q"]);
    env.git(&["fetch", "-q", "--filter=blob:none", "origin"]);
    remote
}

#[test]
fn work_waits_for_the_remote_of_a_partial_clone_and_no_atom_is_charged() {
    let env = TestEnv::with_repository("");
    let remote = partial_clone(&env);
    env.configure("isolate = \"worktree\"\nworktree_base = \"origin/main\"\n");
    let ids = ["a.txt", "b.txt"].map(|file| {
        env.script_atom(&[
            &format!("sh echo x > {file} && git add {file} && git commit -q -m x"),
            "close done",
        ])
    });
    fs::rename(&remote, env.path("away.git")).unwrap();
    for _ in 0..2 {
        env.el(&["work", "--once"]);
    }
    for id in &ids {
        assert_eq!(env.status(id), "open");
    }
    let why = env.el(&["why", &ids[0]]).ok().stdout;
    assert!(why.contains("reached nobody") && !why.contains("cannot be read"), "{why}");

    fs::rename(env.path("away.git"), &remote).unwrap();
    env.work(&["--drain", "--resume"]);
    for id in &ids {
        assert_eq!(env.status(id), "closed");
        assert_eq!(env.git(&["show", &format!("el/{id}:base.txt")]), "newer");
    }
}
