//! `el land`: landed work, skipped work, and untouched files.

use serde_json::Value;

use crate::support::TestEnv;

/// Makes the branch and the worktree of an atom as el does.
pub(super) fn begin(env: &TestEnv, id: &str, from: &str) {
    let tree = env.path("tmp").join(id);
    let at = tree.to_str().unwrap();
    let base = env.git(&["rev-parse", from]);
    env.git(&["worktree", "add", "-q", "-b", &format!("el/{id}"), at, from]);
    env.git(&["update-ref", &format!("refs/el/base/{id}"), &base]);
    let folder = env.git(&["-C", at, "rev-parse", "--absolute-git-dir"]);
    std::fs::write(env.path(folder).join("el-ready"), "").unwrap();
}

/// An atom with a branch and a worktree as made by el, for trying `el land` without an agent.
pub(super) fn finished(env: &TestEnv, file: &str, text: &str) -> String {
    let id = env.create(&format!("Write {file}"), &[]);
    begin(env, &id, "main");
    let tree = env.path("tmp").join(&id);
    let at = tree.to_str().unwrap();
    std::fs::write(tree.join(file), format!("{text}\n")).unwrap();
    env.git(&["-C", at, "add", "-A", "-f"]);
    env.git(&["-C", at, "commit", "-q", "--no-verify", "-m", &format!("write {file}")]);
    env.el(&["close", &id]).ok();
    id
}

/// Returns the outcomes by atom.
pub(super) fn fates(env: &TestEnv, status: i32, words: &[&str]) -> Vec<(String, String)> {
    let document =
        env.run(env.command("el").args(["--robot", "land"]).args(words)).fails_with(status).json();
    let items = if status == 0 {
        &document["data"]["items"]
    } else {
        &document["error"]["details"]["items"]
    };
    let pair = |item: &Value| {
        (item["atom_id"].as_str().unwrap().to_owned(), item["fate"].as_str().unwrap().to_owned())
    };
    items.as_array().unwrap_or_else(|| panic!("{document:#}")).iter().map(pair).collect()
}

/// Resolves the conflict of `with`, as a person or agent would.
fn resolve(env: &TestEnv, conflict: &str, with: &str, text: &str) {
    let tree = env.path(format!("tmp/{conflict}"));
    let at = tree.to_str().unwrap();
    env.git(&["worktree", "add", "-q", "-b", &format!("el/{conflict}"), at, "main"]);
    let _ = env.run(env.command("git").args(["-C", at, "merge", "-q", &format!("el/{with}")]));
    std::fs::write(tree.join("base.txt"), text).unwrap();
    env.git(&["-C", at, "commit", "-q", "-a", "-m", "resolve"]);
    env.el(&["close", conflict]).ok();
}

#[test]
fn what_builds_on_work_in_conflict_is_resolved_with_it() {
    let env = TestEnv::with_repository("");
    let epic = env.create("All", &["--type", "epic"]);
    let mut chain: Vec<String> = Vec::new();
    for name in ["one", "two", "three"] {
        let write = format!("sh echo {name} >> base.txt && git commit -q -a -m {name}");
        let id =
            env.create(name, &["--parent", &epic, "-d", &TestEnv::script(&[&write, "close done"])]);
        if let Some(before) = chain.last() {
            env.el(&["dep", "add", before, &id]).ok();
        }
        chain.push(id);
    }
    env.work(&["--drain", "--isolate", "worktree"]);
    env.el(&["close", &epic]).ok();
    std::fs::write(env.project("base.txt"), "moved\n").unwrap();
    env.git(&["commit", "-q", "-a", "-m", "moved"]);
    let all = |fate: &str| chain.iter().map(|id| (id.clone(), fate.to_owned())).collect::<Vec<_>>();
    assert_eq!(fates(&env, 4, &["--all"]), all("conflict"));
    let ready = env.robot(&["ready"]);
    let parent = &ready["items"][0]["parent_id"];
    assert_eq!(
        (&ready["count"], parent),
        (&1.into(), &Value::Null),
        "one, in nothing that is over"
    );
    let conflict = ready["items"][0]["id"].as_str().unwrap();
    resolve(&env, conflict, &chain[2], "moved, one, two, three\n");
    assert_eq!(
        fates(&env, 0, &["--all"]),
        [all("landed"), vec![(conflict.to_owned(), "landed".to_owned())]].concat()
    );
    assert_eq!(
        (&env.robot(&["ready"])["count"], &env.robot(&["land", "--all"])["count"]),
        (&0.into(), &0.into())
    );
    assert_eq!(
        std::fs::read_to_string(env.project("base.txt")).unwrap(),
        "moved, one, two, three\n"
    );
}

