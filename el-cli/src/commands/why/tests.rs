use super::*;

const NOW: Timestamp = Timestamp::from_micros(1_764_295_200_000_000);

#[test]
fn each_hold_is_a_sentence() {
    let blocked =
        Hold::Blocked { by: "app-1".into(), bond: BondKind::WaitsFor, via: Some("app-0".into()) };
    assert_eq!(
        of_others(&blocked, NOW),
        "Its parent app-0 waits for app-1 and everything below it."
    );
    let told = |status, reason| of_status(status, "app-2", Some("gendry"), reason);
    assert_eq!(told(Status::Closed, Some("did it")), "It is closed: did it");
    assert!(told(Status::Blocked, Some("no key")).starts_with("It is blocked: “no key”"));
    let claimed = told(Status::InProgress, None);
    assert!(
        claimed.contains("gendry claimed it, and no run works on it; el release app-2"),
        "{claimed}"
    );
    let formula = Hold::Abstract { issue_type: el_core::model::IssueType::Formula };
    assert!(of_others(&formula, NOW).starts_with("It is a formula,"));
    let soon = Hold::BackOff { until: NOW.plus(std::time::Duration::from_secs(90)) };
    assert_eq!(
        of_others(&soon, NOW),
        "An attempt failed, or was over at once; the next one begins in 1m."
    );
}
