//! Taking changes back: whatever a person did, step by step, is undone step by step.

use std::time::Duration;

use el_core::Ctx;
use el_core::model::{BondKind, Priority, Status, Timestamp};
use el_core::ops::{self, AtomFilter, AtomPatch, Guard, NewAtom, Sort};
use proptest::prelude::*;

use crate::support::Project;

/// The contents of a project without the times of its changes.
pub(crate) fn contents(project: &Project) -> Vec<String> {
    let all = AtomFilter { include_over: true, ..AtomFilter::default() };
    let page = ops::list(&project.store, &all, Sort::Oldest, None, 0, project.now).unwrap().items;
    let mut found: Vec<String> = page
        .into_iter()
        .map(|mut atom| {
            atom.updated_at = Timestamp::from_micros(0);
            let comments = ops::list_comments(&project.store, &atom.id).unwrap().1;
            format!("{} {comments:?}", serde_json::to_string(&atom).unwrap())
        })
        .collect();
    let bonds = ops::dep_all(&project.store).unwrap();
    let mut bonds: Vec<String> = bonds
        .iter()
        .map(|b| format!("{} {} {:?}", b.source_id, b.target_id, b.dependency_type))
        .collect();
    bonds.sort();
    found.extend(bonds);
    found
}

/// One call of a verb by a person. Refused calls change nothing.
pub(crate) fn act(project: &mut Project, verb: u8, a: usize, b: usize, n: u8) {
    project.wait(Duration::from_secs(1));
    let ctx = Ctx { actor: "eve", ..project.person() };
    let all = AtomFilter { include_over: true, ..AtomFilter::default() };
    let ids: Vec<String> = ops::list(&project.store, &all, Sort::Oldest, None, 0, project.now)
        .unwrap()
        .items
        .into_iter()
        .map(|atom| atom.id)
        .collect();
    let (one, two) = (ids[a % ids.len()].clone(), ids[b % ids.len()].clone());
    let store = &mut project.store;
    let force = Guard { force: true, ..Guard::default() };
    let mut update = |patch: AtomPatch| {
        let _ = ops::update(store, &ctx, &[&one, &two], &patch, &force);
    };
    let kinds = [BondKind::Blocks, BondKind::Related, BondKind::WaitsFor, BondKind::ParentChild];
    let kind = kinds[usize::from(n) % kinds.len()];
    match verb {
        0 => {
            let new = NewAtom {
                title: format!("New {n}"),
                labels: vec![format!("l{}", n % 3)],
                parent: n.is_multiple_of(2).then(|| one.clone()),
                blocked_by: if n.is_multiple_of(3) { vec![two.clone()] } else { vec![] },
                ..NewAtom::default()
            };
            let _ = ops::create(store, &ctx, &new);
        }
        1 => update(AtomPatch {
            title: Some(format!("Title {n}")),
            description: Some(format!("Text {n}")),
            priority: Priority::new(i64::from(n % 6)).ok(),
            ..AtomPatch::default()
        }),
        2 => update(AtomPatch {
            add_labels: vec![format!("l{}", n % 4)],
            remove_labels: vec![format!("l{}", (n + 1) % 4)],
            assignee: Some(n.is_multiple_of(2).then(|| format!("who{n}"))),
            ..AtomPatch::default()
        }),
        3 => {
            let statuses = [Status::Deferred, Status::Blocked, Status::WontDo, Status::Open];
            update(AtomPatch {
                status: Some(statuses[usize::from(n) % statuses.len()]),
                reason: Some(format!("because {n}")),
                ..AtomPatch::default()
            });
        }
        4 => {
            let mut patch =
                AtomPatch { acceptance: Some(Some("done".into())), ..AtomPatch::default() };
            patch.metadata.insert("k".into(), n.is_multiple_of(2).then_some(n).into());
            update(patch);
        }
        5 => drop(ops::close(store, &ctx, &[&one, &two], Some("done"), &force)),
        6 => drop(ops::reopen(store, &ctx, &[&one])),
        7 => drop(ops::discard(store, &ctx, &[&one, &two], None, true)),
        8 => drop(ops::add_comment(store, &ctx, &one, &format!("say {n}"))),
        9 => drop(ops::dep_add(store, &ctx, &one, &two, kind)),
        10 => drop(ops::dep_remove(store, &ctx, &one, &two, None)),
        11 => drop(ops::claim(store, &ctx, &one, true, None)),
        12 => drop(ops::release(store, &ctx, &one, true)),
        13 => drop(ops::retry(store, &ctx, &one)),
        _ => update(AtomPatch {
            parent: Some(n.is_multiple_of(2).then(|| two.clone())),
            ..AtomPatch::default()
        }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn all_that_a_person_did_is_taken_back_step_by_step(
        calls in prop::collection::vec((0u8..15, 0usize..9, 0usize..9, 0u8..12), 1..24)
    ) {
        let mut project = Project::new();
        for title in ["A", "B", "C", "D"] {
            project.create(title);
        }
        let mut states = vec![contents(&project)];
        for (verb, a, b, n) in calls {
            act(&mut project, verb, a, b, n);
            states.push(contents(&project));
        }
        states.dedup();
        loop {
            project.wait(Duration::from_secs(1));
            let ctx = Ctx { actor: "eve", ..project.person() };
            match ops::undo(&mut project.store, &ctx, None, false) {
                Ok(_) => {
                    let now = contents(&project);
                    while states.last().is_some_and(|state| *state != now) {
                        states.pop();
                    }
                    prop_assert!(!states.is_empty(), "a state that never was: {now:#?}");
                }
                Err(error) => {
                    prop_assert_eq!(error.code(), "nothing_to_undo", "{}", error);
                    break;
                }
            }
        }
        prop_assert_eq!(states.len(), 1, "not all was taken back");
    }
}

#[test]
fn what_somebody_else_changed_since_is_left_and_named() {
    let mut project = Project::new();
    let id = project.create("A");
    let by = |actor: &'static str, project: &mut Project| {
        project.wait(Duration::from_secs(1));
        Ctx { actor, ..project.person() }
    };
    let title = |text: &str| AtomPatch { title: Some(text.to_owned()), ..AtomPatch::default() };
    let ann = by("ann", &mut project);
    ops::update(&mut project.store, &ann, &[&id], &title("Mine"), &Guard::default()).unwrap();
    let bob = by("bob", &mut project);
    ops::update(&mut project.store, &bob, &[&id], &title("Theirs"), &Guard::default()).unwrap();
    let ann = by("ann", &mut project);
    let error = ops::undo(&mut project.store, &ann, None, false).unwrap_err();
    assert_eq!(error.code(), "changed_since");
    assert!(error.to_string().contains("bob changed"), "{error}");
    assert_eq!(ops::show(&project.store, &id).unwrap().atom.title, "Theirs");
    // Bob takes his own back, and then Ann can.
    let bob = by("bob", &mut project);
    ops::undo(&mut project.store, &bob, None, false).unwrap();
    let ann = by("ann", &mut project);
    ops::undo(&mut project.store, &ann, None, false).unwrap();
    assert_eq!(ops::show(&project.store, &id).unwrap().atom.title, "A");
}

#[test]
fn a_run_cannot_be_taken_back_and_a_rehearsal_changes_nothing() {
    let mut project = Project::new();
    let id = project.create("A");
    let claimed = project.claim().unwrap();
    project.wait(Duration::from_secs(1));
    let ann = Ctx { actor: "ann", ..project.person() };
    ops::close(&mut project.store, &ann, &[&id], None, &Guard { force: true, ..Guard::default() })
        .unwrap();
    project.settle(&claimed.run.id, 0);
    project.wait(Duration::from_secs(1));
    let ann = Ctx { actor: "ann", ..project.person() };
    let error = ops::undo(&mut project.store, &ann, None, false).unwrap_err();
    assert_eq!(error.code(), "cannot_undo");
    assert!(error.to_string().contains("el reopen"), "{error}");
    let other = project.create("B");
    let ctx = project.person();
    assert_eq!(ops::undo(&mut project.store, &ctx, None, true).unwrap().changes.len(), 1);
    assert!(ops::show(&project.store, &other).is_ok());
}