#[test]
fn a_conflict_becomes_an_atom_and_its_merge_brings_both_in() {
    let env = TestEnv::with_repository("");
    let [first, second] = ["one", "two"].map(|text| finished(&env, "base.txt", text));
    assert_eq!(
        fates(&env, 4, &["--all"]),
        [(first, "landed".to_owned()), (second.clone(), "conflict".to_owned())]
    );
    let found = env.robot(&["ready"])["items"][0].take();
    let conflict = found["id"].as_str().unwrap().to_owned();
    assert!(found["description"].as_str().unwrap().contains("base.txt"));
    assert_eq!(fates(&env, 4, &["--all"])[0].1, "conflict");
    assert_eq!(env.robot(&["ready"])["count"], 1, "it is filed once");
    resolve(&env, &conflict, &second, "one and two\n");
    assert_eq!(fates(&env, 0, &[&conflict]), [(conflict, "landed".to_owned())]);
    assert_eq!(std::fs::read_to_string(env.project("base.txt")).unwrap(), "one and two\n");
    assert_eq!(fates(&env, 0, &[&second]), [(second, "already".to_owned())]);
}

#[test]
fn a_conflict_and_its_resolution_land_together_and_no_second_one_is_filed() {
    let env = TestEnv::with_repository("");
    let [first, second] = ["one", "two"].map(|text| finished(&env, "base.txt", text));
    assert_eq!(
        fates(&env, 4, &["--all", "--dry-run"]),
        [(first.clone(), "to_land".to_owned()), (second.clone(), "conflict".to_owned())]
    );
    assert_eq!(env.robot(&["ready"])["count"], 0, "what is foreseen is not filed");
    fates(&env, 4, &["--all"]);
    let conflict = env.robot(&["ready"])["items"][0]["id"].as_str().unwrap().to_owned();
    resolve(&env, &conflict, &second, "one and two\n");
    // Alone the branch still conflicts, and the conflict atom exists.
    let refused = env.el(&["land", &second]).fails_with(4);
    assert!(refused.stdout.contains(&format!("{conflict} is closed")), "{refused:#?}");
    let landed =
        || [(second.clone(), "landed".to_owned()), (conflict.clone(), "landed".to_owned())];
    assert_eq!(fates(&env, 0, &["--all"]), landed());
    assert_eq!(std::fs::read_to_string(env.project("base.txt")).unwrap(), "one and two\n");
    assert_eq!(
        (&env.robot(&["ready"])["count"], &env.robot(&["land", "--all"])["count"]),
        (&0.into(), &0.into())
    );
}

#[test]
fn an_atom_that_is_reopened_during_the_check_is_left_out() {
    let env = TestEnv::with_repository("");
    let (flag, go) = (env.path("tmp/waiting"), env.path("tmp/go"));
    let check =
        format!("touch {}; until test -e {}; do sleep 0.02; done", flag.display(), go.display());
    env.configure(&format!("land_check = \"sh -c '{check}'\"\n"));
    let ids = ["a.txt", "b.txt", "c.txt"].map(|file| finished(&env, file, "x"));
    let landing = env.start_el(&["--robot", "land", "--all"]);
    env.wait_for_file(&flag);
    env.el(&["reopen", &ids[0]]).ok();
    std::fs::write(env.path("tmp").join(&ids[1]).join("more.txt"), "x").unwrap();
    std::fs::write(&go, "").unwrap();
    let ended = landing.wait(crate::support::SOON).fails_with(4).json();
    let items = ended["error"]["details"]["items"].as_array().unwrap();
    let fates: Vec<&str> = items.iter().map(|item| item["fate"].as_str().unwrap()).collect();
    assert_eq!(fates, ["held", "held", "landed"], "{ended:#}");
    assert!(
        !env.project("a.txt").exists()
            && !env.project("b.txt").exists()
            && env.project("c.txt").exists()
    );
}

