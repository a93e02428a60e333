//! The tracker's verbs, without workers.

use std::time::Duration;

use el_core::model::{BondKind, EventKind, Priority, Status};
use el_core::ops::{self, AtomFilter, AtomPatch, Guard, NewAtom};
use el_core::{Error, model};

use crate::support::{Project, person};

#[test]
fn an_id_is_found_by_any_unique_beginning_and_never_by_its_middle() {
    let mut p = Project::new();
    let id = p.create("one");
    let short = id.strip_prefix("el-").unwrap().to_owned();
    for text in [
        id.clone(),
        id.to_uppercase(),
        short.clone(),
        short[..3].to_owned(),
        format!("EL-{}", &short[..2]),
    ] {
        assert_eq!(ops::resolve_id(&p.store, &text).unwrap(), id, "{text}");
    }
    assert!(
        matches!(
            ops::resolve_id(&p.store, &short[1..]),
            Err(Error::NotFound { .. }) | Err(Error::Ambiguous { .. })
        ) || short[1..] == short[..3]
    );
    assert!(matches!(
        ops::resolve_id(&p.store, "").unwrap_err(),
        Error::Invalid { field: "id", .. }
    ));
    assert!(matches!(ops::resolve_id(&p.store, "other-abcd").unwrap_err(), Error::NotFound { .. }));
    assert!(matches!(ops::resolve_id(&p.store, "%").unwrap_err(), Error::NotFound { .. }));
}

#[test]
fn an_ambiguous_id_names_the_candidates() {
    let mut p = Project::new();
    let ids: Vec<String> = (0..33).map(|n| p.create(&format!("atom {n}"))).collect();
    let first = |id: &String| id.chars().nth(3).unwrap();
    let shared = ids
        .iter()
        .map(first)
        .find(|c| ids.iter().filter(|id| first(id) == *c).count() > 1)
        .expect("33 ids share a first character");
    let error = ops::resolve_id(&p.store, &shared.to_string()).unwrap_err();
    let Error::Ambiguous { candidates, .. } = error else { panic!("{error}") };
    assert!(candidates.len() > 1 && candidates.iter().all(|(id, _)| first(id) == shared));
}

#[test]
fn no_short_id_is_the_beginning_of_another() {
    let mut p = Project::new();
    let person = person(p.now);
    let news: Vec<NewAtom> =
        (0..3000).map(|n| NewAtom { title: format!("atom {n}"), ..NewAtom::default() }).collect();
    let mut shorts: Vec<String> =
        ops::create_many(&mut p.store, &person, &news).unwrap().into_iter().map(|a| a.id).collect();
    shorts.sort();
    assert!(shorts.windows(2).all(|pair| !pair[1].starts_with(&pair[0])));
}

#[test]
fn many_are_created_together_or_not_at_all() {
    let mut p = Project::new();
    let person = person(p.now);
    let new = |key: &str, title: &str, blocked_by: &[&str]| NewAtom {
        key: Some(key.to_owned()),
        title: title.to_owned(),
        blocked_by: blocked_by.iter().map(|s| (*s).to_owned()).collect(),
        ..NewAtom::default()
    };
    let made = ops::create_many(
        &mut p.store,
        &person,
        &[new("a", "first", &["b"]), new("b", "second", &[])],
    )
    .unwrap();
    assert_eq!(p.ready(), [made[1].id.clone()]);
    for bad in [new("c", " ", &[]), new("c", "third", &["nowhere"]), new("c", "third", &["d"])] {
        let batch = [new("d", "good", &["c"]), bad];
        assert!(ops::create_many(&mut p.store, &person, &batch).is_err());
    }
    let all = AtomFilter { include_over: true, ..AtomFilter::default() };
    assert_eq!(ops::list(&p.store, &all, ops::Sort::Oldest, None, 0, p.now).unwrap().total, 2);
}

#[test]
fn closing_again_is_no_error_and_the_first_reason_stands() {
    let mut p = Project::new();
    let id = p.create("one");
    let person = person(p.now);
    ops::close(&mut p.store, &person, &[&id], Some("first"), &Guard::default()).unwrap();
    let again =
        ops::close(&mut p.store, &person, &[&id], Some("second"), &Guard::default()).unwrap();
    assert_eq!(again[0].close_reason.as_deref(), Some("first"));
    assert_eq!(ops::list_comments(&p.store, &id).unwrap().1[0].content, "second");
    let (_, events) = ops::history(&p.store, &id).unwrap();
    ops::close(&mut p.store, &person, &[&id], Some("first"), &Guard::default()).unwrap();
    assert_eq!(ops::history(&p.store, &id).unwrap().1.len(), events.len());
}

