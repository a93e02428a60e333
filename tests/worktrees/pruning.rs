//! `el worktrees prune` removes el's worktrees, and loses no file that git hides.

use std::fs;

use serde_json::Value;

use crate::support::TestEnv;
use crate::worktrees::landing::{fates, finished};

/// Asserts that nothing is removed, for this reason.
#[track_caller]
fn assert_kept(env: &TestEnv, why: &str) -> Value {
    for words in [&["worktrees", "prune", "--dry-run"][..], &["worktrees", "prune"]] {
        let answer = env.robot(words);
        let reason = answer["kept"][0]["reason"].as_str().unwrap_or_default();
        assert!(answer["count"] == 0 && reason.contains(why), "{answer:#}");
    }
    env.robot(&["worktrees", "prune"])["kept"][0].take()
}

#[test]
fn what_a_person_made_by_hand_stays() {
    let env = TestEnv::with_repository("");
    let id = finished(&env, "a.txt", "x");
    fates(&env, 0, &[&id]);
    let base = format!("refs/el/base/{id}");
    let at = env.git(&["rev-parse", &base]);
    env.git(&["update-ref", "-d", &base]);
    assert_kept(&env, "its branch was not made by el");
    env.git(&["update-ref", &base, &at]);
    let tree = env.path("tmp").join(&id);
    fs::remove_file(
        env.path(env.git(&["-C", tree.to_str().unwrap(), "rev-parse", "--absolute-git-dir"]))
            .join("el-ready"),
    )
    .unwrap();
    assert_kept(&env, "its worktree was not made by el");
    assert!(tree.join("a.txt").exists());
}

#[test]
fn files_that_git_does_not_look_at_are_not_lost() {
    let env = TestEnv::with_repository(
        "worktree_copy = [\".env\"]\nworktree_setup = \"sh -c 'echo made > made.local'\"\n\
         isolate = \"worktree\"\n",
    );
    fs::write(
        env.project(".gitignore"),
        "*.local\n.env\n/build/\n/cache/\n/notes/\n/node_modules/\n.eluent/\n",
    )
    .unwrap();
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "ignore"]);
    fs::write(env.project(".env"), "KEY=1\n").unwrap();
    let id = env.writer("a.txt", "x");
    env.work(&["--drain"]);
    fates(&env, 0, &[&id]);
    let tree = env.project(".eluent/worktrees").join(&id);
    // Files that can be made again do not matter.
    for folder in ["build", "cache", "node_modules"] {
        fs::create_dir(tree.join(folder)).unwrap();
        fs::write(tree.join(folder).join("x"), "x").unwrap();
    }
    fs::create_dir(env.project("build")).unwrap();
    fs::write(env.project("build/x"), "x").unwrap();
    fs::write(env.project("build/y"), "y").unwrap();
    fs::write(tree.join("cache/CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55")
        .unwrap();
    assert_eq!(env.robot(&["worktrees", "prune", "--dry-run"])["count"], 1);

    // The name proves nothing; the content counts.
    for (file, text) in [("build/x", "z"), ("build/z", "x")] {
        let before = fs::read(tree.join(file)).ok();
        fs::write(tree.join(file), text).unwrap();
        assert_eq!(assert_kept(&env, "build/")["would_lose"], serde_json::json!(["build/"]));
        match before {
            Some(text) => fs::write(tree.join(file), text).unwrap(),
            None => fs::remove_file(tree.join(file)).unwrap(),
        }
    }
    fs::write(tree.join("plan.local"), "mine\n").unwrap();
    assert_eq!(assert_kept(&env, "plan.local")["would_lose"], serde_json::json!(["plan.local"]));
    fs::remove_file(tree.join("plan.local")).unwrap();
    fs::write(tree.join(".env"), "KEY=2\n").unwrap();
    assert_kept(&env, ".env");
    fs::write(tree.join(".env"), "KEY=1\n").unwrap();
    fs::create_dir(tree.join("notes")).unwrap();
    fs::write(tree.join("notes/one"), "mine\n").unwrap();
    assert_kept(&env, "notes/");
    fs::remove_dir_all(tree.join("notes")).unwrap();
    let at = tree.to_str().unwrap();
    for (on, off) in
        [("--assume-unchanged", "--no-assume-unchanged"), ("--skip-worktree", "--no-skip-worktree")]
    {
        env.git(&["-C", at, "update-index", on, "base.txt"]);
        assert_eq!(env.robot(&["worktrees", "prune", "--dry-run"])["count"], 1);
        fs::write(tree.join("base.txt"), "changed\n").unwrap();
        assert_kept(&env, "base.txt");
        fs::write(tree.join("base.txt"), "base\n").unwrap();
        env.git(&["-C", at, "update-index", off, "base.txt"]);
    }
    fs::write(tree.join("plan.local"), "mine\n").unwrap();
    assert_eq!(env.robot(&["worktrees", "prune", "--ignored"])["count"], 1);
    assert!(!tree.exists());
}
