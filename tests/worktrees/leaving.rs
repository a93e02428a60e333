//! Work that does not simply land: committed at a person's request, given up, or reported in its
//! atom's history.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::TestEnv;
use crate::worktrees::landing::{fates, finished};

fn one(id: &str, fate: &str) -> Vec<(String, String)> {
    vec![(id.to_owned(), fate.to_owned())]
}

/// The events of landings, by kind and fate.
fn landings(env: &TestEnv, id: &str) -> Vec<(String, String)> {
    let events = env.robot(&["history", id])["items"].take();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    events
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| word(&event["kind"]).starts_with("land"))
        .map(|event| (word(&event["kind"]), word(&event["data"]["fate"])))
        .collect()
}

#[test]
fn no_commit_is_checked_twice_in_a_landing() {
    let env = TestEnv::with_repository("");
    let checked = env.path("tmp/checked");
    let check = format!("git rev-parse HEAD >> {}; ! ls bad*.txt", checked.display());
    env.configure(&format!("land_check = \"sh -c '{check}'\"\n"));
    let names = ["a.txt", "b.txt", "bad1.txt", "c.txt", "bad2.txt", "d.txt", "bad3.txt"];
    let ids = names.map(|name| finished(&env, name, "x"));
    let found = fates(&env, 4, &["--all"]);
    let words: Vec<&str> = found.iter().map(|(_, fate)| fate.as_str()).collect();
    let (good, bad) = ("landed", "check_failed");
    assert_eq!(words, [good, good, bad, good, bad, good, bad]);
    let text = fs::read_to_string(&checked).unwrap();
    let mut commits: Vec<&str> = text.lines().collect();
    let count = commits.len();
    commits.sort_unstable();
    commits.dedup();
    assert_eq!(commits.len(), count, "{text}");
    assert!(count <= 12, "{count} checks");
    assert_eq!(landings(&env, &ids[0]), one("landed", "landed"));
    assert_eq!(landings(&env, &ids[2]), one("land_failed", "check_failed"));
}

#[test]
fn a_conflict_is_told_in_the_history_once() {
    let env = TestEnv::with_repository("");
    let [_, second] = ["one", "two"].map(|text| finished(&env, "base.txt", text));
    for _ in 0..2 {
        fates(&env, 4, &["--all"]);
    }
    assert_eq!(landings(&env, &second), one("land_failed", "conflict"));
    // `el show` tells it until the branch is in.
    let shows = |words: &str| env.el(&["show", &second]).ok().stdout.contains(words);
    let conflict = env.robot(&["ready"])["items"][0]["id"].as_str().unwrap().to_owned();
    assert!(shows("in conflict with main") && shows(&format!("el show {conflict}")));
    env.git(&["merge", "-q", "-s", "ours", &format!("el/{second}")]);
    assert!(!shows("in conflict with main"));
}

#[test]
fn a_conflict_waits_for_the_open_one_of_an_earlier_landing_with_the_same_file() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let ids = ["one", "two", "three", "four"].map(|text| finished(&env, "base.txt", text));
    let others = ["five", "six"].map(|text| finished(&env, "other.txt", text));
    let land = |id: &str, code: i32| fates(&env, code, &[id]);
    land(&ids[0], 0);
    land(&ids[1], 4);
    land(&others[0], 0);
    land(&others[1], 4);
    land(&ids[2], 4);
    land(&ids[3], 4);
    let all = env.robot(&["list"])["items"].take();
    let conflict_of = |id: &str| {
        let mut all = all.as_array().unwrap().iter();
        all.find(|atom| atom["metadata"]["land_conflict_of"] == id).unwrap()["id"].clone()
    };
    // The second of the file and the other file's can begin; then the third, then the fourth.
    for expected in [vec![&ids[1], &others[1]], vec![&ids[2]], vec![&ids[3]]] {
        let mut expected: Vec<Value> = expected.into_iter().map(|id| conflict_of(id)).collect();
        let ready = env.robot(&["ready"])["items"].take();
        let mut ready: Vec<Value> =
            ready.as_array().unwrap().iter().map(|atom| atom["id"].clone()).collect();
        for ids in [&mut expected, &mut ready] {
            ids.sort_by_key(Value::to_string);
        }
        assert_eq!(ready, expected);
        ready.iter().for_each(|id| drop(env.el(&["close", id.as_str().unwrap()]).ok()));
    }
}

