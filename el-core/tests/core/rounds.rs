//! Attempts that put their atom back, and what keeps them from going on for ever.

use std::time::Duration;

use el_core::model::{CancelMode, Outcome, Status, Timestamp};
use el_core::ops::{self, AtomPatch, Guard};
use el_core::{Ctx, Error};

use crate::support::{Project, request, session};

fn to(status: Status) -> AtomPatch {
    AtomPatch { status: Some(status), ..AtomPatch::default() }
}

fn until(date: Timestamp) -> AtomPatch {
    AtomPatch {
        status: Some(Status::Deferred),
        defer_until: Some(Some(date)),
        ..AtomPatch::default()
    }
}

#[test]
fn a_back_off_does_not_outlast_a_clock_that_went_back() {
    let mut p = Project::new();
    let id = p.create("one");
    let run = p.claim().unwrap().run.id;
    p.settle(&run, 1);
    assert!(p.claim().is_none(), "its back-off runs");
    p.now = p.now.minus(Duration::from_secs(24 * 3600));
    assert!(ops::explain(&p.store, &id, p.now).unwrap().ready);
    let run = p.claim().expect("the clock went back by a day").run.id;
    p.settle(&run, 1);
    assert!(p.claim().is_none(), "a new back-off runs by the new clock");
    p.wait(Duration::from_secs(120));
    assert!(p.claim().is_some());
}

#[test]
fn a_session_does_not_put_its_own_atom_back_into_the_queue() {
    let mut p = Project::new();
    let id = p.create("one");
    let claimed = p.claim().unwrap();
    let credentials = session(&claimed);
    let now = p.now;
    let ctx = Ctx { session: Some(&credentials), actor: "claude", ..p.person() };
    let refused =
        |result: Result<(), Error>| assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");
    refused(
        ops::update(&mut p.store, &ctx, &[&id], &to(Status::Open), &Guard::default()).map(drop),
    );
    refused(ops::retry(&mut p.store, &ctx, &id).map(drop));
    refused(ops::cancel(&mut p.store, &ctx, &id, CancelMode::Requeue, None).map(drop));
    for status in [Status::Blocked, Status::Testing, Status::InProgress] {
        ops::update(&mut p.store, &ctx, &[&id], &to(status), &Guard::default()).unwrap();
    }
    let soon = now.plus(Duration::from_secs(49));
    let error =
        ops::update(&mut p.store, &ctx, &[&id], &until(soon), &Guard::default()).unwrap_err();
    assert!(matches!(error, Error::Invalid { field: "defer-until", .. }), "{error}");
    ops::discard(&mut p.store, &ctx, &[&id], None, false).unwrap();
    refused(ops::restore(&mut p.store, &ctx, &id).map(drop));
    refused(ops::reopen(&mut p.store, &ctx, &[&id]).map(drop));
    ops::update(
        &mut p.store,
        &ctx,
        &[&id],
        &until(now.plus(Duration::from_secs(60))),
        &Guard::default(),
    )
    .unwrap();
    refused(ops::reopen(&mut p.store, &ctx, &[&id]).map(drop));
    assert_eq!(p.settle(&claimed.run.id, 0).outcome, Outcome::Deferred);
}

#[test]
fn nobody_puts_anything_off_until_a_time_that_has_passed() {
    let mut p = Project::new();
    let id = p.create("one");
    let (now, ctx) = (p.now, p.person());
    for date in [now, now.minus(Duration::from_secs(1))] {
        let error =
            ops::update(&mut p.store, &ctx, &[&id], &until(date), &Guard::default()).unwrap_err();
        assert!(matches!(error, Error::Invalid { field: "defer-until", .. }), "{error}");
        let new = ops::NewAtom { title: "x".into(), defer_until: Some(date), ..Default::default() };
        assert!(ops::create(&mut p.store, &ctx, &new).is_err());
    }
    ops::update(
        &mut p.store,
        &ctx,
        &[&id],
        &until(now.plus(Duration::from_secs(1))),
        &Guard::default(),
    )
    .unwrap();
}

/// Claims, and has another agent's session end and reopen it: a second later it is ready again.
fn round(p: &mut Project, id: &str) -> bool {
    let Some(claimed) = p.claim() else { return false };
    assert_eq!(claimed.atom.id, id);
    let credentials = session(&claimed);
    let ctx = Ctx { session: Some(&credentials), actor: "claude", ..p.person() };
    ops::close(&mut p.store, &ctx, &[id], None, &Guard::default()).unwrap();
    p.now = p.now.plus(Duration::from_secs(1));
    p.settle(&claimed.run.id, 0);
    true
}

#[test]
fn an_atom_that_agents_reopen_again_and_again_meets_the_back_off_and_is_given_up() {
    let mut p = Project::new();
    let id = p.create("goes round");
    assert!(round(&mut p, &id));
    // An agent that works on something else, and lives throughout.
    let other = p.create("works on");
    let busy = p.claim().unwrap();
    assert_eq!(busy.atom.id, other);
    let credentials = session(&busy);
    let mut waits = Vec::new();
    for _ in 0..2 {
        let ctx = Ctx { session: Some(&credentials), actor: "claude", ..p.person() };
        ops::reopen(&mut p.store, &ctx, &[&id]).unwrap();
        assert!(!round(&mut p, &id), "not at once");
        let at = ops::get_atom(&p.store, &id).unwrap().retry_at.unwrap();
        waits.push(at.since(p.now).as_secs_f64().round());
        p.now = at;
        assert!(round(&mut p, &id));
    }
    assert_eq!(waits, [30.0, 60.0]);
    let ctx = Ctx { session: Some(&credentials), actor: "claude", ..p.person() };
    ops::retry(&mut p.store, &ctx, &id).unwrap_err();
    ops::reopen(&mut p.store, &ctx, &[&id]).unwrap();
    assert!(!round(&mut p, &id));
    assert_eq!(ops::get_atom(&p.store, &id).unwrap().status, Status::Blocked);
    let (_, said) = ops::list_comments(&p.store, &id).unwrap();
    assert!(said.last().unwrap().content.contains("Given up after 3 attempts"), "{said:?}");
    // A person gives it fresh attempts.
    let ctx = p.person();
    ops::retry(&mut p.store, &ctx, &id).unwrap();
    p.now = p.now.plus(Duration::from_secs(1));
    assert!(round(&mut p, &id));
}

#[test]
fn what_comes_round_holds_nothing_else_up() {
    let mut p = Project::new();
    let id = p.create("goes round");
    assert!(round(&mut p, &id));
    let next = p.create("the next");
    let credentials = session(&p.claim().unwrap());
    let ctx = Ctx { session: Some(&credentials), actor: "claude", ..p.person() };
    ops::reopen(&mut p.store, &ctx, &[&id]).unwrap();
    let last = p.create("behind it");
    let ctx = p.person();
    let claimed = ops::claim_run(&mut p.store, &ctx, &request()).unwrap().unwrap();
    assert_ne!(claimed.atom.id, next);
    assert_eq!(claimed.atom.id, last);
}
