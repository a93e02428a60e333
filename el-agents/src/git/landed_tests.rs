//! Landed means landed: a test for each way in which a branch got into its target, or did not.

use super::super::test_shop::{ATOM, Shop};
use super::*;

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

#[test]
fn a_squash_that_was_reverted_has_not_landed() {
    let (shop, tip) = two_commits(&with("two", "2"), &with("two", "zwei"));
    let commit = shop.squash("el/t-1");
    shop.git(&["revert", "--no-edit", &commit]);
    assert_landed(&shop, false);
    let repository = &shop.repository;
    let reverts = |target: &str| repository.find_reverts(target, ATOM, &tip).unwrap();
    // Its revert is known for what it is, so the work does not come again by itself.
    assert_eq!(reverts("main").len(), 1);
    // By the record the branch had landed: `el land` tells the revert.
    record(&shop, &tip, &commit);
    assert_landed(&shop, true);
    assert_eq!(reverts("main")[0].commit, shop.at("main"));
    shop.git(&["revert", "--no-edit", "HEAD"]);
    assert_landed(&shop, true);
    assert_eq!(reverts("main"), []);
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
