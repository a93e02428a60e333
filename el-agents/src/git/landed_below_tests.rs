use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::super::MergedPull;
use super::super::test_shop::{ATOM, Shop};
use super::*;

/// The lines of a file; an edit replaces one of them.
const LINES: usize = 12;

/// An edit: a file and a line.
type Edit = (usize, usize);

/// A team's day: A works on the first branch, B goes on from there, and C from there. Main has its
/// own commits before and after A, or A and then B, are squashed into it.
#[derive(Debug, Clone)]
struct Day {
    main_before: Vec<Edit>,
    a: Vec<Edit>,
    b: Vec<Edit>,
    c: Vec<Edit>,
    main_after: Vec<Edit>,
    b_is_squashed: bool,
    has_record: bool,
}

fn day() -> impl Strategy<Value = Day> {
    let edits = |most| prop::collection::vec((0..3_usize, 0..LINES), 1..=most);
    let all = (edits(2), edits(3), edits(3), edits(2), edits(2), any::<bool>(), any::<bool>());
    all.prop_map(|(main_before, a, b, c, main_after, b_is_squashed, has_record)| Day {
        main_before,
        a,
        b,
        c,
        main_after,
        b_is_squashed,
        has_record,
    })
}

fn starting_texts() -> Vec<Vec<String>> {
    (0..3).map(|file| (0..LINES).map(|line| format!("{file} {line}")).collect()).collect()
}

/// Makes a commit for each edit, where HEAD is.
fn edit(shop: &Shop, edits: &[Edit], by: &str) {
    for (n, (file, line)) in edits.iter().enumerate() {
        let name = format!("file{file}");
        let text = shop.git(&["show", &format!("HEAD:{name}")]);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines[*line] = format!("{by} {n}");
        shop.commit(&[(&name, &(lines.join("\n") + "\n"))]);
    }
}

/// The result of landing the last branch, and its tree after `rebase --onto`.
type Lived = (Merged, Option<String>, Shop);

/// Returns `None` where a forge would have refused a squash: it was in conflict.
fn live_through(day: &Day) -> Option<Lived> {
    let files =
        starting_texts().into_iter().map(|lines| lines.join("\n") + "\n").collect::<Vec<_>>();
    let shop = Shop::new(&[("file0", &files[0]), ("file1", &files[1]), ("file2", &files[2])]);
    edit(&shop, &day.a, "a");
    shop.begin_branch("t-2");
    edit(&shop, &day.b, "b");
    let (mut last, mut above) = ("t-2", shop.at("el/t-1"));
    if day.b_is_squashed {
        (last, above) = ("t-3", shop.at("HEAD"));
        shop.begin_branch(last);
        edit(&shop, &day.c, "c");
    }
    shop.check_out("main");
    edit(&shop, &day.main_before, "before");
    let squashed: &[&str] = if day.b_is_squashed { &[ATOM, "t-2"] } else { &[ATOM] };
    for atom in squashed {
        let head = shop.at(&format!("el/{atom}"));
        let merged = shop.repository.merge_branch(&shop.at("main"), (atom, &head), "Squash");
        let commit = shop.commit_tree(&shop.tree(&merged.unwrap().ok()?));
        if day.has_record {
            shop.repository.record_merged(atom, &MergedPull { head, commit }).unwrap();
        }
    }
    edit(&shop, &day.main_after, "after");
    let tip = shop.at(&format!("el/{last}"));
    let landed = shop.repository.merge_branch(&shop.at("main"), (last, &tip), "Land").unwrap();
    shop.check_out(&format!("el/{last}"));
    let rebased = shop.rebase_onto("main", &above).then(|| shop.tree("HEAD"));
    shop.git(&["update-ref", &format!("refs/heads/el/{last}"), &tip]);
    Some((landed, rebased, shop))
}

