//! Repositories within the repository: submodules, checked out or not, and clones that git ignores.
//! Their content may exist nowhere else.

use std::fs;

use crate::support::TestEnv;
use crate::worktrees::landing::{fates, finished};

/// A repository in a folder, with a commit.
fn nested(env: &TestEnv, folder: &std::path::Path) {
    let at = folder.to_str().unwrap();
    env.git(&["init", "-q", at]);
    fs::write(folder.join("precious"), "precious\n").unwrap();
    env.git(&["-C", at, "add", "precious"]);
    env.git(&["-C", at, "commit", "-q", "-m", "precious"]);
}

/// A tracker in a repository that contains another repository as a gitlink.
fn with_nested(configuration: &str) -> TestEnv {
    let env = TestEnv::with_repository(configuration);
    nested(&env, &env.project("emb"));
    env.git(&["-c", "advice.addEmbeddedRepo=false", "add", "emb"]);
    env.git(&["commit", "-q", "-m", "emb"]);
    env
}

#[test]
fn no_repository_makes_way_for_what_a_branch_has_in_its_place() {
    for make in [
        "echo file > emb",
        "ln -s base.txt emb",
        "mkdir emb; echo file > emb/precious",
        "mkdir emb; echo file > emb/new",
    ] {
        let env = with_nested("");
        let id = finished(&env, "a.txt", "x");
        let tree = env.path("tmp").join(&id);
        let at = tree.to_str().unwrap();
        env.git(&["-C", at, "rm", "-q", "--cached", "emb"]);
        let script = format!("rm -rf emb; {make}");
        let _ = env.run(env.command("sh").args(["-c", &script]).current_dir(&tree)).ok();
        env.git(&["-C", at, "add", "-A"]);
        env.git(&["-C", at, "commit", "-q", "-m", "another emb"]);
        let (head, inner) =
            (env.git(&["rev-parse", "main"]), env.git(&["-C", "emb", "rev-parse", "HEAD"]));
        let told = env.el(&["land", "--all"]).fails_with(4);
        assert!(told.stdout.contains("would be overwritten: emb/"), "{make}: {told:#?}");
        assert_eq!(
            (env.git(&["rev-parse", "main"]), env.git(&["status", "--porcelain", "-uno"])),
            (head, String::new())
        );
        assert_eq!(env.git(&["-C", "emb", "rev-parse", "HEAD"]), inner, "{make}");
        assert_eq!(fs::read_to_string(env.project("emb/precious")).unwrap(), "precious\n");
        // Moved away, it cannot be lost.
        fs::rename(env.project("emb"), env.path("tmp/saved")).unwrap();
        fs::create_dir(env.project("emb")).unwrap();
        assert_eq!(fates(&env, 0, &["--all"]), [(id, "landed".to_owned())], "{make}");
        assert!(
            fs::symlink_metadata(env.project("emb")).is_ok() && !env.project("emb/.git").exists(),
            "{make}"
        );
    }
}

#[test]
fn a_repository_that_a_branch_gives_up_stays_and_a_new_one_overwrites_nothing() {
    let env = with_nested("");
    let id = finished(&env, "a.txt", "x");
    let tree = env.path("tmp").join(&id);
    let at = tree.to_str().unwrap();
    env.git(&["-C", at, "rm", "-q", "emb"]);
    env.git(&["-C", at, "commit", "-q", "-m", "without emb"]);
    assert_eq!(fates(&env, 0, &[&id]), [(id, "landed".to_owned())]);
    assert!(env.project("emb/.git").is_dir() && env.project("emb/precious").is_file());
    // A submodule where an ignored file is.
    let id = finished(&env, "b.txt", "x");
    let tree = env.path("tmp").join(&id);
    let at = tree.to_str().unwrap();
    nested(&env, &tree.join("out"));
    env.git(&["-C", at, "-c", "advice.addEmbeddedRepo=false", "add", "out"]);
    env.git(&["-C", at, "commit", "-q", "-m", "out"]);
    fs::write(env.project(".git/info/exclude"), "out\n").unwrap();
    fs::write(env.project("out"), "mine\n").unwrap();
    assert_eq!(fates(&env, 4, &[&id])[0].1, "held");
    assert_eq!(fs::read_to_string(env.project("out")).unwrap(), "mine\n");
}

#[test]
fn what_an_agent_left_in_the_folder_of_a_submodule_keeps_its_worktree() {
    let env = with_nested("");
    let id = finished(&env, "a.txt", "x");
    let tree = env.path("tmp").join(&id);
    assert_eq!(fates(&env, 0, &[&id])[0].1, "landed");
    fs::write(tree.join("emb/result"), "mine\n").unwrap();
    assert_eq!(
        env.git(&["-C", tree.to_str().unwrap(), "status", "--porcelain"]),
        "",
        "git says nothing of it"
    );
    let pruned = env.robot(&["worktrees", "prune"]);
    assert_eq!(
        (&pruned["count"], &pruned["kept"][0]["would_lose"]),
        (&0.into(), &serde_json::json!(["emb/"])),
        "{pruned:#}"
    );
    assert_eq!(fs::read_to_string(tree.join("emb/result")).unwrap(), "mine\n");
    fs::remove_file(tree.join("emb/result")).unwrap();
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 1);
    assert!(!tree.exists());
}

