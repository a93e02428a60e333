//! An import of a file that was imported before.

use super::*;
use crate::exchange::{Input, RecordFile, Tracker};
use crate::ops::ImportOptions;

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
