use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use rusqlite::{Connection, TransactionBehavior};

use super::{Tx, closed};
use crate::error::Doing;
use crate::{Error, Result};

/// Append-only: a released migration is never edited. A migration leads to `user_version` =
/// position + 1.
const MIGRATIONS: &[&str] = &[
    include_str!("../../../migrations/sqlite/0001_init.sql"),
    include_str!("../../../migrations/sqlite/0002_pull_requests.sql"),
    include_str!("../../../migrations/sqlite/0003_series.sql"),
    include_str!("../../../migrations/sqlite/0004_unmerged.sql"),
    include_str!("../../../migrations/sqlite/0005_fleet.sql"),
    include_str!("../../../migrations/sqlite/0006_run_files.sql"),
    include_str!("../../../migrations/sqlite/0007_placement.sql"),
    include_str!("../../../migrations/sqlite/0008_held_pushes.sql"),
    include_str!("../../../migrations/sqlite/0009_small_indices.sql"),
];

/// The newest schema that `el` knows.
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// `elt1` as a big-endian number: marks files of `el` among other SQLite files.
pub(super) const APPLICATION_ID: i64 = 0x656c_7431;

pub(super) fn read_version(conn: &Connection) -> Result<i64> {
    conn.query_row("PRAGMA user_version", [], |row| row.get(0)).doing("read the database's version")
}

static BEFORE_MIGRATION: OnceLock<fn(&Path)> = OnceLock::new();

/// Sets the action before this process migrates a database: a backup. The first call
/// counts.
pub fn before_migration(action: fn(&Path)) {
    let _ = BEFORE_MIGRATION.set(action);
}

/// Migrates a database to [`SCHEMA_VERSION`] in one immediate transaction. The version is read
/// again inside the transaction, since another process may have migrated meanwhile.
pub(super) fn migrate(conn: &mut Connection, path: &Path, found: i64) -> Result<()> {
    if let Some(action) = BEFORE_MIGRATION.get().filter(|_| found < SCHEMA_VERSION) {
        action(path);
    }
    let tx = conn
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .doing("begin a migration")?;
    let found = read_version(&tx)?;
    if found > SCHEMA_VERSION {
        return Err(Error::NewerDatabase { path: path.to_owned(), found, known: SCHEMA_VERSION });
    }
    apply_missing(&tx, found)?;
    tx.commit().doing("commit a migration")
}

/// Brings closed tables to the version of this `el`.
pub(super) fn bring_up_closed(conn: &mut Connection, path: &Path) -> Result<()> {
    const DOING: &str = "migrate the database";
    let tx =
        Tx::Sqlite(conn.transaction_with_behavior(TransactionBehavior::Immediate).doing(DOING)?);
    let Some(closed) = closed::read(&tx)? else { return Ok(()) };
    closed::lift(&tx)?;
    #[cfg_attr(not(feature = "postgres"), expect(irrefutable_let_patterns))]
    let Tx::Sqlite(raw) = &tx else { return Ok(()) };
    let (found, known) = (read_version(raw)?, SCHEMA_VERSION);
    if found > known {
        return Err(Error::NewerDatabase { path: path.to_owned(), found, known });
    }
    apply_missing(raw, found)?;
    closed::close(&tx, &closed)?;
    tx.commit().doing(DOING)
}

/// Creates the schema in an empty database and calls `fill` in the same transaction. Returns false
/// if another process created the schema first.
pub(super) fn create_schema(
    conn: &mut Connection,
    path: &Path,
    fill: impl FnOnce(&Tx<'_>) -> Result<()>,
) -> Result<bool> {
    let tx =
        conn.transaction_with_behavior(TransactionBehavior::Immediate).doing("begin the schema")?;
    if read_version(&tx)? != 0 {
        return Ok(false);
    }
    let has_tables: bool = tx
        .query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
        .doing("find tables")?;
    if has_tables {
        let why = "it belongs to another program".to_owned();
        return Err(Error::NotADatabase { path: path.to_owned(), why });
    }
    apply_missing(&tx, 0)?;
    let tx = Tx::Sqlite(tx);
    fill(&tx)?;
    tx.commit().doing("commit the schema")?;
    Ok(true)
}

fn apply_missing(tx: &Connection, found: i64) -> Result<()> {
    for step in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        tx.execute_batch(step).doing("migrate the database")?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID).doing("mark the database file")?;
    tx.pragma_update(None, "user_version", SCHEMA_VERSION).doing("set the database's version")
}

/// Kind, name and statement of everything in a schema, but for what SQLite makes by itself.
pub(super) type Schema = BTreeSet<(String, String, String)>;

