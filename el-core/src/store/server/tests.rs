use std::collections::BTreeSet;

use super::*;
use crate::ops::{self, AtomFilter, Sort};

const SAMPLES: &[&str] = &[
    include_str!("../../../../migrations/postgres/samples/0001_init.sql"),
    include_str!("../../../../migrations/postgres/samples/0002_pull_requests.sql"),
    include_str!("../../../../migrations/postgres/samples/0003_series.sql"),
    include_str!("../../../../migrations/postgres/samples/0004_unmerged.sql"),
    include_str!("../../../../migrations/postgres/samples/0005_fleet.sql"),
    include_str!("../../../../migrations/postgres/samples/0006_run_files.sql"),
    include_str!("../../../../migrations/postgres/samples/0007_placement.sql"),
    include_str!("../../../../migrations/postgres/samples/0008_held_pushes.sql"),
    include_str!("../../../../migrations/postgres/samples/0009_small_indices.sql"),
];

fn at(url: &str) -> ServerAddress {
    ServerAddress::new(url, [])
}

/// A schema of its own on the server that `scripts/with-postgres` started.
fn new_schema() -> Option<ServerAddress> {
    let Ok(url) = std::env::var("EL_TEST_POSTGRES") else {
        eprintln!("skipped: scripts/with-postgres starts a server for it");
        return None;
    };
    let schema = crate::model::fresh_uuid().replace('-', "_");
    Some(at(&format!("{url}&options=-csearch_path%3Dt_{schema}")))
}

fn make_schema(server: &Server) {
    let tx = server.begin_unlocked().map(Tx::Postgres).unwrap();
    let make = "DO $$ BEGIN
        EXECUTE 'CREATE SCHEMA ' || current_setting('search_path'); END $$";
    tx.execute_batch(make).unwrap();
    tx.commit().unwrap();
}

/// A server with the tables of that version, and what a project may hold in them.
fn server_of(version: usize, url: &ServerAddress) -> Server {
    let server = connect(url).unwrap();
    make_schema(&server);
    let tx = server.begin_write().map(Tx::Postgres).unwrap();
    for (step, sample) in MIGRATIONS.iter().zip(SAMPLES).take(version) {
        tx.execute_batch(step).unwrap();
        tx.execute_batch(sample).unwrap();
    }
    meta::set(&tx, VERSION, &version.to_string()).unwrap();
    tx.commit().unwrap();
    server
}

/// Table, column, whether it is text or a number, and whether it may be null.
type Columns = BTreeSet<(String, String, bool, bool)>;

