use std::path::PathBuf;

use proptest::prelude::*;

use super::super::engine::params;
use super::super::migrate::{SCHEMA_VERSION, tests::database_of};
use super::super::{Durability, tables::TABLES};
use super::*;
use crate::model::Timestamp;
use crate::ops::{self, AtomFilter};

const PLACES: Places<'static> = Places { from: "here", to: "there" };

/// A side of a move.
#[derive(Clone)]
enum Side {
    File(PathBuf),
    Server(ServerAddress),
}

impl Side {
    /// Where a tracker could go, on each engine that there is.
    fn all(dir: &tempfile::TempDir) -> Vec<Side> {
        let schema = model::fresh_uuid().replace('-', "_");
        let file = Side::File(dir.path().join(format!("{schema}.db")));
        let server = std::env::var("EL_TEST_POSTGRES").ok().map(|url| {
            let url = format!("{url}&options=-csearch_path%3Dt_{schema}");
            Side::Server(ServerAddress::new(&url, []))
        });
        server.into_iter().chain([file]).collect()
    }

    fn target(&self) -> MoveTarget<'_> {
        match self {
            Side::File(path) => MoveTarget::File(path),
            Side::Server(address) => MoveTarget::Server(address),
        }
    }

    fn open(&self) -> Store {
        let local = Path::new("/nowhere/el.db");
        match self {
            Side::File(path) => Store::open(path, Durability::Normal).unwrap(),
            Side::Server(address) => {
                Store::open_at(local, Some(address), Durability::Normal).unwrap()
            }
        }
    }

    /// Returns true if somebody could change what is there.
    fn is_open(&self) -> bool {
        let exists = match self {
            Side::File(path) => path.exists(),
            Side::Server(_) => true,
        };
        let Some(mut store) = exists.then(|| match self {
            Side::File(path) => Store::open(path, Durability::Normal).ok(),
            Side::Server(_) => self.target().open(Path::new("/nowhere"), None).unwrap(),
        }) else {
            return false;
        };
        let Some(store) = &mut store else { return false };
        // Tables without a project are nobody's.
        let is_project = store.read(|tx| meta::get(tx, meta::PREFIX)).unwrap().is_some();
        let changes = store.rehearse(|tx| meta::set(tx, "probe", "x"));
        is_project && changes.inspect_err(|error| assert_eq!(error.code(), "moved")).is_ok()
    }

    fn move_to(&self, target: &Side) -> Result<MoveReport> {
        self.open().move_to(&target.target(), PLACES, &mut |_, _| Ok(()))
    }

    /// The digest of each table.
    fn contents(&self) -> Vec<String> {
        self.open().read(rows::digests).unwrap()
    }
}

/// A tracker with something in every table, and these texts.
fn tracker(dir: &tempfile::TempDir, texts: &[String]) -> Side {
    let path = dir.path().join("el.db");
    database_of(usize::try_from(SCHEMA_VERSION).unwrap(), &path);
    let mut store = Store::open(&path, Durability::Normal).unwrap();
    let written = store.write(|tx| {
        for (key, value) in [(meta::PREFIX, "old"), (meta::CREATED_AT, "17")] {
            meta::set(tx, key, value)?;
        }
        let end = "UPDATE runs SET outcome = 'failed', ended_at = 1 WHERE outcome IS NULL";
        tx.execute(end, []).doing("end the run")?;
        for (at, text) in texts.iter().enumerate() {
            let id = format!("old-{at}x");
            tx.execute(
                "INSERT INTO atoms (id, short, title, description, created_by, created_at,
                   updated_at, parent_id)
                 VALUES (?1, ?1, ?2, ?2, ?2, ?3, ?3, (SELECT max(id) FROM atoms))",
                params![id, text, i64::MAX],
            )
            .and_then(|_| {
                tx.execute(
                    "INSERT INTO comments (id, atom_id, author, content, created_at)
                     VALUES (?1, ?1, ?2, ?2, ?3)",
                    params![id, text, i64::MIN],
                )
            })
            .and_then(|_| {
                tx.execute(
                    "INSERT INTO events (at, actor, kind, data) VALUES (1, ?1, ?1, ?1)",
                    [text],
                )
            })
            .doing("write odd texts")?;
            meta::set(tx, &format!("note-{text}"), text)?;
        }
        Ok(())
    });
    written.unwrap();
    Side::File(path)
}

