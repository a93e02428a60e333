//! The branches whose work a revert takes back, where branches took main in.

use super::super::test_shop::{ATOM, Shop};
use super::super::{LandedBranch, note_landed};
use super::*;

const FILES: [(&str, &str); 2] = [("file", "one\n"), ("own", "one\n")];

fn standing_reverts(shop: &Shop) -> Vec<Revert> {
    let (target, tip) = (shop.at("main"), shop.at("el/t-1"));
    let landing = shop.repository.find_landing(&target, ATOM, &tip).unwrap();
    shop.repository.find_reverts(&target, ATOM, &tip, &landing).unwrap()
}

/// A branch with a commit, before or after it took in main, which has a commit of somebody else.
fn with_main_taken_in(is_before: bool) -> Shop {
    let shop = Shop::new(&FILES);
    let work = || drop(shop.commit(&[("own", "two\n")]));
    if is_before {
        work();
    }
    shop.check_out("main");
    shop.commit(&[("file", "two\n")]);
    shop.check_out("el/t-1");
    shop.git(&["merge", "--quiet", "--no-edit", "main"]);
    if !is_before {
        work();
    }
    shop.check_out("main");
    shop
}

#[test]
fn what_a_branch_took_from_main_is_not_its_own_work() {
    for is_before in [true, false] {
        let shop = with_main_taken_in(is_before);
        shop.git(&["revert", "--no-edit", "HEAD"]);
        assert_eq!(standing_reverts(&shop), []);
        // Main took it back as well if the branch came in between.
        shop.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
        let theirs = shop.at("main");
        shop.git(&["merge", "--quiet", "--no-ff", "--no-edit", "el/t-1"]);
        shop.git(&["revert", "--no-edit", &theirs]);
        assert_eq!(standing_reverts(&shop), []);
    }
}

#[test]
fn a_commit_of_its_own_is_its_work_wherever_it_took_main_in() {
    for is_before in [true, false] {
        let shop = with_main_taken_in(is_before);
        let own = shop.git(&["log", "-1", "--no-merges", "--format=%H", "main..el/t-1"]);
        shop.git(&["merge", "--quiet", "--no-ff", "--no-edit", "el/t-1"]);
        shop.git(&["revert", "--no-edit", &own]);
        let revert = shop.at("main");
        assert_eq!(standing_reverts(&shop)[0].commit, revert);
    }
}

#[test]
fn what_a_branch_had_from_main_when_it_landed_is_not_its_own_work() {
    for way in ["rebase", "merge --no-edit"] {
        let shop = Shop::new(&FILES);
        shop.commit(&[("own", "two\n")]);
        shop.check_out("main");
        let theirs = shop.commit(&[("file", "two\n")]);
        shop.check_out("el/t-1");
        shop.git(&[&way.split(' ').collect::<Vec<_>>()[..], &["--quiet", "main"]].concat());
        let tip = shop.at("el/t-1");
        let own = shop.git(&["log", "-1", "--no-merges", "--format=%H", "main..el/t-1"]);
        shop.check_out("main");
        shop.git(&["merge", "--quiet", "--ff-only", "el/t-1"]);
        let landed = LandedBranch { atom: ATOM.to_owned(), tip: tip.clone(), commit: tip };
        note_landed(&shop.repository, &theirs, &[landed]).unwrap();
        let landed = shop.at("main");
        for has_gone_on in [false, true] {
            if has_gone_on {
                shop.check_out("el/t-1");
                shop.commit(&[("own", "three\n")]);
                shop.check_out("main");
            }
            for (commit, is_own) in [(&theirs, false), (&own, true)] {
                shop.git(&["revert", "--no-edit", commit]);
                assert_eq!(
                    !standing_reverts(&shop).is_empty(),
                    is_own,
                    "{way} {has_gone_on} {commit}"
                );
                shop.git(&["reset", "--quiet", "--hard", &landed]);
            }
        }
    }
}

#[test]
fn a_squash_of_its_own_work_that_a_branch_took_in_is_its_work() {
    for has_gone_on in [false, true] {
        let shop = Shop::new(&FILES);
        shop.commit(&[("own", "two\n")]);
        shop.commit(&[("own", "three\n")]);
        let squash = shop.squash("el/t-1");
        shop.check_out("el/t-1");
        shop.git(&["merge", "--quiet", "--no-edit", "main"]);
        if has_gone_on {
            shop.commit(&[("own", "four\n")]);
        }
        shop.check_out("main");
        assert_eq!(standing_reverts(&shop), []);
        shop.git(&["revert", "--no-edit", &squash]);
        let revert = shop.at("main");
        assert_eq!(standing_reverts(&shop)[0].commit, revert, "{has_gone_on}");
    }
}
