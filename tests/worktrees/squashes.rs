//! `el land` of what builds on work that its target has as one squash.

use crate::support::TestEnv;
use crate::worktrees::landing::{begin, fates, finished};

/// Writes a file in an atom's worktree, and commits it.
fn commit(env: &TestEnv, id: &str, file: &str, text: &str) {
    let tree = env.path("tmp").join(id);
    let at = tree.to_str().unwrap();
    std::fs::write(tree.join(file), format!("{text}\n")).unwrap();
    env.git(&["-C", at, "add", file]);
    env.git(&["-C", at, "commit", "-q", "-m", &format!("write {text}")]);
}

/// A closed atom that builds on another one, and writes a file.
pub(super) fn finished_on(env: &TestEnv, below: &str, file: &str, text: &str) -> String {
    let id = create_on(env, below);
    commit(env, &id, file, text);
    env.el(&["close", &id]).ok();
    id
}

/// An atom with a branch upon another one.
fn create_on(env: &TestEnv, below: &str) -> String {
    let id = env.create("Go on", &["--blocked-by", below]);
    begin(env, &id, &format!("el/{below}"));
    id
}

/// Squashes a branch into main, as a person does.
fn squash(env: &TestEnv, id: &str) {
    env.git(&["merge", "-q", "--squash", &format!("el/{id}")]);
    env.git(&["commit", "-q", "-m", "squashed (#1)"]);
}

fn write_main(env: &TestEnv, file: &str, text: &str) {
    std::fs::write(env.project(file), format!("{text}\n")).unwrap();
    env.git(&["add", file]);
    env.git(&["commit", "-q", "-m", &format!("main: {text}")]);
}

fn main_has(env: &TestEnv, file: &str) -> String {
    env.git(&["show", &format!("main:{file}")])
}

fn landed(ids: &[&String]) -> Vec<(String, String)> {
    ids.iter().map(|id| ((*id).clone(), "landed".to_owned())).collect()
}

/// Two commits in one line, and a branch that goes on from there in a file, in each mode.
fn each_mode(file: &str, try_it: impl Fn(&TestEnv, &str, &str)) {
    for mode in ["rebase", "merge"] {
        let env = TestEnv::with_repository(&format!("land_mode = \"{mode}\"\n"));
        let below = finished(&env, "base.txt", "one");
        commit(&env, &below, "base.txt", "two");
        let above = finished_on(&env, &below, file, "three");
        try_it(&env, &below, &above);
    }
}

#[track_caller]
fn assert_no_conflict_filed(env: &TestEnv) {
    assert_eq!(env.robot(&["ready"])["count"], 0, "no conflict is filed");
}

#[test]
fn what_builds_on_a_squash_lands_with_its_own_difference_alone() {
    for all in [false, true] {
        each_mode("base.txt", |env, below, above| {
            squash(env, below);
            write_main(env, "more.txt", "main goes on");
            let words = if all { "--all" } else { above };
            let planned = [(above.to_owned(), "to_land".to_owned())];
            assert_eq!(fates(env, 0, &[words, "--dry-run"]), planned);
            let before = env.git(&["rev-parse", "main"]);
            assert_eq!(fates(env, 0, &[words]), landed(&[&above.to_owned()]));
            assert_eq!(main_has(env, "base.txt"), "three");
            assert_eq!(env.git(&["diff", "--name-only", &before, "main"]), "base.txt");
            assert_eq!(env.git(&["rev-list", "--first-parent", "--count", "main"]), "4");
            assert_no_conflict_filed(env);
            assert_eq!(env.robot(&["land", "--all"])["count"], 0);
            assert_eq!(env.robot(&["worktrees", "prune"])["count"], 2);
        });
    }
}

#[test]
fn it_does_not_matter_whether_the_branch_below_is_gone_and_main_went_on_there() {
    each_mode("base.txt", |env, below, above| {
        commit(env, above, "own.txt", "own");
        squash(env, below);
        assert_eq!(env.robot(&["worktrees", "prune"])["count"], 1);
        write_main(env, "base.txt", "two\nfour");
        assert_eq!(fates(env, 4, &[above]), [(above.to_owned(), "conflict".to_owned())]);
        assert_eq!(env.robot(&["ready"])["count"], 1, "both changed the line: a true conflict");
        env.git(&["reset", "-q", "--hard", "HEAD~1"]);
        write_main(env, "more.txt", "main goes on");
        assert_eq!(fates(env, 0, &[above]), landed(&[&above.to_owned()]));
        assert_eq!(
            (main_has(env, "base.txt").as_str(), main_has(env, "own.txt").as_str()),
            ("three", "own")
        );
    });
}

