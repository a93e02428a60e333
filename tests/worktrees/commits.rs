//! The state of a worktree after its agent: uncommitted work, moved branches, and locks of a killed
//! git.

use serde_json::json;

use crate::support::TestEnv;

const COMMIT: &str = "sh echo x > a.txt && git add a.txt && git commit -q -m a";
const ISOLATED: &str = "isolate = \"worktree\"\n";

/// An atom whose agent takes these steps in its worktree, then closes, and an atom that needs
/// `a.txt`.
fn up_and_down(env: &TestEnv, steps: &[&str]) -> (String, String) {
    let up = env.script_atom(&[steps, &["close done"]].concat());
    let script = TestEnv::script(&["sh ls > seen.txt; ls a.txt", "close done --force"]);
    let down = env.create("Down", &["-d", &script, "--blocked-by", &up]);
    (up, down)
}

#[test]
fn an_agent_that_has_not_committed_is_told_once_and_nobody_calls_it_landed() {
    let env = TestEnv::with_repository(ISOLATED);
    let out = env.path("tmp/close").display().to_string();
    let id = env.script_atom(&[
        "sh echo x > a.txt; echo y >> base.txt",
        &format!("sh el --robot close $EL_ATOM --reason one > {out}; echo $? >> {out}"),
        "close two",
    ]);
    let worked = env.el(&["work", "--once"]).ok();
    let told = std::fs::read_to_string(&out).unwrap();
    let (told, status) = told.trim_end().rsplit_once('\n').unwrap();
    let told: serde_json::Value = serde_json::from_str(told).unwrap();
    assert_eq!((status, &told["error"]["code"]), ("4", &json!("uncommitted")));
    assert_eq!(told["error"]["details"]["files"], json!(["base.txt", "a.txt"]));
    assert_eq!(env.show(&id)["close_reason"], "two");
    assert_eq!(env.outcomes(&id), ["closed"]);
    assert!(worked.stdout.contains("2 files not committed"), "{worked:#?}");
    let why = env.el(&["why", &id]).ok().stdout;
    assert!(why.contains("2 files not committed"), "{why}");
    let place = &env.robot(&["worktrees"])["items"][0];
    assert_eq!((&place["landed"], &place["commits"]), (&json!(false), &json!(0)), "{place:#}");
    let listed = env.el(&["worktrees"]).ok().stdout;
    assert!(!listed.contains("landed") && listed.contains("2 not committed"), "{listed}");
    let landed = env.run(env.command("el").args(["--robot", "land", "--all"]));
    assert!(landed.stdout.contains("uncommitted"), "{landed:#?}");
    // A second attempt's finding is reported again.
    env.el(&["reopen", &id]).ok();
    env.el(&["work", "--once"]).ok();
    let told = std::fs::read_to_string(&out).unwrap();
    assert!(told.contains("\"uncommitted\""), "{told}");
}

#[test]
fn an_agent_that_commits_after_it_was_told_closes_and_lands() {
    let env = TestEnv::with_repository(ISOLATED);
    let id = env.script_atom(&[
        "sh echo x > a.txt",
        "close one",
        "sh git add -A && git commit -q -m a",
        "close two",
    ]);
    let forced = env.script_atom(&["sh echo x > b.txt", "sh el close $EL_ATOM --force"]);
    env.work(&["--drain"]);
    assert_eq!([&id, &forced].map(|id| env.outcomes(id)), [["closed"], ["closed"]]);
    assert_eq!(env.robot(&["land", &id])["landed"], 1);
    assert_eq!(std::fs::read_to_string(env.project("a.txt")).unwrap(), "x\n");
}

#[test]
fn outside_of_a_worktree_of_its_own_nobody_is_told() {
    let env = TestEnv::with_repository("");
    let id = env.script_atom(&["sh echo x > a.txt", "close one"]);
    env.work(&["--once"]);
    assert_eq!(env.show(&id)["close_reason"], "one");
}

#[test]
fn work_on_a_renamed_or_another_branch_is_the_atoms_again() {
    for moved in [
        "git branch -m feat/x-$EL_ATOM",
        "git switch -q -c feat/x-$EL_ATOM",
        "git checkout -q --detach",
    ] {
        let env = TestEnv::with_repository(ISOLATED);
        let before = format!("sh {moved}");
        // Before its commit, or after.
        for steps in [[before.as_str(), COMMIT], [COMMIT, before.as_str()]] {
            let (up, down) = up_and_down(&env, &steps);
            env.work(&["--drain"]);
            assert_eq!(
                [&up, &down].map(|id| env.outcomes(id)),
                [["closed"], ["closed"]],
                "{moved}"
            );
            let seen = env.project(".eluent/worktrees").join(&down).join("seen.txt");
            let seen = std::fs::read_to_string(seen).unwrap();
            assert!(seen.contains("a.txt"), "{moved}: {seen}");
            assert_eq!(env.git(&["show", &format!("el/{up}:a.txt")]), "x");
            assert_eq!(env.robot(&["worktrees"])["items"][0]["strayed_to"], json!(null));
            assert_eq!(env.robot(&["land", &up])["landed"], 1, "{moved}");
            env.git(&["reset", "-q", "--hard", "HEAD~1"]);
        }
    }
}

