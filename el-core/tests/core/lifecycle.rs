//! A run from its claim to its end.

use std::time::Duration;

use el_core::model::{
    CancelMode, Cost, EndKind, EventKind, ExitRecord, Outcome, Progress, Stamp, Status, Worker,
};
use el_core::ops::{self, AtomPatch, Beat, Ending, Gate, Guard, RunSignal, SettledBy};
use el_core::rules::retry::RetryPolicy;
use el_core::{Ctx, Error, SessionCredentials};

use crate::support::{LEASE, Project, person, request, session};

fn status(project: &Project, id: &str) -> Status {
    ops::get_atom(&project.store, id).unwrap().status
}

#[test]
fn an_atom_is_claimed_once_and_closed_by_its_run() {
    let mut p = Project::new();
    let id = p.create("one");
    let claimed = p.claim().unwrap();
    assert_eq!(claimed.atom.id, id);
    assert_eq!(claimed.atom.status, Status::InProgress);
    assert!(p.claim().is_none());

    let credentials = session(&claimed);
    let ctx = Ctx { session: Some(&credentials), actor: "claude", ..p.person() };
    ops::close(&mut p.store, &ctx, &[&id], Some("done"), &Guard::default()).unwrap();
    assert_eq!(
        ops::watch_run(&p.store, &claimed.run.id, &claimed.run.token).unwrap(),
        RunSignal::Finished(Status::Closed)
    );
    let settled = p.settle(&claimed.run.id, 0);
    assert_eq!(settled.outcome, Outcome::Closed);
    assert!(p.settle(&claimed.run.id, 1).was_settled);

    let (_, events) = ops::history(&p.store, &id).unwrap();
    let kinds: Vec<_> = events.iter().map(|e| e.kind).collect();
    assert_eq!(
        kinds,
        [
            EventKind::Created,
            EventKind::Status,
            EventKind::RunStarted,
            EventKind::Status,
            EventKind::RunEnded
        ]
    );
    assert_eq!(events[3].run_id.as_deref(), Some(claimed.run.id.as_str()));
}

#[test]
fn a_settled_run_can_change_nothing_any_more() {
    let mut p = Project::new();
    let id = p.create("one");
    let other = p.create("two");
    let claimed = p.claim().unwrap();
    p.settle(&claimed.run.id, 1);
    let credentials = session(&claimed);
    let ctx = Ctx { session: Some(&credentials), ..p.person() };
    let refusals = [
        ops::close(&mut p.store, &ctx, &[&id], None, &Guard::default()).unwrap_err(),
        ops::close(&mut p.store, &ctx, &[&other], None, &Guard::default()).unwrap_err(),
        ops::add_comment(&mut p.store, &ctx, &id, "late").unwrap_err(),
        ops::create(&mut p.store, &ctx, &ops::NewAtom { title: "x".into(), ..Default::default() })
            .unwrap_err(),
        ops::discard(&mut p.store, &ctx, &[&id], None, false).unwrap_err(),
        ops::dep_add(&mut p.store, &ctx, &id, &other, el_core::model::BondKind::Blocks)
            .unwrap_err(),
        ops::claim(&mut p.store, &ctx, &id, false, None).unwrap_err(),
    ];
    for refusal in refusals {
        assert!(matches!(refusal, Error::StaleRun { .. }), "{refusal}");
    }
    assert_eq!(status(&p, &id), Status::Open);
}

#[test]
fn a_wrong_or_missing_token_is_refused() {
    let mut p = Project::new();
    let id = p.create("one");
    let claimed = p.claim().unwrap();
    for token in [None, Some("guess".to_owned())] {
        let credentials = SessionCredentials { run: claimed.run.id.clone(), token };
        let ctx = Ctx { session: Some(&credentials), ..p.person() };
        let refusal = ops::close(&mut p.store, &ctx, &[&id], None, &Guard::default()).unwrap_err();
        assert!(matches!(refusal, Error::StaleRun { .. }));
    }
    assert_eq!(status(&p, &id), Status::InProgress);
}

#[test]
fn a_session_cannot_end_the_atom_of_another_run() {
    let mut p = Project::new();
    p.create("one");
    let second = p.create("two");
    let mine = p.claim().unwrap();
    let _theirs = p.claim().unwrap();
    let credentials = session(&mine);
    let ctx = Ctx { session: Some(&credentials), ..p.person() };
    let refusal = ops::close(&mut p.store, &ctx, &[&second], None, &Guard::default()).unwrap_err();
    assert_eq!(refusal.code(), "claimed");
    assert_eq!(status(&p, &second), Status::InProgress);
}

