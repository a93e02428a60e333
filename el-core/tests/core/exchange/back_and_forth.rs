//! Out and in again: nothing is lost.

use std::time::Duration;

use el_core::exchange::Tracker;
use el_core::model::{BondKind, IssueType, Priority, Status};
use el_core::ops::{self, AtomPatch, Guard, NewAtom};
use proptest::prelude::*;

use crate::support::Project;

/// One step of a project's life; numbers pick among the atoms that are there.
#[derive(Debug, Clone)]
enum Step {
    Create {
        title: String,
        description: String,
        kind: IssueType,
        priority: u8,
        labels: Vec<String>,
        parent: Option<usize>,
    },
    Bind(usize, usize, BondKind),
    Comment(usize, String),
    Status(usize, Status, Option<String>),
    Describe(usize, Option<String>, Option<String>),
}

fn step() -> impl Strategy<Value = Step> {
    let text = "[ -~é漢\n\u{202e}\"\\\\]{1,30}";
    let kind = prop::sample::select(IssueType::ALL.to_vec());
    let create =
        (
            "[a-zé\"<\\\\ ]{0,20}x",
            text,
            kind,
            0_u8..6,
            prop::collection::vec("[a-c]{1,3}", 0..3),
            prop::option::of(any::<usize>()),
        )
            .prop_map(|(title, description, kind, priority, labels, parent)| {
                Step::Create { title, description, kind, priority, labels, parent }
            });
    let bind = (any::<usize>(), any::<usize>(), prop::sample::select(BondKind::ALL.to_vec()))
        .prop_map(|(a, b, kind)| Step::Bind(a, b, kind));
    let comment = (any::<usize>(), text).prop_map(|(at, text)| Step::Comment(at, text));
    let status = (
        any::<usize>(),
        prop::sample::select(Status::ALL.to_vec()),
        prop::option::of("[a-z]{1,8}"),
    )
        .prop_map(|(at, status, reason)| Step::Status(at, status, reason));
    let describe = (any::<usize>(), prop::option::of(text), prop::option::of("[a-z]{1,8}"))
        .prop_map(|(at, a, b)| Step::Describe(at, a, b));
    prop_oneof![3 => create, 2 => bind, 1 => comment, 1 => status, 1 => describe]
}

