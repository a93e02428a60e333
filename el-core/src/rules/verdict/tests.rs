use proptest::prelude::*;

use super::*;

fn now() -> Timestamp {
    Timestamp::from_micros(1_800_000_000_000_000)
}

fn verdict(
    atom: Option<(Status, bool)>,
    exit: &ExitRecord,
    cancel: Option<CancelMode>,
    earlier: &[Outcome],
) -> Verdict {
    let policy = &RetryPolicy::default();
    decide_verdict(&Facts {
        atom,
        exit,
        began: now(),
        are_own_options_refused: false,
        known: None,
        cancel,
        over_budget: None,
        earlier,
        policy,
        jitter: 0.5,
        now: now(),
    })
}

fn exit(end: EndKind) -> ExitRecord {
    ExitRecord::new("run-1", end, now())
}

#[test]
fn a_close_stands_however_the_agent_ended() {
    for end in EndKind::ALL {
        let got = verdict(Some((Status::Closed, true)), &exit(*end), Some(CancelMode::Hold), &[]);
        assert_eq!((got.outcome, got.atom), (Outcome::Closed, AtomChange::Keep), "{end}");
    }
}

#[test]
fn what_a_person_set_stands_and_is_not_the_agents() {
    for status in Status::ALL.iter().filter(|s| **s != Status::InProgress) {
        let got = verdict(Some((*status, false)), &exit(EndKind::Exited), None, &[]);
        assert_eq!((got.outcome, got.atom), (Outcome::Superseded, AtomChange::Keep), "{status}");
    }
}

#[test]
fn an_exit_with_code_zero_that_leaves_the_atom_open_is_a_violation() {
    let mut record = exit(EndKind::Exited);
    record.exit_code = Some(0);
    record.denied_tools = vec!["Bash".to_owned()];
    let first = verdict(Some((Status::InProgress, false)), &record, None, &[]);
    assert_eq!(first.outcome, Outcome::Violation);
    assert!(first.detail.contains("denied Bash"), "{}", first.detail);
    assert!(matches!(first.atom, AtomChange::Reopen { retry_at: Some(_) }));
    let second = verdict(Some((Status::InProgress, false)), &record, None, &[Outcome::Violation]);
    assert!(matches!(second.atom, AtomChange::Block { .. }));
}

#[test]
fn a_usage_limit_pauses_everyone_and_counts_for_nothing() {
    let mut record = exit(EndKind::Exited);
    record.is_error = true;
    let resets_at = Some(now().plus(Duration::from_secs(3600)));
    record.fault = Some(Fault::UsageLimit { resets_at });
    let got = verdict(
        Some((Status::InProgress, false)),
        &record,
        None,
        &[Outcome::Failed, Outcome::Failed],
    );
    assert_eq!(got.outcome, Outcome::UsageLimit);
    assert_eq!(got.atom, AtomChange::Reopen { retry_at: None });
    assert!(got.pause.unwrap().until >= resets_at);
}

#[test]
fn errors_of_the_account_the_service_and_the_machine_charge_nothing() {
    let earlier = [Outcome::Failed; 9];
    let atom = Some((Status::InProgress, false));
    let with = |fault| ExitRecord {
        is_error: true,
        fault: Some(fault),
        message: Some("Invalid API key".to_owned()),
        ..exit(EndKind::Exited)
    };
    let account = Fault::Account { refusal: Refusal::Login };
    let refused = verdict(atom, &with(account), None, &earlier);
    assert_eq!(refused.outcome, Outcome::AccountError);
    assert_eq!(refused.atom, AtomChange::Reopen { retry_at: None });
    let pause = refused.pause.unwrap();
    assert_eq!((pause.kind, pause.until), (PauseKind::Account, None));
    assert!(pause.reason.contains("Invalid API key"), "{}", pause.reason);
    assert!(pause.reason.contains("el work --resume"), "{}", pause.reason);

    let down = verdict(atom, &with(Fault::Outage), None, &earlier);
    assert_eq!(down.outcome, Outcome::Outage);
    let until = down.pause.as_ref().unwrap().until.unwrap();
    let AtomChange::Reopen { retry_at: Some(at) } = down.atom else { panic!("{down:?}") };
    assert!(at > until, "another atom finds out whether the service is back");

    let ended = verdict(atom, &exit(EndKind::Hangup), None, &earlier);
    assert_eq!(
        (ended.outcome, ended.atom, ended.pause),
        (Outcome::Interrupted, AtomChange::Reopen { retry_at: None }, None)
    );
    let again = verdict(atom, &exit(EndKind::Hangup), None, &[Outcome::Interrupted; 2]);
    assert!(matches!(again.atom, AtomChange::Reopen { retry_at: Some(_) }));
}

