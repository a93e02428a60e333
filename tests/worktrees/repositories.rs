//! Repositories in every state.

use std::fs;

use crate::support::{SmallDisk, TestEnv};

fn refused(env: &TestEnv, words: &[&str], status: i32) -> String {
    let ran = env.run(env.command("el").arg("--robot").args(words));
    ran.fails_with(status).json()["error"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn without_a_repository_or_a_commit_worktrees_are_refused_and_none_is_the_default() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["close done"]);
    assert!(
        refused(&env, &["work", "--once", "--isolate", "worktree"], 6)
            .contains("in no git repository")
    );
    assert!(refused(&env, &["land", "--all"], 3).contains("in no git repository"));
    env.git(&["init", "-q"]);
    assert!(
        refused(&env, &["work", "--once", "--isolate", "worktree"], 6).contains("no commit yet")
    );
    assert!(refused(&env, &["land", "--all"], 4).contains("no commit yet"));
    env.work(&["--drain", "--concurrency", "2"]);
    assert_eq!(env.status(&id), "closed");
    assert!(!env.project(".eluent/worktrees").exists());
}

#[test]
fn a_removed_worktree_comes_back_and_a_taken_branch_is_told() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let id = env.writer("a.txt", "x");
    env.work(&["--once"]);
    let tree = env.project(".eluent/worktrees").join(&id);
    fs::remove_dir_all(&tree).unwrap();
    assert_eq!(env.robot(&["worktrees"])["items"][0]["missing"], true);
    assert_eq!(env.robot(&["diff", &id])["files"], serde_json::json!(["a.txt"]));
    env.el(&["reopen", &id]).ok();
    env.el(&["update", &id, "-d", &TestEnv::script(&["sh cat a.txt > /dev/null", "close again"])])
        .ok();
    env.work(&["--once"]);
    assert_eq!(env.status(&id), "closed");
    assert!(tree.join("a.txt").is_file(), "the branch's work is there again");
    // The branch checked out by a person elsewhere.
    env.git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    env.git(&[
        "worktree",
        "add",
        "-q",
        env.path("tmp/theirs").to_str().unwrap(),
        &format!("el/{id}"),
    ]);
    env.el(&["reopen", &id]).ok();
    let _ = env.el(&["work", "--once"]);
    assert!(
        env.last_run(&id)["detail"].as_str().unwrap().contains("is checked out in"),
        "{:#}",
        env.last_run(&id)
    );
    // Another file in the way.
    env.git(&["worktree", "remove", "--force", env.path("tmp/theirs").to_str().unwrap()]);
    fs::create_dir_all(&tree).unwrap();
    fs::write(tree.join("mine"), "mine").unwrap();
    env.el(&["retry", &id]).ok();
    let _ = env.el(&["work", "--once"]);
    assert!(
        env.last_run(&id)["detail"].as_str().unwrap().contains("is in the way"),
        "{:#}",
        env.last_run(&id)
    );
    assert_eq!(fs::read_to_string(tree.join("mine")).unwrap(), "mine");
}

#[test]
fn a_detached_head_a_lock_and_failing_hooks_have_their_way() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let hook = env.project(".git/hooks/pre-commit");
    fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fs::copy(&hook, env.project(".git/hooks/post-checkout")).unwrap();
    let script =
        ["sh echo x > a.txt && git add a.txt && git commit -q --no-verify -m a", "close done"];
    let id = env.script_atom(&script);
    env.git(&["-c", "core.hooksPath=/dev/null", "checkout", "-q", "--detach"]);
    env.work(&["--once"]);
    assert_eq!(env.status(&id), "closed");
    assert!(refused(&env, &["land", &id], 4).contains("detached HEAD"));
    assert!(refused(&env, &["land", &id, "--onto", "nowhere"], 3).contains("'nowhere'"));
    fs::write(env.project(".git/refs/heads/main.lock"), "").unwrap();
    assert!(refused(&env, &["land", &id, "--onto", "main"], 4).contains("locked"));
    fs::remove_file(env.project(".git/refs/heads/main.lock")).unwrap();
    // Not checked out anywhere: the branch moves, and the person's files stay.
    assert_eq!(env.robot(&["land", &id, "--onto", "main"])["landed"], 1);
    assert!(!env.project("a.txt").exists());
    assert_eq!(env.git(&["show", "main:a.txt"]), "x");
}