#[test]
fn every_table_is_moved() {
    let dir = tempfile::tempdir().unwrap();
    let side = tracker(&dir, &[]);
    let tables = "SELECT name FROM sqlite_schema
        WHERE type = 'table' AND name NOT LIKE 'search%' AND name NOT LIKE 'sqlite%'
        ORDER BY name";
    let names: Result<Vec<String>> =
        side.open().read(|tx| tx.read_all(tables, [], |row| row.get(0)).doing("read the schema"));
    let names = names.unwrap();
    let mut known = TABLES.to_vec();
    known.sort_unstable();
    assert_eq!(names, known);
}

fn odd_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[\\PC\\r\\n\\t]{0,40}",
        "[👩‍🚀é\u{202e}\u{301}\u{1}\u{7f}'\"\\\\%$;?:]{0,12}",
        (1usize..200_000).prop_map(|length| "långt ".repeat(length / 6)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn it_goes_there_and_comes_back_as_it_was(texts in prop::collection::vec(odd_text(), 0..6)) {
        let dir = tempfile::tempdir().unwrap();
        let home = tracker(&dir, &texts);
        let held = home.contents();
        for there in Side::all(&dir) {
            let mut earlier = home.open();
            let planned = home.open().plan_move(&there.target(), PLACES).unwrap();
            let moved = home.move_to(&there).unwrap();
            prop_assert_eq!(moved.state, MoveState::Moved);
            let rows = |report: &MoveReport| report.tables.iter().map(|t| t.rows).sum::<u64>();
            prop_assert_eq!(rows(&planned), rows(&moved));
            prop_assert_eq!(&there.contents(), &held);
            let now = Timestamp::from_micros(1_764_000_010_000_000);
            prop_assert_eq!(ops::search(&there.open(), "creme", false, None).unwrap().total, 1);
            let found = ops::doctor(&there.open(), now).unwrap();
            prop_assert!(found.iter().all(|f| f.code != "blocker_count"), "{found:?}");

            let mut left = home.open();
            prop_assert_eq!(left.closed().unwrap(), "this tracker was moved to there");
            let refused = left.write(|tx| meta::set(tx, "x", "y")).unwrap_err();
            prop_assert_eq!(refused.to_string(), "this tracker was moved to there");
            let all = AtomFilter { include_over: true, ..AtomFilter::default() };
            prop_assert!(ops::list(&left, &all, ops::Sort::Oldest, None, 0, now).is_ok());
            drop(left);
            let refused = earlier.write(|tx| meta::set(tx, "x", "y")).unwrap_err();
            prop_assert_eq!(refused.code(), "moved", "it was open before");

            prop_assert_eq!(there.move_to(&home).unwrap().state, MoveState::Moved);
            prop_assert_eq!(&home.contents(), &held);
            prop_assert_eq!(home.open().closed(), None);
            let integrity = home.open().check_integrity().unwrap();
            prop_assert!(integrity.is_empty(), "{integrity:?}");
            prop_assert!(!there.is_open() && home.is_open());
            prop_assert!(earlier.rehearse(|tx| meta::set(tx, "x", "y")).is_ok());
        }
    }
}

#[test]
fn it_goes_on_wherever_it_was_ended_and_both_sides_are_never_open() {
    let dir = tempfile::tempdir().unwrap();
    let home = tracker(&dir, &["x".to_owned()]);
    for there in Side::all(&dir) {
        end_everywhere(&home, &there);
        home.move_to(&there).unwrap();
        end_everywhere(&there, &home);
        there.move_to(&home).unwrap();
    }
}