#[test]
fn an_agent_ended_by_a_signal_from_outside_is_charged_once_that_goes_on() {
    let atom = Some((Status::InProgress, false));
    for (signal, before, outcome) in [
        (1, 0, Outcome::Interrupted),
        (15, 0, Outcome::Interrupted),
        (15, 2, Outcome::Interrupted),
        (15, 3, Outcome::Failed),
        (9, 0, Outcome::Failed),
    ] {
        let record = ExitRecord { signal: Some(signal), ..exit(EndKind::Exited) };
        let got = verdict(atom, &record, None, &[Outcome::Interrupted; 3][..before]);
        assert_eq!(got.outcome, outcome, "{signal}, {before} before");
    }
}

#[test]
fn what_would_meet_the_same_again_is_not_tried_again() {
    let record = ExitRecord {
        is_permanent: true,
        message: Some("a and b conflict".to_owned()),
        ..exit(EndKind::LaunchFailed)
    };
    let got = verdict(Some((Status::InProgress, false)), &record, None, &[]);
    assert_eq!(got.outcome, Outcome::LaunchFailed);
    assert!(
        matches!(&got.atom, AtomChange::Block { comment } if comment.contains("a and b \
            conflict")),
        "{got:?}"
    );
}

#[test]
fn a_cancelled_run_holds_its_atom_or_requeues_it() {
    let atom = Some((Status::InProgress, false));
    assert_eq!(
        verdict(atom, &exit(EndKind::Cancelled), Some(CancelMode::Hold), &[]).atom,
        AtomChange::Hold
    );
    assert_eq!(
        verdict(atom, &exit(EndKind::Cancelled), Some(CancelMode::Requeue), &[]).atom,
        AtomChange::Reopen { retry_at: None }
    );
}

#[test]
fn a_run_over_its_own_budget_has_failed_and_one_over_its_epics_is_cancelled() {
    let mut record = exit(EndKind::Cancelled);
    record.message = Some("Reached maximum budget ($1)".to_owned());
    let policy = RetryPolicy::default();
    let facts = |exit, cancel| Facts {
        atom: Some((Status::InProgress, false)),
        exit,
        began: now(),
        are_own_options_refused: false,
        known: None,
        cancel,
        over_budget: Some("over budget"),
        earlier: &[],
        policy: &policy,
        jitter: 0.5,
        now: now(),
    };
    let own = decide_verdict(&facts(&record, None));
    assert_eq!(
        (own.outcome, own.detail.as_str()),
        (Outcome::Failed, "over budget: Reached maximum budget ($1)")
    );
    assert!(matches!(own.atom, AtomChange::Reopen { retry_at: Some(_) }));
    let epics = decide_verdict(&facts(&record, Some(CancelMode::Requeue)));
    assert_eq!(
        (epics.outcome, epics.atom),
        (Outcome::Cancelled, AtomChange::Reopen { retry_at: None })
    );
    assert!(epics.detail.starts_with("over budget"), "{}", epics.detail);
    // Any other end of the run stands.
    assert_eq!(decide_verdict(&facts(&exit(EndKind::SupervisorLost), None)).outcome, Outcome::Lost);
}

proptest! {
    #[test]
    fn an_atom_left_in_progress_never_stays_so(
        end in prop::sample::select(EndKind::ALL),
        is_error: bool,
        code in any::<Option<i32>>(), count in 0_usize..8, jitter in any::<f64>(),
    ) {
        let mut record = exit(end);
        record.is_error = is_error;
        record.exit_code = code;
        let earlier = vec![Outcome::Failed; count];
        let got = decide_verdict(&Facts {
            atom: Some((Status::InProgress, false)),
            exit: &record,
            began: now(),
            are_own_options_refused: false,
            known: None,
            cancel: None,
            over_budget: None,
            earlier: &earlier,
            policy: &RetryPolicy::default(),
            jitter,
            now: now(),
        });
        prop_assert!(got.atom != AtomChange::Keep);
        prop_assert!(got.outcome.is_failure() || got.outcome == Outcome::Interrupted);
    }
}