#[test]
fn a_later_change_of_main_in_the_lines_of_the_squash_stays() {
    each_mode("own.txt", |env, below, above| {
        squash(env, below);
        write_main(env, "base.txt", "main goes on");
        assert_eq!(fates(env, 0, &["--all"]), landed(&[&above.to_owned()]));
        assert_eq!(fates(env, 0, &[below]), [(below.to_owned(), "already".to_owned())]);
        assert_eq!(main_has(env, "base.txt"), "main goes on");
        assert_eq!(main_has(env, "own.txt"), "three");
        assert_no_conflict_filed(env);
    });
}

#[test]
fn what_main_took_back_comes_neither_by_itself_nor_with_what_builds_on_it() {
    each_mode("own.txt", |env, below, _| {
        squash(env, below);
        env.git(&["revert", "--no-edit", "HEAD"]);
        let revert = env.git(&["rev-parse", "--short=12", "HEAD"]);
        let told = format!("without the work of {below}, which {revert} took back");
        for words in [&["land", "--all", "--dry-run"][..], &["land", "--all"]] {
            let said = env.el(words).ok().stdout;
            assert!(said.contains(&told), "{said}");
        }
        assert_eq!(main_has(env, "base.txt"), "base");
        assert_eq!(main_has(env, "own.txt"), "three");
        assert_eq!(env.robot(&["land", "--all"])["count"], 0);
        assert_eq!(fates(env, 4, &[below]), [(below.to_owned(), "taken_back".to_owned())]);
        // Closed again, it comes back.
        env.el(&["reopen", below]).ok();
        env.el(&["close", below]).ok();
        assert_eq!(fates(env, 0, &["--all"]), landed(&[&below.to_owned()]));
        assert_eq!(main_has(env, "base.txt"), "two");
        assert_no_conflict_filed(env);
    });
}

#[test]
fn three_in_a_row_land_together_or_one_by_one_on_squashes() {
    for (squashes, together) in [(1, true), (1, false), (2, true)] {
        each_mode("base.txt", |env, below, middle| {
            commit(env, middle, "base.txt", "three again");
            let top = finished_on(env, middle, "base.txt", "four");
            let middle = middle.to_owned();
            squash(env, below);
            let mut left = vec![&middle, &top];
            if squashes == 2 {
                // As a forge does, whose branch had main merged in.
                write_main(env, "base.txt", "three again");
                left.remove(0);
            }
            write_main(env, "more.txt", "main goes on");
            let before = env.git(&["rev-parse", "main"]);
            if together {
                assert_eq!(fates(env, 0, &["--all"]), landed(&left));
            } else {
                for id in left {
                    assert_eq!(fates(env, 0, &[id]), landed(&[id]));
                }
            }
            assert_eq!(main_has(env, "base.txt"), "four");
            assert_eq!(env.git(&["diff", "--name-only", &before, "main"]), "base.txt");
            assert_no_conflict_filed(env);
            assert_eq!(env.robot(&["worktrees", "prune"])["count"], 3);
        });
    }
}

#[test]
fn a_run_begins_on_a_squash_and_on_what_builds_on_it() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let write = |text: &str| format!("sh echo {text} > base.txt && git commit -q -a -m {text}");
    let below = env.script_atom(&[&write("one"), &write("two"), "close done"]);
    let beside = env.create(
        "Beside",
        &["--blocked-by", &below, "-d", &TestEnv::script(&[&write("three"), "close done"])],
    );
    env.work(&["--drain"]);
    squash(&env, &below);
    write_main(&env, "more.txt", "main goes on");
    // It gets main, with the squash, and what builds on the work that was squashed.
    let seen = env.path("tmp/seen");
    let look = format!("sh cat base.txt more.txt > {}", seen.display());
    let script = TestEnv::script(&[&look, &write("four"), "close done"]);
    let last = env.create("Last", &["--blocked-by", &beside, "-d", &script]);
    // Main has changed the lines of the squash: only the squash itself tells that it has landed.
    env.work(&["--drain"]);
    assert_eq!(env.outcomes(&last), ["closed"], "{:#}", env.last_run(&last));
    assert_eq!(std::fs::read_to_string(&seen).unwrap(), "three\nmain goes on\n");
    write_main(&env, "base.txt", "two, as main says");
    let look = format!("sh cat base.txt > {}", seen.display());
    let after = env
        .create("After", &["--blocked-by", &below, "-d", &TestEnv::script(&[&look, "close done"])]);
    env.work(&["--drain"]);
    assert_eq!(env.outcomes(&after), ["closed"], "{:#}", env.last_run(&after));
    assert_eq!(std::fs::read_to_string(&seen).unwrap(), "two, as main says\n");
    env.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(fates(&env, 0, &["--all"]), landed(&[&beside, &last]));
    assert_eq!(main_has(&env, "base.txt"), "four");
}