#[test]
fn several_ids_are_changed_all_or_none() {
    let mut p = Project::new();
    let (a, b) = (p.create("a"), p.create("b"));
    let person = person(p.now);
    assert!(
        ops::close(&mut p.store, &person, &[a.as_str(), "zzzz"], None, &Guard::default()).is_err()
    );
    let guard = Guard { if_status: vec![Status::Blocked], ..Guard::default() };
    assert_eq!(
        ops::close(&mut p.store, &person, &[&a, &b], None, &guard).unwrap_err().code(),
        "guard"
    );
    assert_eq!(p.ready().len(), 2);
    ops::close(&mut p.store, &person, &[&a, &b, &a], None, &Guard::default()).unwrap();
    assert!(p.ready().is_empty());
}

#[test]
fn several_ids_in_one_call_see_each_others_effects() {
    let mut p = Project::new();
    let ctx = p.person();
    let (a, b) = (p.create("a"), p.create("b"));
    ops::dep_add(&mut p.store, &ctx, &a, &b, BondKind::ConditionalBlocks).unwrap();
    let ended = ops::close(&mut p.store, &ctx, &[&a, &b], None, &Guard::default()).unwrap();
    assert_eq!((ended[0].status, ended[1].status), (Status::Closed, Status::WontDo));
    let (_, events) = ops::history(&p.store, &b).unwrap();
    let changes = events.iter().filter(|event| event.kind == EventKind::Status).count();
    assert_eq!(changes, 1, "{events:?}");
}

#[test]
fn a_claim_by_hand_over_a_live_run_is_refused() {
    let mut p = Project::new();
    let id = p.create("one");
    p.claim().unwrap();
    let ctx = p.person();
    let to = |status| AtomPatch {
        status: Some(status),
        assignee: Some(Some("bob".into())),
        ..AtomPatch::default()
    };
    ops::update(&mut p.store, &ctx, &[&id], &to(Status::Open), &Guard::default()).unwrap();
    let refused =
        ops::update(&mut p.store, &ctx, &[&id], &to(Status::InProgress), &Guard::default());
    assert_eq!(refused.unwrap_err().code(), "claimed");
    assert_eq!(ops::show(&p.store, &id).unwrap().atom.status, Status::Open);
}

#[test]
fn cycles_of_every_kind_are_refused_and_leave_nothing() {
    let mut p = Project::new();
    let (a, b, c) = (p.create("a"), p.create("b"), p.create("c"));
    let person = person(p.now);
    ops::dep_add(&mut p.store, &person, &a, &b, BondKind::Blocks).unwrap();
    ops::dep_add(&mut p.store, &person, &b, &c, BondKind::ParentChild).unwrap();
    for (source, target, kind) in [
        (&b, &a, BondKind::Blocks),
        (&c, &a, BondKind::WaitsFor),
        (&c, &b, BondKind::ParentChild),
        (&c, &a, BondKind::ParentChild),
        (&a, &a, BondKind::Related),
    ] {
        let refusal = ops::dep_add(&mut p.store, &person, source, target, kind).unwrap_err();
        assert_eq!(refusal.code(), "cycle", "{kind}");
    }
    let patch = AtomPatch { parent: Some(Some(c.clone())), ..AtomPatch::default() };
    assert_eq!(
        ops::update(&mut p.store, &person, &[&b], &patch, &Guard::default()).unwrap_err().code(),
        "cycle"
    );
    assert_eq!(ops::dep_all(&p.store).unwrap().len(), 2);
    ops::dep_add(&mut p.store, &person, &c, &a, BondKind::Related).unwrap();
}

#[test]
fn removing_a_bond_removes_it_and_removing_none_is_an_error() {
    let mut p = Project::new();
    let (a, b) = (p.create("a"), p.create("b"));
    let person = person(p.now);
    ops::dep_add(&mut p.store, &person, &a, &b, BondKind::Blocks).unwrap();
    assert_eq!(ops::dep_remove(&mut p.store, &person, &a, &b, None).unwrap().len(), 1);
    assert!(matches!(
        ops::dep_remove(&mut p.store, &person, &a, &b, None).unwrap_err(),
        Error::NotFound { what: "bond", .. }
    ));
    assert_eq!(p.ready().len(), 2);
}