fn columns(tx: &Tx<'_>, sql: &str) -> Columns {
    tx.read_all(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap()
}

#[test]
fn both_engines_have_the_same_tables() {
    let Some(url) = new_schema() else { return };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("el.db");
    let now = Timestamp::from_micros(0);
    let of_file = Store::create(&file, "el", now).unwrap().read(|tx| {
        Ok(columns(
            tx,
            "SELECT t.name, c.name, c.type = 'TEXT', c.\"notnull\" = 1 OR c.pk > 0
             FROM sqlite_schema t JOIN pragma_table_info(t.name) c
             WHERE t.type = 'table' AND t.name NOT LIKE 'search%'",
        ))
    });
    let server = Store::create_on_server(&url, &file, "el", now).unwrap();
    let of_server = server.read(|tx| {
        Ok(columns(
            tx,
            "SELECT table_name::text, column_name::text, data_type = 'text',
               is_nullable = 'NO' FROM information_schema.columns
             WHERE table_schema = current_schema() AND column_name <> 'search'",
        ))
    });
    let (of_file, of_server) = (of_file.unwrap(), of_server.unwrap());
    assert!(of_file.len() > 100, "{}", of_file.len());
    let difference: Vec<_> = of_file.symmetric_difference(&of_server).collect();
    assert!(difference.is_empty(), "{difference:?}");
}

#[test]
fn a_project_of_every_older_version_is_migrated_with_all_that_it_held() {
    assert_eq!(i64::try_from(MIGRATIONS.len()), Ok(SCHEMA_VERSION), "one for one of SQLite's");
    assert_eq!(SAMPLES.len(), MIGRATIONS.len(), "every migration has its sample");
    let now = Timestamp::from_micros(1_764_000_010_000_000);
    for version in 1..=MIGRATIONS.len() {
        let Some(url) = new_schema() else { return };
        migrate(&server_of(version, &url)).unwrap();
        let store = Store::open_server(&url, Path::new("/nowhere/el.db")).unwrap();
        let all = AtomFilter { include_over: true, ..AtomFilter::default() };
        assert!(ops::list(&store, &all, Sort::Oldest, None, 0, now).unwrap().total >= 8);
        let child = ops::show(&store, "old-0002").unwrap();
        assert_eq!((child.atom.labels.len(), child.comments.len()), (2, 1));
        assert_eq!(ops::search(&store, "creme", false, None).unwrap().total, 1);
        assert_eq!(ops::live_runs(&store).unwrap().len(), 1);
    }
}

#[test]
fn tables_of_another_version_are_refused_and_left_alone() {
    for version in [None, Some(SCHEMA_VERSION - 1), Some(SCHEMA_VERSION + 1)] {
        let Some(url) = new_schema() else { return };
        if let Some(version) = version {
            let server = server_of(MIGRATIONS.len(), &url);
            let tx = server.begin_write().map(Tx::Postgres).unwrap();
            meta::set(&tx, VERSION, &version.to_string()).unwrap();
            tx.commit().unwrap();
        }
        let error = Store::open_server(&url, Path::new("/nowhere/el.db")).unwrap_err();
        assert_eq!(error.code(), "server_not_migrated", "{error}");
        let server = connect(&url).unwrap();
        assert_eq!(tables_in(&begin_read(&server).unwrap()).unwrap().version, version);
    }
}

#[test]
fn what_an_older_el_left_half_made_is_told_and_finished() {
    for version in 1..=MIGRATIONS.len() {
        let Some(url) = new_schema() else { return };
        let server = connect(&url).unwrap();
        make_schema(&server);
        let tx = server.begin_write().map(Tx::Postgres).unwrap();
        MIGRATIONS.iter().take(version).for_each(|step| tx.execute_batch(step).unwrap());
        meta::set(&tx, VERSION, &version.to_string()).unwrap();
        tx.commit().unwrap();
        let (local, now) = (Path::new("/nowhere/el.db"), Timestamp::from_micros(0));
        let told = Store::open_server(&url, local).unwrap_err();
        assert!(told.to_string().contains("`el init` was never finished"), "{told}");
        assert_eq!(Store::bring_up(&url).unwrap_err().code(), "server_not_migrated");
        assert_eq!(Store::server_state(&url).unwrap().tables, None);
        drop(Store::create_on_server(&url, local, "el", now).unwrap());
        assert_eq!(Store::server_state(&url).unwrap().tables, Some(SCHEMA_VERSION));
        let mut store = Store::open_server(&url, local).unwrap();
        let ctx = crate::Ctx { now, actor: "ann", session: None };
        let new = ops::NewAtom { title: "First".to_owned(), ..ops::NewAtom::default() };
        ops::create(&mut store, &ctx, &new).unwrap();
        let again = Store::create_on_server(&url, local, "el", now).unwrap_err();
        assert_eq!(again.code(), "exists");
    }
}

#[test]
fn eight_processes_that_create_one_project_at_once_make_it_once() {
    let Some(url) = new_schema() else { return };
    let create = || {
        let now = Timestamp::from_micros(0);
        match Store::create_on_server(&url, Path::new("/nowhere/el.db"), "el", now) {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(error.code(), "exists", "{error}");
                false
            }
        }
    };
    let made = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(create)).collect();
        threads.into_iter().map(|t| usize::from(t.join().unwrap())).sum::<usize>()
    });
    assert_eq!(made, 1);
}

