//! `el land` and `el worktrees prune` report and do only what is true now: work that landed once is
//! not forgotten later.

use crate::support::TestEnv;
use crate::worktrees::landing::{fates, finished};

fn fate(id: &str, fate: &str) -> Vec<(String, String)> {
    vec![(id.to_owned(), fate.to_owned())]
}

/// Asserts that nothing is removed, for this reason.
#[track_caller]
fn assert_kept(env: &TestEnv, id: &str, why: &str) {
    let listed = env.robot(&["worktrees"]);
    assert_eq!(
        (&listed["items"][0]["atom_id"], &listed["items"][0]["landed"]),
        (&id.into(), &false.into()),
        "{listed:#}"
    );
    let pruned = env.robot(&["worktrees", "prune"]);
    assert_eq!(pruned["count"], 0, "{pruned:#}");
    let reason = pruned["kept"][0]["reason"].as_str().unwrap();
    assert!(reason.contains(why), "{reason}");
    assert_ne!(env.git(&["branch", "--list", &format!("el/{id}")]), "");
}

#[test]
fn what_landed_on_a_trial_branch_has_not_landed_on_main() {
    let env = TestEnv::with_repository("");
    let id = finished(&env, "a.txt", "x");
    // The commit gets another id when rebased onto this commit.
    env.git(&["checkout", "-q", "-b", "trial"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "trial"]);
    assert_eq!(fates(&env, 0, &["--all"]), fate(&id, "landed"));
    assert_eq!(fates(&env, 0, &[&id]), fate(&id, "already"));
    assert_eq!(env.robot(&["worktrees"])["items"][0]["landed"], true);
    env.git(&["checkout", "-q", "main"]);
    assert_kept(&env, &id, "have not landed");
    env.git(&["branch", "-D", "trial"]);
    assert_kept(&env, &id, "have not landed");
    assert_eq!(fates(&env, 0, &["--all", "--dry-run"]), fate(&id, "to_land"));
    assert_eq!(fates(&env, 0, &["--all"]), fate(&id, "landed"));
    assert!(env.project("a.txt").exists());
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 1);
    assert_eq!(env.git(&["for-each-ref", "refs/el"]), "", "its notes go with it");
}

#[test]
fn what_main_was_set_back_behind_lands_again() {
    let env = TestEnv::with_repository("land_mode = \"merge\"\n");
    let id = finished(&env, "a.txt", "x");
    assert_eq!(fates(&env, 0, &[&id]), fate(&id, "landed"));
    env.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert!(!env.project("a.txt").exists());
    assert_kept(&env, &id, "have not landed");
    assert_eq!(fates(&env, 0, &[&id]), fate(&id, "landed"));
    assert!(env.project("a.txt").exists());
    assert_eq!(fates(&env, 0, &[&id]), fate(&id, "already"));
}

#[test]
fn each_target_gets_it() {
    let env = TestEnv::with_repository("");
    let id = finished(&env, "a.txt", "x");
    env.git(&["branch", "rel"]);
    for onto in ["rel", "main"] {
        assert_eq!(fates(&env, 0, &[&id, "--onto", onto]), fate(&id, "landed"));
        assert_eq!(env.git(&["show", &format!("{onto}:a.txt")]), "x");
    }
    for onto in ["rel", "main"] {
        assert_eq!(fates(&env, 0, &[&id, "--onto", onto]), fate(&id, "already"));
    }
}

#[test]
fn what_was_cherry_picked_or_squashed_has_landed() {
    let env = TestEnv::with_repository("");
    let picked = finished(&env, "a.txt", "x");
    env.git(&["commit", "-q", "--allow-empty", "-m", "meanwhile"]);
    assert_kept(&env, &picked, "have not landed");
    env.git(&["cherry-pick", &format!("el/{picked}")]);
    assert_eq!(fates(&env, 0, &[&picked]), fate(&picked, "already"));
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 1);

    // Two commits to the same lines: no commit of the target equals either change.
    let squashed = finished(&env, "base.txt", "one");
    let tree = env.path("tmp").join(&squashed);
    std::fs::write(tree.join("base.txt"), "two\n").unwrap();
    env.git(&["-C", tree.to_str().unwrap(), "commit", "-q", "-a", "-m", "two"]);
    assert_kept(&env, &squashed, "have not landed");
    env.git(&["merge", "-q", "--squash", &format!("el/{squashed}")]);
    env.git(&["commit", "-q", "-m", "squashed"]);
    assert_eq!(fates(&env, 0, &[&squashed]), fate(&squashed, "already"));
    assert_eq!(env.robot(&["ready"])["count"], 0, "no conflict is filed");
    assert_eq!(env.robot(&["land", "--all"])["count"], 0);
    // Taken out by hand, the work stays out until it is closed again, and its branch is kept.
    std::fs::write(env.project("base.txt"), "base\n").unwrap();
    env.git(&["commit", "-q", "-a", "-m", "back"]);
    assert_kept(&env, &squashed, "was taken back by");
    env.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 1);
}

