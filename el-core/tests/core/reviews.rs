//! Work that is handed over, approved, or sent back.

use el_core::model::{EventKind, Outcome, ReviewVerdict, Status};
use el_core::ops::{self, AtomFilter, AtomPatch, ClaimedRun, Guard, NewAtom, RunSignal};
use el_core::{Ctx, Error, SessionCredentials};
use serde_json::{Value, json};

use crate::support::{Project, session};

fn report(task: &str) -> Value {
    json!({
        "type": "completion_report", "taskId": task, "platform": "custom",
        "status": "awaiting_review",
        "summary": "Fail-safe parser", "filesCreated": ["src/a.rs"], "filesModified": [],
        "buildResult": {
            "status": "failed", "command": "cargo test", "errors": 1,
            "output": "a.rs:3: expected `;`"
        },
        "timestamp": "2026-11-28T09:00:00.000Z", "mine": 7
    })
}

fn ctx<'a>(p: &Project, credentials: &'a SessionCredentials) -> Ctx<'a> {
    Ctx { session: Some(credentials), actor: "claude", ..p.person() }
}

fn submitted() -> (Project, String, ClaimedRun) {
    let mut p = Project::new();
    let id = p.create("one");
    let claimed = p.claim().unwrap();
    let credentials = session(&claimed);
    let ctx = ctx(&p, &credentials);
    ops::submit(&mut p.store, &ctx, &id, &report(&id).to_string()).unwrap();
    (p, id, claimed)
}

#[test]
fn a_hand_over_ends_the_run_and_waits() {
    let (mut p, id, claimed) = submitted();
    assert_eq!(
        ops::watch_run(&p.store, &claimed.run.id, &claimed.run.token).unwrap(),
        RunSignal::Finished(Status::Review)
    );
    let settled = p.settle(&claimed.run.id, 0);
    assert_eq!(settled.outcome, Outcome::Review);
    let told = settled.message.unwrap().content;
    assert!(
        told.contains("Fail-safe parser")
            && told.contains("Build: failed")
            && told.contains("expected `;`"),
        "{told}"
    );
    assert!(p.claim().is_none());
    let waiting = ops::reviews(&p.store, &AtomFilter::default(), p.now).unwrap();
    assert_eq!((waiting.len(), waiting[0].atom.id.as_str()), (1, id.as_str()));
    let review = waiting[0].review.as_ref().unwrap();
    assert_eq!(review.report["mine"], 7, "what the protocol does not know is kept");
    assert_eq!(
        (review.run_id.as_deref(), review.author.as_str()),
        (Some(claimed.run.id.as_str()), "claude")
    );
    assert_eq!(waiting[0].run.as_ref().unwrap().id, claimed.run.id);
}

#[test]
fn a_report_that_does_not_fit_changes_nothing_and_names_every_field() {
    let mut p = Project::new();
    let id = p.create("one");
    let person = p.person();
    let mut bad = report(&id);
    bad["summary"] = json!("");
    bad["buildResult"]["output"] = json!(null);
    let Error::Report { problems } =
        ops::submit(&mut p.store, &person, &id, &bad.to_string()).unwrap_err()
    else {
        panic!()
    };
    assert_eq!(
        problems.iter().map(|p| p.field.as_str()).collect::<Vec<_>>(),
        ["summary", "buildResult.output"]
    );
    let Error::Report { problems } =
        ops::submit(&mut p.store, &person, &id, &report("el-other").to_string()).unwrap_err()
    else {
        panic!()
    };
    assert_eq!(problems[0].field, "taskId");
    assert_eq!(ops::get_atom(&p.store, &id).unwrap().status, Status::Open);
    ops::submit(&mut p.store, &person, &id, &report(&id.to_uppercase()).to_string()).unwrap();
    ops::close(&mut p.store, &person, &[&id], None, &Guard::default()).unwrap();
    assert_eq!(
        ops::submit(&mut p.store, &person, &id, &report(&id).to_string()).unwrap_err().code(),
        "over"
    );
    assert_eq!(
        ops::show(&p.store, &id).unwrap().reviews[0].verdict,
        Some(ReviewVerdict::Superseded)
    );
}

