//! Pull requests as they are recorded: pushes that were held up, and repositories that moved.

use std::time::Duration;

use el_core::model::{EventKind, PullRequestState};
use el_core::ops::{self, Given, Guard, Remark};

use crate::support::Project;

fn change_request(id: &str, is_late: bool) -> Remark {
    Remark { head: String::new(), id: id.to_owned(), text: "No.".to_owned(), is_late }
}

#[test]
fn a_push_that_is_held_up_is_tried_again_after_waits_that_double_and_is_news_once() {
    let mut p = Project::new();
    let id = p.create("A");
    p.begin_push(&id);
    let key = (id.as_str(), 1);
    let mut waited = Vec::new();
    for _ in 0..7 {
        let ctx = p.person();
        let held = ops::hold_push(&mut p.store, &ctx, key, ("cc", "no"), None).unwrap().held;
        waited.push(held.unwrap().until.since(p.now).as_secs() / 60);
        p.wait(Duration::from_secs(3600));
    }
    assert_eq!(waited, [1, 2, 4, 8, 16, 30, 30]);
    let news = |p: &Project| {
        let (_, all) = ops::history(&p.store, &id).unwrap();
        all.iter()
            .filter(|event| event.kind == EventKind::PullRequest)
            .filter(|event| event.data.get("held").is_some())
            .count()
    };
    assert_eq!(news(&p), 1);
    let ctx = p.person();
    let record = ops::hold_push(&mut p.store, &ctx, key, ("cc", "why not"), None).unwrap();
    assert_eq!((news(&p), record.held.unwrap().tries), (2, 8));
    // Another commit is tried at once.
    let record = ops::hold_push(&mut p.store, &ctx, key, ("dd", "why not"), None).unwrap();
    assert_eq!(record.held.unwrap().tries, 1);
    let record = ops::pull_request_pushed(&mut p.store, &ctx, key, "dd").unwrap();
    assert_eq!((record.held, record.late_at), (None, Some(p.now)));
}

#[test]
fn remarks_that_were_made_before_a_late_answer_arrived_are_no_attempt_more() {
    let mut p = Project::new();
    let id = p.create("A");
    p.begin_push(&id);
    let give = |p: &mut Project, remarks: &[Remark]| {
        let ctx = p.person();
        ops::close(&mut p.store, &ctx, &[&id], None, &Guard::default()).unwrap();
        ops::give_remarks(&mut p.store, &ctx, (&id, 1), remarks, 1).unwrap()
    };
    assert_eq!(give(&mut p, &[change_request("1", true)]), Given::Reopened);
    assert_eq!(ops::remark_rounds(&p.store, &id).unwrap(), 1, "the first one counts");
    assert_eq!(
        give(&mut p, &[change_request("2", true), change_request("1", false)]),
        Given::Reopened
    );
    assert_eq!(ops::remark_rounds(&p.store, &id).unwrap(), 1);
    assert_eq!(
        give(&mut p, &[change_request("3", true), change_request("4", false)]),
        Given::Blocked
    );
}

#[test]
fn a_repository_that_moved_takes_its_pull_requests_along() {
    let mut p = Project::new();
    let id = p.create("A");
    p.begin_push(&id);
    let ctx = p.person();
    let (old, new) = ("github.com/acme/shop", "github.com/globex/store");
    let url = format!("https://{old}/pull/7");
    ops::pull_request_opened(&mut p.store, &ctx, (&id, 1), 7, &url).unwrap();
    ops::move_pull_requests(&mut p.store, &ctx, old, new).unwrap();
    p.see_pull(&id, PullRequestState::Open, Some("ready"));
    let one = ops::pull_requests_of(&p.store, &id).unwrap().remove(0);
    assert_eq!((one.repo.as_str(), one.number), (new, Some(7)));
    assert_eq!(one.head_owner, "globex");
    assert_eq!(one.url, Some(format!("https://{new}/pull/7")));
}
