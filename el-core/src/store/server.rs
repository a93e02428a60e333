//! A project on a PostgreSQL server: opening, creating and migrating it.
//!
//! The schema's version is a row of `meta`, since a server has no `user_version`.

use std::path::Path;
use std::time::Duration;

use postgres::Config;
use postgres::config::SslMode;

use super::engine::{Database, OptionalExtension as _, Server, Tx};
use super::migrate::SCHEMA_VERSION;
use super::{Store, meta};
use crate::error::{Doing, ServerFault};
use crate::model::Timestamp;
use crate::{Error, Result};

/// Append-only, and number for number the migrations of SQLite.
const MIGRATIONS: &[&str] = &[
    include_str!("../../../migrations/postgres/0001_init.sql"),
    include_str!("../../../migrations/postgres/0002_pull_requests.sql"),
    include_str!("../../../migrations/postgres/0003_series.sql"),
    include_str!("../../../migrations/postgres/0004_unmerged.sql"),
];

/// The key of `meta` under which the version of the schema is kept.
const VERSION: &str = "schema_version";

/// The oldest server whose SQL the statements need, as `server_version_num` says it.
const OLDEST_SERVER: i64 = 150_000;

impl Store {
    /// Opens a project on a server. `local` is where its database would be if it had a file: the
    /// folders of runs are beside it.
    ///
    /// # Errors
    ///
    /// If the server cannot be used, or its tables are not those of this `el`.
    pub fn open_server(url: &str, local: &Path) -> Result<Store> {
        let server = connect(url)?;
        match read_version(&server)? {
            Some(SCHEMA_VERSION) => Ok(Store::of_server(server, local)),
            Some(found) if found > SCHEMA_VERSION => Err(not_migrated(format!(
                "its tables are of version {found}, and this el knows those up to {SCHEMA_VERSION}"
            ))),
            Some(found) => Err(not_migrated(format!(
                "its tables are of version {found}, and this el needs {SCHEMA_VERSION}"
            ))),
            None => Err(not_migrated("it has no tables of el".to_owned())),
        }
    }

    /// Makes a project in the role's schema on a server; ids of atoms begin with `<prefix>-`.
    ///
    /// # Errors
    ///
    /// If the server cannot be used, or there is a project already.
    pub fn create_on_server(
        url: &str,
        local: &Path,
        prefix: &str,
        now: Timestamp,
    ) -> Result<Store> {
        let server = connect(url)?;
        if read_version(&server)?.is_some() {
            return Err(Error::conflict("exists", "the database has a project already"));
        }
        make_schema(&server)?;
        migrate(&server)?;
        let mut store = Store::of_server(server, local);
        store.write(|tx| {
            if meta::get(tx, meta::PREFIX)?.is_some() {
                return Err(Error::conflict("exists", "the database has a project already"));
            }
            meta::set(tx, meta::PREFIX, prefix)?;
            meta::set(tx, meta::CREATED_AT, &now.as_micros().to_string())
        })?;
        Ok(store)
    }

    fn of_server(server: Server, local: &Path) -> Store {
        let database = Database::Postgres(server);
        Store { database, path: local.to_owned(), file: None, expected: None, has_written: false }
    }
}

fn not_migrated(why: String) -> Error {
    Error::Server { doing: "open the database", fault: ServerFault::NotMigrated, why }
}

fn connect(url: &str) -> Result<Server> {
    const DOING: &str = "reach the database";
    let refused = |fault, why: String| Error::Server { doing: DOING, fault, why };
    // The parser's message does not repeat the address, which may hold a password.
    let mut config: Config = url.parse().map_err(|error: postgres::Error| {
        let why = std::error::Error::source(&error)
            .map_or_else(|| error.to_string(), ToString::to_string);
        refused(ServerFault::Address, why)
    })?;
    let is_local = |host: &postgres::config::Host| match host {
        postgres::config::Host::Unix(_) => true,
        postgres::config::Host::Tcp(name) => name.starts_with('/'),
    };
    if config.get_hosts().is_empty() || !config.get_hosts().iter().all(is_local) {
        let why = "this el reaches a server by its unix socket alone: \
                   postgres://user@%2Frun%2Fpostgresql/database";
        return Err(refused(ServerFault::Address, why.to_owned()));
    }
    config.ssl_mode(SslMode::Disable).application_name("el");
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(10));
    }
    let server = Server::connect(config).doing(DOING)?;
    let tx = begin_read(&server)?;
    let (version, encoding): (i64, String) = tx
        .query_row(
            "SELECT current_setting('server_version_num')::bigint,
               current_setting('server_encoding')",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .doing(DOING)?;
    drop(tx);
    if version < OLDEST_SERVER {
        let why = format!("it is PostgreSQL {}", version / 10_000);
        return Err(refused(ServerFault::TooOld, why));
    }
    if encoding != "UTF8" {
        return Err(refused(ServerFault::Encoding, format!("its encoding is {encoding}")));
    }
    Ok(server)
}