/// Ends a move after each of its steps.
fn end_everywhere(home: &Side, there: &Side) {
    let held = home.contents();
    for last in 0.. {
        let mut steps = 0;
        let ended = home.open().move_to(&there.target(), PLACES, &mut |_, _| {
            steps += 1;
            if steps <= last { Ok(()) } else { Err(Error::conflict("ended", "by the test")) }
        });
        let is_home = home.is_open();
        assert!(!(is_home && there.is_open()), "after {last} steps");
        if is_home {
            assert_eq!(home.contents(), held);
        }
        match ended {
            Ok(_) => assert!(there.is_open() && last > 20, "after {last} steps"),
            Err(error) => {
                assert_eq!(error.code(), "ended", "{error}");
                let state = if is_home { MoveState::Moved } else { MoveState::Finished };
                assert_eq!(home.move_to(there).unwrap().state, state, "{last} steps");
            }
        }
        assert_eq!(there.contents(), held, "after {last} steps");
        assert!(there.is_open() && !home.is_open(), "after {last} steps");
        assert_eq!(home.move_to(there).unwrap().state, MoveState::MovedBefore);
        there.move_to(home).unwrap();
        if last + 1 > steps {
            break;
        }
    }
}

#[test]
fn a_target_that_holds_something_else_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let home = tracker(&dir, &[]);
    let refused = |error: Error| (error.code(), error.to_string());
    let itself = refused(home.move_to(&home).unwrap_err());
    assert_eq!(itself.0, "target_in_use");
    assert!(itself.1.contains("this very tracker"), "{itself:?}");
    for there in Side::all(&dir) {
        let local = Path::new("/nowhere/el.db");
        let (path, server) = match &there {
            Side::File(path) => (path.as_path(), None),
            Side::Server(address) => (local, Some(address)),
        };
        let now = Timestamp::from_micros(5);
        let mut other = Store::create_at(path, server, "other", now).unwrap();
        let ctx = crate::Ctx { now, actor: "ann", session: None };
        let new = ops::NewAtom { title: "Theirs".to_owned(), ..ops::NewAtom::default() };
        let theirs = ops::create(&mut other, &ctx, &new).unwrap();
        let told = refused(home.move_to(&there).unwrap_err());
        assert_eq!(told, ("target_in_use", "there holds another tracker".to_owned()));
        let planned = home.open().plan_move(&there.target(), PLACES).unwrap_err();
        assert_eq!(planned.code(), "target_in_use");
        assert_eq!(ops::show(&there.open(), &theirs.id).unwrap().atom.title, "Theirs");
        assert!(home.is_open() && there.is_open());
    }
}

#[test]
fn an_empty_tracker_takes_one_and_a_live_run_holds_it() {
    let dir = tempfile::tempdir().unwrap();
    let home = tracker(&dir, &[]);
    let there = Side::all(&dir).pop().unwrap();
    let Side::File(path) = &there else { panic!("the last is a file") };
    drop(Store::create(path, "empty", Timestamp::from_micros(5)).unwrap());
    let live = "UPDATE runs SET outcome = NULL, ended_at = NULL
        WHERE seq = (SELECT max(seq) FROM runs)";
    home.open().write(|tx| tx.execute(live, []).doing("begin")).unwrap();
    assert_eq!(home.move_to(&there).unwrap_err().code(), "runs_live");
    let end = "UPDATE runs SET outcome = 'failed', ended_at = 1 WHERE outcome IS NULL";
    home.open().write(|tx| tx.execute(end, []).doing("end")).unwrap();
    home.move_to(&there).unwrap();
    assert_eq!(home.contents(), there.contents());
}

