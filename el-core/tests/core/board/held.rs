//! Held atoms, pull requests and stuck plans each have a place on the board, and a way out.

use std::time::Duration;

use el_core::model::{NeedKind, PullRequestState, Status};
use el_core::ops;

use super::{board, kinds, set_status};
use crate::support::Project;

#[test]
fn what_a_person_began_or_put_off_is_on_the_board() {
    let mut p = Project::new();
    let (begun, quiet) = (p.create("Begun by a person"), p.create("Put off by a person"));
    let dated = p.create("Put off until a date");
    let ctx = p.person();
    ops::claim(&mut p.store, &ctx, &begun, false, None).unwrap();
    set_status(&mut p, &quiet, Status::Deferred);
    let patch = ops::AtomPatch {
        status: Some(Status::Deferred),
        defer_until: Some(Some(p.now.plus(Duration::from_secs(60)))),
        ..ops::AtomPatch::default()
    };
    ops::update(&mut p.store, &ctx, &[&dated], &patch, &ops::Guard::default()).unwrap();
    p.create("Taken by an agent");
    p.claim().unwrap();
    let found = board(&p);
    let held: Vec<&str> = found.held.items.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(held, [begun.as_str(), quiet.as_str()]);
    assert_eq!((found.held.total, found.held.capped, found.running.total), (2, false, 1));
    assert_eq!(found.waiting.items[0].atom.id, dated, "what has a date waits for it");
}

/// A closed atom whose pull request is open.
fn with_pull(p: &mut Project, title: &str, number: u64) -> String {
    let id = p.create(title);
    set_status(p, &id, Status::Closed);
    let ctx = p.person();
    p.begin_push(&id);
    let url = format!("https://github.com/acme/shop/pull/{number}");
    ops::pull_request_opened(&mut p.store, &ctx, (&id, 1), number, &url).unwrap();
    id
}

#[test]
fn a_pull_request_is_a_row_and_an_entry_once_it_goes_no_further() {
    let mut p = Project::new();
    let id = with_pull(&mut p, "Retry the upload", 12);
    p.see_pull(&id, PullRequestState::Open, Some("waiting"));
    let found = board(&p);
    assert!(kinds(&found).is_empty(), "checks and reviews take their time");
    assert_eq!(found.pull_requests.items[0].pull_request.number, Some(12));

    for (detail, told) in [
        ("ready", "its pull request #12 can be merged: https://github.com/acme/shop/pull/12"),
        ("failing", "its pull request #12 fails its checks: https://github.com/acme/shop/pull/12"),
    ] {
        p.see_pull(&id, PullRequestState::Open, Some(detail));
        let found = board(&p);
        assert_eq!(kinds(&found), [(NeedKind::PullRequest, Some(id.as_str()))]);
        assert_eq!(found.needs.items[0].why, told);
    }
    // `el pr` does not make a branch again that somebody deleted.
    p.see_pull(&id, PullRequestState::Open, Some("branch_deleted"));
    let need = board(&p).needs.items.remove(0);
    assert!(need.why.contains("its branch was deleted there") && need.why.contains("git push"));
    assert!(need.ways.iter().all(|way| !way.command.starts_with("el pr")), "{:?}", need.ways);

    p.see_pull(&id, PullRequestState::Open, Some("ready"));
    let merge = format!("el pr merge {id}");
    assert!(board(&p).needs.items[0].ways.iter().any(|way| way.command == merge));

    p.see_pull(&id, PullRequestState::Closed, None);
    let found = board(&p);
    assert_eq!(kinds(&found), [(NeedKind::PullRequest, Some(id.as_str()))]);
    assert!(found.needs.items[0].why.contains("was closed without being merged"));
    assert_eq!((found.pull_requests.total, found.held.total), (0, 1));
    let ctx = p.person();
    ops::reopen(&mut p.store, &ctx, &[&id]).unwrap();
    assert!(board(&p).needs.items.iter().all(|need| need.kind != NeedKind::PullRequest));
}