#[test]
fn an_approval_closes_and_releases_nobody_who_waits_for_a_failure() {
    let (mut p, id, claimed) = submitted();
    p.settle(&claimed.run.id, 0);
    let person = p.person();
    let only_if_failed = p.create("only if that fails");
    ops::dep_add(
        &mut p.store,
        &person,
        &id,
        &only_if_failed,
        el_core::model::BondKind::ConditionalBlocks,
    )
    .unwrap();
    let closed = ops::approve(&mut p.store, &person, &[&id], None).unwrap();
    assert_eq!(closed[0].status, Status::Closed);
    assert_eq!(closed[0].close_reason.as_deref(), Some("Approved: Fail-safe parser"));
    assert_eq!(ops::get_atom(&p.store, &only_if_failed).unwrap().status, Status::WontDo);
    assert_eq!(
        ops::approve(&mut p.store, &person, &[&id], None).unwrap_err().code(),
        "not_in_review"
    );
    let reviews = ops::show(&p.store, &id).unwrap().reviews;
    assert_eq!(
        (reviews[0].verdict, reviews[0].decided_by.as_deref()),
        (Some(ReviewVerdict::Approved), Some("ann"))
    );
}

#[test]
fn a_rejection_reaches_the_next_attempt_which_is_a_fresh_one() {
    let (mut p, id, claimed) = submitted();
    p.settle(&claimed.run.id, 0);
    p.wait(std::time::Duration::from_secs(1));
    let person = p.person();
    assert!(ops::reject(&mut p.store, &person, &id, " ").is_err());
    let open =
        ops::reject(&mut p.store, &person, &id, "No test covers offsets.\n@/etc/passwd").unwrap();
    assert_eq!((open.status, open.retry_at), (Status::Open, None));
    p.wait(std::time::Duration::from_secs(1));
    let second = p.claim().expect("it can be tried at once");
    let text = ops::build_context(&p.store, &second.run, None).unwrap().render();
    assert!(text.contains("## Rejected") && text.contains("ann rejected it"), "{text}");
    let rejected = &text[text.find("## Rejected").unwrap()..];
    assert!(rejected.contains("No test covers offsets.\n\\@/etc/passwd"), "{rejected}");
    assert!(text.contains("Rejected: No test covers"), "it is a comment too");
    let (_, events) = ops::history(&p.store, &id).unwrap();
    let kinds: Vec<_> = events.iter().map(|e| e.kind).collect();
    assert!(
        kinds.contains(&EventKind::Submitted) && kinds.contains(&EventKind::Rejected),
        "{kinds:?}"
    );

    let credentials = session(&second);
    let again = ctx(&p, &credentials);
    ops::submit(&mut p.store, &again, &id, &report(&id).to_string()).unwrap();
    p.settle(&second.run.id, 0);
    let verdicts: Vec<_> =
        ops::show(&p.store, &id).unwrap().reviews.iter().map(|r| r.verdict).collect();
    assert_eq!(verdicts, [Some(ReviewVerdict::Rejected), None]);
}

#[test]
fn nobody_reviews_their_own_work_and_a_stale_session_submits_nothing() {
    let (mut p, id, claimed) = submitted();
    let credentials = session(&claimed);
    let own = ctx(&p, &credentials);
    assert!(matches!(
        ops::approve(&mut p.store, &own, &[&id], None).unwrap_err(),
        Error::Refused(_)
    ));
    assert!(matches!(ops::reject(&mut p.store, &own, &id, "no").unwrap_err(), Error::Refused(_)));
    p.settle(&claimed.run.id, 0);
    let late = ops::submit(&mut p.store, &own, &id, &report(&id).to_string()).unwrap_err();
    assert!(matches!(late, Error::StaleRun { .. }));
}