#[test]
fn a_single_commit_that_main_took_back_does_not_come_with_what_builds_on_it() {
    each_mode("own.txt", |env, _, _| {
        let below = finished(env, "single.txt", "one");
        let above = finished_on(env, &below, "above.txt", "two");
        write_main(env, "more.txt", "main goes on");
        squash(env, &below);
        env.git(&["revert", "--no-edit", "HEAD"]);
        env.el(&["land", &above]).ok();
        assert!(!env.project("single.txt").exists(), "the revert stands");
        assert_eq!(main_has(env, "above.txt"), "two");
        assert_no_conflict_filed(env);
    });
}

#[test]
fn what_takes_out_the_work_below_it_has_not_landed_before_it_is_out() {
    each_mode("own.txt", |env, below, _| {
        let above = create_on(env, below);
        let tree = env.path("tmp").join(&above);
        let at = tree.to_str().unwrap();
        env.git(&["-C", at, "revert", "--no-edit", "HEAD~2..HEAD"]);
        env.el(&["close", &above]).ok();
        squash(env, below);
        assert_eq!(main_has(env, "base.txt"), "two");
        assert_eq!(fates(env, 0, &[&above]), landed(&[&above]));
        assert_eq!(main_has(env, "base.txt"), "base");
        assert_no_conflict_filed(env);
    });
}

/// Takes the last commit of main back as a forge does whose pull requests are squashed.
fn revert_by_forge(env: &TestEnv) {
    env.git(&["revert", "--no-edit", "HEAD"]);
    let words = ["commit", "-q", "--amend", "-m", "Take \"it\" out (#3)", "-m", "Reverts shop#1"];
    env.git(&words);
}

#[test]
fn what_a_forge_took_back_in_its_own_words_stays_out_until_it_is_closed_again() {
    each_mode("own.txt", |env, below, above| {
        squash(env, below);
        revert_by_forge(env);
        write_main(env, "more.txt", "main goes on");
        assert_eq!(fates(env, 0, &["--all", "--dry-run"]).len(), 1);
        assert_eq!(fates(env, 0, &["--all"]), landed(&[&above.to_owned()]));
        assert_eq!(
            (main_has(env, "base.txt"), main_has(env, "own.txt")),
            ("base".into(), "three".into())
        );
        assert_eq!(fates(env, 4, &[below]), [(below.to_owned(), "taken_back".to_owned())]);
        assert_eq!(env.robot(&["worktrees", "prune"])["count"], 1, "of what has landed");
        env.el(&["reopen", below]).ok();
        env.el(&["close", below]).ok();
        assert_eq!(fates(env, 0, &[below]), landed(&[&below.to_owned()]));
        assert_eq!(main_has(env, "base.txt"), "two");
    });
}

#[test]
fn what_goes_on_after_its_squash_lands_the_rest_alone() {
    for is_taken_back in [false, true] {
        each_mode("own.txt", |env, below, _| {
            squash(env, below);
            if is_taken_back {
                revert_by_forge(env);
            } else {
                write_main(env, "base.txt", "main goes on");
            }
            env.el(&["reopen", below]).ok();
            let (file, text) =
                if is_taken_back { ("base.txt", "mended") } else { ("new.txt", "new") };
            commit(env, below, file, text);
            env.el(&["close", below]).ok();
            let planned = [(below.to_owned(), "to_land".to_owned())];
            assert_eq!(fates(env, 0, &[below, "--dry-run"]), planned);
            assert_eq!(fates(env, 0, &[below]), landed(&[&below.to_owned()]));
            let base = if is_taken_back { "mended" } else { "main goes on" };
            assert_eq!(
                (main_has(env, "base.txt").as_str(), main_has(env, file).as_str()),
                (base, text)
            );
            assert_no_conflict_filed(env);
        });
    }
}

#[test]
fn the_work_below_lands_with_the_squash_of_what_builds_on_it() {
    each_mode("own.txt", |env, below, above| {
        squash(env, above);
        write_main(env, "base.txt", "main goes on");
        assert_eq!(env.robot(&["land", "--all"])["count"], 0);
        assert_eq!(fates(env, 0, &[below]), [(below.to_owned(), "already".to_owned())]);
        assert_no_conflict_filed(env);
        assert_eq!(env.robot(&["worktrees", "prune"])["count"], 2);
    });
}