fn live(p: &mut Project, steps: Vec<Step>) {
    let mut ids: Vec<String> = Vec::new();
    for step in steps {
        p.wait(Duration::from_micros(1500));
        let ctx = p.person();
        let pick = |at: usize| ids.get(at % ids.len().max(1)).cloned();
        // A step that the tracker refuses (a cycle, a blank comment) changes nothing.
        let _refused = match step {
            Step::Create { title, description, kind, priority, labels, parent } => {
                let new = NewAtom {
                    title,
                    description,
                    issue_type: Some(kind),
                    priority: Some(Priority::new(priority.into()).unwrap()),
                    labels,
                    parent: parent.and_then(pick),
                    ..NewAtom::default()
                };
                ops::create(&mut p.store, &ctx, &new).map(|made| ids.push(made.id))
            }
            Step::Bind(a, b, kind) => match (pick(a), pick(b)) {
                (Some(a), Some(b)) => ops::dep_add(&mut p.store, &ctx, &a, &b, kind).map(drop),
                _ => Ok(()),
            },
            Step::Comment(at, text) => pick(at)
                .map_or(Ok(()), |id| ops::add_comment(&mut p.store, &ctx, &id, &text).map(drop)),
            Step::Status(at, status, reason) => pick(at).map_or(Ok(()), |id| {
                let patch = AtomPatch { status: Some(status), reason, ..AtomPatch::default() };
                ops::update(&mut p.store, &ctx, &[id], &patch, &Guard::default()).map(drop)
            }),
            Step::Describe(at, acceptance, assignee) => pick(at).map_or(Ok(()), |id| {
                let patch = AtomPatch {
                    acceptance: Some(acceptance),
                    assignee: Some(assignee),
                    metadata: serde_json::json!({"n": at, "deep": {"a": [1, null]}})
                        .as_object()
                        .unwrap()
                        .clone(),
                    ..AtomPatch::default()
                };
                ops::update(&mut p.store, &ctx, &[id], &patch, &Guard::default()).map(drop)
            }),
        };
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn an_export_into_an_empty_project_gives_the_same_project(
        steps in prop::collection::vec(step(), 1..25),
    ) {
        let mut here = Project::new();
        live(&mut here, steps);
        let text = here.export();
        prop_assert_eq!(&text, &here.export(), "an export depends on nothing but the content");
        let mut there = Project::new();
        there.wait(Duration::from_secs(999));
        let told = there.import(&text, Tracker::El);
        prop_assert_eq!(told.notes, vec![]);
        prop_assert_eq!(there.export(), text.clone());
        prop_assert_eq!(here.ready(), there.ready());
        let again = there.import(&text, Tracker::El);
        prop_assert_eq!((again.created, again.updated), (0, 0));
        let home = here.import(&text, Tracker::El);
        prop_assert_eq!(
            (home.created, home.updated, home.bonds_added, home.comments_added),
            (0, 0, 0, 0)
        );
        prop_assert_eq!(here.export(), text);
    }
}

#[test]
fn an_export_tells_of_the_names_that_atoms_have_elsewhere() {
    let mut here = Project::new();
    here.import(super::BD, Tracker::Bd);
    let mut there = Project::new();
    there.import(&here.export(), Tracker::El);
    assert_eq!(
        ops::resolve_id(&there.store, "bd-1.2").unwrap(),
        ops::resolve_id(&here.store, "bd-1.2").unwrap()
    );
    assert_eq!(
        there.import(super::BD, Tracker::Bd).created,
        0,
        "what came by way of an export is not made twice"
    );
}

#[test]
fn two_projects_that_exchange_their_exports_end_alike() {
    let mut here = Project::new();
    let id = here.create("one");
    let mut there = Project::new();
    there.import(&here.export(), Tracker::El);
    let (one, two) = (here.person(), there.person());
    let patch = |title: &str| AtomPatch { title: Some(title.to_owned()), ..AtomPatch::default() };
    ops::update(&mut here.store, &one, &[&id], &patch("renamed here"), &Guard::default()).unwrap();
    ops::close(&mut there.store, &two, &[&id], Some("done there"), &Guard::default()).unwrap();
    let (a, b) = (here.export(), there.export());
    here.import(&b, Tracker::El);
    there.import(&a, Tracker::El);
    let atom = ops::get_atom(&there.store, &id).unwrap();
    assert_eq!((atom.title.as_str(), atom.status), ("renamed here", Status::Closed));
}

#[test]
fn an_atom_that_happens_to_have_the_same_id_is_another_one() {
    let mut here = Project::new();
    let id = here.create("ours");
    let text = format!(
        "{{\"_type\":\"atom\",\"id\":\"{id}\",\"title\":\"theirs\",\
         \"created_at\":\"2020-01-01T00:00:00Z\",\"created_by\":\"x\"}}\n\
         {{\"_type\":\"atom\",\"id\":\"not one of ours\",\"title\":\"odd\",\"created_by\":\"x\"}}\n"
    );
    let told = here.import(&text, Tracker::El);
    assert_eq!((told.created, told.updated), (2, 0));
    assert_eq!(ops::get_atom(&here.store, &id).unwrap().title, "ours");
    assert_eq!(here.import(&text, Tracker::El).created, 0);
}

#[test]
fn a_file_of_a_newer_version_is_refused() {
    let batch = el_core::exchange::read_records(
        b"{\"_type\":\"header\",\"format\":\"el\",\"version\":99}\n",
        Tracker::El,
        "",
        &mut |_, _| {},
    );
    assert!(batch.bad[0].message.contains("newer el"), "{:?}", batch.bad);
}
