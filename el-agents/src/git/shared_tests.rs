//! Two hosts that share branches over a remote.

use tempfile::TempDir;

use super::super::test_shop::{ATOM, Shop};
use super::*;

const BRANCH: &str = "el/t-1";

/// The hosts: the first has committed on the atom's branch, the second has a fresh clone.
fn hosts() -> (Shop, Shop, TempDir) {
    let first = Shop::new(&[("file", "one\n")]);
    let origin = first.add_origin();
    let second = Shop::clone_of(&origin);
    first.commit(&[("file", "two\n")]);
    (first, second, origin)
}

fn share(host: &Shop) -> PushResult {
    host.repository.share_branch("origin", ATOM).unwrap()
}

fn follow(host: &Shop) -> Result<()> {
    let mut repository = host.repository.clone();
    repository.fetch_shared("origin", "el/").unwrap();
    repository.follow_shared(ATOM, "main")
}

fn is_refused(pushed: &PushResult) -> bool {
    matches!(pushed, PushResult::Refused(why) if why.contains("other commits"))
}

#[test]
fn a_branch_goes_back_and_forth_between_hosts() {
    let (first, second, _origin) = hosts();
    assert_eq!(share(&first), PushResult::Pushed);
    follow(&second).unwrap();
    assert_eq!(second.at(BRANCH), first.at(BRANCH));
    assert_eq!(second.at("refs/el/base/t-1"), second.at("main"), "it began at main");
    assert_eq!(second.repository.shared_atoms().unwrap(), [ATOM]);
    second.check_out(BRANCH);
    second.commit(&[("more", "by the second\n")]);
    assert_eq!(share(&second), PushResult::Pushed);
    // Here the branch is checked out, and its files come along.
    follow(&first).unwrap();
    assert_eq!(first.at(BRANCH), second.at(BRANCH));
    assert_eq!(first.git(&["show", "HEAD:more"]), "by the second");
    assert_eq!(first.git(&["status", "--porcelain"]), "");
    // Nothing else was pushed.
    let there = first.git(&["ls-remote", "origin"]);
    let names: Vec<&str> =
        there.lines().filter_map(|line| Some(line.split_once('\t')?.1)).collect();
    assert_eq!(names, ["HEAD", "refs/heads/el/t-1", "refs/heads/main"]);
}

#[test]
fn what_was_rewritten_on_one_host_is_taken_by_a_host_with_nothing_of_its_own() {
    let (first, second, _origin) = hosts();
    share(&first);
    follow(&second).unwrap();
    first.git(&["commit", "--quiet", "--amend", "-m", "in other words"]);
    assert_eq!(share(&first), PushResult::Pushed);
    follow(&second).unwrap();
    assert_eq!(second.at(BRANCH), first.at(BRANCH));
    // So does one that has it checked out.
    second.check_out(BRANCH);
    first.git(&["commit", "--quiet", "--amend", "-m", "in better words"]);
    share(&first);
    follow(&second).unwrap();
    assert_eq!((second.at(BRANCH), second.at("HEAD")), (first.at(BRANCH), first.at(BRANCH)));
    // The remote has nothing new for the host that rewrote it.
    first.git(&["commit", "--quiet", "--amend", "-m", "once more"]);
    let tip = first.at(BRANCH);
    follow(&first).unwrap();
    assert_eq!(first.at(BRANCH), tip);
}

#[test]
fn nothing_is_pushed_over_commits_of_somebody_else() {
    let (first, second, _origin) = hosts();
    share(&first);
    follow(&second).unwrap();
    second.check_out(BRANCH);
    let theirs = second.commit(&[("file", "by the second\n")]);
    share(&second);
    let ours = first.commit(&[("file", "by the first\n")]);
    let there = |host: &Shop| host.repository.remote_tip("origin", BRANCH).unwrap().unwrap();
    assert!(is_refused(&share(&first)), "commits that this host never saw");
    assert_eq!(there(&first), theirs);
    assert!(matches!(follow(&first), Err(GitError::Diverged { branch }) if branch == BRANCH));
    assert_eq!(first.at(BRANCH), ours);
    assert!(is_refused(&share(&first)), "commits that it knows and does not have");
    assert_eq!(there(&first), theirs);
    // As the error says.
    first.git(&["merge", "--quiet", "-X", "ours", "-m", "both", "refs/el/shared/el/t-1"]);
    assert_eq!(share(&first), PushResult::Pushed);
    follow(&second).unwrap();
    assert_eq!(second.at(BRANCH), first.at(BRANCH));
}

#[test]
fn commits_of_a_lost_run_are_set_aside_and_nothing_of_a_person_is() {
    let (first, second, _origin) = hosts();
    share(&first);
    follow(&second).unwrap();
    let stale = first.commit(&[("file", "by the run that was lost\n")]);
    second.check_out(BRANCH);
    let theirs = second.commit(&[("file", "by the next run\n")]);
    share(&second);
    let time: i64 = first.git(&["log", "-1", "--format=%ct", BRANCH]).parse().unwrap();
    let lost = |from, until| LostWork {
        atom: ATOM.to_owned(),
        run: "run-1".to_owned(),
        time: (time + from, time + until),
    };
    assert!(matches!(follow(&first), Err(GitError::Diverged { .. })));
    let aside = |lost: &LostWork| first.repository.set_lost_aside(lost).unwrap();
    assert_eq!(aside(&lost(-9, -1)), None, "somebody committed after its end");
    // Uncommitted files stay, too.
    std::fs::write(first.repository.top().join("file"), "by hand\n").unwrap();
    assert_eq!(aside(&lost(-9, 9)), None);
    assert_eq!(first.at(BRANCH), stale);
    first.git(&["checkout", "--quiet", "--", "file"]);
    let kept = aside(&lost(-9, 9)).unwrap();
    assert_eq!((first.at(&kept), first.at(BRANCH)), (stale, theirs.clone()));
    assert_eq!(first.git(&["show", "HEAD:file"]), "by the next run");
    follow(&first).unwrap();
    assert_eq!(share(&first), PushResult::Pushed);
    assert_eq!(first.repository.remote_tip("origin", BRANCH).unwrap(), Some(theirs));
}

#[test]
fn a_branch_without_work_of_its_own_is_neither_pushed_nor_made() {
    let (first, second, _origin) = hosts();
    first.git(&["reset", "--quiet", "--hard", "main"]);
    assert_eq!(share(&first), PushResult::Pushed);
    assert_eq!(first.repository.remote_tip("origin", BRANCH).unwrap(), None);
    first.commit(&[("file", "two\n")]);
    share(&first);
    first.squash(BRANCH);
    first.git(&["push", "--quiet", "origin", "main"]);
    second.git(&["pull", "--quiet"]);
    follow(&second).unwrap();
    assert_eq!(second.repository.branch_tip(BRANCH).unwrap(), None, "it has landed");
}

#[test]
fn a_remote_that_is_gone_is_named() {
    let (first, _second, origin) = hosts();
    drop(origin);
    let mut repository = first.repository.clone();
    let error = repository.fetch_shared("origin", "el/").unwrap_err();
    assert!(matches!(error, GitError::NotFetched { .. }), "{error}");
    assert_eq!(error.to_string(), "the branches of origin could not be fetched");
    assert!(first.repository.share_branch("origin", ATOM).is_err());
}