/// Returns the result of going on with the first branch after its squash.
fn go_on_after_squash(day: &Day) -> Option<Lived> {
    let files: Vec<String> =
        starting_texts().into_iter().map(|lines| lines.join("\n") + "\n").collect();
    let shop = Shop::new(&[("file0", &files[0]), ("file1", &files[1]), ("file2", &files[2])]);
    edit(&shop, &day.a, "a");
    let squashed = shop.at("HEAD");
    shop.check_out("main");
    edit(&shop, &day.main_before, "before");
    let squash = land(&shop, ATOM).ok()?;
    shop.commit_tree(&shop.tree(&squash));
    edit(&shop, &day.main_after, "after");
    shop.check_out("el/t-1");
    edit(&shop, &day.c, "c");
    let landed = land(&shop, ATOM);
    let tip = shop.at("HEAD");
    let rebased = shop.rebase_onto("main", &squashed).then(|| shop.tree("HEAD"));
    shop.git(&["reset", "--quiet", "--hard", &tip]);
    Some((landed, rebased, shop))
}

#[track_caller]
fn assert_trees_of_a_rebase(live: impl Fn(&Day) -> Option<Lived>) {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let mut runner = TestRunner::new(Config { cases, ..Config::default() });
    let compared = std::cell::Cell::new(0);
    runner
        .run(&day(), |day| {
            let Some((landed, rebased, shop)) = live(&day) else { return Ok(()) };
            if let (Ok(commit), Some(tree)) = (&landed, &rebased) {
                prop_assert_eq!(&shop.tree(commit), tree);
                compared.set(compared.get() + 1);
            }
            // A rebase brings commits one by one: it may meet a conflict that the whole has not.
            // Where the rebase meets none, the whole must not meet one either.
            prop_assert!(rebased.is_none() || landed.is_ok(), "{:?}", landed);
            Ok(())
        })
        .unwrap();
    assert!(compared.get() > 0, "no case was compared");
}

#[test]
fn landing_on_a_squash_gives_the_tree_of_a_rebase() {
    assert_trees_of_a_rebase(live_through);
}

#[test]
fn going_on_after_a_squash_gives_the_tree_of_a_rebase() {
    assert_trees_of_a_rebase(go_on_after_squash);
}

#[test]
fn only_the_branchs_own_difference_is_left_where_a_plain_merge_conflicts() {
    // A, B and main after it all change one line; main before another.
    for has_record in [false, true] {
        let same = Day {
            main_before: vec![(1, 1)],
            a: vec![(0, 4), (0, 4)],
            b: vec![(0, 4)],
            c: Vec::new(),
            main_after: vec![(2, 2)],
            b_is_squashed: false,
            has_record,
        };
        let (landed, _, shop) = live_through(&same).unwrap();
        let (main, tip) = (shop.at("main"), shop.at("el/t-2"));
        let repository = &shop.repository;
        let plain = repository.merge_in_memory(&main, &tip, &[], "Plain").unwrap();
        assert_eq!(plain, Err(vec!["file0".to_owned()]));
        assert_eq!(shop.git(&["diff", "--numstat", "main", &landed.unwrap()]), "1\t1\tfile0");

        // A branch that took the target in has nothing left to step over.
        let below = repository.landed_below(&main, ("t-2", &tip), &[]).unwrap();
        assert_eq!(below, [shop.at("el/t-1")]);
        let taken_in = repository.take_in(&tip, &main, &below, "Take in").unwrap().unwrap();
        assert!(repository.contains(&taken_in, &tip).unwrap(), "a push forward");
        assert_eq!(shop.git(&["diff", "--numstat", "main", &taken_in]), "1\t1\tfile0");
        let below = repository.landed_below(&main, ("t-2", &taken_in), &[]).unwrap();
        assert_eq!(below, [""; 0]);
    }
}

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

fn text_with(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(TEXT.to_owned(), |text, (line, by)| text.replace(line, by))
}

/// A changes a line twice, and B builds on it with these files. A is squashed into main.
fn squashed_below(above: &[(&str, &str)]) -> (Shop, String) {
    let shop = Shop::new(&[("file", TEXT)]);
    shop.commit(&[("file", &text_with(&[("two", "2")]))]);
    shop.commit(&[("file", &text_with(&[("two", "zwei")]))]);
    shop.begin_branch("t-2");
    shop.commit(above);
    let squash = shop.squash("el/t-1");
    (shop, squash)
}