#[test]
fn a_repository_in_a_folder_that_git_ignores_keeps_its_worktree_until_its_commits_are_elsewhere() {
    let env = TestEnv::with_repository("");
    fs::write(env.project(".git/info/exclude"), "/node_modules/\n/data/\n").unwrap();
    let id = finished(&env, "a.txt", "x");
    let tree = env.path("tmp").join(&id);
    assert_eq!(fates(&env, 0, &[&id])[0].1, "landed");
    for (folder, bare) in
        [("node_modules/deep/one", false), ("node_modules/one.git", true), ("data", false)]
    {
        let at = tree.join(folder);
        if bare {
            env.git(&["clone", "-q", "--bare", ".", at.to_str().unwrap()]);
            env.git(&[
                "-C",
                at.to_str().unwrap(),
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "notes",
                "add",
                "-m",
                "own",
            ]);
        } else {
            nested(&env, &at);
        }
        for words in [&["worktrees", "prune"][..], &["worktrees", "prune", "--ignored"]] {
            let pruned = env.robot(words);
            let lost = serde_json::json!([format!("{folder}/")]);
            assert_eq!(
                (&pruned["count"], &pruned["kept"][0]["would_lose"]),
                (&0.into(), &lost),
                "{pruned:#}"
            );
        }
        if folder != "data" {
            fs::remove_dir_all(&at).unwrap();
        }
    }
    // The main checkout's repository has the commits.
    let main = env.project("data");
    env.git(&["clone", "-q", tree.join("data").to_str().unwrap(), main.to_str().unwrap()]);
    let reason = env.robot(&["worktrees", "prune"])["kept"][0]["reason"].take();
    assert!(reason.as_str().unwrap().contains("--ignored"), "{reason}");
    fs::remove_dir_all(main).unwrap();
    // A remote has the commits: git's record of the remote is believed, and the files are judged
    // like others.
    let at = tree.join("data");
    let bare = env.path("tmp/bare");
    env.git(&["init", "-q", "--bare", bare.to_str().unwrap()]);
    env.git(&[
        "-C",
        at.to_str().unwrap(),
        "push",
        "-q",
        bare.to_str().unwrap(),
        "HEAD:refs/heads/x",
    ]);
    env.git(&["-C", at.to_str().unwrap(), "remote", "add", "-f", "origin", bare.to_str().unwrap()]);
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 0);
    assert_eq!(env.robot(&["worktrees", "prune", "--ignored"])["count"], 1);
}

#[test]
fn a_submodule_whose_commit_has_landed_holds_up_no_landing() {
    let env = with_nested("");
    let id = finished(&env, "a.txt", "x");
    fs::write(env.project("emb/precious"), "more\n").unwrap();
    env.git(&["-C", "emb", "commit", "-q", "-a", "-m", "more"]);
    let newer = env.git(&["-C", "emb", "rev-parse", "HEAD"]);
    env.git(&["-C", "emb", "checkout", "-q", "HEAD~1"]);
    let tree = env.path("tmp").join(&id);
    let at = tree.to_str().unwrap();
    env.git(&["-C", at, "update-index", "--cacheinfo", &format!("160000,{newer},emb")]);
    env.git(&["-C", at, "commit", "-q", "-m", "a newer emb"]);
    env.git(&["-C", at, "update-index", "--skip-worktree", "emb"]);
    assert_eq!(fates(&env, 0, &["--all"]), [(id, "landed".to_owned())]);
    assert_eq!(env.git(&["status", "--porcelain", "-uno"]), " M emb");
    let next = finished(&env, "b.txt", "x");
    assert_eq!(fates(&env, 0, &["--all"]), [(next, "landed".to_owned())]);
    // A person's own change of it is work, though.
    env.git(&["add", "emb"]);
    let last = finished(&env, "c.txt", "x");
    assert_eq!(fates(&env, 4, &["--all"]), [(last, "held".to_owned())]);
}

#[test]
fn work_lands_where_the_git_folder_is_kept_elsewhere() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let elsewhere = env.path("tmp/git-folder");
    env.git(&["init", "-q", "--separate-git-dir", elsewhere.to_str().unwrap()]);
    let id = env.writer("a.txt", "a");
    env.work(&["--drain"]);
    assert_eq!(fates(&env, 0, &["--all"]), [(id, "landed".to_owned())]);
    assert_eq!(fs::read_to_string(env.project("a.txt")).unwrap(), "a\n");
    assert_eq!(env.git(&["status", "--porcelain", "-uno"]), "");
}
