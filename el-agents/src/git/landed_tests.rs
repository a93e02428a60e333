//! Landed means landed: a test for each way in which a branch got into its target, or did not.

use super::super::test_shop::{ATOM, Shop};
use super::super::{GitError, LandedBranch, MergedPull, Revert, note_landed};

const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

/// The lines with one replaced.
fn with(line: &str, by: &str) -> String {
    LINES.replace(line, by)
}

fn shop() -> Shop {
    Shop::new(&[("file", LINES)])
}

/// Two commits on the branch, which is checked out.
fn two_commits(first: &str, second: &str) -> (Shop, String) {
    let shop = shop();
    shop.commit(&[("file", first)]);
    let tip = shop.commit(&[("file", second)]);
    (shop, tip)
}

#[track_caller]
fn assert_landed(shop: &Shop, wanted: bool) {
    let tip = shop.at("el/t-1");
    let target = shop.at("main");
    // A look at many branches reads the notes of all at once.
    let noted = shop.repository.with_notes().unwrap();
    for repository in [&shop.repository, &noted] {
        assert_eq!(repository.has_landed(&target, ATOM, &tip).unwrap(), wanted);
    }
}

fn record(shop: &Shop, head: &str, commit: &str) {
    let pull = MergedPull { head: head.to_owned(), commit: commit.to_owned() };
    shop.repository.record_merged(ATOM, &pull).unwrap();
}

#[test]
fn a_branch_that_nobody_merged_has_not_landed() {
    let shop = shop();
    shop.commit(&[("file", &with("two", "2"))]);
    assert_landed(&shop, false);
}

#[test]
fn a_merge_has_landed() {
    let (shop, _) = two_commits(&with("two", "2"), &with("two", "zwei"));
    shop.check_out("main");
    shop.commit(&[("other", "x\n")]);
    shop.git(&["merge", "--quiet", "--no-edit", "el/t-1"]);
    assert_landed(&shop, true);
}

#[test]
fn one_commit_that_was_squashed_has_landed() {
    let shop = shop();
    shop.commit(&[("file", &with("two", "2"))]);
    shop.squash("el/t-1");
    assert_landed(&shop, true);
}

#[test]
fn commits_that_were_rebased_have_landed() {
    let (shop, _) = two_commits(&with("two", "2"), &with("two", "zwei"));
    shop.check_out("main");
    shop.commit(&[("other", "x\n")]);
    shop.git(&["cherry-pick", "main..el/t-1"]);
    assert_landed(&shop, true);
}

#[test]
fn two_commits_in_other_lines_that_were_squashed_have_landed() {
    let (shop, _) = two_commits(&with("two", "2"), &with("two", "2").replace("eight", "8"));
    shop.squash("el/t-1");
    assert_landed(&shop, true);
}

#[test]
fn two_commits_in_the_same_lines_that_were_squashed_have_landed() {
    let (shop, _) = two_commits(&with("two", "2"), &with("two", "zwei"));
    shop.squash("el/t-1");
    assert_landed(&shop, true);
}

#[test]
fn a_squash_has_landed_though_main_edits_other_lines_later() {
    let (shop, _) = two_commits(&with("two", "2"), &with("two", "zwei"));
    shop.squash("el/t-1");
    shop.commit(&[("file", &with("two", "zwei").replace("nine", "9")), ("other", "x\n")]);
    assert_landed(&shop, true);
}

#[test]
fn a_squash_has_landed_though_main_had_moved_next_to_it() {
    let (shop, _) = two_commits(&with("two", "2"), &with("two", "zwei"));
    shop.check_out("main");
    shop.commit(&[("file", &with("four", "4"))]);
    shop.squash("el/t-1");
    assert_landed(&shop, true);
}

#[test]
fn commits_that_change_nothing_in_the_end_have_landed() {
    let (shop, _) = two_commits(&with("two", "2"), LINES);
    shop.squash("el/t-1");
    assert_landed(&shop, true);
}

