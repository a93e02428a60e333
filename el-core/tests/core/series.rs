//! The series of figures, from the work of a project.

use std::collections::BTreeMap;
use std::time::Duration;

use el_core::Ctx;
use el_core::model::{Cost, Point, Progress, SeriesName, Status};
use el_core::ops::{self, AtomPatch, Beat, Guard, NewAtom};

use crate::support::{LEASE, Project, session};

const HOUR: Duration = Duration::from_secs(3600);

fn points(p: &Project, name: SeriesName, days: usize) -> Vec<Point> {
    ops::series(&p.store, name, days, 0, p.now).unwrap().items
}

/// The values of the only point.
#[track_caller]
fn only(points: Vec<Point>) -> BTreeMap<&'static str, Option<i64>> {
    let [point] = <[Point; 1]>::try_from(points).unwrap();
    point.values
}

/// The next atom is worked on for an hour and ended so.
fn work(p: &mut Project, cost: Cost, status: Option<Status>) -> String {
    let claimed = p.claim().unwrap();
    p.wait(HOUR);
    let progress = Progress { cost, model: Some("claude-opus-4-8".into()), ..Progress::default() };
    let beat = Beat {
        run_id: &claimed.run.id,
        token: &claimed.run.token,
        now: p.now,
        lease: LEASE,
        active_at: Some(p.now),
        progress: &progress,
    };
    ops::extend_lease(&mut p.store, &beat).unwrap();
    if let Some(status) = status {
        let credentials = session(&claimed);
        let ctx = Ctx { session: Some(&credentials), actor: "claude", ..p.person() };
        let patch = AtomPatch { status: Some(status), ..AtomPatch::default() };
        ops::update(&mut p.store, &ctx, &[&claimed.atom.id], &patch, &Guard::default()).unwrap();
    }
    p.settle(&claimed.run.id, if status.is_some() { 0 } else { 7 });
    claimed.atom.id
}

#[test]
fn what_was_done_is_told_with_its_time_and_its_cost() {
    let mut p = Project::new();
    let ctx = p.person();
    let epic = NewAtom {
        title: "The release".into(),
        issue_type: Some("epic".parse().unwrap()),
        ..NewAtom::default()
    };
    let epic = ops::create(&mut p.store, &ctx, &epic).unwrap().id;
    let child = NewAtom { title: "One".into(), parent: Some(epic.clone()), ..NewAtom::default() };
    ops::create(&mut p.store, &ctx, &child).unwrap();
    work(&mut p, Cost { cost_micros: 100, estimated_micros: 20 }, None);
    p.wait(HOUR);
    work(&mut p, Cost::reported(200), Some(Status::Closed));

    let done = only(points(&p, SeriesName::Done, 1));
    assert_eq!((done["closed"], done["wont_do"]), (Some(1), Some(0)));
    let lead = only(points(&p, SeriesName::LeadTime, 1));
    assert_eq!((lead["median_s"], lead["closed"]), (Some(3 * 3600), Some(1)));
    let cost = only(points(&p, SeriesName::CostPerClosed, 1));
    assert_eq!(
        (cost["per_closed_micros"], cost["per_closed_estimated_micros"], cost["lost_micros"]),
        (Some(300), Some(20), Some(100))
    );
    let failed = points(&p, SeriesName::Failures, 1);
    assert_eq!(failed[0].key.as_deref(), Some("failed"));
    let firsts = only(points(&p, SeriesName::FirstAttempts, 1));
    assert_eq!((firsts["first_attempts"], firsts["share"]), (Some(1), Some(0)));
    for (name, key, label) in [
        (SeriesName::CostByAgent, "claude", None),
        (SeriesName::CostByModel, "claude-opus-4-8", None),
        (SeriesName::CostByEpic, epic.as_str(), Some("The release")),
    ] {
        let found = points(&p, name, 1);
        assert_eq!((found[0].key.as_deref(), found[0].label.as_deref()), (Some(key), label));
        assert_eq!(only(found)["cost_micros"], Some(300), "{name}");
    }

    // A day later it is yesterday's.
    p.wait(24 * HOUR);
    let two: Vec<_> =
        points(&p, SeriesName::Done, 2).iter().map(|point| point.values["closed"]).collect();
    assert_eq!(two, [Some(1), Some(0)]);
    assert_eq!(only(points(&p, SeriesName::Done, 1))["closed"], Some(0));
    assert!(points(&p, SeriesName::CostByModel, 1).is_empty());
}

#[test]
fn the_time_to_done_begins_when_the_last_blocker_is_over() {
    let mut p = Project::new();
    let (first, second) = (p.create("first"), p.create("second"));
    let ctx = p.person();
    ops::dep_add(&mut p.store, &ctx, &first, &second, "blocks".parse().unwrap()).unwrap();
    p.wait(10 * HOUR);
    work(&mut p, Cost::default(), Some(Status::Closed));
    p.wait(HOUR);
    work(&mut p, Cost::default(), Some(Status::Closed));
    let lead = only(points(&p, SeriesName::LeadTime, 1));
    assert_eq!(lead["closed"], Some(2));
    // Of two, the median is the shorter one: the second waited for two hours, not for thirteen.
    assert_eq!(lead["median_s"], Some(2 * 3600));
}

#[test]
fn an_atom_that_is_opened_again_is_young_in_the_queue() {
    let mut p = Project::new();
    let old = p.create("old");
    let again = p.create("again");
    p.wait(30 * HOUR);
    let ctx = p.person();
    ops::close(&mut p.store, &ctx, &[&again], None, &Guard::default()).unwrap();
    ops::reopen(&mut p.store, &ctx, &[&again]).unwrap();
    let ages: Vec<_> = points(&p, SeriesName::QueueAge, 1)
        .into_iter()
        .filter(|point| point.values["atoms"] > Some(0))
        .map(|point| (point.key.unwrap(), point.values["atoms"]))
        .collect();
    assert_eq!(ages, [("1h".to_owned(), Some(1)), ("3d".to_owned(), Some(1))], "{old}");
}
