//! Work that builds on finished work that has not been brought in.

use crate::support::TestEnv;

/// An atom that needs these files, writes another file, commits and closes.
fn after(env: &TestEnv, blockers: &[&String], needs: &str, file: &str) -> String {
    let script = TestEnv::script(&[
        &format!(
            "sh ls {needs} > /dev/null && echo {file} > {file} && git add {file} && git commit -q \
             -m 'write {file}'"
        ),
        "close done",
    ]);
    let id = env.create("After", &["-d", &script]);
    for blocker in blockers {
        env.el(&["dep", "add", blocker, &id]).ok();
    }
    id
}

#[test]
fn three_layers_hold_what_they_build_on_and_land_in_a_straight_line() {
    let env = TestEnv::with_repository("");
    let [first, second] = ["a.txt", "b.txt"].map(|file| env.writer(file, "x"));
    let third = after(&env, &[&first, &second], "a.txt b.txt", "c.txt");
    // The third atom has no work of its own: its dependents reach the others through it.
    let fourth =
        env.create("Look", &["-d", &TestEnv::script(&["close looked"]), "--blocked-by", &third]);
    let last = after(&env, &[&fourth], "a.txt b.txt c.txt", "d.txt");
    env.work(&["--drain", "--concurrency", "2"]);
    for id in [&first, &second, &third, &fourth, &last] {
        assert_eq!(env.outcomes(id), ["closed"], "{:#}", env.last_run(id));
    }
    assert_eq!(
        env.robot(&["diff", &third])["files"],
        serde_json::json!(["c.txt"]),
        "its own work alone"
    );
    assert_eq!(env.robot(&["diff", &last])["files"], serde_json::json!(["d.txt"]));
    let landed = env.robot(&["land", "--all"]);
    assert_eq!(landed["landed"], 4, "{landed:#}");
    assert_eq!(env.git(&["rev-list", "--count", "main"]), "5");
    assert_eq!(env.git(&["rev-list", "--merges", "--count", "main"]), "0");
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 5);
}

#[test]
fn what_an_agent_commits_after_its_close_is_there_for_who_builds_on_it() {
    let env = TestEnv::with_repository("");
    let late = "sh sleep 1 && echo late > late.txt && git add late.txt && git commit -q -m 'write \
        late.txt'";
    let first = env.create("First", &["-d", &TestEnv::script(&["close done", late])]);
    let then = after(&env, &[&first], "late.txt", "b.txt");
    env.work(&["--drain", "--concurrency", "2", "--isolate", "worktree"]);
    assert_eq!(
        [&first, &then].map(|id| env.outcomes(id)),
        [["closed"], ["closed"]],
        "{:#}",
        env.last_run(&then)
    );
}

#[test]
fn what_does_not_fit_together_is_held_with_the_reason_and_nothing_else_is() {
    let env = TestEnv::with_repository("");
    let [first, second] = ["one", "two"].map(|text| env.writer("same.txt", text));
    let third = after(&env, &[&first, &second], "same.txt", "c.txt");
    let other =
        env.create("Other", &["-d", &TestEnv::script(&["close done"]), "--blocked-by", &first]);
    env.work(&["--drain", "--concurrency", "2"]);
    assert_eq!([&first, &second, &other].map(|id| env.status(id)), ["closed", "closed", "closed"]);
    assert_eq!(
        (env.status(&third).as_str(), env.outcomes(&third).as_slice()),
        ("blocked", &["launch_failed".to_owned()][..])
    );
    let detail = env.last_run(&third)["detail"].to_string();
    assert!(detail.contains("same.txt") && detail.contains(&format!("el/{second}")), "{detail}");
    let why = env.robot(&["why", &third])["last_comment"]["content"].to_string();
    assert!(why.contains("same.txt") && why.contains("el retry"), "{why}");
    assert_eq!(env.git(&["branch", "--list", &format!("el/{third}")]), "", "no half of it is left");
    assert!(!env.project(".eluent/worktrees").join(&third).exists());
    // The first atom lands, the second is given up: then the branches fit.
    env.el(&["land", &first]).ok();
    env.git(&[
        "worktree",
        "remove",
        env.project(".eluent/worktrees").join(&second).to_str().unwrap(),
    ]);
    env.git(&["branch", "-D", "-q", &format!("el/{second}")]);
    env.el(&["retry", &third]).ok();
    env.work(&["--drain", "--isolate", "worktree"]);
    assert_eq!(env.status(&third), "closed");
    assert_eq!(env.robot(&["land", "--all"])["landed"], 1);
}

#[test]
fn a_branch_that_began_before_is_told_what_to_merge() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let id = env.script_atom(&[
        "sh echo x > x.txt && git add x.txt && git commit -q -m x",
        "update deferred",
        "on-attempt 2",
        "close done",
    ]);
    env.work(&["--once"]);
    assert_eq!(env.status(&id), "deferred");
    let blocker = env.writer("needed.txt", "x");
    env.work(&["--once"]);
    env.el(&["dep", "add", &blocker, &id]).ok();
    env.el(&["reopen", &id]).ok();
    env.work(&["--once"]);
    let prompt = env.read_run_file(&env.last_run(&id), "prompt.md");
    assert!(prompt.contains(&format!("git merge el/{blocker}")), "{prompt}");
}