#[test]
fn the_resolution_in_a_merge_counts_as_work() {
    let env = TestEnv::with_repository("");
    let id = finished(&env, "base.txt", "theirs");
    let tree = env.path("tmp").join(&id);
    let at = tree.to_str().unwrap();
    // Main takes the change itself and goes on; the branch merges main, with a change in the merge.
    env.git(&["cherry-pick", &format!("el/{id}")]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "on"]);
    env.git(&["-C", at, "merge", "-q", "--no-commit", "main"]);
    std::fs::write(tree.join("resolved.txt"), "x\n").unwrap();
    env.git(&["-C", at, "add", "resolved.txt"]);
    env.git(&["-C", at, "commit", "-q", "-m", "merge"]);
    assert_kept(&env, &id, "have not landed");
    assert_eq!(fates(&env, 0, &[&id]), fate(&id, "landed"));
    assert!(env.project("resolved.txt").exists());
}

#[test]
fn a_branch_of_an_agent_is_no_target() {
    let env = TestEnv::with_repository("");
    let [one, other] = ["a.txt", "b.txt"].map(|file| finished(&env, file, "x"));
    let before = env.git(&["for-each-ref"]);
    let ran = env.el(&["land", &one, "--onto", &format!("el/{other}")]).fails_with(2);
    assert!(ran.stderr.contains("is a branch of an agent"), "{ran:#?}");
    assert_eq!(env.git(&["for-each-ref"]), before);
}

#[test]
fn ignored_files_of_the_user_are_never_overwritten() {
    let env = TestEnv::with_repository("");
    std::fs::write(env.project(".git/info/exclude"), ".env\nout\ncache\n").unwrap();
    std::fs::create_dir(env.project("cache")).unwrap();
    let mine = [(".env", ".env"), ("out", "out"), ("cache", "cache/mine")];
    for (theirs, mine) in mine {
        let id = finished(&env, theirs, "theirs");
        std::fs::write(env.project(mine), "mine\n").unwrap();
        let before =
            (env.user_files(), env.git(&["for-each-ref"]), env.git(&["status", "--porcelain"]));
        let ran = env.el(&["land", &id]).fails_with(4);
        assert!(
            ran.stdout.contains("main was not moved") && ran.stdout.contains(theirs),
            "{ran:#?}"
        );
        assert_eq!(fates(&env, 4, &[&id]), fate(&id, "held"));
        assert_eq!(
            (env.user_files(), env.git(&["for-each-ref"]), env.git(&["status", "--porcelain"])),
            before
        );
        assert_eq!(std::fs::read_to_string(env.project(mine)).unwrap(), "mine\n");
    }
    // A folder of the branch in the place of a user's file.
    let id = env.create("Write out/file", &[]);
    let tree = env.path("tmp").join(&id);
    let at = tree.to_str().unwrap();
    env.git(&["worktree", "add", "-q", "-b", &format!("el/{id}"), at, "main"]);
    std::fs::create_dir(tree.join("out")).unwrap();
    std::fs::write(tree.join("out/file"), "theirs\n").unwrap();
    env.git(&["-C", at, "add", "-f", "out/file"]);
    env.git(&["-C", at, "commit", "-q", "-m", "write out/file"]);
    env.el(&["close", &id]).ok();
    assert_eq!(fates(&env, 4, &[&id]), fate(&id, "held"));
    assert_eq!(std::fs::read_to_string(env.project("out")).unwrap(), "mine\n");
    std::fs::remove_file(env.project("out")).unwrap();
    assert_eq!(fates(&env, 0, &[&id]), fate(&id, "landed"));
}