#[test]
fn a_squash_in_whose_lines_main_went_on_has_landed() {
    let (shop, tip) = two_commits(&with("two", "2"), &with("two", "zwei"));
    let commit = shop.squash("el/t-1");
    // A merge would be in conflict.
    shop.commit(&[("file", &with("two", "deux"))]);
    assert_landed(&shop, true);
    record(&shop, &tip, &commit);
    assert_landed(&shop, true);
    // Another commit since then has not landed.
    shop.check_out("el/t-1");
    shop.commit(&[("file", &with("two", "zwo"))]);
    assert_landed(&shop, false);
}

#[test]
fn a_squash_with_a_reviewers_commit_has_landed_by_its_record() {
    let (shop, tip) = two_commits(&with("two", "2"), &with("two", "zwei"));
    let reviewed = shop.commit(&[("file", &with("two", "deux"))]);
    let commit = shop.squash("el/t-1");
    shop.git(&["update-ref", "refs/heads/el/t-1", &tip]);
    assert_landed(&shop, false);
    record(&shop, &reviewed, &commit);
    assert_landed(&shop, true);
}

/// The standing reverts of the branch's work in main.
fn standing_reverts(shop: &Shop) -> Vec<Revert> {
    let (target, tip) = (shop.at("main"), shop.at("el/t-1"));
    let landing = shop.repository.find_landing(&target, ATOM, &tip).unwrap();
    shop.repository.find_reverts(&target, ATOM, &tip, &landing).unwrap()
}

/// Ways of bringing the branch, two commits, to main.
const WAYS: [&str; 7] =
    ["squash", "recorded squash", "larger squash", "copies", "one copy", "merge", "fast-forward"];

/// Returns the files of main before that.
fn bring(shop: &Shop, way: &str) -> String {
    if way == "one copy" {
        shop.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    }
    let tip = shop.at("el/t-1");
    shop.check_out("main");
    if way != "fast-forward" {
        shop.commit(&[("other", "x\n"), ("file", &with("nine", "9"))]);
    }
    let before = shop.tree("main");
    match way {
        "squash" => drop(shop.squash("el/t-1")),
        "recorded squash" => record(shop, &tip, &shop.squash("el/t-1")),
        "larger squash" => {
            let squash = shop.squash("el/t-1");
            shop.git(&["reset", "--quiet", "--soft", "HEAD~1"]);
            let reviewed = shop.commit(&[("reviewed", "x\n")]);
            record(shop, &tip, &reviewed);
            assert_ne!(squash, reviewed);
        }
        "copies" | "one copy" => drop(shop.git(&["cherry-pick", "main..el/t-1"])),
        "merge" => drop(shop.git(&["merge", "--quiet", "--no-ff", "--no-edit", "el/t-1"])),
        _ => drop(shop.git(&["merge", "--quiet", "--ff-only", "el/t-1"])),
    }
    before
}

#[test]
fn a_revert_is_known_by_what_it_does_whatever_its_message_says() {
    for way in WAYS {
        for has_moved in [false, true] {
            let shop = two_commits(&with("two", "2"), &with("two", "zwei").replace("five", "5")).0;
            let before = bring(&shop, way);
            assert_landed(&shop, true);
            assert_eq!(standing_reverts(&shop), [], "{way}");
            let (mut out, mut back) = (before, shop.tree("main"));
            if has_moved {
                let moved = |tree: &str| {
                    shop.git(&["read-tree", "-u", "--reset", tree]);
                    shop.commit(&[("elsewhere", "main goes on\n")]);
                    shop.tree("HEAD")
                };
                out = moved(&out);
                shop.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
                back = moved(&back);
            }
            let revert = shop.commit_tree(&out);
            let found = standing_reverts(&shop);
            assert_eq!(found.len(), 1, "{way}");
            assert!(found[0].commit == revert && found[0].is_of_all, "{way}: {found:?}");
            assert_landed(&shop, true);
            // It came again, went again, and came again.
            shop.commit_tree(&back);
            assert_eq!(standing_reverts(&shop), [], "{way}");
            let last = shop.commit_tree(&out);
            assert_eq!(standing_reverts(&shop)[0].commit, last, "{way}");
            shop.commit_tree(&back);
            assert_eq!(standing_reverts(&shop), [], "{way}");
            // Other changes in the same lines take nothing back.
            shop.commit(&[("file", &with("two", "main goes on"))]);
            assert_eq!(standing_reverts(&shop), [], "{way}");
            assert_landed(&shop, true);
        }
    }
}

