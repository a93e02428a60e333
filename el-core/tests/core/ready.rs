//! Readiness: the SQL that picks and the pure rule that explains must agree, whatever the project
//! looks like.

use std::time::Duration;

use el_core::model::{BondKind, IssueType, PullRequestState, Status};
use el_core::ops::{self, AtomPatch, Begin, Goal, Guard, PlanSettings};
use el_core::rules::ready::Hold;
use proptest::prelude::*;

use crate::support::{Project, person};

#[derive(Debug, Clone)]
enum Step {
    Bond(usize, usize, BondKind),
    Status(usize, Status, Option<&'static str>),
    Type(usize, IssueType),
    Defer(usize, u64),
    Claim,
    Settle,
    Wait(u64),
    Plan(usize),
    /// The gate of merges is on or off.
    Gate(bool),
    Merged(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let at = 0_usize..7;
    let reasons = vec![None, Some("Failed: no"), Some("abort"), Some("done")];
    prop_oneof![
        4 => (at.clone(), at.clone(), prop::sample::select(BondKind::ALL))
            .prop_map(|(s, t, k)| Step::Bond(s, t, k)),
        4 => (at.clone(), prop::sample::select(Status::ALL), prop::sample::select(reasons))
            .prop_map(|(a, s, r)| Step::Status(a, s, r)),
        1 => (at.clone(), prop::sample::select(IssueType::ALL)).prop_map(|(a, t)| Step::Type(a, t)),
        1 => (at, 1_u64..90).prop_map(|(a, s)| Step::Defer(a, s)),
        2 => Just(Step::Claim),
        2 => Just(Step::Settle),
        1 => (1_u64..60).prop_map(Step::Wait),
        1 => (0_usize..7).prop_map(Step::Plan),
        1 => any::<bool>().prop_map(Step::Gate),
        1 => (0_usize..7).prop_map(Step::Merged),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn what_is_picked_is_exactly_what_nothing_holds(steps in prop::collection::vec(step(), 0..40)) {
        let mut p = Project::new();
        let ids: Vec<String> = (0..7).map(|n| p.create(&format!("atom {n}"))).collect();
        let mut live = Vec::new();
        for step in steps {
            let person = person(p.now);
            match step {
                Step::Bond(s, t, kind) => {
                    drop(ops::dep_add(&mut p.store, &person, &ids[s], &ids[t], kind))
                }
                Step::Status(a, status, reason) => {
                    let patch = AtomPatch {
                        status: Some(status),
                        reason: reason.map(str::to_owned),
                        ..AtomPatch::default()
                    };
                    drop(ops::update(&mut p.store, &person, &[&ids[a]], &patch, &Guard::default()));
                }
                Step::Type(a, issue_type) => {
                    let patch = AtomPatch { issue_type: Some(issue_type), ..AtomPatch::default() };
                    drop(ops::update(&mut p.store, &person, &[&ids[a]], &patch, &Guard::default()));
                }
                Step::Defer(a, seconds) => {
                    let until = p.now.plus(Duration::from_secs(seconds));
                    let patch =
                        AtomPatch { defer_until: Some(Some(until)), ..AtomPatch::default() };
                    drop(ops::update(&mut p.store, &person, &[&ids[a]], &patch, &Guard::default()));
                }
                Step::Claim => {
                    if let Some(claimed) = p.claim() {
                        let (run, token) = (&claimed.run.id, &claimed.run.token);
                        ops::place_run(&mut p.store, p.now, run, token, "/tree").unwrap();
                        live.push(claimed.run.id);
                    }
                }
                Step::Gate(is_on) => ops::set_merge_gate(&mut p.store, &person, is_on).unwrap(),
                Step::Merged(a) => ops::forget_unmerged(&mut p.store, &ids[a]).unwrap(),
                Step::Settle => {
                    if let Some(run) = live.pop() {
                        p.settle(&run, 0);
                    }
                }
                Step::Plan(a) => {
                    let goal = Goal::Atom(ids[a].clone());
                    let begin = Begin { goal, settings: PlanSettings::default(), budget_usd: None };
                    drop(ops::begin_orchestration(&mut p.store, &person, &begin));
                }
                Step::Wait(seconds) => p.wait(Duration::from_secs(seconds)),
            }
        }
        let ready = p.ready();
        for id in &ids {
            let explained = ops::explain(&p.store, id, p.now).unwrap();
            prop_assert_eq!(
                explained.ready,
                ready.contains(id),
                "{} {:?} {:?}",
                id,
                explained.atom.status,
                explained.holds
            );
        }
        prop_assert_eq!(
            ops::dep_check(&p.store)
                .unwrap()
                .iter()
                .filter(|i| matches!(i, ops::GraphIssue::Cycle { .. }))
                .count(),
            0
        );
        prop_assert!(p.store.check_integrity().unwrap().is_empty());
    }
}

#[test]
fn a_blocked_parent_holds_its_children_and_an_open_one_does_not() {
    let mut p = Project::new();
    let (gate, epic, child) = (p.create("gate"), p.create("epic"), p.create("child"));
    let person = person(p.now);
    ops::dep_add(&mut p.store, &person, &epic, &child, BondKind::ParentChild).unwrap();
    assert!(p.ready().contains(&child));
    ops::dep_add(&mut p.store, &person, &gate, &epic, BondKind::Blocks).unwrap();
    assert_eq!(p.ready(), std::slice::from_ref(&gate));
    ops::close(&mut p.store, &person, &[&gate], None, &Guard::default()).unwrap();
    assert!(p.ready().contains(&child));
}

#[test]
fn every_way_of_being_over_frees_what_waited() {
    for status in [Status::Closed, Status::WontDo, Status::Discard] {
        let mut p = Project::new();
        let (a, b) = (p.create("a"), p.create("b"));
        let person = person(p.now);
        ops::dep_add(&mut p.store, &person, &a, &b, BondKind::Blocks).unwrap();
        assert_eq!(p.ready(), std::slice::from_ref(&a));
        let patch = AtomPatch { status: Some(status), ..AtomPatch::default() };
        ops::update(&mut p.store, &person, &[&a], &patch, &Guard::default()).unwrap();
        assert_eq!(p.ready(), [b], "{status}");
    }
}

#[test]
fn a_fallback_is_released_by_failure_and_not_needed_after_success() {
    let mut p = Project::new();
    let (a, b, fallback) = (p.create("a"), p.create("b"), p.create("fallback"));
    let person = person(p.now);
    ops::dep_add(&mut p.store, &person, &a, &fallback, BondKind::ConditionalBlocks).unwrap();
    assert!(!p.ready().contains(&fallback));
    ops::close(&mut p.store, &person, &[&a], Some("Failed: no such API"), &Guard::default())
        .unwrap();
    assert!(p.ready().contains(&fallback));

    let other = p.create("other fallback");
    ops::dep_add(&mut p.store, &person, &b, &other, BondKind::ConditionalBlocks).unwrap();
    ops::close(&mut p.store, &person, &[&b], Some("done"), &Guard::default()).unwrap();
    let other = ops::get_atom(&p.store, &other).unwrap();
    assert_eq!(other.status, Status::WontDo);
    assert!(other.close_reason.unwrap().contains("not needed"));
}

#[test]
fn what_waits_for_an_epic_waits_for_all_below_it() {
    let mut p = Project::new();
    let (epic, child, last) = (p.create("epic"), p.create("child"), p.create("last"));
    let person = person(p.now);
    ops::dep_add(&mut p.store, &person, &epic, &child, BondKind::ParentChild).unwrap();
    ops::dep_add(&mut p.store, &person, &epic, &last, BondKind::WaitsFor).unwrap();
    ops::close(&mut p.store, &person, &[&epic], None, &Guard::default()).unwrap();
    assert!(!p.ready().contains(&last), "the child is still open");
    let refusal = ops::dep_add(&mut p.store, &person, &last, &child, BondKind::Blocks).unwrap_err();
    assert_eq!(refusal.code(), "cycle", "last waits for child");
    ops::close(&mut p.store, &person, &[&child], None, &Guard::default()).unwrap();
    assert_eq!(p.ready(), [last]);
}

#[test]
fn what_waits_for_an_atom_waits_for_the_end_of_its_run_too() {
    let mut p = Project::new();
    let (first, epic, next, child, last) = (
        p.create("first"),
        p.create("epic"),
        p.create("next"),
        p.create("child"),
        p.create("last"),
    );
    let person = person(p.now);
    ops::dep_add(&mut p.store, &person, &epic, &child, BondKind::ParentChild).unwrap();
    ops::dep_add(&mut p.store, &person, &first, &next, BondKind::Blocks).unwrap();
    ops::dep_add(&mut p.store, &person, &first, &epic, BondKind::Blocks).unwrap();
    let patch = AtomPatch { issue_type: Some(IssueType::Epic), ..AtomPatch::default() };
    ops::update(&mut p.store, &person, &[&epic], &patch, &Guard::default()).unwrap();
    ops::dep_add(&mut p.store, &person, &epic, &last, BondKind::WaitsFor).unwrap();

    let live = p.claim().unwrap();
    assert_eq!(live.atom.id, first);
    p.wait(Duration::from_secs(1));
    let person = p.person();
    ops::close(&mut p.store, &person, &[&first], None, &Guard::default()).unwrap();
    assert!(p.ready().is_empty(), "its agent may still be writing");
    let held = ops::explain(&p.store, &child, p.now).unwrap().holds;
    assert_eq!(
        held,
        [Hold::Ending { of: first, run: live.run.id.clone(), via: Some(epic.clone()) }]
    );
    p.settle(&live.run.id, 0);
    assert_eq!(p.ready(), [next.clone(), child.clone()]);

    // And what waits for an epic waits for the runs below it.
    ops::close(&mut p.store, &person, &[&next], None, &Guard::default()).unwrap();
    let live = p.claim().unwrap();
    ops::close(&mut p.store, &person, &[&child, &epic], None, &Guard::default()).unwrap();
    assert!(p.ready().is_empty());
    p.settle(&live.run.id, 0);
    assert_eq!(p.ready(), [last]);
}

#[test]
fn what_builds_on_an_atom_waits_for_the_merge_of_its_branch_if_that_is_asked_for() {
    let mut p = Project::new();
    let (first, epic, child, next) =
        (p.create("first"), p.create("epic"), p.create("child"), p.create("next"));
    let person = person(p.now);
    ops::dep_add(&mut p.store, &person, &epic, &child, BondKind::ParentChild).unwrap();
    ops::dep_add(&mut p.store, &person, &first, &epic, BondKind::Blocks).unwrap();
    ops::dep_add(&mut p.store, &person, &first, &next, BondKind::Blocks).unwrap();
    ops::set_merge_gate(&mut p.store, &person, true).unwrap();

    let live = p.claim().unwrap();
    ops::place_run(&mut p.store, p.now, &live.run.id, &live.run.token, "/tree").unwrap();
    p.wait(Duration::from_secs(1));
    let person = p.person();
    ops::close(&mut p.store, &person, &[&first], None, &Guard::default()).unwrap();
    p.settle(&live.run.id, 0);
    assert!(p.ready().is_empty() && p.claim().is_none());
    let held = |p: &Project, id: &str| ops::explain(&p.store, id, p.now).unwrap().holds;
    assert_eq!(held(&p, &next), [Hold::Unmerged { of: first.clone(), via: None }]);
    assert_eq!(held(&p, &child), [Hold::Unmerged { of: first.clone(), via: Some(epic.clone()) }]);
    let queue = ops::queue(&p.store, &["claude".to_owned()], p.now, &|_| true).unwrap();
    assert_eq!(queue[0].queued_tasks, 0);
    assert!(ops::waits_for_merge(&p.store, &first).unwrap());

    // Work that is given up holds nothing; once it is closed again, it does.
    let status = |p: &mut Project, status| {
        let patch = AtomPatch { status: Some(status), ..AtomPatch::default() };
        ops::update(&mut p.store, &person, &[&first], &patch, &Guard::default()).unwrap();
    };
    status(&mut p, Status::Discard);
    assert_eq!(p.ready().len(), 3);
    ops::restore(&mut p.store, &person, &first).unwrap();
    status(&mut p, Status::Closed);
    assert!(p.ready().is_empty());

    p.begin_push(&first);
    p.see_pull(&first, PullRequestState::Merged, None);
    assert_eq!(p.ready(), [epic, child, next]);
}

#[test]
fn turning_the_gate_on_holds_what_builds_on_open_pull_requests_and_off_frees_it() {
    let mut p = Project::new();
    let (first, next) = (p.create("first"), p.create("next"));
    let person = person(p.now);
    ops::dep_add(&mut p.store, &person, &first, &next, BondKind::Blocks).unwrap();
    ops::close(&mut p.store, &person, &[&first], None, &Guard::default()).unwrap();
    p.begin_push(&first);
    assert_eq!(p.ready(), std::slice::from_ref(&next));
    ops::set_merge_gate(&mut p.store, &person, true).unwrap();
    assert!(p.ready().is_empty());
    ops::set_merge_gate(&mut p.store, &person, false).unwrap();
    assert_eq!(p.ready(), [next]);
}

#[test]
fn a_deferred_atom_wakes_at_its_date() {
    let mut p = Project::new();
    let id = p.create("later");
    let until = p.now.plus(Duration::from_secs(60));
    let patch = AtomPatch { defer_until: Some(Some(until)), ..AtomPatch::default() };
    ops::update(&mut p.store, &person(p.now), &[&id], &patch, &Guard::default()).unwrap();
    assert_eq!(ops::get_atom(&p.store, &id).unwrap().status, Status::Deferred);
    assert!(p.ready().is_empty());
    p.now = until;
    assert_eq!(p.ready(), [id]);
}