#[test]
fn another_projects_land_is_left_alone() {
    let env = TestEnv::with_repository("");
    let shared = env.path("tmp/shared");
    std::fs::create_dir_all(shared.join(".landing")).unwrap();
    std::fs::write(shared.join(".landing/theirs"), "x").unwrap();
    let seen = env.path("tmp/seen");
    env.configure(&format!(
        "worktrees_directory = \"{}\"\nland_check = \"sh -c 'pwd > {}'\"\n",
        shared.display(),
        seen.display()
    ));
    let id = finished(&env, "a.txt", "x");
    assert_eq!(fates(&env, 0, &[&id]), fate(&id, "landed"));
    let seen = std::fs::read_to_string(&seen).unwrap();
    let name = seen.trim().rsplit('/').next().unwrap();
    assert!(name.starts_with(".landing-el-"), "{name}");
    assert!(shared.join(".landing/theirs").exists());
}

#[test]
fn work_on_another_branch_than_its_own_is_told_and_kept() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let id = env.script_atom(&["close done"]);
    env.work(&["--drain"]);
    assert_eq!(env.status(&id), "closed");
    // A person works on there; an agent's leftovers elsewhere are repaired at the end of its run.
    let tree = env.project(".eluent/worktrees").join(&id);
    let at = tree.to_str().unwrap();
    env.git(&["-C", at, "checkout", "-q", "-b", "feature/x"]);
    std::fs::write(tree.join("x.txt"), "x\n").unwrap();
    env.git(&["-C", at, "add", "x.txt"]);
    env.git(&["-C", at, "commit", "-q", "-m", "x"]);
    let told = format!("its worktree is on feature/x, not on el/{id}");
    let ran = env.el(&["land", &id]).fails_with(4);
    assert!(ran.stdout.contains(&format!("{told}; its commits are not brought in")), "{ran:#?}");
    assert_eq!(fates(&env, 4, &["--all"]), fate(&id, "astray"));
    assert!(env.el(&["worktrees"]).ok().stdout.contains(&told));
    assert_kept(&env, &id, &told);
    env.git(&["-C", at, "checkout", "-q", "--detach"]);
    assert_kept(&env, &id, "its worktree is on no branch");
    env.configure("worktrees_directory = \"elsewhere\"\n");
    assert_kept(&env, &id, "its worktree is on no branch");
    env.configure("isolate = \"worktree\"\n");
    // The owner decides which commits are the work.
    env.git(&["-C", at, "checkout", "-q", "-B", &format!("el/{id}"), "feature/x"]);
    assert_eq!(fates(&env, 0, &[&id]), fate(&id, "landed"));
    assert!(env.project("x.txt").exists());
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 1);
}

/// Reverts the last commit of main, dated an hour ago: before its atom is closed again.
fn revert(env: &TestEnv, words: &[&str]) -> String {
    let mut command = env.command("git");
    command
        .args(["revert", "--no-edit"])
        .args(words)
        .env("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z");
    let _ = env.run(&mut command).ok();
    env.git(&["rev-parse", "HEAD"])
}

#[test]
fn what_was_taken_back_is_brought_in_again_with_what_came_since() {
    for (mode, main_goes_on) in [("rebase", false), ("rebase", true), ("merge", true)] {
        let env = TestEnv::with_repository(&format!("land_mode = \"{mode}\"\n"));
        let id = finished(&env, "a.txt", "x");
        if main_goes_on {
            env.git(&["commit", "-q", "--allow-empty", "-m", "meanwhile"]);
        }
        assert_eq!(fates(&env, 0, &[&id]), fate(&id, "landed"));
        env.el(&["reopen", &id]).ok();
        let taken = revert(&env, if mode == "merge" { &["-m", "1", "HEAD"] } else { &["HEAD"] });
        assert!(!env.project("a.txt").exists());
        let tree = env.path("tmp").join(&id);
        std::fs::write(tree.join("b.txt"), "y\n").unwrap();
        env.git(&["-C", tree.to_str().unwrap(), "add", "b.txt"]);
        env.git(&["-C", tree.to_str().unwrap(), "commit", "-q", "-m", "more"]);
        env.el(&["close", &id]).ok();
        let landed = env.robot(&["land", "--all"]);
        assert_eq!(
            landed["items"][0]["brings_back"],
            serde_json::json!([taken]),
            "{mode} {landed:#}"
        );
        assert!(env.project("a.txt").exists() && env.project("b.txt").exists(), "{mode}");
        assert_eq!(fates(&env, 0, &[&id]), fate(&id, "already"));
    }
}

