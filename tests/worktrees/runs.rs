//! A run's own worktree.

use serde_json::Value;

use crate::support::TestEnv;

#[test]
fn three_at_a_time_work_apart_and_all_land() {
    let env = TestEnv::with_repository("");
    let ids = ["a.txt", "b.txt", "c.txt"].map(|file| env.writer(file, "x"));
    env.work(&["--drain", "--concurrency", "3"]);
    for id in &ids {
        assert_eq!(env.status(id), "closed");
        let run = env.last_run(id);
        assert_eq!(
            run["workdir"],
            env.project(".eluent/worktrees").join(id).canonicalize().unwrap().to_str().unwrap()
        );
        assert!(env.read_run_file(&run, "prompt.md").contains(&format!("on the branch el/{id}")));
    }
    assert!(!env.project("a.txt").exists());
    let shown = env.git(&["status", "--porcelain", "--untracked-files=all"]);
    assert_eq!(shown, "?? .eluent/config.toml", "nothing of the worktrees shows in git");
    let listed = env.robot(&["worktrees"]);
    assert_eq!(
        (listed["count"].clone(), listed["items"][0]["commits"].clone()),
        (3.into(), 1.into())
    );
    assert_eq!(env.robot(&["diff", &ids[1]])["files"], serde_json::json!(["b.txt"]));
    assert!(env.el(&["diff", &ids[1]]).ok().stdout.contains("+x"));
    assert!(env.el(&["diff", &ids[1], "--stat"]).ok().stdout.contains("1 file changed"));

    let would = env.robot(&["land", "--all", "--dry-run"]);
    assert_eq!((would["count"].clone(), would["landed"].clone()), (3.into(), 0.into()));
    let landed = env.robot(&["land", "--all"]);
    assert_eq!(landed["landed"], 3);
    for file in ["a.txt", "b.txt", "c.txt"] {
        assert_eq!(std::fs::read_to_string(env.project(file)).unwrap(), "x\n");
    }
    assert_eq!(env.git(&["rev-list", "--count", "HEAD"]), "4");
    assert_eq!(env.robot(&["land", "--all"])["count"], 0, "again is nothing");
    assert_eq!(env.robot(&["land", &ids[0]])["items"][0]["fate"], "already");
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 3);
    assert_eq!(env.git(&["branch", "--list", "el/*"]), "");
    assert_eq!(env.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_second_attempt_finds_what_the_first_left() {
    let env = TestEnv::with_repository(
        "isolate = \"worktree\"\nworktree_copy = [\".env\"]\n\
         worktree_setup = \"sh -c 'echo once >> setup.log'\"\n",
    );
    std::fs::write(env.project(".env"), "KEY=1\n").unwrap();
    let id = env.script_atom(&[
        "sh echo half > work.txt; cat .env > seen.txt",
        "exit 3",
        "on-attempt 2",
        "sh cat work.txt seen.txt setup.log | tr '\\n' ' ' > all.txt; git rev-parse --abbrev-ref \
         HEAD > branch.txt",
        "close done",
    ]);
    env.work(&["--drain"]);
    assert_eq!(env.outcomes(&id), ["failed", "closed"]);
    let tree = env.project(".eluent/worktrees").join(&id);
    let read = |name: &str| std::fs::read_to_string(tree.join(name)).unwrap();
    assert_eq!(read("all.txt").trim(), "half KEY=1 once");
    assert_eq!(read("branch.txt").trim(), format!("el/{id}"));
    // The work is uncommitted: it does not land, and is not removed.
    let ran = env.el(&["--robot", "land", &id]).fails_with(4);
    let item = ran.json()["error"]["details"]["items"][0].take();
    assert_eq!(item["fate"], "uncommitted");
    assert!(!item["detail"].as_str().unwrap().contains(".env"), "{item}");
    let pruned = env.robot(&["worktrees", "prune"]);
    assert_eq!(pruned["count"], 0);
    assert!(pruned["kept"][0]["reason"].as_str().unwrap().contains("not committed"));
    assert!(tree.join("all.txt").is_file());
    let changed = env.robot(&["diff", &id]);
    assert!(changed["untracked"].as_array().unwrap().contains(&Value::from("work.txt")));
}

#[test]
fn a_later_attempt_finds_its_branch_and_the_worker_asks_no_git_for_it() {
    let env = TestEnv::with_repository("max_attempts = 3\n");
    let id = env.script_atom(&["exit 3", "on-attempt 2", "close done"]);
    // Its first attempt was beside another one, in a worktree.
    env.work(&["--once", "--concurrency", "2"]);
    let first = env.last_run(&id)["workdir"].take();
    env.el(&["retry", &id]).ok();
    let git = env.run(env.command("sh").args(["-c", "command -v git"])).ok().stdout;
    let log = env.path("tmp/git.log");
    let note = format!("tr '\\0' ' ' < /proc/$PPID/cmdline >> {0}; echo $* >> {0}", log.display());
    env.program("git", &format!("#!/bin/sh\n{note}\nexec {} \"$@\"\n", git.trim()));
    env.work(&["--drain"]);
    assert_eq!(env.outcomes(&id), ["failed", "closed"]);
    let second = env.last_run(&id)["workdir"].take();
    assert_eq!(second, first);
    let asked = std::fs::read_to_string(log).unwrap();
    let branch = format!("refs/heads/el/{id}");
    let asks_first = asked.lines().find(|line| line.contains(&branch)).unwrap();
    assert!(asks_first.contains(" supervise "), "{asked}");
}

#[test]
fn a_setup_that_fails_is_a_launch_that_fails_and_says_why() {
    let env = TestEnv::with_repository(
        "isolate = \"worktree\"\nworktree_setup = \"sh -c 'echo no network; exit 7'\"\n\
         max_attempts = 1\n",
    );
    let id = env.writer("a.txt", "x");
    let told = env.el(&["work", "--once"]).fails_with(9).stdout;
    assert_eq!(told.matches("no network").count(), 1, "{told}");
    let run = env.last_run(&id);
    assert_eq!(run["outcome"], "launch_failed");
    assert!(run["detail"].as_str().unwrap().contains("no network"), "{run:#}");
}

#[test]
fn what_el_put_into_a_worktree_keeps_it_from_nothing() {
    let env = TestEnv::with_repository(
        "isolate = \"worktree\"\nworktree_copy = [\".env\"]\nworktree_link = [\"deps\"]\n",
    );
    std::fs::write(env.project(".env"), "KEY=1\n").unwrap();
    std::fs::create_dir(env.project("deps")).unwrap();
    std::fs::write(env.project("deps/lib"), "lib").unwrap();
    let id = env.script_atom(&[
        "sh cat deps/lib .env > a.txt && git add a.txt && git commit -q -m a",
        "close done",
    ]);
    env.work(&["--once"]);
    assert_eq!(env.robot(&["land", &id])["landed"], 1);
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 1);
    assert!(
        env.project("deps/lib").is_file()
            && env.project(".env").is_file()
            && env.project("a.txt").is_file()
    );
}