#[test]
fn what_a_person_does_to_an_atom_stands_and_ends_its_run() {
    for to in [Status::Open, Status::Blocked, Status::Closed, Status::Review] {
        let mut p = Project::new();
        let id = p.create("one");
        let claimed = p.claim().unwrap();
        let patch = AtomPatch { status: Some(to), ..AtomPatch::default() };
        ops::update(&mut p.store, &person(p.now), &[&id], &patch, &Guard::default()).unwrap();
        assert_eq!(
            ops::watch_run(&p.store, &claimed.run.id, &claimed.run.token).unwrap(),
            RunSignal::Superseded,
            "{to}"
        );
        assert!(p.claim().is_none(), "not claimed again while the old run lives: {to}");
        assert_eq!(p.settle(&claimed.run.id, 0).outcome, Outcome::Superseded);
        assert_eq!(status(&p, &id), to);
    }
}

#[test]
fn an_agent_that_reports_blocked_works_on_and_its_exit_then_is_no_violation() {
    let mut p = Project::new();
    let id = p.create("one");
    let claimed = p.claim().unwrap();
    let credentials = session(&claimed);
    let ctx = Ctx { session: Some(&credentials), ..p.person() };
    let patch = AtomPatch { status: Some(Status::Blocked), ..AtomPatch::default() };
    ops::update(&mut p.store, &ctx, &[&id], &patch, &Guard::default()).unwrap();
    assert_eq!(
        ops::watch_run(&p.store, &claimed.run.id, &claimed.run.token).unwrap(),
        RunSignal::Work
    );
    let settled = p.settle(&claimed.run.id, 0);
    assert_eq!(settled.outcome, Outcome::Blocked);
    assert_eq!(status(&p, &id), Status::Blocked);
}

#[test]
fn violations_are_retried_after_a_wait_and_then_blocked_with_a_reason() {
    let mut p = Project::new();
    let id = p.create("one");
    let claimed = p.claim().unwrap();
    let settled = p.settle(&claimed.run.id, 0);
    assert_eq!(settled.outcome, Outcome::Violation);
    assert!(p.claim().is_none(), "the back-off runs");
    p.now = settled.retry_at().unwrap();
    let claimed = p.claim().unwrap();
    assert_eq!(claimed.run.attempt, 2);
    p.settle(&claimed.run.id, 0);
    assert_eq!(status(&p, &id), Status::Blocked);
    let (_, comments) = ops::list_comments(&p.store, &id).unwrap();
    assert!(comments[0].content.contains("violation"), "{}", comments[0].content);

    ops::retry(&mut p.store, &person(p.now), &id).unwrap();
    p.wait(Duration::from_secs(1));
    let claimed = p.claim().expect("fresh attempts");
    assert!(
        p.settle(&claimed.run.id, 0).retry_at().is_some(),
        "the old violations count no longer"
    );
}

#[test]
fn a_cancelled_atom_is_held_and_a_requeued_one_is_ready() {
    let mut p = Project::new();
    let id = p.create("one");
    let claimed = p.claim().unwrap();
    ops::cancel(&mut p.store, &person(p.now), &id, CancelMode::Hold, Some("wrong branch")).unwrap();
    assert_eq!(
        ops::watch_run(&p.store, &claimed.run.id, &claimed.run.token).unwrap(),
        RunSignal::Cancelled(CancelMode::Hold)
    );
    // The worker is stopped before the run has ended: what the person said still holds.
    let stopped =
        ops::cancel_all(&mut p.store, &person(p.now), CancelMode::Requeue, &|_| true).unwrap();
    assert_eq!(stopped[0].mode, CancelMode::Hold);
    assert_eq!(p.settle(&claimed.run.id, 0).outcome, Outcome::Cancelled);
    assert!(p.ready().is_empty());
    ops::retry(&mut p.store, &person(p.now), &id).unwrap();
    let claimed = p.claim().unwrap();
    ops::release(&mut p.store, &person(p.now), &id, false).unwrap();
    p.settle(&claimed.run.id, 0);
    assert_eq!(p.ready(), [id]);
}

#[test]
fn the_stop_hook_sends_an_agent_back_once() {
    let mut p = Project::new();
    let id = p.create("one");
    let claimed = p.claim().unwrap();
    let credentials = session(&claimed);
    let ctx = Ctx { session: Some(&credentials), ..p.person() };
    assert_eq!(
        ops::stop_gate(&mut p.store, &ctx, 1).unwrap(),
        Gate::SendBack { atom_id: id.clone(), verify: None }
    );
    assert_eq!(ops::stop_gate(&mut p.store, &ctx, 1).unwrap(), Gate::Pass);
    assert_eq!(ops::stop_gate(&mut p.store, &person(p.now), 1).unwrap(), Gate::Pass);
    p.settle(&claimed.run.id, 0);
    let ctx = Ctx { session: Some(&credentials), ..p.person() };
    assert_eq!(
        ops::stop_gate(&mut p.store, &ctx, 1).unwrap(),
        Gate::Pass,
        "a stale session is not bothered"
    );
}