#[test]
fn of_two_conflicts_with_one_file_the_later_waits_for_the_earlier() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let [_, second, third] = ["one", "two", "three"].map(|text| finished(&env, "base.txt", text));
    let _ = ["four", "five"].map(|text| finished(&env, "other.txt", text));
    fates(&env, 4, &["--all"]);
    let conflict_of = |id: &str| {
        let all = env.robot(&["list"])["items"].take();
        let mut all = all.as_array().unwrap().iter();
        all.find(|atom| atom["metadata"]["land_conflict_of"] == id).unwrap()["id"].clone()
    };
    let [before, after] = [&second, &third].map(|id| conflict_of(id));
    let ready = env.robot(&["ready"])["items"].take();
    let ready: Vec<&Value> = ready.as_array().unwrap().iter().map(|atom| &atom["id"]).collect();
    assert!(ready.contains(&&before) && !ready.contains(&&after) && ready.len() == 2, "{ready:?}");
    // The later begins with what the earlier resolved, so all of it comes in at once.
    for (atom, of, text) in [(&before, &second, "one two"), (&after, &third, "one two three")] {
        let script = TestEnv::script(&[
            &format!("sh git merge -q el/{of}; git show HEAD:base.txt > had-$EL_ATOM.txt"),
            &format!("sh echo {text} > base.txt; git add -A; git commit -q -m resolved"),
            "close resolved",
        ]);
        env.el(&["update", atom.as_str().unwrap(), "-d", &script]).ok();
    }
    env.work(&["--drain"]);
    for (_, fate) in fates(&env, 4, &["--all"]).iter().filter(|(id, _)| *id != second) {
        assert!(["landed", "conflict"].contains(&fate.as_str()), "{fate}");
    }
    assert_eq!(fs::read_to_string(env.project("base.txt")).unwrap(), "one two three\n");
    let had = fs::read_to_string(env.project(format!("had-{}.txt", after.as_str().unwrap())));
    assert_eq!(had.unwrap(), "one two\n");
}

#[test]
fn what_was_left_uncommitted_is_committed_if_a_person_says_so() {
    let put = "isolate = \"worktree\"\nworktree_copy = [\".env\", \".env.local\"]\n";
    let env = TestEnv::with_repository(put);
    fs::write(env.project(".env"), "KEY=1\n").unwrap();
    fs::write(env.project(".env.local"), "KEY=2\n").unwrap();
    fs::write(env.project(".git/info/exclude"), ".env.local\n").unwrap();
    let id = env.script_atom(&["sh echo x > a.txt; rm base.txt", "close done"]);
    env.work(&["--once"]);
    // The agent was told, and closes all the same.
    if env.status(&id) != "closed" {
        env.el(&["close", &id, "--force"]).ok();
    }
    assert_eq!(fates(&env, 4, &[&id]), one(&id, "uncommitted"));
    assert_eq!(env.robot(&["worktrees"])["items"][0]["landed"], false);
    assert!(!env.el(&["worktrees"]).ok().stdout.contains("landed"));
    let told = env.el(&["land", &id]).fails_with(4);
    assert!(told.stdout.contains("--commit"), "{told:#?}");
    let why = env.el(&["why", &id]).ok().stdout;
    assert!(why.contains(&format!("el land {id} --commit")), "{why}");
    // A hook that demands a form sees the summary, or what the person says.
    let hook = env.project(".git/hooks/commit-msg");
    fs::write(&hook, "#!/bin/sh\ngrep -q '^fix: ' \"$1\" || { echo 'no form' >&2; exit 1; }\n")
        .unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let told = env.el(&["land", &id, "--commit"]).fails_with(4).stdout;
    for said in ["no form", "--message", "begins “Play a script"] {
        assert!(told.contains(said), "{said}: {told}");
    }
    assert!(!told.contains("or use --commit"), "{told}");
    env.el(&["land", &id, "-m", "fix: x"]).fails_with(2);
    assert_eq!(fates(&env, 0, &[&id, "--commit", "-m", "fix: x"]), one(&id, "landed"));
    assert!(env.project("a.txt").exists() && !env.project("base.txt").exists());
    let said = env.git(&["log", "-1", "--format=%B", "main"]);
    assert_eq!(said.trim_end(), format!("fix: x\n\nAtom: {id}"));
    assert_eq!(env.git(&["ls-files"]), "a.txt", "nothing of what el put there");
}