#[test]
fn a_child_begins_at_its_parents_branch() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let parent = env.writer("parent.txt", "x");
    env.work(&["--once"]);
    let script = TestEnv::script(&[
        "sh test -f parent.txt && echo y > child.txt && git add . && git commit -q -m c",
        "close done",
    ]);
    let child = env.create("Child", &["-d", &script, "--parent", &parent]);
    env.work(&["--once"]);
    assert_eq!(env.robot(&["diff", &child])["files"], serde_json::json!(["child.txt"]));
    assert_eq!(env.robot(&["land", "--all"])["landed"], 2);
    assert_eq!(env.git(&["rev-list", "--count", "HEAD"]), "3");
}

/// `nohup el work &` in a script: `el` ignores SIGHUP and SIGINT, but its children do not.
#[test]
fn agents_setups_and_checks_start_with_the_default_signals() {
    let env = TestEnv::with_repository("");
    let masks = |name: &str| env.path("tmp").join(name).display().to_string();
    let note = |name: &str| format!("grep SigIgn /proc/self/status > {}", masks(name));
    env.configure(&format!(
        "isolate = \"worktree\"\nworktree_setup = \"sh -c '{}'\"\nland_check = \"sh -c '{}'\"\n",
        note("setup"),
        note("check")
    ));
    let write = "sh echo x > a.txt && git add a.txt && git commit -q -m a";
    env.script_atom(&[&format!("sh {}", note("agent")), write, "close done"]);
    for line in ["el work --once", "el land --all"] {
        let ignoring = format!("trap '' INT HUP; exec {line}");
        env.run(env.command("sh").args(["-c", &ignoring])).ok();
    }
    for name in ["setup", "agent", "check"] {
        let line = std::fs::read_to_string(masks(name)).unwrap();
        let mask = line.trim().rsplit('\t').next().unwrap();
        assert_eq!(u64::from_str_radix(mask, 16).unwrap() & 0b11, 0, "{name}: {line}");
    }
}

#[test]
fn a_further_attempt_goes_on_in_the_worktree_of_the_first_also_if_it_is_alone() {
    let env = TestEnv::with_repository("");
    let write = "sh echo x >> a.txt && git add a.txt && git commit -q -m a";
    let id = env.script_atom(&[write, "close done"]);
    env.work(&["--drain", "--concurrency", "2"]);
    env.el(&["reopen", &id]).ok();
    env.work(&["--once"]);
    let folders: Vec<_> = env.runs(&id).iter().map(|run| run["workdir"].clone()).collect();
    assert!(folders.len() == 2 && folders[0] == folders[1], "{folders:?}");
    assert_eq!(env.git(&["rev-list", "--count", &format!("main..el/{id}")]), "2");
    // Where the person said so, agents share the folder all the same.
    env.el(&["reopen", &id]).ok();
    env.configure("isolate = \"none\"\n");
    env.work(&["--once"]);
    assert_eq!(
        env.last_run(&id)["workdir"],
        env.project("").to_str().unwrap().trim_end_matches('/')
    );
}