#[test]
fn an_address_that_leads_nowhere_is_refused_in_a_sentence_without_its_password() {
    let open = |url: &str| Store::open_server(&at(url), Path::new("/nowhere/el.db")).unwrap_err();
    for (url, code) in [
        ("no address", "server_address"),
        ("postgres://ann:secret@host:port/db", "server_address"),
        ("postgres://ann:secret@example.org/db?sslmode=disable", "server_address"),
        ("postgres://ann:secret@/db?host=/run&sslrootcert=%zz", "server_address"),
        ("postgres://ann:secret@127.0.0.1/db?sslrootcert=/nowhere", "server_address"),
        ("postgres://ann:secret@127.0.0.1:1/db", "server_unreachable"),
        ("postgres://ann:secret@/db?host=/nowhere", "server_unreachable"),
    ] {
        let error = open(url);
        assert_eq!(error.code(), code, "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    let Some(url) = new_schema() else { return };
    let error = open(&url.url().replace("/postgres?", "/no_such_database?"));
    assert_eq!(error.code(), "server_refused", "{error}");
}

#[test]
fn a_change_where_only_reading_is_possible_says_so() {
    let Some(url) = new_schema() else { return };
    let server = server_of(MIGRATIONS.len(), &url);
    // As a standby answers.
    let tx = begin_read(&server).unwrap();
    let error = meta::set(&tx, "note", "x").unwrap_err();
    assert_eq!(error.code(), "server_read_only", "{error}");
}

#[test]
fn an_old_server_and_another_encoding_are_refused() {
    let code = |version, encoding| fault_of(version, encoding).map(|(fault, _)| fault.code());
    assert_eq!(code(OLDEST_SERVER, "UTF8"), None);
    assert_eq!(code(149_999, "UTF8"), Some("server_too_old"));
    assert_eq!(code(180_000, "SQL_ASCII"), Some("server_encoding"));
}

#[test]
fn the_time_of_a_server_is_its_own() {
    let Some(url) = new_schema() else { return };
    let server = Store::of_server(server_of(MIGRATIONS.len(), &url), Path::new("/nowhere/el.db"));
    let long_ago = Timestamp::from_micros(0);
    let in_transaction = server.read(|tx| Ok(tx.lease_time(long_ago))).unwrap();
    let now = Timestamp::from(std::time::SystemTime::now());
    // The server is on this very machine.
    assert!(now.since(in_transaction) < std::time::Duration::from_secs(60), "{in_transaction}");
    assert!(server.lease_time(long_ago) >= in_transaction);
}

#[test]
fn a_clock_that_differs_from_the_servers_is_told() {
    let Some(url) = new_schema() else { return };
    let store = Store::of_server(server_of(MIGRATIONS.len(), &url), Path::new("/nowhere/el.db"));
    let now = Timestamp::from(std::time::SystemTime::now());
    let told = |now| {
        let found = ops::doctor(&store, now).unwrap();
        found.into_iter().find(|finding| finding.code == "clock").map(|finding| finding.message)
    };
    assert_eq!(told(now), None);
    let hour = std::time::Duration::from_secs(3600);
    let ahead = told(now.plus(hour)).unwrap();
    assert!(ahead.contains(" s ahead of the server's"), "{ahead}");
    assert!(told(Timestamp::from_micros(0)).unwrap().contains(" s behind the server's"));
}

#[test]
fn tables_that_somebody_removed_are_told() {
    let Some(url) = new_schema() else { return };
    let server = server_of(MIGRATIONS.len(), &url);
    let tx = server.begin_write().map(Tx::Postgres).unwrap();
    tx.execute_batch("DROP TABLE comments").unwrap();
    tx.commit().unwrap();
    let store = Store::of_server(server, Path::new("/nowhere/el.db"));
    let now = Timestamp::from(std::time::SystemTime::now());
    let found = ops::doctor(&store, now).unwrap();
    let told = found.iter().find(|finding| finding.code == "tables").unwrap();
    assert!(told.serious && told.message.contains("no tables comments"), "{told:?}");
    let server = server_of(MIGRATIONS.len(), &new_schema().unwrap());
    let tx = server.begin_write().map(Tx::Postgres).unwrap();
    meta::set(&tx, VERSION, "eight").unwrap();
    let error = tables_in(&tx).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("'eight', which is not a number"), "{error}");
}