#[test]
fn a_deleted_branch_comes_back_and_its_agent_is_told() {
    let env = TestEnv::with_repository(ISOLATED);
    // `git branch -D` also rewrites packed branches, which the sandbox keeps from it.
    let delete = "sh git checkout -q --detach main && \
                  rm $(git rev-parse --git-common-dir)/refs/heads/el/$EL_ATOM";
    let out = env.path("tmp/close").display().to_string();
    let close = format!("sh el close $EL_ATOM > {out} 2>&1; echo $? >> {out}");
    let (up, down) = up_and_down(&env, &[COMMIT, delete, &close]);
    env.work(&["--drain"]);
    let told = std::fs::read_to_string(&out).unwrap();
    assert!(told.contains("was gone") && told.ends_with("4\n"), "{told}");
    assert_eq!(env.git(&["show", &format!("el/{up}:a.txt")]), "x");
    assert_eq!([&up, &down].map(|id| env.outcomes(id)), [["closed"], ["closed"]]);
    assert!(env.git(&["show", "--stat", &format!("el/{down}")]).contains("a.txt"));
}

#[test]
fn work_apart_from_its_branch_is_kept_and_holds_who_builds_on_it() {
    let env = TestEnv::with_repository(ISOLATED);
    let apart = "sh echo old > old.txt && git add old.txt && git commit -q -m old \
                 && git checkout -q --detach HEAD~1 \
                 && echo x > a.txt && git add a.txt && git commit -q -m a";
    let out = env.path("tmp/close").display().to_string();
    let close = format!("sh el close $EL_ATOM > {out} 2>&1; echo $? >> {out}");
    let (up, down) = up_and_down(&env, &[apart, &close]);
    env.work(&["--drain"]);
    let told = std::fs::read_to_string(&out).unwrap();
    assert!(told.contains("does not have") && told.ends_with("4\n"), "{told}");
    assert_eq!(env.git(&["show", &format!("refs/el/astray/{up}:a.txt")]), "x");
    assert_eq!((env.status(&up), env.status(&down)), ("closed".into(), "blocked".into()));
    let detail = env.last_run(&down)["detail"].to_string();
    assert!(detail.contains(&up), "{detail}");
    let why = env.robot(&["why", &down])["last_comment"]["content"].to_string();
    assert!(why.contains(&format!("refs/el/astray/{up}")), "{why}");
    // After the merge, the work goes on.
    let tree = env.project(".eluent/worktrees").join(&up);
    let at = tree.to_str().unwrap();
    env.git(&["-C", at, "switch", "-q", &format!("el/{up}")]);
    env.git(&["-C", at, "merge", "-q", &format!("refs/el/astray/{up}")]);
    env.el(&["retry", &down]).ok();
    env.work(&["--drain"]);
    assert_eq!(env.status(&down), "closed");
}

#[test]
fn a_lock_of_a_killed_git_does_not_outlive_its_run() {
    let env = TestEnv::with_repository(&format!("{ISOLATED}max_attempts = 2\n"));
    let id = env.script_atom(&[
        "sh d=$(git rev-parse --git-dir) && touch \"$d/index.lock\" \"$d/HEAD.lock\"",
        "die KILL",
        "on-attempt 2",
        COMMIT,
        "close done",
    ]);
    env.work(&["--drain"]);
    assert_eq!(env.outcomes(&id), ["failed", "closed"], "{:#}", env.last_run(&id));
    assert_eq!(env.git(&["show", &format!("el/{id}:a.txt")]), "x");
}

#[test]
fn locks_elsewhere_are_named() {
    let env = TestEnv::with_repository(ISOLATED);
    let id = env.script_atom(&[COMMIT, "close done"]);
    env.work(&["--once"]);
    assert!(!env.el(&["doctor"]).ok().stdout.contains(".lock"));
    let locks = [".git/index.lock".to_owned(), format!(".git/refs/heads/el/{id}.lock")];
    for lock in &locks {
        std::fs::write(env.project(lock), "").unwrap();
    }
    for words in [&["doctor"][..], &["why", &id]] {
        let said = env.el(words).ok().stdout;
        assert!(locks.iter().all(|lock| said.contains(lock.as_str())), "{words:?}: {said}");
    }
    let landed = env.run(env.command("el").args(["--robot", "land", "--all"]));
    assert!(landed.stdout.contains(".lock"), "{landed:#?}");
}