fn begin_read(server: &Server) -> Result<Tx<'_>> {
    server.begin_read().map(Tx::Postgres).doing("begin to read the database")
}

fn read_version(server: &Server) -> Result<Option<i64>> {
    version_in(&begin_read(server)?)
}

fn version_in(tx: &Tx<'_>) -> Result<Option<i64>> {
    let has_tables: bool = tx
        .query_row("SELECT to_regclass('meta') IS NOT NULL", [], |row| row.get(0))
        .doing("find the tables")?;
    if !has_tables {
        return Ok(None);
    }
    let text: Option<String> = tx
        .query_row("SELECT value FROM meta WHERE key = ?1", [VERSION], |row| row.get(0))
        .optional()
        .doing("read the version of the tables")?;
    Ok(text.and_then(|text| text.parse().ok()))
}

/// Makes the schema that the address names (`?options=-csearch_path%3Dshop`), if it is not there.
/// The lock is that of all who do so.
fn make_schema(server: &Server) -> Result<()> {
    const DOING: &str = "make the project's schema";
    let tx = server.begin_unlocked().map(Tx::Postgres).doing(DOING)?;
    tx.execute_batch(
        "DO $$ BEGIN
           PERFORM pg_advisory_xact_lock(7090000002);
           IF current_schema() IS NULL THEN
             EXECUTE format('CREATE SCHEMA %I',
               trim(split_part(current_setting('search_path'), ',', 1), ' \"'));
           END IF;
         END $$",
    )
    .doing(DOING)?;
    tx.commit().doing(DOING)
}

/// Brings the tables to [`SCHEMA_VERSION`], one transaction a step. The lock of writers keeps other
/// migrations away; the version is read again under it.
fn migrate(server: &Server) -> Result<()> {
    const DOING: &str = "migrate the database";
    loop {
        let tx = server.begin_write().doing(DOING)?;
        let tx = Tx::Postgres(tx);
        let found = version_in(&tx)?.unwrap_or(0);
        let Some(step) = usize::try_from(found).ok().and_then(|at| MIGRATIONS.get(at)) else {
            return Ok(());
        };
        tx.execute_batch(step).doing(DOING)?;
        meta::set(&tx, VERSION, &(found + 1).to_string())?;
        tx.commit().doing(DOING)?;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::ops::{self, AtomFilter, Sort};

    const SAMPLES: &[&str] = &[
        include_str!("../../../migrations/postgres/samples/0001_init.sql"),
        include_str!("../../../migrations/postgres/samples/0002_pull_requests.sql"),
        include_str!("../../../migrations/postgres/samples/0003_series.sql"),
        include_str!("../../../migrations/postgres/samples/0004_unmerged.sql"),
    ];

    /// A schema of its own on the server that `scripts/with-postgres` started.
    fn new_schema() -> Option<String> {
        let Ok(url) = std::env::var("EL_TEST_POSTGRES") else {
            eprintln!("skipped: scripts/with-postgres starts a server for it");
            return None;
        };
        let schema = crate::model::fresh_uuid().replace('-', "_");
        Some(format!("{url}&options=-csearch_path%3Dt_{schema}"))
    }

    /// A server with the tables of that version, and what a project may hold in them.
    fn server_of(version: usize, url: &str) -> Server {
        let server = connect(url).unwrap();
        make_schema(&server).unwrap();
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
        let mut statement = tx.prepare_cached(sql).unwrap();
        let rows =
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
        rows.unwrap().map(Result::unwrap).collect()
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
            assert_eq!(read_version(&connect(&url).unwrap()).unwrap(), version);
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
        let open = |url: &str| Store::open_server(url, Path::new("/nowhere/el.db")).unwrap_err();
        for (url, code) in [
            ("no address", "server_address"),
            ("postgres://ann:secret@host:port/db", "server_address"),
            ("postgres://ann:secret@example.org/db", "server_address"),
            ("postgres://ann:secret@/db", "server_address"),
            ("postgres://ann:secret@/db?host=/nowhere", "server_unreachable"),
        ] {
            let error = open(url);
            assert_eq!(error.code(), code, "{error}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        let Some(url) = new_schema() else { return };
        let error = open(&url.replace("/postgres?", "/no_such_database?"));
        assert_eq!(error.code(), "server_refused", "{error}");
    }
}