#[test]
fn a_shallow_clone_with_a_submodule_works() {
    let env = TestEnv::new();
    let allow = ["-c", "protocol.file.allow=always"];
    let (origin, sub) = (env.path("tmp/origin"), env.path("tmp/sub"));
    for repository in [&sub, &origin] {
        let at = repository.to_str().unwrap();
        env.git(&["init", "-q", at]);
        fs::write(repository.join("f"), "1").unwrap();
        env.git(&["-C", at, "add", "."]);
        env.git(&["-C", at, "commit", "-q", "-m", "1"]);
    }
    let at = origin.to_str().unwrap();
    env.git(
        &[&allow[..], &["-C", at, "submodule", "--quiet", "add", sub.to_str().unwrap(), "sub"]]
            .concat(),
    );
    env.git(&["-C", at, "commit", "-q", "-m", "2"]);
    let url = format!("file://{at}");
    env.git(
        &[
            &allow[..],
            &[
                "clone",
                "-q",
                "--depth",
                "1",
                "--recurse-submodules",
                "--shallow-submodules",
                &url,
                ".",
            ],
        ]
        .concat(),
    );
    env.el(&["init", "--name", "t"]).ok();
    env.configure("isolate = \"worktree\"\n");
    let id = env.writer("a.txt", "x");
    env.work(&["--once"]);
    assert_eq!(env.robot(&["land", &id])["landed"], 1);
    assert!(env.project("a.txt").is_file() && env.project("sub/f").is_file());
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 1);
}

#[test]
fn a_project_in_a_folder_of_the_repository_works_in_that_folder() {
    let env = TestEnv::new();
    let top = env.project("");
    fs::create_dir(top.join("api")).unwrap();
    fs::write(top.join("api/f"), "1").unwrap();
    env.git(&["init", "-q"]);
    env.git(&["add", "api"]);
    env.git(&["commit", "-q", "-m", "1"]);
    env.run(env.command("el").args(["init", "--name", "t"]).current_dir(top.join("api"))).ok();
    let script = TestEnv::script(&[
        "sh test -f f && echo x > g && git add g && git commit -q -m g",
        "close done",
    ]);
    let in_api =
        |words: &[&str]| env.run(env.command("el").args(words).current_dir(top.join("api"))).ok();
    in_api(&["create", "--title", "T", "-d", &script]);
    in_api(&["work", "--once", "--isolate", "worktree"]);
    in_api(&["land", "--all"]);
    assert_eq!(fs::read_to_string(top.join("api/g")).unwrap(), "x\n");
}

