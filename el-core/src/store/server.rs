//! A project on a PostgreSQL server: opening, creating and migrating it.
//!
//! The schema's version is a row of `meta`, since a server has no `user_version`.

use std::path::Path;

use super::closed::{self, Closed};
use super::engine::{Database, OptionalExtension as _, PROJECT_LOCK, Server, Tx};
use super::migrate::SCHEMA_VERSION;
use super::server_address::ServerAddress;
use super::{DatabaseState, Store, meta};
use crate::error::{Doing, ServerFault};
use crate::model::Timestamp;
use crate::{Error, Result};

mod way;

pub(super) use way::secret_files;

/// Append-only, and number for number the migrations of SQLite.
const MIGRATIONS: &[&str] = &[
    include_str!("../../../migrations/postgres/0001_init.sql"),
    include_str!("../../../migrations/postgres/0002_pull_requests.sql"),
    include_str!("../../../migrations/postgres/0003_series.sql"),
    include_str!("../../../migrations/postgres/0004_unmerged.sql"),
    include_str!("../../../migrations/postgres/0005_fleet.sql"),
    include_str!("../../../migrations/postgres/0006_run_files.sql"),
    include_str!("../../../migrations/postgres/0007_placement.sql"),
    include_str!("../../../migrations/postgres/0008_held_pushes.sql"),
    include_str!("../../../migrations/postgres/0009_small_indices.sql"),
];

/// The key of `meta` under which the version of the schema is kept.
const VERSION: &str = "schema_version";

/// The oldest server that can run the statements, as `server_version_num`.
const OLDEST_SERVER: i64 = 150_000;

impl Store {
    /// Opens a project on a server. `local` is the path that its database would have as a file: the
    /// folders of runs are beside it.
    ///
    /// # Errors
    ///
    /// If the server cannot be used, or its tables are not those of this `el`.
    pub(super) fn open_server(address: &ServerAddress, local: &Path) -> Result<Store> {
        let server = connect(address)?;
        match known_version(&server)? {
            (SCHEMA_VERSION, closed) => {
                let mut store = Store::of_server(server, local);
                store.closed = closed;
                Ok(store)
            }
            // The tables of that time cannot be read.
            (_, Some(closed)) => Err(closed.error()),
            (found, None) => Err(not_migrated(format!(
                "its tables are of version {found}, and this el needs {SCHEMA_VERSION}"
            ))),
        }
    }

    pub(super) fn server_state(address: &ServerAddress) -> Result<DatabaseState> {
        let server = connect(address)?;
        let tx = begin_read(&server)?;
        let version: String = tx
            .query_row("SELECT current_setting('server_version')", [], |row| row.get(0))
            .doing("read the server's version")?;
        let found = tables_in(&tx)?;
        let tables = found.version.filter(|_| !found.is_half_made());
        Ok(DatabaseState {
            engine: "postgresql",
            place: address.without_password(),
            server_version: Some(version),
            tables,
            known: SCHEMA_VERSION,
            closed: found.closed.as_ref().map(Closed::sentence),
        })
    }

    pub(super) fn bring_up(address: &ServerAddress) -> Result<()> {
        let server = connect(address)?;
        known_version(&server)?;
        migrate(&server)
    }

    /// Opens the tables to which a tracker is to be moved; they may be another project's. `make`:
    /// makes missing tables.
    pub(super) fn target_on_server(
        address: &ServerAddress,
        local: &Path,
        make: bool,
    ) -> Result<Option<Store>> {
        let server = connect(address)?;
        let found = tables_in(&begin_read(&server)?)?;
        if found.version.is_none() || found.is_half_made() {
            if !make {
                return Ok(None);
            }
        } else {
            found.known_version()?;
        }
        if make {
            make_tables(&server, |_, _| Ok(()))?;
        }
        Ok(Some(Store::of_server(server, local)))
    }

    /// Makes a project in the role's schema on a server, in one transaction; ids of atoms begin
    /// with `<prefix>-`. Finishes what an older `el` left half made.
    ///
    /// # Errors
    ///
    /// If the server cannot be used, or there is a project already.
    pub(super) fn create_on_server(
        address: &ServerAddress,
        local: &Path,
        prefix: &str,
        now: Timestamp,
    ) -> Result<Store> {
        let server = connect(address)?;
        make_tables(&server, |tx, found| {
            if found.version.is_some() && !found.is_half_made() {
                return Err(Error::conflict("exists", "the database has a project already"));
            }
            meta::set(tx, meta::PREFIX, prefix)?;
            meta::set(tx, meta::CREATED_AT, &now.as_micros().to_string())
        })?;
        Ok(Store::of_server(server, local))
    }

    fn of_server(server: Server, local: &Path) -> Store {
        Store::of_database(Database::Postgres(server), local, None)
    }
}

/// The tables of a schema.
struct Tables {
    /// `None`: there are none.
    version: Option<i64>,
    /// Why they are closed to changes.
    closed: Option<Closed>,
    has_project: bool,
}

impl Tables {
    /// Returns true if the tables were made, but the process ended before it made a project.
    fn is_half_made(&self) -> bool {
        self.version.is_some() && self.closed.is_none() && !self.has_project
    }

