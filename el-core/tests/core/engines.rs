//! Two engines, one behaviour: the same calls give the same answers, and two writers at once come
//! to no state to which one after the other would not have come.

use std::sync::Barrier;
use std::time::Duration;

use el_core::model::{BondKind, EventKind, Timestamp};
use el_core::ops::{self, AtomFilter, Guard, Sort};
use el_core::{Error, Store};
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

/// Two threads, each with a connection of its own, that meet before each round and after it.
/// `check` then looks at what came of the round.
fn race(
    project: &mut Project,
    rounds: usize,
    one: impl Fn(&mut Store) -> Result<(), Error> + Sync,
    two: impl Fn(&mut Store) -> Result<(), Error> + Sync,
    mut check: impl FnMut(&mut Project, [Result<(), Error>; 2]),
) {
    let place = project.place();
    let barrier = Barrier::new(2);
    let (told, answers) = std::sync::mpsc::channel();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        // Of this closure: if a check fails, the other thread ends as well.
        let go = go;
        scope.spawn(|| {
            let mut store = place.open();
            let wait = wait;
            while wait.recv().is_ok() {
                barrier.wait();
                told.send(two(&mut store)).unwrap();
            }
        });
        let mut store = place.open();
        for _ in 0..rounds {
            go.send(()).unwrap();
            barrier.wait();
            let mine = one(&mut store);
            check(project, [mine, answers.recv().unwrap()]);
        }
    });
}

const ROUNDS: usize = 1000;

#[test]
fn two_dep_add_at_once_never_make_a_circle() {
    let mut p = Project::new();
    let (a, b) = (p.create("a"), p.create("b"));
    let ctx = person(p.now);
    let mut added = [0, 0];
    race(
        &mut p,
        ROUNDS,
        |store| ops::dep_add(store, &ctx, &a, &b, BondKind::Blocks).map(drop),
        |store| ops::dep_add(store, &ctx, &b, &a, BondKind::WaitsFor).map(drop),
        |p, answers| {
            let done = answers.each_ref().map(|answer| usize::from(answer.is_ok()));
            assert_eq!(done[0] + done[1], 1, "{answers:?}");
            added = [added[0] + done[0], added[1] + done[1]];
            assert_eq!(ops::dep_check(&p.store).unwrap(), []);
            let ctx = p.person();
            let (from, to) = if answers[0].is_ok() { (&a, &b) } else { (&b, &a) };
            ops::dep_remove(&mut p.store, &ctx, from, to, None).unwrap();
        },
    );
    assert!(added[0] + added[1] == ROUNDS, "{added:?}");
}

#[test]
fn a_dep_add_that_meets_a_close_leaves_nothing_blocked_for_ever() {
    let mut p = Project::new();
    let (blocker, target) = (p.create("blocker"), p.create("target"));
    let ctx = person(p.now);
    race(
        &mut p,
        ROUNDS,
        |store| ops::dep_add(store, &ctx, &blocker, &target, BondKind::Blocks).map(drop),
        |store| ops::close(store, &ctx, &[&blocker], None, &Guard::default()).map(drop),
        |p, answers| {
            assert!(answers.iter().all(Result::is_ok), "{answers:?}");
            assert_eq!(p.ready(), [target.as_str()], "its blocker is over");
            let ctx = p.person();
            ops::reopen(&mut p.store, &ctx, &[&blocker]).unwrap();
            assert_eq!(p.ready(), [blocker.as_str()]);
            ops::dep_remove(&mut p.store, &ctx, &blocker, &target, None).unwrap();
        },
    );
}

#[test]
fn two_claims_at_once_never_take_one_atom_twice() {
    let mut p = Project::new();
    let one = p.create("one");
    let ctx = person(p.now);
    let taken = |store: &mut Store| match ops::claim_run(store, &ctx, &crate::support::request())? {
        Some(_) => Ok(()),
        None => Err(Error::NotFound { what: "atom", id: String::new() }),
    };
    race(&mut p, ROUNDS, taken, taken, |p, answers| {
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
        let live = ops::live_runs(&p.store).unwrap();
        let [run] = &live[..] else { panic!("{live:?}") };
        p.wait(Duration::from_secs(1));
        let ctx = p.person();
        ops::close(&mut p.store, &ctx, &[&one], None, &Guard { force: true, ..Guard::default() })
            .unwrap();
        p.settle(&run.id, 0);
        ops::reopen(&mut p.store, &ctx, &[&one]).unwrap();
    });
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
        let id = claimed.expect("one is ready").run.id;
        // Another machine, whose clock is right.
        let other = p.place().open();
        let live = ops::live_runs(&other).unwrap();
        let run = live.iter().find(|run| run.id == id).unwrap();
        let left = run.lease_until.since(other.lease_time(right));
        assert!(left <= lease && left + Duration::from_secs(60) > lease, "{left:?} of {lease:?}");
    }
}
