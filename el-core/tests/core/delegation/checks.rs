//! The check of a task's work: what runs the check, and what waits for the check.

use std::time::Duration;

use el_core::model::{Status, TaskStatus, Verify, VerifyStatus};
use el_core::ops::{self, AtomPatch, Check, ClaimRequest, Guard, NewTask};
use el_core::{Ctx, Error};

use super::{end, hand_over, new_task};
use crate::support::{Project, request, session};

#[test]
fn a_task_keeps_its_own_folder_limit_and_check() {
    let mut p = Project::new();
    let words = vec!["cargo".to_owned(), "test".to_owned()];
    let new = NewTask {
        workdir: Some("/srv/x".to_owned()),
        timeout: Some(Duration::from_secs(90)),
        verify: Some(words.clone()),
        require_verify: true,
        ..new_task("claude", "x")
    };
    let task = hand_over(&mut p, &new).task;
    assert_eq!((task.workdir.as_deref(), task.timeout_ms), (Some("/srv/x"), Some(90_000)));
    let check = Check {
        command: vec!["make".to_owned()],
        required: false,
        timeout: Duration::from_secs(60),
    };
    let ctx = p.person();
    let claimed = ops::claim_run(
        &mut p.store,
        &ctx,
        &ClaimRequest { check: Some(check.clone()), ..request() },
    )
    .unwrap()
    .unwrap();
    assert_eq!(claimed.run.workdir, "/srv/x");
    assert_eq!(
        claimed.run.verify,
        Some(Verify::pending(words, true, 60_000)),
        "its own command, the agent's time"
    );
    p.create("an atom of no task");
    let other =
        ops::claim_run(&mut p.store, &ctx, &ClaimRequest { check: Some(check), ..request() })
            .unwrap()
            .unwrap();
    assert_eq!(
        (other.run.workdir.as_str(), other.run.verify.unwrap().command),
        ("/tmp", vec!["make".to_owned()])
    );
}

#[test]
fn work_whose_check_is_required_is_not_closed_before_it_passed() {
    let mut p = Project::new();
    let new = NewTask {
        verify: Some(vec!["true".to_owned()]),
        require_verify: true,
        ..new_task("claude", "x")
    };
    let id = hand_over(&mut p, &new).task.id;
    let claimed = p.claim().unwrap();
    let credentials = session(&claimed);
    let ctx = Ctx { session: Some(&credentials), actor: "claude", ..p.person() };
    let close = |p: &mut Project| ops::close(&mut p.store, &ctx, &[&id], None, &Guard::default());
    let error = close(&mut p).unwrap_err();
    assert_eq!(error.code(), "verify_failed");
    let record = |p: &mut Project, status: VerifyStatus| {
        let verify = Verify {
            status,
            output: Some("3 tests failed".to_owned()),
            ..claimed.run.verify.clone().unwrap()
        };
        ops::record_verify(&mut p.store, &ctx, &claimed.run.id, &claimed.run.token, &verify)
            .unwrap();
    };
    record(&mut p, VerifyStatus::Failed);
    let Error::Unverified { verify, .. } = close(&mut p).unwrap_err() else {
        panic!("another error")
    };
    assert_eq!(verify.output.as_deref(), Some("3 tests failed"));
    record(&mut p, VerifyStatus::Passed);
    let patch = AtomPatch { status: Some(Status::Closed), ..AtomPatch::default() };
    let around = ops::update(&mut p.store, &ctx, &[&id], &patch, &Guard::default()).unwrap_err();
    assert_eq!(around.code(), "verify_failed", "a change of the status runs no check");
    close(&mut p).unwrap();
    end(&mut p, &claimed.run.id);
    let task = ops::get_task(&p.store, &id).unwrap();
    assert_eq!(
        (task.status, task.verify.unwrap().status),
        (TaskStatus::Completed, VerifyStatus::Passed)
    );
}

#[test]
fn a_person_closes_what_he_likes_and_other_endings_need_no_check() {
    let mut p = Project::new();
    let new = NewTask {
        verify: Some(vec!["false".to_owned()]),
        require_verify: true,
        ..new_task("claude", "x")
    };
    let (by_person, by_agent) = (hand_over(&mut p, &new).task.id, hand_over(&mut p, &new).task.id);
    p.claim().unwrap();
    let ctx = p.person();
    ops::close(&mut p.store, &ctx, &[&by_person], None, &Guard::default()).unwrap();
    let claimed = p.claim().unwrap();
    let credentials = session(&claimed);
    let ctx = Ctx { session: Some(&credentials), actor: "claude", ..p.person() };
    let patch = AtomPatch { status: Some(Status::Deferred), ..AtomPatch::default() };
    ops::update(&mut p.store, &ctx, &[&by_agent], &patch, &Guard::default()).unwrap();
    end(&mut p, &claimed.run.id);
    assert_eq!(ops::get_task(&p.store, &by_agent).unwrap().status, TaskStatus::Deferred);
}
