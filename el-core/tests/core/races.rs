//! Two writers at once reach only states that they could reach one after the other, on either
//! engine. On a server, one lock a project (`PROJECT_LOCK`) guarantees that.

use std::process::{Command, Stdio};
use std::sync::Barrier;

use el_core::model::{BondKind, IssueType, Progress, Status, Timestamp};
use el_core::ops::{self, AtomPatch, Beat, ClaimRequest, Guard, NewAtom};
use el_core::{Error, Store};

use crate::support::{LEASE, Place, Project, Raw, person, request};

/// How often each race is run; `EL_TEST_RACES` says otherwise. A server without the lock fails each
/// race that needs it within a hundred rounds.
fn rounds() -> usize {
    std::env::var("EL_TEST_RACES").ok().and_then(|text| text.parse().ok()).unwrap_or(250)
}

type Told = Result<(), Error>;

/// Two threads, each with a connection of its own, that meet before each round and after it.
/// `check` then looks at what came of the round, and makes all ready for the next.
fn race(
    project: &mut Project,
    one: impl Fn(&mut Store) -> Told + Sync,
    two: impl Fn(&mut Store) -> Told + Sync,
    mut check: impl FnMut(&mut Project, [Told; 2]),
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
        for _ in 0..rounds() {
            go.send(()).unwrap();
            barrier.wait();
            let mine = one(&mut store);
            check(project, [mine, answers.recv().unwrap()]);
        }
    });
}

/// Two bonds of which each alone is fine, and both together make a circle.
fn race_for_a_circle(forth: BondKind, back: (bool, BondKind)) {
    let mut p = Project::new();
    let (a, b) = (p.create("a"), p.create("b"));
    let ctx = person(p.now);
    let (is_turned, kind) = back;
    let (from, to) = if is_turned { (&b, &a) } else { (&a, &b) };
    race(
        &mut p,
        |store| ops::dep_add(store, &ctx, &a, &b, forth).map(drop),
        |store| ops::dep_add(store, &ctx, from, to, kind).map(drop),
        |p, answers| {
            let done = answers.iter().filter(|answer| answer.is_ok()).count();
            assert_eq!(done, 1, "{answers:?}");
            assert_eq!(ops::dep_check(&p.store).unwrap(), []);
            let ctx = p.person();
            let (from, to) = if answers[0].is_ok() { (&a, &b) } else { (from, to) };
            ops::dep_remove(&mut p.store, &ctx, from, to, None).unwrap();
        },
    );
}

#[test]
fn two_dep_add_at_once_never_make_a_circle() {
    race_for_a_circle(BondKind::Blocks, (true, BondKind::Blocks));
}

#[test]
fn an_atom_never_comes_to_wait_for_the_family_that_it_joins() {
    race_for_a_circle(BondKind::WaitsFor, (false, BondKind::ParentChild));
}

#[test]
fn two_atoms_never_become_each_others_parent() {
    let mut p = Project::new();
    let (a, b) = (p.create("a"), p.create("b"));
    let ctx = person(p.now);
    let give = |store: &mut Store, child: &str, parent: &str| {
        let patch = AtomPatch { parent: Some(Some(parent.to_owned())), ..AtomPatch::default() };
        ops::update(store, &ctx, &[child], &patch, &Guard::default()).map(drop)
    };
    race(
        &mut p,
        |store| give(store, &a, &b),
        |store| give(store, &b, &a),
        |p, answers| {
            assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
            let patch = AtomPatch { parent: Some(None), ..AtomPatch::default() };
            let ctx = p.person();
            ops::update(&mut p.store, &ctx, &[&a, &b], &patch, &Guard::default()).unwrap();
        },
    );
}