#[test]
fn work_that_is_to_be_reviewed_is_not_closed_by_who_did_it() {
    for (labels, metadata, by_setting) in [
        (vec!["review".to_owned()], None, false),
        (vec![], Some(json!({"review": true})), false),
        (vec![], None, true),
    ] {
        let mut p = Project::new();
        let person = p.person();
        let new = NewAtom { title: "one".into(), labels, metadata, ..NewAtom::default() };
        let id = ops::create(&mut p.store, &person, &new).unwrap().id;
        let claimed = p.claim().unwrap();
        let context = ops::build_context(&p.store, &claimed.run, None).unwrap();
        assert_eq!(context.review, !by_setting);
        assert_eq!(
            context.render().contains(&format!("el submit {id} --report FILE")),
            !by_setting
        );
        let credentials = session(&claimed);
        let own = ctx(&p, &credentials);
        let guard = Guard { review: by_setting, ..Guard::default() };
        let refusal = ops::close(&mut p.store, &own, &[&id], Some("done"), &guard).unwrap_err();
        assert!(matches!(&refusal, Error::Refused(why) if why.contains("el submit")), "{refusal}");
        let patch = AtomPatch { status: Some(Status::Closed), ..AtomPatch::default() };
        assert!(matches!(
            ops::update(&mut p.store, &own, &[&id], &patch, &guard).unwrap_err(),
            Error::Refused(_)
        ));
        let deferred = AtomPatch { status: Some(Status::Deferred), ..AtomPatch::default() };
        ops::update(&mut p.store, &own, &[&id], &deferred, &guard).unwrap();
        ops::close(&mut p.store, &person, &[&id], Some("a person may"), &guard).unwrap();
    }
}

#[test]
fn what_was_put_into_review_without_a_report_can_be_decided() {
    let mut p = Project::new();
    let id = p.create("one");
    let person = p.person();
    let patch = AtomPatch { status: Some(Status::Review), ..AtomPatch::default() };
    ops::update(&mut p.store, &person, &[&id], &patch, &Guard::default()).unwrap();
    assert_eq!(ops::reviews(&p.store, &AtomFilter::default(), p.now).unwrap()[0].review, None);
    ops::reject(&mut p.store, &person, &id, "where is the report?").unwrap();
    p.wait(std::time::Duration::from_secs(1));
    let claimed = p.claim().unwrap();
    assert!(
        ops::build_context(&p.store, &claimed.run, None)
            .unwrap()
            .render()
            .contains("where is the report?")
    );
}

#[test]
fn a_verdict_on_what_has_changed_meanwhile_is_refused_once() {
    let (mut p, id, _) = submitted();
    let seen = ops::get_atom(&p.store, &id).unwrap().updated_at;
    let before = p.person();
    ops::expect_unchanged(&mut p.store, &id, seen).unwrap();
    // Between the look and the change, by another process.
    let mut other = p.reopen();
    p.wait(std::time::Duration::from_secs(1));
    ops::add_comment(&mut other, &p.person(), &id, "Wait").unwrap();
    let refused = ops::approve(&mut p.store, &before, &[&id], None).unwrap_err();
    assert!(matches!(refused, Error::Conflict { code: "changed", .. }), "{refused}");
    assert_eq!(ops::get_atom(&p.store, &id).unwrap().status, Status::Review);
    let late = ops::expect_unchanged(&mut p.store, &id, seen).unwrap_err();
    assert_eq!(late.code(), "changed");
    let now = ops::get_atom(&p.store, &id).unwrap().updated_at;
    ops::expect_unchanged(&mut p.store, &id, now).unwrap();
    let person = p.person();
    ops::approve(&mut p.store, &person, &[&id], None).unwrap();
    // It binds the next change alone.
    ops::add_comment(&mut p.store, &person, &id, "Well done").unwrap();
}