#[test]
fn what_was_foreseen_of_a_squash_with_less_or_more_than_the_work_comes_true() {
    for (left_out, added) in [(true, false), (false, true)] {
        each_mode("own.txt", |env, below, beside| {
            commit(env, below, "left-out.txt", "x");
            let above = finished_on(env, below, "above.txt", "four");
            env.git(&["merge", "-q", "--squash", &format!("el/{below}")]);
            if left_out {
                env.git(&["rm", "-q", "-f", "left-out.txt"]);
            }
            if added {
                std::fs::write(env.project("added.txt"), "x\n").unwrap();
                env.git(&["add", "added.txt"]);
            }
            env.git(&["commit", "-q", "-m", "squashed (#1)"]);
            let names = |found: Vec<(String, String)>| {
                found.into_iter().map(|(atom, _)| atom).collect::<Vec<_>>()
            };
            let foreseen = names(fates(env, 0, &["--all", "--dry-run"]));
            let wanted = [below, beside, &above];
            assert_eq!(foreseen, wanted[usize::from(!left_out)..]);
            assert_eq!(names(fates(env, 0, &["--all"])), foreseen);
            assert_no_conflict_filed(env);
            assert_eq!(main_has(env, "left-out.txt"), "x", "main never had it, or has it");
            write_main(env, "base.txt", "main goes on");
            assert_eq!(env.robot(&["land", "--all"])["count"], 0);
        });
    }
}

#[test]
fn what_takes_out_the_work_below_is_kept_until_it_lands_with_it() {
    each_mode("own.txt", |env, below, above| {
        let undoing = create_on(env, below);
        let tree = env.path("tmp").join(&undoing);
        env.git(&["-C", tree.to_str().unwrap(), "revert", "--no-edit", "main.."]);
        env.el(&["close", &undoing]).ok();
        assert_eq!(env.robot(&["worktrees", "prune"])["count"], 0);
        let before = env.git(&["rev-parse", "main"]);
        let all = [below, above, undoing.as_str()];
        let planned = fates(env, 0, &["--all", "--dry-run"]);
        assert_eq!(planned, all.map(|id| (id.to_owned(), "to_land".to_owned())));
        assert_eq!(fates(env, 0, &["--all"]), all.map(|id| (id.to_owned(), "landed".to_owned())));
        assert_eq!(env.git(&["diff", "--name-only", &before, "main"]), "own.txt");
        assert_eq!(env.robot(&["land", "--all"])["count"], 0);
    });
}

#[test]
fn what_main_took_from_the_middle_of_a_stack_is_no_conflict_once_the_rest_comes() {
    each_mode("own.txt", |env, below, above| {
        let top = finished_on(env, above, "top.txt", "four");
        env.git(&["cherry-pick", &format!("el/{above}")]);
        write_main(env, "own.txt", "main goes on");
        let all = [below, above, top.as_str()];
        let planned = fates(env, 0, &["--all", "--dry-run"]);
        assert_eq!(planned, all.map(|id| (id.to_owned(), "to_land".to_owned())));
        assert_eq!(fates(env, 0, &["--all"]), all.map(|id| (id.to_owned(), "landed".to_owned())));
        assert_no_conflict_filed(env);
        let files = ["base.txt", "own.txt", "top.txt"].map(|file| main_has(env, file));
        assert_eq!(files, ["two", "main goes on", "four"]);
    });
}

#[test]
fn what_one_takes_away_and_the_next_puts_back_is_foreseen_as_it_comes() {
    let env = TestEnv::with_repository("");
    write_main(&env, "kept.txt", "kept");
    let below = finished(&env, "a.txt", "one");
    let change = |id: &str, words: &[&str]| {
        let tree = env.path("tmp").join(id);
        let at = tree.to_str().unwrap();
        env.git(&[&["-C", at], words].concat());
        env.git(&["-C", at, "commit", "-q", "-m", "change it"]);
    };
    change(&below, &["rm", "-q", "kept.txt"]);
    let above = create_on(&env, &below);
    change(&above, &["checkout", "-q", "main", "--", "kept.txt"]);
    env.el(&["close", &above]).ok();
    let all = [&below, &above];
    let planned = fates(&env, 0, &["--all", "--dry-run"]);
    assert_eq!(planned, all.map(|id| (id.clone(), "to_land".to_owned())));
    assert_eq!(fates(&env, 0, &["--all"]), landed(&all));
    assert_eq!(main_has(&env, "kept.txt"), "kept");
}
