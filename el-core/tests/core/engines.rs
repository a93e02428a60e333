//! Two engines, one behaviour: the same calls give the same answers.

use std::time::Duration;

use el_core::model::{EventKind, Progress, Stamp, Timestamp};
use el_core::ops::{self, AtomFilter, Beat, RunSignal, Sort};
use proptest::prelude::*;

use crate::support::{Project, person};
use crate::undo::{act, contents};

/// The contents of a project as text. Ids of atoms and comments are replaced by their positions, so
/// that two projects can be compared.
fn told(project: &Project) -> String {
    let store = &project.store;
    let all = AtomFilter { include_over: true, ..AtomFilter::default() };
    let atoms = ops::list(store, &all, Sort::Oldest, None, 0, project.now).unwrap().items;
    let mut text = contents(project).join("\n");
    for atom in &atoms {
        let kinds: Vec<EventKind> =
            ops::history(store, &atom.id).unwrap().1.iter().map(|event| event.kind).collect();
        let why = ops::explain(store, &atom.id, project.now).unwrap();
        text.push_str(&format!("\n{} {kinds:?} {}", atom.id, why.ready));
    }
    for sort in [Sort::Priority, Sort::Newest, Sort::Updated, Sort::Title, Sort::Status] {
        let page = ops::list(store, &all, sort, Some(3), 1, project.now).unwrap();
        let ids: Vec<String> = page.items.into_iter().map(|atom| atom.id).collect();
        text.push_str(&format!("\n{sort:?} {} {ids:?}", page.total));
    }
    text.push_str(&format!("\nready {:?}", project.ready()));
    let mut found: Vec<String> = ops::search(store, "new", true, None)
        .unwrap()
        .items
        .into_iter()
        .map(|atom| atom.id)
        .collect();
    found.sort_by_key(|id| atoms.iter().position(|atom| atom.id == *id));
    text.push_str(&format!("\nfound {found:?} {:?}", ops::stats(store, project.now).unwrap()));
    for (at, atom) in atoms.iter().enumerate() {
        for (n, comment) in ops::list_comments(store, &atom.id).unwrap().1.iter().enumerate() {
            text = text.replace(&comment.id, &format!("comment-{at}-{n}"));
        }
        text = text.replace(&atom.id, &format!("atom-{at}"));
    }
    let mut lines: Vec<&str> = text.lines().collect();
    // Bonds are in the order of their ids.
    let bonds = atoms.len()..contents(project).len();
    lines[bonds].sort_unstable();
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_same_calls_give_the_same_answers_on_both_engines(
        calls in prop::collection::vec((0u8..14, 0usize..8, 0usize..8, 0u8..12), 1..30)
    ) {
        let (mut file, mut server) = (Project::in_file(), Project::new());
        for project in [&mut file, &mut server] {
            project.create("First");
            project.create("Second");
            for (verb, a, b, n) in &calls {
                act(project, *verb, *a, *b, *n);
            }
        }
        prop_assert_eq!(told(&file), told(&server));
    }
}

#[test]
fn a_clock_that_is_off_by_an_hour_moves_no_lease() {
    let mut p = Project::new();
    if !p.store.is_on_server() {
        // A file has the clock of its one machine.
        return;
    }
    p.create("one");
    p.create("two");
    let right = Timestamp::from(std::time::SystemTime::now());
    let hour = Duration::from_secs(3600);
    for wrong in [right.plus(hour), Timestamp::from_micros(right.as_micros() - 3_600_000_000)] {
        let request = crate::support::request();
        let lease = request.lease;
        let claimed = ops::claim_run(&mut p.store, &person(wrong), &request).unwrap();
        let run = claimed.expect("one is ready").run;
        // Another machine, whose clock is right.
        let other = p.place().open();
        let assert_right = |moment: &str| {
            let live = ops::live_runs(&other).unwrap();
            let run = live.iter().find(|live| live.id == run.id).unwrap();
            let left = run.lease_until.since(other.lease_time(right));
            let is_right = left <= lease && left + Duration::from_secs(60) > lease;
            assert!(is_right, "{moment}: {left:?} of {lease:?}");
        };
        assert_right("the claim");
        let (stamp, progress) =
            (Stamp { pid: 7, start: 1, boot: "far|b".into() }, Progress::default());
        ops::register_supervisor(&mut p.store, &run.id, &run.token, &stamp, wrong, lease).unwrap();
        assert_right("the supervisor");
        let (run_id, token, active_at) = (&*run.id, &*run.token, Some(wrong));
        let beat = Beat { run_id, token, now: wrong, lease, active_at, progress: &progress };
        assert_eq!(ops::extend_lease(&mut p.store, &beat).unwrap(), RunSignal::Work);
        assert_right("a heartbeat");
    }
}
