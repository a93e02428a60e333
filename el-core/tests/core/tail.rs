//! Whoever follows the events by their numbers, from the last that is known, misses none and sees
//! none twice, however slowly the writers commit.
//!
//! A server gives an event its number long before the event can be read. The lock of writers is
//! held until it can be, so no later number is seen first.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use el_core::Store;
use el_core::ops::{self, Guard, NewAtom, Streamed};

use crate::support::{Place, Project, Raw, person};

const WRITERS: usize = 5;
const ROUNDS: usize = 8;

/// Every event is waited for twice: with its number and not yet written, and written and not yet
/// committed.
const SLOW: &str = "
    CREATE FUNCTION slow() RETURNS TRIGGER LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_sleep(random() * 0.01); RETURN new; END';
    CREATE TRIGGER slow_insert BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION slow();
    CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION slow();";

const INSERT: &str =
    "INSERT INTO events (at, actor, kind, data) VALUES (0, 'early', 'updated', '{}')";

/// A transaction that begins, has its place among all others, and writes only after some of those
/// that began later.
fn early() -> String {
    format!(
        "BEGIN; SELECT pg_current_xact_id(); SELECT pg_sleep(0.05);
         SELECT pg_advisory_xact_lock(hashtextextended(current_schema(), 7090000001));
         {INSERT}; COMMIT"
    )
}

fn write(place: &Place) {
    let mut store = place.open();
    let ctx = person(Project::begin());
    for _ in 0..ROUNDS {
        let new = NewAtom { title: "Slow".to_owned(), ..NewAtom::default() };
        let id = ops::create(&mut store, &ctx, &new).unwrap().id;
        ops::add_comment(&mut store, &ctx, &id, "A remark").unwrap();
        ops::close(&mut store, &ctx, &[&id], None, &Guard::default()).unwrap();
    }
}

/// The numbers that `news` finds, call by call, until nothing comes after the end of the writers.
fn follow(
    place: &Place,
    is_over: &AtomicBool,
    mut news: impl FnMut(&Store) -> Vec<i64>,
) -> Vec<i64> {
    let store = place.open();
    let mut seen = Vec::new();
    loop {
        let was_over = is_over.load(Ordering::Acquire);
        let found = news(&store);
        if was_over && found.is_empty() {
            return seen;
        }
        seen.extend(found);
        thread::sleep(Duration::from_millis(1));
    }
}

fn event_numbers(store: &Store, after: i64, limit: usize) -> Vec<i64> {
    let mut found = Vec::new();
    ops::history_each(store, None, None, 1, |one| {
        if let Streamed::Item(event) = one {
            found.push(event.seq);
        }
        Ok(())
    })
    .unwrap();
    found.into_iter().filter(|seq| *seq > after).take(limit).collect()
}

#[test]
fn a_reader_of_events_misses_none_and_sees_none_twice_while_slow_writers_commit() {
    let p = Project::new();
    let place = p.place();
    let is_on_server = p.store.is_on_server();
    if is_on_server {
        Raw::of(&place).execute(SLOW);
    }
    let is_over = AtomicBool::new(false);
    let (by_pages, by_board) = thread::scope(|scope| {
        let mut after = 0;
        let (place, is_over) = (&place, &is_over);
        let by_pages = scope.spawn(move || {
            follow(place, is_over, |store| {
                let found = event_numbers(store, after, 3);
                after = found.last().copied().unwrap_or(after);
                found
            })
        });
        // As the boards do: from the number that the last answer names.
        let mut known = 0;
        let by_board = scope.spawn(move || {
            follow(place, is_over, |store| {
                let delta = ops::board_changes(store, known).unwrap();
                assert!(!delta.reset);
                known = delta.seq;
                delta.events.iter().map(|event| event.seq).collect()
            })
        });
        let mut writers: Vec<_> = (0..WRITERS).map(|_| scope.spawn(move || write(place))).collect();
        if is_on_server {
            writers.push(scope.spawn(move || {
                let mut raw = Raw::of(place);
                (0..ROUNDS).for_each(|_| raw.execute(&early()));
            }));
        }
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        is_over.store(true, Ordering::Release);
        (by_pages.join().unwrap(), by_board.join().unwrap())
    });
    let all = event_numbers(&p.store, 0, usize::MAX);
    assert_eq!(all.len(), WRITERS * ROUNDS * 3 + if is_on_server { ROUNDS } else { 0 });
    assert_eq!(by_pages, all);
    assert_eq!(by_board, all);
}

/// The same with a writer that does without the lock: it has to show.
#[test]
fn an_event_that_is_written_without_the_lock_is_missed() {
    let mut p = Project::new();
    if !p.store.is_on_server() {
        // A file has one writer, whatever it does.
        return;
    }
    let mut raw = Raw::of(&p.place());
    raw.execute(&format!("BEGIN; {INSERT}"));
    p.create("One");
    let seen = event_numbers(&p.store, 0, usize::MAX);
    raw.execute("COMMIT");
    let later = event_numbers(&p.store, seen[0], usize::MAX);
    let all = event_numbers(&p.store, 0, usize::MAX);
    assert_eq!((seen.len(), later.len(), all.len()), (1, 0, 2), "{seen:?} {later:?} {all:?}");
}