pub(super) fn read_schema(conn: &Connection) -> Result<Schema> {
    let mut statement = conn
        .prepare(
            "SELECT type, name, coalesce(sql, '') FROM sqlite_schema
             WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
        )
        .doing("read the schema")?;
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .doing("read the schema")?;
    rows.collect::<rusqlite::Result<_>>().doing("read the schema")
}

/// The schema that el makes, as of a version.
pub(super) fn own_schema(version: i64) -> Result<Schema> {
    let conn = Connection::open_in_memory().doing("make a schema")?;
    for step in MIGRATIONS.iter().take(usize::try_from(version).unwrap_or(0)) {
        conn.execute_batch(step).doing("make a schema")?;
    }
    read_schema(&conn)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::Timestamp;
    use crate::ops::{self, AtomFilter, Sort};
    use crate::{Durability, Store};

    /// The contents that a project may have after each migration: one sample for each, so that
    /// every later migration runs over a project that is in use.
    const SAMPLES: &[&str] = &[
        include_str!("../../../migrations/sqlite/samples/0001_init.sql"),
        include_str!("../../../migrations/sqlite/samples/0002_pull_requests.sql"),
        include_str!("../../../migrations/sqlite/samples/0003_series.sql"),
        include_str!("../../../migrations/sqlite/samples/0004_unmerged.sql"),
        include_str!("../../../migrations/sqlite/samples/0005_fleet.sql"),
        include_str!("../../../migrations/sqlite/samples/0006_run_files.sql"),
        include_str!("../../../migrations/sqlite/samples/0007_placement.sql"),
        include_str!("../../../migrations/sqlite/samples/0008_held_pushes.sql"),
        include_str!("../../../migrations/sqlite/samples/0009_small_indices.sql"),
    ];

    fn schema(conn: &Connection) -> Vec<String> {
        let mut statement = conn
            .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name")
            .unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    /// A database as an `el` of that version left it, with its sample in it.
    pub(in crate::store) fn database_of(version: usize, path: &Path) {
        let conn = Connection::open(path).unwrap();
        for (step, sample) in MIGRATIONS.iter().zip(SAMPLES).take(version) {
            conn.execute_batch(step).unwrap();
            conn.execute_batch(sample).unwrap();
        }
        conn.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        conn.pragma_update(None, "user_version", i64::try_from(version).unwrap()).unwrap();
    }

    #[test]
    fn a_project_of_every_older_version_opens_with_all_that_it_held() {
        assert_eq!(SAMPLES.len(), MIGRATIONS.len(), "every migration has its sample");
        let now = Timestamp::from_micros(1_764_000_010_000_000);
        for version in 1..=MIGRATIONS.len() {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("el.db");
            database_of(version, &path);
            let store = Store::open(&path, Durability::Normal).unwrap();
            assert!(store.check_integrity().unwrap().is_empty(), "version {version}");
            let all = AtomFilter { include_over: true, ..AtomFilter::default() };
            assert!(ops::list(&store, &all, Sort::Oldest, None, 0, now).unwrap().total >= 8);
            let child = ops::show(&store, "old-0002").unwrap();
            assert_eq!(
                (child.atom.labels.len(), child.comments.len(), child.dependencies.incoming.len()),
                (2, 1, 2)
            );
            assert_eq!(ops::search(&store, "creme", false, None).unwrap().total, 1);
            assert!(
                !ops::explain(&store, "old-0002", now).unwrap().ready,
                "old-0003 still blocks it"
            );
            assert_eq!(ops::live_runs(&store).unwrap().len(), 1);
            assert!(
                ops::doctor(&store, now)
                    .unwrap()
                    .iter()
                    .all(|f| f.code != "blocker_count" && f.code != "search_index")
            );
        }
    }

    #[test]
    fn the_samples_fill_every_table() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("el.db");
        database_of(MIGRATIONS.len(), &path);
        let conn = Connection::open(&path).unwrap();
        let tables =
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
        let mut statement = conn.prepare(tables).unwrap();
        let names = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        for name in names.map(Result::unwrap) {
            let filled = format!("SELECT EXISTS (SELECT 1 FROM \"{name}\")");
            assert!(conn.query_row(&filled, [], |row| row.get::<_, bool>(0)).unwrap(), "{name}");
        }
    }

    #[test]
    fn a_migrated_schema_is_a_fresh_one() {
        let dir = tempfile::tempdir().unwrap();
        let fresh = dir.path().join("fresh.db");
        drop(Store::create(&fresh, "el", Timestamp::from_micros(0)).unwrap());
        let fresh = schema(&Connection::open(fresh).unwrap());
        for version in 1..=MIGRATIONS.len() {
            let path = dir.path().join(format!("{version}.db"));
            database_of(version, &path);
            drop(Store::open(&path, Durability::Normal).unwrap());
            assert_eq!(schema(&Connection::open(&path).unwrap()), fresh, "version {version}");
        }
    }
}