#[test]
fn the_last_line_of_el_work_says_what_to_land_and_how() {
    let env = TestEnv::with_repository("");
    let ids = ["a.txt", "b.txt"].map(|file| env.writer(file, "x"));
    let words = ["work", "--drain", "--concurrency", "2"];
    let said = env.el(&words).ok().stdout;
    let last = said.trim_end().lines().last().unwrap();
    assert!(last.contains("el land --all") && ids.iter().all(|id| last.contains(id)), "{said}");
    // A closed branch is on the board as `el land --all` would take it.
    let needs = |env: &TestEnv| {
        let items = env.robot(&["status"])["needs"]["items"].take();
        let texts =
            |need: &Value| format!("{}: {} {}", need["atom_id"], need["title"], need["why"]);
        items.as_array().unwrap().iter().map(texts).collect::<Vec<_>>().join("\n")
    };
    assert!(needs(&env).contains("2 branches can be landed"), "{}", needs(&env));
    let trees = env.robot(&["worktrees"])["items"].take();
    let tree = trees.as_array().unwrap().iter().find(|tree| tree["atom_id"] == ids[0].as_str());
    let loose = std::path::Path::new(tree.unwrap()["path"].as_str().unwrap()).join("loose.txt");
    fs::write(&loose, "x").unwrap();
    let told = needs(&env);
    let says = |id: &str, why: &str| {
        told.lines().any(|line| line.contains(&format!("\"{id}\": ")) && line.contains(why))
    };
    assert!(says(&ids[1], "its branch can be landed"), "{told}");
    assert!(says(&ids[0], "its branch cannot be landed yet: its worktree"), "{told}");
    fs::remove_file(&loose).unwrap();
    fates(&env, 0, &["--all"]);
    let events = env.robot(&["history"])["items"].take();
    let landed = events.as_array().unwrap().iter().filter(|event| event["kind"] == "landed");
    let mut at: Vec<_> = landed.map(|event| event["at"].to_string()).collect();
    assert_eq!(at.len(), 2);
    at.dedup();
    assert_eq!(at.len(), 1, "a landing is one step of el undo");
    assert!(!env.el(&words).ok().stdout.contains("el land"));
}

#[test]
fn a_branch_on_which_nothing_was_done_is_not_landed_and_goes() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let id = env.script_atom(&["close nothing to do"]);
    env.work(&["--once"]);
    assert_eq!(env.robot(&["worktrees"])["items"][0]["landed"], false);
    assert_eq!(fates(&env, 0, &[&id]), one(&id, "nothing"));
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 1);
}

#[test]
fn a_hook_that_refuses_the_commit_is_told() {
    let env = TestEnv::with_repository("");
    let id = finished(&env, "a.txt", "x");
    fs::write(env.path("tmp").join(&id).join("b.txt"), "x\n").unwrap();
    super::hooks::hook(&env, "pre-commit", "echo 'the linter says no' >&2; exit 1");
    let told = env.el(&["land", &id, "--commit"]).fails_with(4);
    assert!(told.stdout.contains("the linter says no"), "{told:#?}");
    assert!(!env.project("a.txt").exists());
}

#[test]
fn a_branch_that_is_given_up_is_kept_for_a_month() {
    let env = TestEnv::with_repository("");
    let id = finished(&env, "a.txt", "x");
    let tree = env.path("tmp").join(&id);
    fs::write(tree.join("b.txt"), "never committed\n").unwrap();
    let tip = env.git(&["rev-parse", &format!("el/{id}")]);
    let refused = env.el(&["worktrees", "remove", &id]).fails_with(4);
    assert!(refused.stderr.contains("not committed") && refused.stderr.contains("--force"));
    let removed = env.robot(&["worktrees", "remove", &id, "--force"]);
    let kept = removed["kept_as"].as_str().unwrap();
    assert!(!tree.exists());
    assert_eq!(env.git(&["branch", "--list", "el/*"]), "");
    assert_eq!(env.git(&["for-each-ref", "--format=%(refname)", "refs/el"]), kept);
    assert_eq!(env.git(&["show", &format!("{kept}:b.txt")]), "never committed");
    assert_eq!(env.git(&["rev-parse", &format!("{kept}^")]), tip);
    assert_eq!(fates(&env, 4, &[&id]), one(&id, "no_branch"));

    // Kept for a month, and no longer.
    assert_eq!(env.robot(&["worktrees", "prune"])["expired"], json!([]));
    let days_ago = |days: u64| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        now.as_secs() - days * 24 * 3600
    };
    let [young, old] = [29, 31].map(|days| format!("refs/el/given-up/{id}/{}", days_ago(days)));
    env.git(&["update-ref", &young, kept]);
    env.git(&["update-ref", &old, kept]);
    assert_eq!(env.robot(&["worktrees", "prune", "--dry-run"])["expired"], json!([old]));
    assert_eq!(env.robot(&["worktrees", "prune"])["expired"], json!([old]));
    let left = env.git(&["for-each-ref", "--format=%(refname)", "refs/el"]);
    assert!(left.contains(&young) && left.contains(kept) && !left.contains(&old), "{left}");
}