fn land(shop: &Shop, atom: &str) -> Merged {
    let tip = shop.at(&format!("el/{atom}"));
    shop.repository.merge_branch(&shop.at("main"), (atom, &tip), "Land").unwrap()
}

/// The text of a file of main once an atom has landed.
fn landed_text(shop: &Shop, atom: &str, name: &str) -> String {
    shop.git(&["show", &format!("{}:{name}", land(shop, atom).unwrap())]) + "\n"
}

#[test]
fn what_main_made_of_a_squash_stays() {
    let (shop, squash) = squashed_below(&[("other", "b\n")]);
    // Main goes on in the same line.
    let gone_on = text_with(&[("two", "deux")]);
    shop.commit(&[("file", &gone_on)]);
    assert_eq!(landed_text(&shop, "t-2", "file"), gone_on);
    assert_eq!(landed_text(&shop, "t-2", "other"), "b\n");
    // The branch below has landed as well, and needs no merge.
    assert!(shop.repository.has_landed("main", ATOM, &shop.at("el/t-1")).unwrap());
    // Nobody needs the branch below, once it is gone.
    shop.git(&["branch", "--quiet", "-D", "el/t-1"]);
    assert_eq!(landed_text(&shop, "t-2", "file"), gone_on);
    // Main took it back, by a revert or by hand: so it stays.
    shop.git(&["reset", "--quiet", "--hard", &squash]);
    shop.git(&["revert", "--no-edit", "HEAD"]);
    assert_eq!(landed_text(&shop, "t-2", "file"), TEXT);
    shop.git(&["commit", "--quiet", "--amend", "-m", "back"]);
    assert_eq!(landed_text(&shop, "t-2", "file"), TEXT);
    assert_eq!(landed_text(&shop, "t-2", "other"), "b\n");
}

#[test]
fn a_change_of_what_main_took_back_or_changed_is_a_conflict() {
    let (shop, squash) = squashed_below(&[("file", &text_with(&[("two", "b")]))]);
    shop.git(&["revert", "--no-edit", "HEAD"]);
    assert_eq!(land(&shop, "t-2"), Err(vec!["file".to_owned()]));
    shop.git(&["reset", "--quiet", "--hard", &squash]);
    assert_eq!(landed_text(&shop, "t-2", "file"), text_with(&[("two", "b")]));
    shop.commit(&[("file", &text_with(&[("two", "deux")]))]);
    assert_eq!(land(&shop, "t-2"), Err(vec!["file".to_owned()]));
}

#[test]
fn a_reviewers_resolution_in_a_squash_is_kept() {
    let shop = Shop::new(&[("file", TEXT)]);
    let head = shop.commit(&[("file", &text_with(&[("two", "2")]))]);
    shop.begin_branch("t-2");
    shop.commit(&[("file", &text_with(&[("two", "b")]))]);
    shop.check_out("main");
    let squash = [("file", text_with(&[("two", "2"), ("six", "6")])), ("more", "x\n".to_owned())];
    let squash = squash.each_ref().map(|(name, text)| (*name, text.as_str()));
    let commit = shop.commit(&squash);
    shop.repository.record_merged(ATOM, &MergedPull { head, commit }).unwrap();
    assert_eq!(landed_text(&shop, "t-2", "file"), text_with(&[("two", "b"), ("six", "6")]));
    assert_eq!(landed_text(&shop, "t-2", "more"), "x\n");
}

#[test]
fn what_was_added_below_after_a_branch_began_comes_by_the_squash() {
    for has_record in [false, true] {
        let (shop, _) = squashed_below(&[("other", "b\n")]);
        shop.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
        shop.check_out("el/t-1");
        let head = shop.commit(&[("file", &text_with(&[("two", "zwo")]))]);
        let commit = shop.squash("el/t-1");
        if has_record {
            shop.repository.record_merged(ATOM, &MergedPull { head, commit }).unwrap();
        }
        assert_eq!(landed_text(&shop, "t-2", "file"), text_with(&[("two", "zwo")]));
        assert_eq!(landed_text(&shop, "t-2", "other"), "b\n");
    }
}