#[test]
fn nothing_is_put_through_a_link_that_a_branch_has() {
    let env = TestEnv::with_repository(
        "isolate = \"worktree\"\nworktree_base = \"evil\"\nworktree_copy = [\"conf/.env\"]\n\
         land_check = \"true\"\n",
    );
    let outside = env.path("tmp/outside");
    fs::create_dir(&outside).unwrap();
    let link = |top: &std::path::Path| {
        std::os::unix::fs::symlink(&outside, top.join("conf")).unwrap();
        env.git(&["-C", top.to_str().unwrap(), "add", "conf"]);
        env.git(&["-C", top.to_str().unwrap(), "commit", "-q", "-m", "a link"]);
    };
    env.git(&["checkout", "-q", "-b", "evil"]);
    link(&env.project(""));
    env.git(&["checkout", "-q", "main"]);
    fs::create_dir(env.project("conf")).unwrap();
    fs::write(env.project("conf/.env"), "secret\n").unwrap();
    let id = env.writer("a.txt", "x");
    let _ = env.el(&["work", "--once"]);
    assert!(
        env.last_run(&id)["detail"].as_str().unwrap().contains("the branch has a link at conf"),
        "{:#}",
        env.last_run(&id)
    );
    // Nor by `el land`, which skips such a branch.
    let [bad, good] =
        ["bad.txt", "good.txt"].map(|file| crate::worktrees::landing::finished(&env, file, "x"));
    link(&env.path("tmp").join(&bad));
    let told = env.el(&["land", &bad, &good]).fails_with(4);
    assert!(
        told.stdout.contains("the branch has a link at conf") && env.project("good.txt").exists(),
        "{told:#?}"
    );
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn what_is_put_into_worktrees_is_of_the_project() {
    let env = TestEnv::with_repository("");
    for name in ["../../x", "/etc/passwd", "a/../../b", ".", ".git/config", ".eluent"] {
        for key in ["worktree_copy", "worktree_link"] {
            let refused = env.el(&["config", "set", key, &format!("[\"{name}\"]")]).fails_with(2);
            assert!(refused.stderr.contains(name), "{refused:#?}");
            let mut land = env.command("el");
            land.args(["land", "--all"]).env(format!("EL_{}", key.to_uppercase()), name);
            let _ = env.run(&mut land).fails_with(6);
        }
    }
    env.configure("worktree_link = [\"../../x\"]\n");
    assert!(refused(&env, &["land", "--all"], 6).contains("../../x"));
    assert!(refused(&env, &["work", "--once", "--isolate", "worktree"], 6).contains("../../x"));
}

#[test]
fn a_landing_looks_where_git_was_told_not_to_look() {
    let env = TestEnv::with_repository("");
    let id = crate::worktrees::landing::finished(&env, "base.txt", "theirs");
    for (on, off) in
        [("--skip-worktree", "--no-skip-worktree"), ("--assume-unchanged", "--no-assume-unchanged")]
    {
        env.git(&["update-index", on, "base.txt"]);
        fs::write(env.project("base.txt"), "mine\n").unwrap();
        let told = env.el(&["land", &id]).fails_with(4);
        assert!(told.stdout.contains("told not to look at base.txt"), "{told:#?}");
        assert_eq!(fs::read_to_string(env.project("base.txt")).unwrap(), "mine\n");
        env.git(&["update-index", off, "base.txt"]);
        env.git(&["checkout", "-q", "base.txt"]);
    }
    // A touched file without changes is no change.
    let _ = env.run(env.command("touch").args(["-d", "2001-01-01", "base.txt"])).ok();
    assert_eq!(crate::worktrees::landing::fates(&env, 0, &[&id])[0].1, "landed");
}

#[test]
fn what_a_person_has_under_way_is_told_and_left_alone() {
    let env = TestEnv::with_repository("");
    let id = crate::worktrees::landing::finished(&env, "a.txt", "x");
    let held = |status: i32| {
        crate::worktrees::landing::fates(&env, status, &[&id, "--onto", "main"])[0].1.clone()
    };
    env.git(&["checkout", "-q", "-b", "other"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "other"]);
    env.git(&["checkout", "-q", "main"]);
    env.git(&["merge", "-q", "--no-ff", "--no-commit", "other"]);
    assert_eq!(held(4), "held");
    assert!(env.el(&["land", &id]).fails_with(4).stdout.contains("a merge is under way"));
    env.git(&["merge", "--abort"]);
    env.git(&["worktree", "add", "-q", "--force", env.path("tmp/twice").to_str().unwrap(), "main"]);
    assert!(env.el(&["land", &id]).fails_with(4).stdout.contains("more than one worktree"));
    env.git(&["worktree", "remove", env.path("tmp/twice").to_str().unwrap()]);
    // A tag of the same name, and commits that would be signed by a key that is not there.
    env.git(&["tag", "main", "other"]);
    env.git(&["config", "commit.gpgSign", "true"]);
    env.git(&["config", "user.signingKey", "nobody"]);
    env.git(&["config", "merge.ff", "false"]);
    assert_eq!(env.robot(&["land", &id])["landed"], 1);
}

/// A git that cannot answer does not mean that there is no repository: two agents in a folder would
/// overwrite each other.
#[test]
fn a_repository_that_git_cannot_use_starts_nothing_and_says_why() {
    type Break = fn(&TestEnv);
    let breaks: [(Break, &str); 5] = [
        (|env| drop(env.git(&["config", "core.bare", "true"])), "bare"),
        (|env| fs::write(env.project(".git/HEAD"), "garbage").unwrap(), "finds no repository"),
        (|env| fs::write(env.project(".git/refs/heads/main"), "garbage").unwrap(), "broken"),
        (|env| fs::write(env.project(".git/config"), "[core\n").unwrap(), "bad config"),
        (
            |env| {
                let at = env.project(".git");
                let is_root = rustix::process::geteuid().is_root();
                // Another user's, or else an unreadable repository.
                let broken = if is_root {
                    std::os::unix::fs::chown(&at, Some(12345), None)
                } else {
                    fs::write(env.project(".git/HEAD"), "")
                };
                broken.unwrap();
            },
            "git",
        ),
    ];
    for (break_it, said) in breaks {
        let env = TestEnv::with_repository("");
        let id = env.script_atom(&["close done"]);
        break_it(&env);
        for words in [
            &["work", "--drain", "--concurrency", "2"][..],
            &["work", "--once"],
            &["run", "Do something"],
        ] {
            let message = refused(&env, words, 6);
            assert!(message.contains(said), "{message}");
        }
        assert_eq!((env.status(&id).as_str(), env.runs(&id).len()), ("open", 0), "{said}");
        assert_eq!(env.robot(&["list"])["count"], 1, "{said}: the task was not filed");
        env.work(&["--once", "--isolate", "none"]);
        assert_eq!(env.status(&id), "closed", "{said}: a person may say otherwise");
    }
}

#[test]
fn without_git_a_repository_is_not_shared() {
    let mut env = TestEnv::with_repository("");
    let id = env.script_atom(&["close done"]);
    let programs = env.path("programs");
    fs::create_dir(&programs).unwrap();
    for name in ["sh", "tmux", "env"] {
        let at = env.run(env.command("sh").args(["-c", &format!("command -v {name}")])).ok().stdout;
        std::os::unix::fs::symlink(at.trim(), programs.join(name)).unwrap();
    }
    let path = format!("{}:{}", env.path("bin").display(), programs.display());
    env.set("PATH", path);
    let message = refused(&env, &["work", "--drain", "--concurrency", "2"], 6);
    assert!(message.contains("git cannot be run"), "{message}");
    assert_eq!(env.status(&id), "open");
    fs::rename(env.project(".git"), env.project("gone")).unwrap();
    env.work(&["--drain", "--concurrency", "2"]);
    assert_eq!(env.status(&id), "closed", "where there is no repository, none is missed");
}

#[test]
fn shared_folders_and_files_that_are_not_committed_are_said_before_the_start() {
    let env = TestEnv::with_tracker();
    let said = |words: &[&str]| env.el(&[&["work", "--drain"], words].concat()).ok().stderr;
    assert!(said(&["--concurrency", "2"]).contains("up to 2 agents work in the same folder"));
    assert!(!said(&[]).contains("same folder"));
    env.git(&["init", "-q"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "base"]);
    let clean = said(&["--concurrency", "2"]);
    assert!(!clean.contains("same folder") && !clean.contains("not committed"), "{clean}");
    for name in ["a", "b", "c", "d"] {
        fs::write(env.project(name), "x").unwrap();
    }
    let dirty = said(&["--concurrency", "2"]);
    assert!(dirty.contains("a, b, c and 1 more; their worktrees begin without them"), "{dirty}");
    assert!(said(&[]).contains("they work among them"));
    env.configure("isolate = \"worktree\"\nworktree_copy = [\"a\"]\nworktree_link = [\"b\"]\n");
    let told = said(&[]);
    assert!(told.contains(": c, d; their worktrees begin without them"), "{told}");
    let run = env.el(&["run", "--wait", &TestEnv::script(&["close"])]).ok().stdout;
    assert!(run.contains("not in that worktree: c, d"), "{run}");
    assert!(!told.contains("knows no author"), "{told}");
    env.git(&["config", "user.useConfigOnly", "true"]);
    fs::remove_file(env.path("home/.gitconfig")).unwrap();
    assert!(said(&[]).contains("git knows no author in"));
}

#[test]
fn a_task_leaves_the_folder_of_a_person_alone_unless_told_otherwise() {
    let env = TestEnv::with_repository("");
    fs::write(env.project("mine.txt"), "x").unwrap();
    let write = TestEnv::script(&[
        "sh ls > seen.txt; echo x > a.txt; git add . && git commit -q -m a",
        "close done",
    ]);
    let said = env.el(&["run", "--wait", &write]).ok().stdout;
    assert!(said.contains("worktree of its own") && said.contains("mine.txt"), "{said}");
    assert!(!env.project("a.txt").exists());
    let listed = env.robot(&["worktrees"]);
    let id = listed["items"][0]["atom_id"].as_str().unwrap().to_owned();
    assert_eq!(env.robot(&["land", &id])["landed"], 1);
    assert_eq!(fs::read_to_string(env.project("seen.txt")).unwrap(), "base.txt\nseen.txt\n");
    // Work that was not handed over is done in the worker's folder.
    let own = env.script_atom(&["sh echo x > b.txt", "close done"]);
    env.work(&["--drain"]);
    assert_eq!(env.status(&own), "closed");
    assert!(env.project("b.txt").exists());
    let here = TestEnv::script(&["sh echo x > c.txt", "close done"]);
    env.el(&["run", "--wait", "--workdir", ".", &here]).ok();
    assert!(env.project("c.txt").exists());
    env.configure("isolate = \"none\"\n");
    let here = TestEnv::script(&["sh echo x > d.txt", "close done"]);
    env.el(&["run", "--wait", &here]).ok();
    assert!(env.project("d.txt").exists());
}

#[test]
fn the_doctor_tells_of_little_room_for_worktrees() {
    let env = TestEnv::with_repository("");
    let at = env.path("worktrees");
    let Some(_disk) = SmallDisk::mount_at(&at, 4) else { return };
    env.configure(&format!("worktrees_directory = \"{}\"\n", at.display()));
    let told = env.el(&["doctor"]).stdout;
    assert!(told.contains(&format!("KiB are free where {} is", at.display())), "{told}");
    assert!(told.contains("worktrees_directory"), "{told}");
}