#[test]
fn a_supervisor_that_comes_too_late_or_second_is_refused() {
    let mut p = Project::new();
    p.create("one");
    let claimed = p.claim().unwrap();
    let (run, token) = (claimed.run.id.as_str(), claimed.run.token.as_str());
    let stamp = Stamp { pid: 7, start: 1, boot: "b".into() };
    ops::register_supervisor(&mut p.store, run, token, &stamp, p.now, LEASE).unwrap();
    ops::register_supervisor(&mut p.store, run, token, &stamp, p.now, LEASE).unwrap();
    let second = Stamp { pid: 8, ..stamp.clone() };
    let refusal =
        ops::register_supervisor(&mut p.store, run, token, &second, p.now, LEASE).unwrap_err();
    assert_eq!(refusal.code(), "claimed");
    let progress = Progress { turns: 3, cost: Cost::reported(1200), ..Progress::default() };
    let beat = Beat {
        run_id: run,
        token,
        now: p.now,
        lease: LEASE,
        active_at: Some(p.now),
        progress: &progress,
    };
    assert_eq!(ops::extend_lease(&mut p.store, &beat).unwrap(), RunSignal::Work);
    p.settle(run, 0);
    assert_eq!(ops::extend_lease(&mut p.store, &beat).unwrap(), RunSignal::Over);
    let late =
        ops::register_supervisor(&mut p.store, run, token, &stamp, p.now, LEASE).unwrap_err();
    assert!(matches!(late, Error::StaleRun { .. }));
    assert_eq!(ops::get_run(&p.store, run).unwrap().progress.turns, 3);
}

#[test]
fn a_run_whose_supervisor_came_after_all_is_not_settled_as_lost() {
    let mut p = Project::new();
    let id = p.create("one");
    let claimed = p.claim().unwrap();
    let stamp = Stamp { pid: 7, start: 1, boot: "b".into() };
    let exit = ExitRecord::new(&claimed.run.id, EndKind::LaunchFailed, p.now);
    let policy = RetryPolicy::default();
    // Seen without a supervisor; then it registers, before whoever saw that has settled the run.
    ops::register_supervisor(
        &mut p.store,
        &claimed.run.id,
        &claimed.run.token,
        &stamp,
        p.now,
        LEASE,
    )
    .unwrap();
    let ctx = Ctx { actor: "claude", ..p.person() };
    let mut settle = |seen| {
        let by = SettledBy::Other { seen };
        let ending = Ending { by, ..Ending::new(&exit, &policy, 0.5) };
        ops::settle(&mut p.store, &ctx, &ending, |_| None)
    };
    let refusal = settle(None).unwrap_err();
    assert_eq!(refusal.code(), "claimed");
    // Of this very supervisor it is known that it is gone.
    assert_eq!(settle(Some(&stamp)).unwrap().outcome, Outcome::LaunchFailed);
    assert_eq!(status(&p, &id), Status::Open);
}

#[test]
fn a_worker_that_was_asked_to_stop_gets_nothing_more() {
    let mut p = Project::new();
    p.create("one");
    p.create("two");
    let process = Stamp { pid: 7, start: 1, boot: "b".into() };
    let (id, agent) = (request().worker_id, "claude".to_owned());
    let (started_at, heartbeat_at) = (p.now, p.now);
    let worker = Worker {
        id,
        process,
        agent,
        concurrency: 2,
        agents: vec!["claude".to_owned()],
        takes: el_core::model::Takes::All,
        started_at,
        heartbeat_at,
        stop_requested: false,
        name: None,
        offers: Vec::new(),
        load_milli: None,
    };
    ops::worker_join(&mut p.store, &worker).unwrap();
    assert!(p.claim().is_some());
    ops::request_stop(&mut p.store, &|_| true).unwrap();
    assert!(p.claim().is_none());
}

#[test]
fn an_atom_that_is_gone_ends_its_run_as_deleted() {
    let mut p = Project::in_file();
    let id = p.create("one");
    let claimed = p.claim().unwrap();
    let raw = rusqlite::Connection::open(p.dir.path().join("el.db")).unwrap();
    raw.pragma_update(None, "foreign_keys", true).unwrap();
    raw.execute("DELETE FROM atoms WHERE id = ?1", [&id]).unwrap();
    assert_eq!(
        ops::watch_run(&p.store, &claimed.run.id, &claimed.run.token).unwrap(),
        RunSignal::Superseded
    );
    assert_eq!(p.settle(&claimed.run.id, 0).outcome, Outcome::Deleted);
}