#[test]
fn copies_count_as_a_squash_does() {
    let (shop, _) = squashed_below(&[("file", &text_with(&[("two", "b")]))]);
    shop.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    shop.commit(&[("other", "x\n")]);
    shop.git(&["cherry-pick", "main~1..el/t-1"]);
    assert_eq!(landed_text(&shop, "t-2", "file"), text_with(&[("two", "b")]));
    shop.commit(&[("file", &text_with(&[("two", "zwei"), ("six", "6")]))]);
    assert_eq!(landed_text(&shop, "t-2", "file"), text_with(&[("two", "b"), ("six", "6")]));
}

/// A and B change a line each, in files of their own; C builds on both, and changes another line of
/// each file.
fn side_by_side() -> Shop {
    let shop = Shop::new(&[("file", TEXT), ("more", TEXT)]);
    shop.commit(&[("file", &text_with(&[("two", "2")]))]);
    shop.commit(&[("file", &text_with(&[("two", "zwei")]))]);
    shop.check_out("main");
    shop.begin_branch("t-2");
    shop.commit(&[("more", &text_with(&[("two", "2")]))]);
    shop.commit(&[("more", &text_with(&[("two", "zwei")]))]);
    shop.begin_branch("t-3");
    shop.git(&["merge", "--quiet", "--no-edit", "el/t-1"]);
    shop.git(&["update-ref", "refs/el/base/t-3", "HEAD"]);
    let own = text_with(&[("two", "zwei"), ("four", "c")]);
    shop.commit(&[("file", &own), ("more", &own)]);
    shop
}

#[test]
fn what_main_took_back_of_two_side_by_side_stays_out_whichever_came_first() {
    let shop = side_by_side();
    let began = shop.at("main");
    let [a, b] = [("el/t-1", "file"), ("el/t-2", "more")];
    for ((taken_back, its), (kept, others)) in [(a, b), (b, a)] {
        shop.check_out("main");
        shop.git(&["reset", "--quiet", "--hard", &began]);
        shop.squash(taken_back);
        shop.git(&["revert", "--no-edit", "HEAD"]);
        shop.squash(kept);
        assert_eq!(landed_text(&shop, "t-3", its), text_with(&[("four", "c")]));
        let wanted = text_with(&[("two", "zwei"), ("four", "c")]);
        assert_eq!(landed_text(&shop, "t-3", others), wanted);
    }
}

#[test]
fn two_squashes_side_by_side_below_are_stepped_over_together() {
    let shop = side_by_side();
    for main in ["zwei", "deux"] {
        for (atom, name) in [("t-1", "file"), ("t-2", "more")] {
            if main == "zwei" {
                shop.squash(&format!("el/{atom}"));
            }
            shop.commit(&[(name, &text_with(&[("two", main), ("six", "6")]))]);
        }
        for name in ["file", "more"] {
            let wanted = text_with(&[("two", main), ("four", "c"), ("six", "6")]);
            assert_eq!(landed_text(&shop, "t-3", name), wanted);
        }
    }
}

#[test]
fn a_branchs_own_work_that_was_taken_back_by_hand_comes_again() {
    let (shop, _) = squashed_below(&[("other", "b\n")]);
    shop.commit(&[("file", TEXT)]);
    assert_eq!(landed_text(&shop, ATOM, "file"), text_with(&[("two", "zwei")]));
    // One that begins on it tells nothing about it.
    shop.check_out("el/t-1");
    shop.begin_branch("t-3");
    assert_eq!(landed_text(&shop, ATOM, "file"), text_with(&[("two", "zwei")]));
}

#[test]
fn a_squash_upon_a_squash_has_landed_though_main_went_on_in_its_lines() {
    let (shop, _) = squashed_below(&[("file", &text_with(&[("two", "b")]))]);
    shop.check_out("el/t-2");
    let tip = shop.commit(&[("file", &text_with(&[("two", "bb")]))]);
    let has_landed = || shop.repository.has_landed("main", "t-2", &tip).unwrap();
    assert!(!has_landed());
    shop.commit_tree(&shop.tree(&land(&shop, "t-2").unwrap()));
    assert!(has_landed());
    shop.commit(&[("file", &text_with(&[("two", "main goes on")]))]);
    assert!(has_landed());
}