#[test]
fn an_update_tells_what_changed_and_is_written_once() {
    let mut p = Project::new();
    let id = p.create("one");
    let person = person(p.now);
    let patch = AtomPatch {
        priority: Some("high".parse::<Priority>().unwrap()),
        add_labels: vec!["api".into()],
        ..AtomPatch::default()
    };
    let done = ops::update(&mut p.store, &person, &[&id], &patch, &Guard::default()).unwrap();
    assert_eq!(done[0].changes.keys().collect::<Vec<_>>(), ["priority", "labels"]);
    let events = ops::history(&p.store, &id).unwrap().1.len();
    let again = ops::update(&mut p.store, &person, &[&id], &patch, &Guard::default()).unwrap();
    assert!(again[0].changes.is_empty());
    assert_eq!(ops::history(&p.store, &id).unwrap().1.len(), events);
}

#[test]
fn whoever_puts_an_atom_in_progress_owns_it() {
    let mut p = Project::new();
    let id = p.create("one");
    let patch = AtomPatch { status: Some(Status::InProgress), ..AtomPatch::default() };
    let done =
        ops::update(&mut p.store, &person(p.now), &[&id], &patch, &Guard::default()).unwrap();
    assert_eq!(done[0].atom.assignee.as_deref(), Some("ann"));
}

#[test]
fn a_claim_is_one_persons_until_it_is_released() {
    let mut p = Project::new();
    let id = p.create("one");
    let person = person(p.now);
    let bob = el_core::Ctx { actor: "bob", ..person };
    ops::claim(&mut p.store, &person, &id, false, None).unwrap();
    ops::claim(&mut p.store, &person, &id, false, None).unwrap();
    assert_eq!(ops::claim(&mut p.store, &bob, &id, false, None).unwrap_err().code(), "claimed");
    assert!(p.claim().is_none());
    assert_eq!(ops::release(&mut p.store, &bob, &id, false).unwrap_err().code(), "claimed");
    ops::release(&mut p.store, &bob, &id, true).unwrap();
    let which = ops::ClaimNext { claim: true, ..Default::default() };
    assert_eq!(
        ops::claim_next(&mut p.store, &bob, &which).unwrap().unwrap().assignee.as_deref(),
        Some("bob")
    );
    assert!(ops::claim_next(&mut p.store, &person, &which).unwrap().is_none());
}

#[test]
fn a_claim_answers_with_the_atom_as_it_is_then() {
    let mut p = Project::new();
    let guard = Guard::default();
    let (failed, plain) = (p.create("Failed"), p.create("Plain"));
    let claimed = p.claim().unwrap();
    assert_eq!(claimed.atom.id, failed);
    p.settle(&claimed.run.id, 1);
    let (late, over) = (p.create("Late"), p.create("Over"));
    let ctx = p.person();
    let patch = AtomPatch {
        defer_until: Some(Some(p.now.plus(Duration::from_secs(60)))),
        add_labels: vec!["api".to_owned()],
        ..AtomPatch::default()
    };
    ops::update(&mut p.store, &ctx, &[&late], &patch, &guard).unwrap();
    ops::close(&mut p.store, &ctx, &[&over], Some("done"), &guard).unwrap();
    ops::reopen(&mut p.store, &ctx, &[&over]).unwrap();
    for id in [failed, plain, late, over] {
        p.wait(Duration::from_secs(120));
        let ann = p.person();
        for ctx in [ann, el_core::Ctx { actor: "bob", ..ann }] {
            let claimed = ops::claim(&mut p.store, &ctx, &id, true, None).unwrap();
            assert_eq!(claimed, ops::get_atom(&p.store, &id).unwrap());
        }
    }
}

#[test]
fn a_worker_leaves_what_is_assigned_to_others() {
    let mut p = Project::new();
    let id = p.create("for bob");
    let patch = AtomPatch { assignee: Some(Some("bob".into())), ..AtomPatch::default() };
    ops::update(&mut p.store, &person(p.now), &[&id], &patch, &Guard::default()).unwrap();
    assert!(p.claim().is_none());
    let patch = AtomPatch { assignee: Some(Some("claude".into())), ..AtomPatch::default() };
    ops::update(&mut p.store, &person(p.now), &[&id], &patch, &Guard::default()).unwrap();
    assert!(p.claim().is_some());
}