/// A bond from a blocker, added while the blocker is closed.
fn race_a_bond_with_a_close(kind: BondKind) {
    let mut p = Project::new();
    let (blocker, target) = (p.create("blocker"), p.create("target"));
    let ctx = person(p.now);
    race(
        &mut p,
        |store| ops::dep_add(store, &ctx, &blocker, &target, kind).map(drop),
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
fn a_dep_add_that_meets_a_close_leaves_nothing_blocked_for_ever() {
    race_a_bond_with_a_close(BondKind::Blocks);
}

#[test]
fn a_waits_for_that_meets_a_close_leaves_nothing_waiting_for_ever() {
    race_a_bond_with_a_close(BondKind::WaitsFor);
}

fn claim(store: &mut Store, request: &ClaimRequest, now: Timestamp) -> Told {
    match ops::claim_run(store, &person(now), request)? {
        Some(_) => Ok(()),
        None => Err(Error::NotFound { what: "atom", id: String::new() }),
    }
}

#[test]
fn two_claims_at_once_never_take_one_atom_twice() {
    let mut p = Project::new();
    p.create("one");
    let now = p.now;
    let mut raw = Raw::of(&p.place());
    let taken = |store: &mut Store| claim(store, &request(), now);
    race(&mut p, taken, taken, |p, answers| {
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
        let live = ops::live_runs(&p.store).unwrap();
        assert_eq!(live.len(), 1, "{live:?}");
        raw.execute("DELETE FROM runs; UPDATE atoms SET status = 'open', status_by_run = NULL");
    });
}

/// The cost of each of two runs, below an epic whose budget has room for one of them.
const COST: i64 = 600_000;

/// An epic with that budget, and two atoms below.
fn epic_of_two(p: &mut Project) -> [String; 3] {
    let ctx = p.person();
    let epic = NewAtom {
        title: "Epic".to_owned(),
        issue_type: Some(IssueType::Epic),
        metadata: Some(serde_json::json!({ "budget_usd": 1.0 })),
        ..NewAtom::default()
    };
    let epic = ops::create(&mut p.store, &ctx, &epic).unwrap().id;
    let mut below = || {
        let parent = Some(epic.clone());
        let new = NewAtom { title: "Below".to_owned(), parent, ..NewAtom::default() };
        ops::create(&mut p.store, &ctx, &new).unwrap().id
    };
    let (one, two) = (below(), below());
    [epic, one, two]
}

fn spend(store: &mut Store, run: &ops::ClaimedRun, cost: i64) -> Result<ops::RunSignal, Error> {
    let mut progress = Progress::default();
    progress.cost.cost_micros = cost;
    ops::extend_lease(
        store,
        &Beat {
            run_id: &run.run.id,
            token: &run.run.token,
            now: run.run.started_at,
            lease: LEASE,
            active_at: None,
            progress: &progress,
        },
    )
}

#[test]
fn two_runs_that_spend_at_once_never_pass_the_budget_of_their_epic_unseen() {
    let mut p = Project::new();
    let [epic, ..] = epic_of_two(&mut p);
    let runs = [p.claim().unwrap(), p.claim().unwrap()];
    let mut raw = Raw::of(&p.place());
    race(
        &mut p,
        |store| spend(store, &runs[0], COST).map(drop),
        |store| spend(store, &runs[1], COST).map(drop),
        |p, answers| {
            assert!(answers.iter().all(Result::is_ok), "{answers:?}");
            assert_eq!(ops::get_atom(&p.store, &epic).unwrap().status, Status::Deferred);
            let live = ops::live_runs(&p.store).unwrap();
            assert!(live.iter().all(|run| run.cancel_requested.is_some()), "{live:?}");
            raw.execute(
                "UPDATE runs SET cost_micros = 0, cancel_requested = NULL, over_budget = NULL;
                 UPDATE atoms SET status = 'open' WHERE issue_type = 'epic';
                 DELETE FROM comments; DELETE FROM events",
            );
        },
    );
}

#[test]
fn a_claim_never_passes_a_budget_that_is_spent_at_that_moment() {
    let mut p = Project::new();
    epic_of_two(&mut p);
    let now = p.now;
    let first = p.claim().unwrap();
    let mut raw = Raw::of(&p.place());
    let mut claims = [0, 0];
    race(
        &mut p,
        |store| spend(store, &first, 2 * COST).map(drop),
        |store| claim(store, &request(), now),
        |p, answers| {
            assert!(answers[0].is_ok(), "{answers:?}");
            let live = ops::live_runs(&p.store).unwrap();
            assert!(live.iter().all(|run| run.cancel_requested.is_some()), "{live:?}");
            assert_eq!(live.len(), 1 + usize::from(answers[1].is_ok()));
            claims[usize::from(answers[1].is_ok())] += 1;
            raw.execute(&format!(
                "UPDATE runs SET cost_micros = 0, cancel_requested = NULL, over_budget = NULL;
                 DELETE FROM runs WHERE id <> '{}';
                 UPDATE atoms SET status = 'open', status_by_run = NULL WHERE id <> '{}';
                 DELETE FROM comments; DELETE FROM events",
                first.run.id, first.atom.id
            ));
        },
    );
    assert_eq!(claims[0] + claims[1], rounds());
}

/// How many processes claim at once, and the variable that makes one of them of the test's binary.
const CROWD: usize = 32;
const CALLER: &str = "EL_TEST_CLAIMS_AT";
/// How many atoms there are.
const QUEUE: usize = 1000;

/// One of the processes: claims until nothing is left, and prints what it got.
#[test]
fn a_caller_of_the_crowd() {
    let Ok(place) = std::env::var(CALLER) else { return };
    let (way, place) = place.split_once(' ').unwrap();
    let place = Place::parse(place);
    let take: Box<dyn FnMut() -> Option<String>> = if way == "verb" {
        let (mut store, now) = (place.open(), Project::begin());
        Box::new(move || {
            let taken = ops::claim_run(&mut store, &person(now), &request()).unwrap();
            taken.map(|claimed| claimed.atom.id)
        })
    } else {
        let mut raw = Raw::of(&place);
        Box::new(move || raw.take_unlocked())
    };
    for id in std::iter::from_fn(take) {
        eprintln!("took {id}");
    }
}

/// The ids that so many processes took, each as often as it was taken.
fn taken_by_a_crowd(p: &Project, way: &str) -> Vec<String> {
    let caller = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "--nocapture", "races::a_caller_of_the_crowd"]);
        command.env(CALLER, format!("{way} {}", p.place().text()));
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let callers: Vec<_> = (0..CROWD).map(|_| caller()).collect();
    let mut taken = Vec::new();
    for caller in callers {
        let output = caller.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{told}");
        taken.extend(told.lines().filter_map(|line| line.strip_prefix("took ")).map(str::to_owned));
    }
    taken.sort();
    taken
}

fn queue_of(count: usize) -> Project {
    let mut p = Project::new();
    let new = NewAtom { title: "One".to_owned(), ..NewAtom::default() };
    let ctx = p.person();
    ops::create_many(&mut p.store, &ctx, &vec![new; count]).unwrap();
    p
}

#[test]
fn thirty_two_processes_take_each_atom_once() {
    let p = queue_of(QUEUE);
    let taken = taken_by_a_crowd(&p, "verb");
    let mut each = taken.clone();
    each.dedup();
    assert_eq!((taken.len(), each.len()), (QUEUE, QUEUE));
}

/// The same, with a look and a change that no lock holds together: it has to show.
#[test]
fn thirty_two_processes_without_a_lock_are_found_out() {
    let p = queue_of(QUEUE);
    let taken = taken_by_a_crowd(&p, "unlocked");
    let mut each = taken.clone();
    each.dedup();
    assert_eq!(each.len(), QUEUE);
    assert!(taken.len() > QUEUE, "nothing was taken twice");
}