#[test]
fn a_copy_of_an_older_version_is_brought_up_and_takes_the_tracker_back() {
    let dir = tempfile::tempdir().unwrap();
    let home = tracker(&dir, &[]);
    let path = dir.path().join("older.db");
    database_of(usize::try_from(SCHEMA_VERSION - 1).unwrap(), &path);
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch(&format!(
        "INSERT INTO meta (key, value) VALUES ('created_at', '17'),
           ('closed', '{{\"is_moved\": true, \"id\": \"m1\", \"place\": \"here\"}}')
           ON CONFLICT (key) DO UPDATE SET value = excluded.value;
         UPDATE meta SET value = 'old' WHERE key = 'prefix';
         PRAGMA user_version = {}",
        closed::MARK + SCHEMA_VERSION - 1
    ))
    .unwrap();
    drop(conn);
    let refused = Store::open(&path, Durability::Normal).unwrap_err();
    assert_eq!(refused.code(), "moved", "its tables cannot be read");
    let there = Side::File(path);
    home.open().write(|tx| meta::set(tx, meta::ARRIVED, "m0 m1")).unwrap();
    home.move_to(&there).unwrap();
    assert_eq!(there.contents(), home.contents());
}

#[test]
fn a_copy_is_not_taken_for_what_was_moved() {
    let dir = tempfile::tempdir().unwrap();
    let home = tracker(&dir, &[]);
    for there in Side::all(&dir) {
        let name = |name: &str| dir.path().join(format!("{name}-{}", model::fresh_uuid()));
        let refuse = |copy: &Path, what: &str| {
            let places = Places { from: "the copy", to: "there" };
            let mut copy = Store::open(copy, Durability::Normal).unwrap();
            let moved = copy.move_to(&there.target(), places, &mut |_, _| Ok(()));
            let planned = copy.plan_move(&there.target(), places).unwrap_err().to_string();
            let error = moved.unwrap_err();
            assert_eq!((error.code(), planned), ("target_in_use", error.to_string()));
            assert!(error.to_string().contains(what), "{error}");
            assert!(error.to_string().contains("the copy is a copy"), "{error}");
        };
        let early = name("early");
        home.open().dump_to(&early, "here", &mut |_, _| Ok(())).unwrap();
        let mut steps = 0;
        let ended = home.open().move_to(&there.target(), PLACES, &mut |done, all| {
            steps += usize::from((done, all) == (1, 1));
            if steps < 3 { Ok(()) } else { Err(Error::conflict("ended", "by the test")) }
        });
        assert_eq!(ended.unwrap_err().code(), "ended");
        assert!(!home.is_open() && !there.is_open());
        refuse(&early, "is being moved there from here");
        assert_eq!(home.move_to(&there).unwrap().state, MoveState::Finished);
        let late = name("late");
        there.open().dump_to(&late, "there", &mut |_, _| Ok(())).unwrap();
        there.open().write(|tx| meta::set(tx, "later", "kept")).unwrap();
        let held = there.contents();
        // Back by way of a third place.
        let third = Side::File(name("third"));
        there.move_to(&third).unwrap();
        refuse(&late, "was moved to there");
        third.move_to(&home).unwrap();
        refuse(&late, "was moved to there");
        assert!(home.is_open() && !there.is_open());
        assert_eq!((home.contents(), there.contents()), (held.clone(), held));
        home.move_to(&there).unwrap();
        there.move_to(&home).unwrap();
    }
}

#[test]
fn a_dump_is_whole_and_leaves_the_tracker_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let home = tracker(&dir, &["odd ' text".to_owned()]);
    let copy = Side::File(dir.path().join("copy.db"));
    let Side::File(path) = &copy else { panic!("it is a file") };
    home.open().dump_to(path, "here", &mut |_, _| Ok(())).unwrap();
    assert_eq!(copy.contents(), home.contents());
    assert!(home.is_open() && copy.is_open());
    let ended = dir.path().join("ended.db");
    let failing = home
        .open()
        .dump_to(&ended, "here", &mut |_, _| Err(Error::conflict("ended", "by the test")));
    assert_eq!(failing.unwrap_err().code(), "ended");
    let names = |name: std::io::Result<std::fs::DirEntry>| name.unwrap().file_name();
    let left: Vec<_> = dir.path().read_dir().unwrap().map(names).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("ended")), "{left:?}");
    home.open().dump_to(&ended, "here", &mut |_, _| Ok(())).unwrap();
    let again = home.open().dump_to(&ended, "here", &mut |_, _| Ok(())).unwrap_err();
    assert_eq!((again.code(), ended.exists()), ("exists", true));
}
