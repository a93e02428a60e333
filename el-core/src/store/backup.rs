//! Copies of a database, and a database that takes the contents of a copy. SQLite's backup API
//! copies the pages: writers go on meanwhile.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use schemars::JsonSchema;
use serde::Serialize;

use super::open::{Durability, connect};
use super::{Tx, closed, migrate};
use crate::error::{Doing, find_stopped_holder};
use crate::model::Timestamp;
use crate::{Error, Result};

/// A summary of a copy's contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CopyFacts {
    pub atoms: i64,
    pub comments: i64,
    pub runs: i64,
    /// The number of the last event: equal numbers of one tracker are equal contents.
    pub last_event: i64,
    pub last_event_at: Option<Timestamp>,
}

/// Copies a database with all committed changes. `target` is made, readable by its owner alone, and
/// synced to the disk. A due migration is not made.
///
/// # Errors
/// If `target` exists, the source is not a database of el, or a disk is full. A partly written
/// `target` stays.
pub fn copy_database(source: &Path, target: &Path) -> Result<()> {
    let from = open_ours(source, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(target)
        .map_err(|source| Error::Io { doing: "make the copy", path: target.to_owned(), source })?;
    let mut into = Connection::open_with_flags(target, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .doing("open the copy")?;
    // The copy counts only once it is whole and has its name.
    into.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
        .doing("open the copy")?;
    copy_pages(&from, &mut into)?;
    into.close().map_err(|(_, source)| source).doing("close the copy")?;
    seal(target, "DELETE")
}

/// Sets the journal mode that the file keeps, and brings the file to the disk. With `DELETE`,
/// readers make no files beside it; with `WAL`, it can take the place of a database.
pub(crate) fn seal(path: &Path, mode: &str) -> Result<()> {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .doing("open the copy")?;
    conn.pragma_update(None, "journal_mode", mode).doing("set its journal mode")?;
    conn.close().map_err(|(_, source)| source).doing("close the copy")?;
    File::open(path).and_then(|file| file.sync_all()).map_err(|source| Error::Io {
        doing: "sync",
        path: path.to_owned(),
        source,
    })
}

/// Makes a copy fit to be renamed to a database's name, without files beside it.
///
/// # Errors
/// If the file cannot be written.
pub fn seal_database(path: &Path) -> Result<()> {
    seal(path, "WAL")
}

/// Reads the summary of a copy's contents.
///
/// # Errors
/// If the file is not a database of el, or is damaged.
pub fn inspect_copy(path: &Path) -> Result<CopyFacts> {
    inspect(&open_ours(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?)
}

/// The version of a database's tables, and why it is closed to changes.
///
/// # Errors
/// If the file is not a database of el.
pub(super) fn state_of_tables(path: &Path) -> Result<(i64, Option<String>)> {
    let conn = open_ours(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let version = migrate::read_version(&conn)?;
    if version <= closed::MARK {
        return Ok((version, None));
    }
    let tx = Transaction::new_unchecked(&conn, TransactionBehavior::Deferred).doing("read it")?;
    let closed = closed::read(&Tx::Sqlite(tx))?;
    Ok((version - closed::MARK, closed.as_ref().map(closed::Closed::sentence)))
}

/// Reads the summary of a database's own contents.
///
/// # Errors
/// As for [`inspect_copy`].
pub fn inspect_database(path: &Path) -> Result<CopyFacts> {
    inspect(&open_ours(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?)
}

/// Refuses a database whose tables, indices and triggers are not those of el: a foreign trigger
/// would write in the name of the next writer.
///
/// # Errors
/// If the schema differs, or the file is not a database of el.
pub fn ensure_own_schema(path: &Path) -> Result<()> {
    let conn = open_ours(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let found = migrate::read_schema(&conn)?;
    let own = migrate::own_schema(migrate::read_version(&conn)?)?;
    let difference = found.symmetric_difference(&own).next();
    difference.map_or(Ok(()), |(kind, name, _)| {
        Err(Error::NotADatabase {
            path: path.to_owned(),
            why: format!("the {kind} {name} in it is not as el makes it"),
        })
    })
}

fn inspect(conn: &Connection) -> Result<CopyFacts> {
    conn.query_row(
        "SELECT (SELECT count(*) FROM atoms), (SELECT count(*) FROM comments),
                (SELECT count(*) FROM runs), (SELECT coalesce(max(seq), 0) FROM events),
                (SELECT at FROM events ORDER BY seq DESC LIMIT 1)",
        [],
        |row| {
            Ok(CopyFacts {
                atoms: row.get(0)?,
                comments: row.get(1)?,
                runs: row.get(2)?,
                last_event: row.get(3)?,
                last_event_at: row.get::<_, Option<i64>>(4)?.map(Timestamp::from_micros),
            })
        },
    )
    .doing("read a copy")
}

/// Every atom's id and last change, in order of the ids.
///
/// # Errors
/// If the file is not a database of el, or is damaged.
pub fn list_changes(path: &Path) -> Result<Vec<(String, i64)>> {
    let conn = open_ours(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    conn.prepare("SELECT id, updated_at FROM atoms ORDER BY id")
        .and_then(|mut s| s.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
        .doing("read the atoms of a copy")
}

/// Gives a database the contents of a copy in one transaction, so it always has the old contents or
/// the new ones. Other processes may have the database open.
///
/// # Errors
/// If either is no sound database of el, or the database cannot be written.
pub fn replace_contents(database: &Path, copy: &Path) -> Result<()> {
    let from = open_ours(copy, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let (mut into, _) = connect(database, OpenFlags::SQLITE_OPEN_READ_WRITE, Durability::Full)?;
    copy_pages(&from, &mut into)
}

fn copy_pages(from: &Connection, into: &mut Connection) -> Result<()> {
    let backup = Backup::new(from, into).doing("begin to copy the database")?;
    loop {
        // One step copies all pages as of one moment, and no writer can restart it. The busy
        // handlers wait within the step.
        match backup.step(-1).doing("copy the database")? {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            _ => {
                return Err(Error::busy_error(find_stopped_holder()));
            }
        }
    }
}

fn open_ours(path: &Path, flags: OpenFlags) -> Result<Connection> {
    if !path.is_file() {
        return Err(Error::NoDatabase { path: path.to_owned() });
    }
    let (conn, (_, mark)) = connect(path, flags, Durability::Normal)?;
    if mark == migrate::APPLICATION_ID {
        return Ok(conn);
    }
    Err(Error::NotADatabase {
        path: path.to_owned(),
        why: "it belongs to another program".to_owned(),
    })
}

/// The database and the files that SQLite keeps beside it.
#[must_use]
pub fn files_of(database: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|end| {
        let mut name = database.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    })
}