#[test]
fn a_revert_stands_though_a_branch_above_was_merged_since() {
    let shop = stacked_shop(&[("own", "b\n")]);
    let squash = shop.squash("el/t-1");
    shop.commit_tree(&shop.tree("HEAD~1"));
    let revert = shop.at("main");
    let tip = shop.at("el/t-2");
    let landed = shop.repository.merge_branch("main", ("t-2", &tip), "Land B").unwrap().unwrap();
    shop.git(&["reset", "--quiet", "--hard", &landed]);
    shop.commit(&[("other", "x\n")]);
    assert_eq!(standing_reverts(&shop)[0].commit, revert);
    shop.commit_tree(&shop.git(&["merge-tree", "--write-tree", "main", &squash]));
    assert_eq!(standing_reverts(&shop)[0].commit, revert, "a merge of the squash brings nothing");
}

#[test]
fn a_title_names_what_was_taken_back_where_neither_words_nor_content_do() {
    let (shop, _) = two_commits(&with("two", "2"), &with("two", "zwei"));
    shop.squash("el/t-1");
    // A squash with more than the work, and a revert that leaves some of it.
    shop.git(&["reset", "--quiet", "--soft", "HEAD~1"]);
    let squash = shop.commit(&[("reviewed", "x\n")]);
    shop.git(&["commit", "--quiet", "--amend", "-m", "Add a \"zwei\" (#1)"]);
    assert_landed(&shop, true);
    for (title, is_known) in [("Revert \"Add a \"zwei\" (#1)\" (#2)", true), ("Undo", false)] {
        shop.commit(&[("file", LINES), ("reviewed", "y\n")]);
        shop.git(&["commit", "--quiet", "--amend", "-m", title, "-m", "Reverts acme/shop#1"]);
        assert_eq!(standing_reverts(&shop).len(), usize::from(is_known), "{title}");
        shop.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    }
    assert_ne!(squash, shop.at("main"));
}

#[test]
fn what_a_squash_brought_again_after_its_revert_is_not_taken_back() {
    let (shop, _) = two_commits(&with("two", "2"), &with("two", "zwei"));
    let commit = shop.squash("el/t-1");
    shop.git(&["revert", "--no-edit", &commit]);
    assert_eq!(standing_reverts(&shop)[0].commit, shop.at("main"));
    shop.squash("el/t-1");
    assert_eq!(standing_reverts(&shop), []);
    shop.commit(&[("file", &with("two", "main goes on"))]);
    assert_eq!(standing_reverts(&shop), []);
    assert_landed(&shop, true);
}

/// B builds on A, whose branch has two commits. B is checked out.
fn stacked_shop(above: &[(&str, &str)]) -> Shop {
    let (shop, _) = two_commits(&with("two", "2"), &with("two", "zwei").replace("five", "5"));
    shop.begin_branch("t-2");
    shop.commit(above);
    shop
}

#[test]
fn what_is_below_a_landed_branch_landed_with_it() {
    let same_line = with("two", "b").replace("five", "5");
    for above in [("own", "b\n"), ("file", &same_line)] {
        for is_recorded in [false, true] {
            let shop = stacked_shop(&[above]);
            let tip = shop.at("el/t-2");
            let squash = shop.squash("el/t-2");
            if is_recorded {
                let pull = MergedPull { head: tip, commit: squash.clone() };
                shop.repository.record_merged("t-2", &pull).unwrap();
            }
            shop.commit(&[("file", &with("five", "main goes on"))]);
            assert_landed(&shop, true);
            assert_eq!(standing_reverts(&shop), []);
            // So it does if it was taken back.
            shop.git(&["reset", "--quiet", "--hard", &squash]);
            shop.commit_tree(&shop.tree("HEAD~1"));
            assert_landed(&shop, true);
            assert_eq!(standing_reverts(&shop)[0].commit, shop.at("main"));
            // Commits since then are not below it.
            shop.check_out("el/t-1");
            shop.commit(&[("more", "x\n")]);
            assert_landed(&shop, false);
        }
    }
}

