use super::*;

fn branch(id: &str, closed: i64) -> AtomBranch {
    AtomBranch {
        atom_id: id.to_owned(),
        status: Some(Status::Closed),
        title: Some("Work".to_owned()),
        branch: format!("el/{id}"),
        tip: "1".repeat(40),
        path: Some("/tmp/tree".into()),
        missing: false,
        strayed_to: None,
        apart: None,
        uncommitted: Vec::new(),
        commits: 1,
        landed: false,
        taken_back: None,
        live: false,
        ours: true,
        pull_request: None,
        work_below: Vec::new(),
        reverts: Vec::new(),
        reverted_below: Vec::new(),
        closed_at: Some(Timestamp::from_micros(closed * 1_000_000)),
        reopened_at: None,
        committed_at: None,
        parent: None,
    }
}

fn outcomes(branches: &[AtomBranch], wanted: Option<&[String]>) -> Vec<(String, LandOutcome)> {
    plan_landing(branches, wanted).into_iter().map(|item| (item.atom_id, item.outcome)).collect()
}

#[test]
fn branches_come_in_the_order_in_which_they_were_finished() {
    let found = outcomes(&[branch("a", 9), branch("b", 3), branch("c", 3)], None);
    let ids: Vec<&str> = found.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["b", "c", "a"]);
}

#[test]
fn each_state_has_its_outcome_and_all_names_only_what_could_be_brought_in() {
    let with = |change: &dyn Fn(&mut AtomBranch)| {
        let mut one = branch("a", 1);
        change(&mut one);
        let named = outcomes(&[one.clone()], Some(&["a".to_owned()]))[0].1;
        (named, outcomes(&[one], None).len())
    };
    use LandOutcome::*;
    assert_eq!(with(&|_| {}), (ToLand, 1));
    assert_eq!(with(&|one| one.landed = true), (Already, 0));
    assert_eq!(with(&|one| one.status = Some(Status::Open)), (NotFinished, 0));
    assert_eq!(with(&|one| one.strayed_to = Some("x".to_owned())), (Astray, 1));
    assert_eq!(with(&|one| one.uncommitted = vec!["?? x".to_owned()]), (Uncommitted, 1));
    assert_eq!(with(&|one| one.commits = 0), (Nothing, 0));
    assert_eq!(with(&|one| one.live = true), (AtWork, 1));
    let live_and_open = |one: &mut AtomBranch| {
        (one.live, one.status) = (true, Some(Status::InProgress));
    };
    assert_eq!(with(&live_and_open), (AtWork, 0));
    assert_eq!(outcomes(&[], Some(&["z".to_owned()])), [("z".to_owned(), NoBranch)]);
    let nothing_committed = |one: &mut AtomBranch| {
        (one.commits, one.uncommitted) = (0, vec!["?? x".to_owned()]);
    };
    assert_eq!(with(&nothing_committed), (Uncommitted, 1));
}

#[test]
fn what_lands_by_a_pull_request_lands_here_at_a_persons_word_alone() {
    use el_core::model::{PullRequest, PullRequestState};
    let with = |state, pushed: &str| {
        let mut one = branch("a", 1);
        let time = Timestamp::from_micros(0);
        let mut pull = PullRequest::new("a", 1, "github", "github.com/acme/shop", time);
        (pull.state, pull.pushed) = (state, Some(pushed.repeat(40)));
        one.pull_request = Some(pull);
        let one = [one];
        let named = outcomes(&one, Some(&["a".to_owned()]))[0].1;
        (named, outcomes(&one, None).len(), plan_any(&one, None).len())
    };
    use LandOutcome::ToLand;
    assert_eq!(with(PullRequestState::Open, "2"), (ToLand, 0, 1));
    assert_eq!(with(PullRequestState::Merged, "1"), (ToLand, 0, 1));
    assert_eq!(with(PullRequestState::Merged, "2"), (ToLand, 1, 1), "a further commit");
    assert_eq!(with(PullRequestState::Closed, "1"), (ToLand, 1, 1));
}