#[test]
fn an_old_git_is_told_at_once() {
    let env = TestEnv::with_repository("");
    let id = finished(&env, "a.txt", "x");
    env.program("git", "#!/bin/sh\necho git version 2.30.2\n");
    let refused = env.el(&["land", &id]).fails_with(6);
    assert!(
        refused.stderr.contains("this is git 2.30.2") && refused.stderr.contains("2.38"),
        "{refused:#?}"
    );
    let refused = env.el(&["work", "--once", "--isolate", "worktree"]).fails_with(6);
    assert!(refused.stderr.contains("this is git 2.30.2"), "{refused:#?}");
}

#[test]
fn what_makes_the_check_fail_is_found_and_left_out() {
    let env = TestEnv::with_repository(
        "land_check = \"sh -c '! test -e bad.txt'\"\nland_mode = \"merge\"\n",
    );
    let ids = ["a.txt", "b.txt", "bad.txt", "c.txt", "d.txt"].map(|file| finished(&env, file, "x"));
    let fates = fates(&env, 4, &["--all"]);
    let words: Vec<&str> = fates.iter().map(|(_, fate)| fate.as_str()).collect();
    assert_eq!(words, ["landed", "landed", "check_failed", "landed", "landed"]);
    assert_eq!(fates[2].0, ids[2]);
    assert!(!env.project("bad.txt").exists() && env.project("d.txt").exists());
    let kept = env.robot(&["worktrees", "prune"]);
    assert_eq!(kept["count"], 4);
    assert_eq!(kept["kept"][0]["atom_id"], Value::from(ids[2].as_str()));
}

#[test]
fn a_check_that_fails_without_them_blames_nobody() {
    let env = TestEnv::with_repository("land_check = \"sh -c 'echo broken; exit 1'\"\n");
    let id = finished(&env, "a.txt", "x");
    let before = env.git(&["rev-parse", "main"]);
    let ran = env.el(&["land", &id]).fails_with(4);
    assert!(
        ran.stderr.contains("fails on main already") && ran.stderr.contains("broken"),
        "{ran:#?}"
    );
    assert_eq!(env.git(&["rev-parse", "main"]), before);
}

#[test]
fn uncommitted_work_of_the_user_is_never_touched() {
    let env = TestEnv::with_repository("");
    let id = finished(&env, "new.txt", "theirs");
    std::fs::write(env.project("base.txt"), "mine, not committed\n").unwrap();
    let (files, head) = (env.user_files(), env.git(&["rev-parse", "main"]));
    let ran = env.el(&["land", &id]).fails_with(4);
    assert!(
        ran.stdout.contains("1 file have changes") || ran.stdout.contains("not committed"),
        "{ran:#?}"
    );
    assert_eq!((env.user_files(), env.git(&["rev-parse", "main"])), (files, head));
    // A file that git does not know, and that would be overwritten.
    env.git(&["checkout", "-q", "base.txt"]);
    std::fs::write(env.project("new.txt"), "mine, unknown to git\n").unwrap();
    let (files, head) = (env.user_files(), env.git(&["rev-parse", "main"]));
    assert_eq!(fates(&env, 4, &[&id]), [(id.clone(), "held".to_owned())]);
    assert_eq!((env.user_files(), env.git(&["rev-parse", "main"])), (files, head));
    std::fs::remove_file(env.project("new.txt")).unwrap();
    assert_eq!(fates(&env, 0, &[&id]), [(id, "landed".to_owned())]);
}

