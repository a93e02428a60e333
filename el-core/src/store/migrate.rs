use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::Doing;
use crate::{Error, Result};

/// Append-only: a migration that landed is never edited. Position + 1 is the `user_version` that it leads to.
const MIGRATIONS: &[&str] = &[include_str!("../../../migrations/sqlite/0001_init.sql")];

/// The newest schema that this `el` knows.
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// `elt1` as a big-endian number: tells our files from other SQLite files.
pub(super) const APPLICATION_ID: i64 = 0x656c_7431;

pub(super) fn version(conn: &Connection) -> Result<i64> {
    conn.query_row("PRAGMA user_version", [], |row| row.get(0)).doing("read its version")
}

/// Brings a database to [`SCHEMA_VERSION`]: all missing steps in one immediate transaction, whose version is read again inside
/// it, since another process may have been faster.
pub(super) fn migrate(conn: &mut Connection, path: &Path) -> Result<()> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).doing("begin a migration")?;
    let found = version(&tx)?;
    if found > SCHEMA_VERSION {
        return Err(Error::NewerDatabase { path: path.to_owned(), found, known: SCHEMA_VERSION });
    }
    for step in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        tx.execute_batch(step).doing("migrate")?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID).doing("mark the file")?;
    tx.pragma_update(None, "user_version", SCHEMA_VERSION).doing("set its version")?;
    tx.commit().doing("commit a migration")
}