#[test]
fn what_builds_on_a_pull_request_waits_unless_that_one_is_named_too() {
    let below = |id: &str| WorkBelow {
        atom_id: id.to_owned(),
        state: "pull request #1 is open".to_owned(),
    };
    let mut one = branch("b", 1);
    one.work_below = vec![below("a")];
    let planned = |wanted: Option<&[&str]>| {
        let wanted = wanted.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
        let all = [branch("a", 0), one.clone(), branch("c", 2)];
        let items = plan_landing(&all, wanted.as_deref());
        items.into_iter().find(|item| item.atom_id == "b").unwrap()
    };
    for wanted in [None, Some(&["b", "c"][..])] {
        let item = planned(wanted);
        assert_eq!(item.outcome, LandOutcome::Waits);
        let told = item.detail.unwrap();
        let words = "it builds on a, whose pull request #1 is open; el land a b brings that in";
        assert!(told.starts_with(words), "{told}");
    }
    assert_eq!(planned(Some(&["b", "a"])).outcome, LandOutcome::ToLand);
    one.status = Some(Status::Open);
    let item = plan_landing(&[one], Some(&["b".to_owned()])).remove(0);
    assert_eq!(item.outcome, LandOutcome::NotFinished);
}

#[test]
fn what_was_taken_back_waits_for_a_later_close() {
    let reverted = |closed: i64, reopened: Option<i64>| {
        let mut one = branch("a", closed);
        one.taken_back = Some("f".repeat(40));
        one.reverts = vec![Revert { commit: "f".repeat(40), at: 10, is_of_all: true }];
        one.reopened_at = reopened.map(|at| Timestamp::from_micros(at * 1_000_000));
        let item = plan_landing(&[one], Some(&["a".to_owned()])).remove(0);
        (item.outcome, item.brings_back.len())
    };
    assert_eq!(reverted(9, None), (LandOutcome::TakenBack, 0));
    assert_eq!(reverted(11, Some(11)), (LandOutcome::ToLand, 1));
    assert_eq!(reverted(10, Some(9)), (LandOutcome::TakenBack, 0));
    assert_eq!(reverted(10, Some(10)), (LandOutcome::ToLand, 1));
    // One that had not landed as a whole waits as well, unless it goes on.
    let partly = |closed: i64, committed: i64| {
        let mut one = branch("a", closed);
        one.reverts = vec![Revert { commit: "f".repeat(40), at: 10, is_of_all: false }];
        one.committed_at = Some(committed);
        plan_landing(&[one], None).remove(0).outcome
    };
    assert_eq!(partly(9, 8), LandOutcome::Held);
    assert_eq!(partly(11, 8), LandOutcome::ToLand);
    assert_eq!(partly(9, 11), LandOutcome::ToLand);
}

#[test]
fn what_one_revert_took_back_of_two_comes_again_for_both_or_for_none() {
    let reverted = |atom: &str, closed: i64| {
        let mut one = branch(atom, closed);
        one.taken_back = Some("f".repeat(40));
        one.reverts = vec![Revert { commit: "f".repeat(40), at: 10, is_of_all: true }];
        one
    };
    let one_of_them = [reverted("a", 12), reverted("b", 9)];
    let planned = outcomes(&one_of_them, Some(&["a".to_owned()]));
    assert_eq!(planned, [("a".to_owned(), LandOutcome::TakenBack)]);
    let item = plan_landing(&one_of_them, Some(&["a".to_owned()])).remove(0);
    assert!(item.detail.unwrap().contains("el reopen b"));
    let both = [reverted("a", 12), reverted("b", 13)];
    let wanted = ["a", "b"].map(|atom| (atom.to_owned(), LandOutcome::ToLand));
    assert_eq!(outcomes(&both, None), wanted);
}

#[test]
fn work_below_that_was_taken_back_is_told_unless_it_comes_again() {
    let revert = "f".repeat(40);
    let mut above = branch("b", 2);
    above.reverted_below = vec![("a".to_owned(), revert.clone())];
    let mut below = branch("a", 1);
    (below.landed, below.taken_back) = (false, Some(revert.clone()));
    let told = |below: &AtomBranch| {
        let items = plan_landing(&[below.clone(), above.clone()], None);
        let item = items.into_iter().find(|item| item.atom_id == "b").unwrap();
        assert_eq!(item.outcome, LandOutcome::ToLand);
        item.detail
    };
    let said = told(&below).unwrap();
    assert!(said.contains("without the work of a, which ffffffffffff took back"), "{said}");
    below.taken_back = None;
    assert_eq!(told(&below), None);
}

#[test]
fn the_first_step_that_fails_is_found_with_few_checks() {
    for count in 1..40 {
        for first in 1..=count {
            let mut checks = 0;
            let found = find_first_failure(count, |step| {
                checks += 1;
                Ok::<_, ()>(step < first)
            });
            assert_eq!(found, Ok(first));
            assert!(checks <= 6, "{checks} checks for {count}");
        }
    }
}