#[test]
fn what_was_discarded_can_be_restored_until_it_is_pruned() {
    let mut p = Project::new();
    let (a, b) = (p.create("a"), p.create("b"));
    let person = person(p.now);
    ops::dep_add(&mut p.store, &person, &a, &b, BondKind::Blocks).unwrap();
    ops::discard(&mut p.store, &person, &[&a], None, false).unwrap();
    ops::restore(&mut p.store, &person, &a).unwrap();
    ops::discard(&mut p.store, &person, &[&a], Some("twice"), false).unwrap();
    let day = std::time::Duration::from_secs(86_400);
    assert!(ops::prune(&mut p.store, &person, day, false).unwrap().is_empty());
    p.wait(day);
    let person = crate::support::person(p.now);
    assert_eq!(ops::prune(&mut p.store, &person, day, true).unwrap().len(), 1);
    assert_eq!(ops::prune(&mut p.store, &person, day, false).unwrap().len(), 1);
    assert!(matches!(ops::get_atom(&p.store, &a), Err(Error::NotFound { .. })));
    assert_eq!(p.ready(), [b]);
    assert!(!ops::history(&p.store, &a).unwrap().1.is_empty(), "its history stays");
}

#[test]
fn search_finds_words_and_beginnings_and_follows_changes() {
    let mut p = Project::new();
    let id = p.create("Crème brûlée recipe");
    let hits = |p: &Project, text: &str| ops::search(&p.store, text, false, None).unwrap().total;
    assert_eq!(
        (hits(&p, "creme"), hits(&p, "recip"), hits(&p, "\"OR"), hits(&p, "tart")),
        (1, 1, 0, 0)
    );
    let patch = AtomPatch { title: Some("tart".into()), ..AtomPatch::default() };
    ops::update(&mut p.store, &person(p.now), &[&id], &patch, &Guard::default()).unwrap();
    assert_eq!((hits(&p, "creme"), hits(&p, "tart")), (0, 1));
    // Without spaces, a word begins anywhere; a sign stands for itself.
    p.create("文字検索 of 100%");
    p.create("文字 of 100");
    let found =
        ["字検", "文字", "of 検索", "検索 o", "検字", "%", "100%", "100"].map(|t| hits(&p, t));
    assert_eq!(found, [1, 2, 1, 1, 0, 1, 1, 2]);
    // The project's clock is not the server's.
    let mut found = ops::doctor(&p.store, p.now).unwrap();
    found.retain(|finding| finding.code != "clock");
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_page_says_how_many_there_are() {
    let mut p = Project::new();
    for n in 0..7 {
        p.create(&format!("atom {n}"));
    }
    let page =
        ops::list(&p.store, &AtomFilter::default(), ops::Sort::Oldest, Some(3), 0, p.now).unwrap();
    assert_eq!((page.items.len(), page.total), (3, 7));
    let page =
        ops::list(&p.store, &AtomFilter::default(), ops::Sort::Oldest, Some(3), 6, p.now).unwrap();
    assert_eq!((page.items.len(), page.total), (1, 7));
    let page =
        ops::list(&p.store, &AtomFilter::default(), ops::Sort::Oldest, Some(3), 9, p.now).unwrap();
    assert_eq!((page.items.len(), page.total), (0, 7));
}

#[test]
fn thirty_threads_writing_at_once_lose_nothing() {
    let p = Project::new();
    let place = p.place();
    let threads: Vec<_> = (0..30)
        .map(|n| {
            let place = place.clone();
            let now = p.now;
            std::thread::spawn(move || {
                let mut store = place.open();
                let actor = format!("agent {n}");
                let ctx = el_core::Ctx { now, actor: &actor, session: None };
                for m in 0..10 {
                    let title = format!("{n}/{m} {}", model::fresh_short(4));
                    ops::create(&mut store, &ctx, &NewAtom { title, ..NewAtom::default() })
                        .unwrap();
                }
                let which = ops::ClaimNext { claim: true, ..Default::default() };
                let mut mine = Vec::new();
                while let Some(atom) = ops::claim_next(&mut store, &ctx, &which).unwrap() {
                    mine.push(atom.id);
                }
                mine
            })
        })
        .collect();
    let mut claimed: Vec<String> = threads.into_iter().flat_map(|t| t.join().unwrap()).collect();
    let count = claimed.len();
    claimed.sort();
    claimed.dedup();
    assert_eq!((count, claimed.len()), (300, 300), "each atom has one winner");
}