#[test]
fn a_file_in_the_way_stays_and_holds_back_its_branch_alone() {
    let env = TestEnv::with_repository("");
    let [blocked, free] = ["new.txt", "other.txt"].map(|file| finished(&env, file, "theirs"));
    for mine in ["theirs", "theirs\n", "mine\n", ""] {
        std::fs::write(env.project("new.txt"), mine).unwrap();
        let (files, head) = (env.user_files(), env.git(&["rev-parse", "main"]));
        let dry = env.el(&["land", &blocked, "--dry-run"]);
        assert!(dry.stdout.contains("new.txt"), "a rehearsal names the file: {dry:#?}");
        let ran = env.el(&["land", &blocked]).fails_with(4);
        assert!(ran.stdout.contains("new.txt") && ran.stdout.contains("commit them"), "{ran:#?}");
        assert_eq!((env.user_files(), env.git(&["rev-parse", "main"])), (files, head));
    }
    assert_eq!(
        fates(&env, 4, &["--all"]),
        [(blocked.clone(), "held".to_owned()), (free, "landed".to_owned())]
    );
    std::fs::remove_file(env.project("new.txt")).unwrap();
    assert_eq!(fates(&env, 0, &[&blocked]), [(blocked, "landed".to_owned())]);
}

#[test]
fn a_branch_that_its_owner_is_rebasing_is_not_moved() {
    let env = TestEnv::with_repository("");
    let id = finished(&env, "new.txt", "theirs");
    env.git(&["checkout", "-q", "-b", "other"]);
    std::fs::write(env.project("base.txt"), "other\n").unwrap();
    env.git(&["commit", "-q", "-a", "-m", "other"]);
    env.git(&["checkout", "-q", "main"]);
    std::fs::write(env.project("base.txt"), "main\n").unwrap();
    env.git(&["commit", "-q", "-a", "-m", "main"]);
    let _ = env.run(env.command("git").args(["rebase", "-q", "other"])).fails_with(1);
    let (files, head) = (env.user_files(), env.git(&["rev-parse", "main"]));
    assert_eq!(fates(&env, 4, &[&id, "--onto", "main"]), [(id.clone(), "held".to_owned())]);
    assert_eq!((env.user_files(), env.git(&["rev-parse", "main"])), (files, head));
    env.git(&["rebase", "--abort"]);
    assert_eq!(fates(&env, 0, &[&id]), [(id, "landed".to_owned())]);
}

#[test]
fn a_land_that_was_killed_is_finished_by_the_next() {
    let env = TestEnv::with_repository("");
    let flag = env.path("tmp/waiting");
    let go = env.path("tmp/go");
    let check =
        format!("touch {}; until test -e {}; do sleep 0.05; done", flag.display(), go.display());
    env.configure(&format!("land_check = \"sh -c '{check}'\"\n"));
    let ids = ["a.txt", "b.txt"].map(|file| finished(&env, file, "x"));
    let landing = env.start_el(&["land", "--all"]);
    env.wait_for_file(&flag);
    assert_eq!(env.git(&["rev-list", "--count", "main"]), "1", "nothing is kept before its check");
    let busy = env.el(&["--robot", "land", "--all"]).fails_with(4).json();
    assert_eq!(
        (&busy["error"]["code"], &busy["error"]["retryable"]),
        (&"busy".into(), &true.into())
    );
    assert_eq!(busy["error"]["message"], "another el land or el pr is at work");
    landing.signal(rustix::process::Signal::KILL);
    let _ = landing.wait(crate::support::SOON);
    std::fs::write(&go, "").unwrap();
    assert_eq!(env.robot(&["land", "--all"])["landed"], 2);
    // And an `el land` that was killed between moving the branch and recording the landing.
    for id in &ids {
        let notes = env.git(&["for-each-ref", "--format=%(refname)", "refs/el/brought"]);
        notes.lines().filter(|name| name.contains(id.as_str())).for_each(|name| {
            env.git(&["update-ref", "-d", name]);
        });
    }
    let again = env.robot(&["land", "--all"]);
    assert!(
        again["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|item| item["fate"] == "landed" || item["fate"] == "already")
    );
    assert_eq!(env.git(&["rev-list", "--count", "main"]), "3");
    let left = std::fs::read_dir(env.project(".eluent/worktrees")).unwrap().flatten();
    assert!(
        left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(".landing"))
    );
}