#[test]
fn commits_that_no_branch_has_are_kept_with_what_is_given_up() {
    let env = TestEnv::with_repository("");
    let id = finished(&env, "a.txt", "x");
    let tree = env.path("tmp").join(&id);
    let at = tree.to_str().unwrap();
    env.git(&["-C", at, "checkout", "-q", "--detach"]);
    fs::write(tree.join("b.txt"), "detached\n").unwrap();
    env.git(&["-C", at, "add", "b.txt"]);
    env.git(&["-C", at, "commit", "-q", "-m", "detached"]);
    // The atom's own folder, as made by el.
    env.configure(&format!("worktrees_directory = \"{}\"\n", env.path("tmp").display()));
    let removed = env.robot(&["worktrees", "remove", &id, "--force"]);
    let kept = removed["kept_as"].as_str().unwrap();
    assert_eq!(env.git(&["show", &format!("{kept}:b.txt")]), "detached");
}

#[test]
fn what_has_landed_is_removed_without_force_and_a_live_run_keeps_its_branch() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let id = env.writer("a.txt", "x");
    env.work(&["--once"]);
    assert_eq!(fates(&env, 0, &[&id]), one(&id, "landed"));
    assert_eq!(env.robot(&["worktrees", "remove", &id])["kept_as"], Value::Null);
    env.el(&["worktrees", "remove", &id]).fails_with(3);
    let go = env.path("tmp/go");
    let wait = format!(
        "sh touch {}; until test -e {}; do sleep 0.02; done",
        env.path("tmp/began").display(),
        go.display()
    );
    let id = env.script_atom(&[&wait, "close done"]);
    let working = env.start_el(&["work", "--once"]);
    env.wait_for_file(env.path("tmp/began"));
    let refused = env.el(&["worktrees", "remove", &id, "--force"]).fails_with(4);
    assert!(refused.stderr.contains("a run is at work"), "{refused:#?}");
    fs::write(&go, "").unwrap();
    let _ = working.wait(crate::support::SOON).ok();
}

#[test]
fn what_el_itself_changed_is_not_the_users_work_and_dirty_files_are_named() {
    let env = TestEnv::with_repository("");
    env.git(&["add", "-f", ".eluent/config.toml"]);
    env.git(&["commit", "-q", "-m", "configuration"]);
    let id = finished(&env, "a.txt", "x");
    env.el(&["config", "set", "land_check", "true"]).ok();
    assert!(env.git(&["status", "--porcelain", "-uno"]).contains(".eluent/config.toml"));
    assert_eq!(fates(&env, 0, &["--all", "--dry-run"]), one(&id, "to_land"));
    assert_eq!(fates(&env, 0, &["--all"]), one(&id, "landed"));
    assert!(fs::read_to_string(env.project(".eluent/config.toml")).unwrap().contains("land_check"));
    let other = finished(&env, "b.txt", "x");
    fs::write(env.project("base.txt"), "mine\n").unwrap();
    let told = env.el(&["land", &other]).fails_with(4);
    assert!(told.stdout.contains("1 file has changes that are not committed: base.txt"));
}

#[test]
fn why_tells_what_keeps_a_branch_from_its_target_and_the_next_command() {
    let env = TestEnv::with_repository("land_check = \"sh -c '! test -e bad.txt'\"\n");
    let [bad, first, second] =
        ["bad.txt", "base.txt", "base.txt"].map(|file| finished(&env, file, "x"));
    let tree = env.path("tmp").join(&second);
    fs::write(tree.join("base.txt"), "y\n").unwrap();
    env.git(&["-C", tree.to_str().unwrap(), "commit", "-q", "-a", "--amend", "-m", "y"]);
    let why = |id: &str, words: &[&str]| {
        let said =
            env.el(&["why", id]).ok().stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        words.iter().for_each(|word| assert!(said.contains(word), "{word}: {said}"));
        let told = env.robot(&["why", id])["landing"].as_str().unwrap_or_default().to_owned();
        words.iter().for_each(|word| assert!(told.contains(word), "{word}: {told}"));
    };
    why(&bad, &[&format!("has not landed: el land {bad}")]);
    env.el(&["land", "--all"]).fails_with(4);
    why(&bad, &["the check fails on main", &format!("el reopen {bad}"), &format!("el land {bad}")]);
    let conflict = env.robot(&["ready"])["items"][0]["id"].as_str().unwrap().to_owned();
    why(&second, &["in conflict with main", &format!("el show {conflict}")]);
    assert_eq!(env.robot(&["why", &first])["landing"], Value::Null);
    env.git(&["revert", "--no-edit", "HEAD"]);
    why(&first, &["taken back by", "el reopen, el close, el land"]);
    // The board has both ways of a failed check.
    let board = env.el(&["status"]).ok().stdout;
    assert!(board.contains(&format!("el reopen {bad}, or el land {bad}")), "{board}");
}
