//! The schema: every database that an `el` ever wrote opens, and nothing else does.

use el_core::model::Timestamp;
use el_core::{Durability, Error, SCHEMA_VERSION, Store};

use crate::support::Project;

#[test]
fn a_newer_database_is_refused_and_left_alone() {
    let p = Project::in_file();
    let path = p.dir.path().join("el.db");
    drop(p.store);
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
    drop(raw);
    let error = Store::open(&path, Durability::Normal).unwrap_err();
    assert!(matches!(error, Error::NewerDatabase { .. }), "{error}");
    let raw = rusqlite::Connection::open(&path).unwrap();
    let version: i64 = raw.query_row("PRAGMA user_version", [], |r| r.get(0)).unwrap();
    assert_eq!(version, SCHEMA_VERSION + 1);
}

#[test]
fn what_is_no_database_of_ours_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("el.db");
    assert!(matches!(
        Store::open(&path, Durability::Normal).unwrap_err(),
        Error::NoDatabase { .. }
    ));
    std::fs::write(
        &path,
        "this is not a database, but it is long enough to have a header of a hundred bytes, which \
         SQLite wants to see first of all",
    )
    .unwrap();
    assert!(matches!(
        Store::open(&path, Durability::Normal).unwrap_err(),
        Error::NotADatabase { .. }
    ));
    std::fs::write(&path, "").unwrap();
    assert!(matches!(
        Store::open(&path, Durability::Normal).unwrap_err(),
        Error::NotADatabase { .. }
    ));
    std::fs::remove_file(&path).unwrap();
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch("CREATE TABLE t (a); PRAGMA user_version = 1; PRAGMA application_id = 7")
        .unwrap();
    drop(raw);
    // Its version says nothing of whose it is; a query then fails, and nothing is written.
    let opened = Store::open(&path, Durability::Normal);
    assert!(opened.is_err() || el_core::ops::list_workers(&opened.unwrap()).is_err());
}

/// Each moment at which `create` may be killed: the log is cut after each of its pages.
#[test]
fn what_was_killed_while_it_created_is_finished_by_the_next_call() {
    const HEADER: usize = 32;
    const FRAME: usize = 24 + 4096;
    let dir = tempfile::tempdir().unwrap();
    let now = Timestamp::from_micros(0);
    let whole = dir.path().join("whole.db");
    // While the creator is there: when it closes the database, the log is moved into it.
    let created = Store::create(&whole, "el", now).unwrap();
    let log = std::fs::read(dir.path().join("whole.db-wal")).unwrap();
    let base = std::fs::read(&whole).unwrap();
    drop(created);
    let frames = (log.len() - HEADER) / FRAME;
    assert!(frames > 10, "{frames}");
    for kept in (0..=frames).rev() {
        let path = dir.path().join(format!("{kept}.db"));
        std::fs::write(&path, &base).unwrap();
        let cut = HEADER + kept * FRAME;
        std::fs::write(dir.path().join(format!("{kept}.db-wal")), &log[..cut]).unwrap();
        if kept == frames {
            assert_eq!(Store::create(&path, "shop", now).unwrap_err().code(), "exists");
        } else {
            drop(Store::create(&path, "shop", now).unwrap());
        }
        let mut store = Store::open(&path, Durability::Normal).unwrap();
        let new = el_core::ops::NewAtom { title: "one".into(), ..Default::default() };
        el_core::ops::create(&mut store, &crate::support::person(now), &new).unwrap();
    }
    // Before that: an empty file, and one that was switched to a log and no more.
    let path = dir.path().join("empty.db");
    std::fs::write(&path, "").unwrap();
    drop(Store::create(&path, "el", now).unwrap());
}

#[test]
fn another_programs_database_is_not_taken_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("el.db");
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch("CREATE TABLE t (a)").unwrap();
    drop(raw);
    let refused = Store::create(&path, "el", Timestamp::from_micros(0)).unwrap_err();
    assert!(matches!(refused, Error::NotADatabase { .. }), "{refused}");
}

#[test]
fn creating_twice_is_refused_and_changes_nothing() {
    let mut p = Project::in_file();
    let id = p.create("one");
    let error =
        Store::create(&p.dir.path().join("el.db"), "other", Timestamp::from_micros(0)).unwrap_err();
    assert_eq!(error.code(), "exists");
    assert_eq!(el_core::ops::resolve_id(&p.reopen(), &id).unwrap(), id);
}
