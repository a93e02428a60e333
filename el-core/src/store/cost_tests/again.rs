//! An import of a file that was imported before.

use super::*;
use crate::error::Doing;
use crate::exchange::{Input, RecordFile, Tracker};
use crate::ops::ImportOptions;
use crate::store::{Tx, bond};

/// So many issues of bd with a comment each, every third of which waits for the one before.
fn issues(count: usize) -> String {
    let one = |n: usize| {
        let waits = match n % 3 {
            0 if n > 0 => format!(r#"{{"depends_on_id":"bd-{}","type":"blocks"}}"#, n - 1),
            _ => String::new(),
        };
        format!(
            "{{\"id\":\"bd-{n}\",\"title\":\"Issue {n}\",\"labels\":[\"api\",\"part-{}\"],\
             \"dependencies\":[{waits}],\"comments\":[{{\"id\":{n},\"text\":\"Yes\"}}]}}\n",
            n % 10
        )
    };
    (0..count).map(one).collect()
}

fn import(store: &mut Store, text: &str) -> ops::Imported {
    let input = Input::from_bytes(text.as_bytes());
    let file = RecordFile::index_records(input, Tracker::Bd, &mut |_, _| {}).unwrap();
    ops::import(store, &ctx(), file, &ImportOptions::default(), &mut |_, _| {}).unwrap()
}

#[test]
fn an_import_again_looks_up_each_record_once_and_reads_no_atom_nor_comment() {
    let cost = |count: usize| {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::create(&dir.path().join("el.db"), "el", NOW).unwrap();
        let text = issues(count);
        assert_eq!(import(&mut store, &text).created, count);
        store.steps(|store| assert_eq!(import(store, &text).unchanged, count))
    };
    let (small, large) = (cost(2_000), cost(6_000));
    let each = (large - small) / 4_000;
    assert!(each < 60, "{each} steps for a record: {small}, {large}");
}

/// Each waits for the two before it, and the first for the last; every fifth is over.
fn waiting_issues(count: usize, over: usize, bonds: usize) -> String {
    let one = |n: usize| {
        let waits = (1..=bonds).map(|by| (n + count - by) % count);
        let waits = waits.map(|n| format!(r#"{{"depends_on_id":"bd-{n}","type":"blocks"}}"#));
        let status = if n % 5 == over { "closed" } else { "open" };
        format!(
            "{{\"id\":\"bd-{n}\",\"title\":\"Issue {n}\",\"status\":\"{status}\",\
             \"dependencies\":[{}]}}\n",
            waits.collect::<Vec<_>>().join(",")
        )
    };
    (0..count).map(one).collect()
}

#[test]
fn many_bonds_are_counted_together() {
    let cost = |count: usize| {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::create(&dir.path().join("el.db"), "el", NOW).unwrap();
        let text = waiting_issues(count, 1, 2);
        store.steps(|store| assert_eq!(import(store, &text).created, count))
    };
    let (small, large) = (cost(2_000), cost(6_000));
    let each = (large - small) / 4_000;
    assert!(each < 600, "{each} steps for a record with two bonds: {small}, {large}");
}

#[test]
fn the_count_of_many_bonds_is_that_of_each() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(&dir.path().join("el.db"), "el", NOW).unwrap();
    let mut blocked = Vec::new();
    for (over, bonds) in [(1, 1), (2, 2), (3, 3)] {
        import(&mut store, &waiting_issues(2_000, over, bonds));
        assert_eq!(store.read(bond::find_miscounted).unwrap(), Vec::<String>::new());
        let count = "SELECT count(*) FROM atoms WHERE blocked_by > 0";
        let count =
            |tx: &Tx<'_>| tx.query_row(count, [], |row| row.get::<_, i64>(0)).doing("count");
        blocked.push(store.read(count).unwrap());
    }
    assert_eq!(blocked, [1_599, 1_999, 1_999]);
    // The tables check words as before.
    let wrong = "UPDATE atoms SET status = 'nonsense'";
    assert!(store.write(|tx| tx.execute(wrong, []).doing("break")).is_err());
}