#[test]
fn what_was_taken_back_stays_so_until_its_atom_is_closed_again() {
    let env = TestEnv::with_repository("");
    let id = finished(&env, "a.txt", "x");
    assert_eq!(fates(&env, 0, &[&id]), fate(&id, "landed"));
    env.git(&["revert", "--no-edit", "HEAD"]);
    env.git(&["commit", "-q", "--amend", "--no-edit", "--date=2100-01-01T00:00:00Z"]);
    let revert = env.git(&["rev-parse", "HEAD"]);
    assert_eq!(env.robot(&["land", "--all"])["count"], 0);
    let told = env.el(&["land", &id]).fails_with(4);
    assert!(
        told.stdout.contains("taken back") && told.stdout.contains(&format!("git revert {revert}")),
        "{told:#?}"
    );
    assert!(!env.project("a.txt").exists());
    // A revert that the branch contains is the branch's own.
    let tree = env.path("tmp").join(&id);
    env.git(&["-C", tree.to_str().unwrap(), "merge", "-q", "main"]);
    assert_eq!(fates(&env, 0, &[&id]), fate(&id, "already"));
}

#[test]
fn what_was_taken_back_is_no_landed_work_and_its_way_back_stays_open() {
    let env = TestEnv::with_repository("");
    let id = finished(&env, "a.txt", "x");
    assert_eq!(fates(&env, 0, &[&id]), fate(&id, "landed"));
    let taken = revert(&env, &["HEAD"]);
    let told = format!("it had landed, and was taken back by {}", &taken[..12]);
    assert_kept(&env, &id, &told);
    assert_eq!(env.robot(&["worktrees"])["items"][0]["taken_back"], taken.as_str());
    assert!(env.el(&["worktrees"]).ok().stdout.contains(&told));
    env.el(&["reopen", &id]).ok();
    env.el(&["close", &id]).ok();
    assert_eq!(fates(&env, 0, &[&id]), fate(&id, "landed"));
    assert!(env.project("a.txt").exists());
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 1);
}

#[test]
fn a_revert_and_a_close_in_the_same_second_are_told_apart() {
    let env = TestEnv::with_repository("");
    let id = finished(&env, "a.txt", "x");
    assert_eq!(fates(&env, 0, &[&id]), fate(&id, "landed"));
    let in_the_second_of_its_close = |words: &[&str]| {
        let at =
            env.robot(&["show", &id])["closed_at"].as_str().unwrap().get(..19).unwrap().to_owned();
        let _ = env
            .run(env.command("git").args(words).env("GIT_COMMITTER_DATE", format!("{at}Z")))
            .ok();
    };
    in_the_second_of_its_close(&["revert", "--no-edit", "HEAD"]);
    assert_eq!(fates(&env, 4, &[&id]), fate(&id, "taken_back"), "the close was before it");
    // Closed once more, in the second of the revert according to git.
    crate::support::wait_until("a reopen and a close in one second", crate::support::SOON, || {
        env.el(&["reopen", &id]).ok();
        env.el(&["close", &id]).ok();
        let events = env.robot(&["history", &id])["items"].take();
        let times: Vec<&str> = events
            .as_array()
            .unwrap()
            .iter()
            .filter(|event| event["kind"] == "status")
            .map(|event| &event["at"].as_str().unwrap()[..19])
            .collect();
        (times[times.len() - 2] == times[times.len() - 1]).then_some(())
    });
    in_the_second_of_its_close(&["commit", "-q", "--amend", "--no-edit"]);
    assert_eq!(fates(&env, 0, &["--all"]), fate(&id, "landed"));
    assert!(env.project("a.txt").exists());
}

#[test]
fn a_branch_that_failed_its_check_is_not_told_as_ready_to_land() {
    let env =
        TestEnv::with_repository("isolate = \"worktree\"\nland_check = \"test ! -e b.txt\"\n");
    let refused = finished(&env, "b.txt", "b");
    assert_eq!(fates(&env, 4, &[&refused]), fate(&refused, "check_failed"));
    let good = finished(&env, "a.txt", "a");
    let said = env.el(&["work", "--drain"]).ok();
    let said = said.stdout + &said.stderr;
    assert!(said.contains(&format!("Did not land: {refused}. el why {refused}")), "{said}");
    assert!(said.contains(&format!("Ready to land: {good}. ")), "{said}");
}

#[test]
fn doctor_tells_where_git_knows_no_author() {
    let env = TestEnv::with_repository("");
    env.git(&["config", "user.useConfigOnly", "true"]);
    let codes = || env.robot(&["doctor"])["findings"].to_string();
    assert!(!codes().contains("git_identity"), "{}", codes());
    std::fs::remove_file(env.path("home/.gitconfig")).unwrap();
    assert!(codes().contains("git_identity"), "{}", codes());
}