#[test]
fn what_main_never_had_has_not_landed_with_a_branch_that_takes_it_out() {
    let shop = stacked_shop(&[("file", LINES)]);
    shop.check_out("main");
    shop.commit(&[("other", "x\n")]);
    shop.commit(&[("file", &with("eight", "8"))]);
    shop.git(&["commit", "--quiet", "--allow-empty", "-m", "nothing"]);
    assert_landed(&shop, false);
    // The other squash has files of its own alone.
    let shop = stacked_shop(&[("file", LINES), ("own", "b\n")]);
    shop.squash("el/t-2");
    shop.commit(&[("file", &with("eight", "8"))]);
    assert_landed(&shop, false);
}

#[test]
fn a_larger_squash_in_whose_lines_a_branch_above_landed_has_landed() {
    let shop = stacked_shop(&[("file", &with("two", "b").replace("five", "5"))]);
    let tip = shop.at("el/t-2");
    shop.squash("el/t-1");
    shop.git(&["reset", "--quiet", "--soft", "HEAD~1"]);
    shop.commit(&[("reviewed", "x\n")]);
    assert_landed(&shop, true);
    let brought = shop.repository.merge_branch(&shop.at("main"), ("t-2", &tip), "Land B");
    let brought = brought.unwrap().unwrap();
    shop.git(&["reset", "--quiet", "--hard", &brought]);
    assert_landed(&shop, true);
    // So it is where el put it on top by a rebase.
    let before = shop.at("main~1");
    let rebased = shop.git(&["commit-tree", "main^{tree}", "-p", &before, "-m", "Land B"]);
    shop.git(&["reset", "--quiet", "--hard", &rebased]);
    let landed = LandedBranch { atom: "t-2".into(), tip, commit: rebased.clone() };
    note_landed(&shop.repository, &before, &[landed]).unwrap();
    assert_landed(&shop, true);
    assert_eq!(standing_reverts(&shop), []);
    // A revert of the branch above takes nothing of this one back.
    shop.git(&["revert", "--no-edit", "HEAD"]);
    assert_landed(&shop, true);
    assert_eq!(standing_reverts(&shop), []);
}

#[test]
fn a_part_that_main_got_first_is_no_landing_of_a_branch_that_takes_out_the_rest() {
    // Main has both commits below as copies, and this branch takes out the second.
    let shop = stacked_shop(&[("file", &with("two", "2"))]);
    shop.check_out("main");
    shop.commit(&[("other", "x\n")]);
    shop.git(&["cherry-pick", "main..el/t-1"]);
    let landed = |atom: &str| {
        let (target, tip) = (shop.at("main"), shop.at(&format!("el/{atom}")));
        shop.repository.has_landed(&target, atom, &tip).unwrap()
    };
    assert!(landed(ATOM) && !landed("t-2"));
    // So it is if the branch itself went on so.
    shop.git(&["branch", "--quiet", "--force", "el/t-1", "el/t-2"]);
    assert!(!landed(ATOM));
    shop.commit(&[("file", &with("two", "2"))]);
    assert!(landed(ATOM) && landed("t-2"));
}

#[test]
fn a_record_counts_only_where_the_target_has_the_commit() {
    let (shop, tip) = two_commits(&with("two", "2"), &with("two", "zwei"));
    let commit = shop.squash("el/t-1");
    record(&shop, &tip, &commit);
    shop.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    assert_landed(&shop, false);
    let unknown = MergedPull { head: tip, commit: "1".repeat(40) };
    assert!(matches!(shop.repository.record_merged(ATOM, &unknown), Err(GitError::NoRevision(_))));
}