#[test]
fn the_check_has_what_agents_have() {
    let env = TestEnv::with_repository(
        "worktree_copy = [\".env\"]\nworktree_link = [\"deps\"]\n\
         worktree_setup = \"sh -c 'cat base.txt > made.txt'\"\n\
         land_check = \"sh -c 'cat .env deps/lib made.txt'\"\n",
    );
    std::fs::write(env.project(".env"), "KEY=1\n").unwrap();
    std::fs::create_dir(env.project("deps")).unwrap();
    std::fs::write(env.project("deps/lib"), "lib").unwrap();
    let id = finished(&env, "a.txt", "x");
    assert_eq!(fates(&env, 0, &[&id]), [(id, "landed".to_owned())]);
    assert!(!env.project("made.txt").exists(), "nothing of it is brought in");
    // A commit that breaks the setup is left out, like a commit that breaks the check.
    let bad = finished(&env, "bad.txt", "x");
    let tree = env.path("tmp").join(&bad);
    env.git(&["-C", tree.to_str().unwrap(), "rm", "-q", "base.txt"]);
    env.git(&["-C", tree.to_str().unwrap(), "commit", "-q", "-m", "break it"]);
    let ran = env.el(&["land", &bad]).fails_with(4);
    assert!(ran.stdout.contains("the setup ended as failed"), "{ran:#?}");
}

#[test]
fn a_commit_to_the_target_during_the_check_is_landed_upon() {
    let env = TestEnv::with_repository("");
    let (top, flag) = (env.project("").canonicalize().unwrap(), env.path("tmp/moved"));
    let commit = format!("git -C {} commit -q --allow-empty -m mine", top.display());
    let once = format!("test -e {0} || {{ touch {0}; {commit}; }}", flag.display());
    // The checks play the people who commit meanwhile.
    let check = |commit: &str| {
        env.configure(&format!("land_check = \"sh -c '{commit}'\"\nsandbox = \"off\"\n"));
    };
    check(&once);
    let id = finished(&env, "a.txt", "x");
    assert_eq!(fates(&env, 0, &[&id]), [(id, "landed".to_owned())]);
    assert!(
        env.project("a.txt").exists()
            && env.git(&["log", "-2", "--format=%s", "main"]).ends_with("mine")
    );
    // By a person who never stops committing.
    check(&commit);
    let id = finished(&env, "b.txt", "x");
    let told = env.el(&["land", &id]).fails_with(4);
    assert!(
        told.stdout.contains("main is being moved by somebody else")
            && !told.stdout.contains("fatal"),
        "{told:#?}"
    );
    assert!(
        !env.project("b.txt").exists() && env.git(&["status", "--porcelain", "-uno"]).is_empty()
    );
}

#[test]
fn what_is_closed_while_its_agent_still_works_is_told() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let go = env.path("tmp/go");
    let work = "sh echo x > a.txt && git add a.txt && git commit -q -m a";
    let wait = format!(
        "sh touch {}; until test -e {}; do sleep 0.02; done",
        env.path("tmp/closed").display(),
        go.display()
    );
    let id = env.script_atom(&[work, "close done", &wait]);
    let working = env.start_el(&["work", "--once"]);
    env.wait_for_file(env.path("tmp/closed"));
    let told = env.el(&["land", "--all"]).fails_with(4);
    assert!(told.stdout.contains(&id) && told.stdout.contains("has a run at work"), "{told:#?}");
    std::fs::write(&go, "").unwrap();
    let _ = working.wait(crate::support::SOON).ok();
    assert_eq!(fates(&env, 0, &["--all"]), [(id, "landed".to_owned())]);
}

#[test]
fn a_git_that_still_writes_where_el_land_works_is_waited_for() {
    let env = TestEnv::with_repository("");
    let id = finished(&env, "a.txt", "x");
    let real = env.run(env.command("sh").args(["-c", "command -v git"])).ok().stdout;
    let write = "case \"$*\" in *'worktree add'*) for a; do case $a in *.landing-*) mkdir \
        -p \"$a\"; : > \"$a/x\";; esac; done;; esac";
    env.program("git", &format!("#!/bin/sh\n{write}\nexec {} \"$@\"\n", real.trim()));
    let told = env.el(&["--robot", "land", &id]).fails_with(4).json();
    assert_eq!(told["error"]["retryable"], true, "{told:#}");
}