    /// The version of the tables, if this `el` knows it or can migrate it.
    fn known_version(&self) -> Result<i64> {
        match self.version {
            Some(found) if found > SCHEMA_VERSION => Err(not_migrated(format!(
                "its tables are of version {found}, and this el knows those up to {SCHEMA_VERSION}"
            ))),
            Some(_) if self.is_half_made() => Err(not_migrated(
                "its `el init` was never finished, or the `el db move` to it".to_owned(),
            )),
            Some(found) => Ok(found),
            None => Err(not_migrated("it has no tables of el".to_owned())),
        }
    }
}

fn known_version(server: &Server) -> Result<(i64, Option<Closed>)> {
    let found = tables_in(&begin_read(server)?)?;
    Ok((found.known_version()?, found.closed))
}

fn not_migrated(why: String) -> Error {
    Error::Server { doing: "open the database", fault: ServerFault::NotMigrated, why }
}

fn connect(address: &ServerAddress) -> Result<Server> {
    const DOING: &str = "reach the database";
    let refused = |fault, why: String| Error::Server { doing: DOING, fault, why };
    let opening = way::find_way(address).map_err(|why| refused(ServerFault::Address, why))?;
    let server = Server::connect(opening).doing(DOING)?;
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
    match fault_of(version, &encoding) {
        Some((fault, why)) => Err(refused(fault, why)),
        None => Ok(server),
    }
}

/// Why a server of this version, or a database of this encoding, cannot be used.
fn fault_of(version: i64, encoding: &str) -> Option<(ServerFault, String)> {
    if version < OLDEST_SERVER {
        return Some((ServerFault::TooOld, format!("it is PostgreSQL {}", version / 10_000)));
    }
    (encoding != "UTF8").then(|| (ServerFault::Encoding, format!("its encoding is {encoding}")))
}

fn begin_read(server: &Server) -> Result<Tx<'_>> {
    server.begin_read().map(Tx::Postgres).doing("begin to read the database")
}

fn tables_in(tx: &Tx<'_>) -> Result<Tables> {
    let has_tables: bool = tx
        .query_row("SELECT to_regclass('meta') IS NOT NULL", [], |row| row.get(0))
        .doing("find the tables")?;
    if !has_tables {
        ensure_schema_is_open(tx)?;
        return Ok(Tables { version: None, closed: None, has_project: false });
    }
    let (version, closed, has_project): (Option<String>, Option<String>, bool) = tx
        .query_row(
            "SELECT (SELECT value FROM meta WHERE key = ?1),
               (SELECT value FROM meta WHERE key = ?2),
               EXISTS (SELECT 1 FROM meta WHERE key = ?3)",
            [VERSION, meta::CLOSED, meta::PREFIX],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .doing("read the version of the tables")?;
    let parse = |text: String| {
        let why = || not_migrated(format!("its schema_version is '{text}', which is not a number"));
        text.parse().map_err(|_| why())
    };
    let version = version.map(parse).transpose()?;
    Ok(Tables { version, closed: closed.as_deref().map(closed::parse), has_project })
}

/// Refuses a schema whose tables the role cannot even see.
fn ensure_schema_is_open(tx: &Tx<'_>) -> Result<()> {
    const DOING: &str = "find the tables";
    let closed: Option<String> = tx
        .query_row(
            "SELECT nspname::text FROM pg_namespace
             WHERE nspname = trim(split_part(current_setting('search_path'), ',', 1), ' \"')
               AND NOT has_schema_privilege(oid, 'USAGE')",
            [],
            |row| row.get(0),
        )
        .optional()
        .doing(DOING)?;
    let why = |schema| format!("permission denied for schema {schema}");
    closed.map_or(Ok(()), |schema| {
        Err(Error::Server { doing: DOING, fault: ServerFault::NoGrant, why: why(schema) })
    })
}

/// Makes or migrates the tables, then calls `fill` with the state before, all or nothing. Also
/// makes the schema that the address names (`?options=-csearch_path%3Dshop`) if it is missing. The
/// first lock keeps other such calls away.
fn make_tables(server: &Server, fill: impl FnOnce(&Tx<'_>, &Tables) -> Result<()>) -> Result<()> {
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
    .and_then(|()| tx.execute_batch(PROJECT_LOCK))
    .doing(DOING)?;
    let found = tables_in(&tx)?;
    while take_step(&tx)? {}
    fill(&tx, &found)?;
    tx.commit().doing(DOING)
}

/// Brings the tables to [`SCHEMA_VERSION`], one transaction a step. The lock of writers keeps other
/// migrations away; the version is read again under it.
fn migrate(server: &Server) -> Result<()> {
    loop {
        let tx = server.begin_write().map(Tx::Postgres).doing(MIGRATING)?;
        if !take_step(&tx)? {
            return Ok(());
        }
        tx.commit().doing(MIGRATING)?;
    }
}

const MIGRATING: &str = "migrate the database";

/// Brings the tables to their next version. Returns false if there is none.
fn take_step(tx: &Tx<'_>) -> Result<bool> {
    let found = tables_in(tx)?.version.unwrap_or(0);
    let Some(step) = usize::try_from(found).ok().and_then(|at| MIGRATIONS.get(at)) else {
        return Ok(false);
    };
    tx.execute_batch(step).doing(MIGRATING)?;
    meta::set(tx, VERSION, &(found + 1).to_string())?;
    Ok(true)
}

#[cfg(test)]
mod import_tests;
#[cfg(test)]
mod tests;
