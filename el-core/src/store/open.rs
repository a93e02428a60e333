use std::fs::OpenOptions;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::closed::{self, Closed};
use super::engine::{Database, Held};
use super::{Tx, atom, busy, keep_out_of_git, meta, migrate};
use crate::error::Doing;
use crate::model::Timestamp;
use crate::{Error, Result};

/// The failures that a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// All failures but a power cut. A power cut may take the last commits and never damages the
    /// file.
    #[default]
    Normal,
    /// A power cut too; each write waits for the disk.
    Full,
}

/// A connection to the database of a project.
#[derive(Debug)]
pub struct Store {
    pub(super) database: Database,
    pub(super) path: PathBuf,
    /// The file that was opened: device and inode. A server has none.
    pub(super) file: Option<(u64, u64)>,
    /// The atom that the next change relies on, as its caller saw it.
    pub(super) expected: Option<(String, Timestamp)>,
    pub(super) has_written: bool,
    /// Why the tracker is closed to changes, as it was when it was opened.
    pub(super) closed: Option<Closed>,
}

/// The largest write-ahead log, in bytes, that stays at the end of a process that wrote, and of one
/// that read. The first process to open a database reads the whole log, and holds the writers' lock
/// meanwhile: a reader that is stopped just then blocks all writers. Of 200 readers that were
/// stopped at random, that was so for 5 with a log of 0.3 MB. A reader that moves the log holds
/// that lock much longer, so it leaves the work to the next writer.
const LOG_KEPT: u64 = 128 * 1024;
const LOG_KEPT_BY_READER: u64 = 4 * 1024 * 1024;

impl Drop for Store {
    fn drop(&mut self) {
        let Some(conn) = self.database.sqlite_held() else { return };
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        let kept = if self.has_written { LOG_KEPT } else { LOG_KEPT_BY_READER };
        if std::fs::metadata(log).is_ok_and(|log| log.len() > kept) {
            // The last process to close the database then moves the log into the database.
            // Otherwise the next process does.
            let _ = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
        } else {
            conn.leave_open();
        }
    }
}

impl Store {
    /// Opens an existing database, and migrates an older database.
    ///
    /// # Errors
    ///
    /// If there is no database at `path`, the file is not a database of `el`, the schema is newer
    /// than this `el`, or SQLite fails.
    pub fn open(path: &Path, durability: Durability) -> Result<Store> {
        let file = file_at(path).ok_or_else(|| Error::NoDatabase { path: path.to_owned() })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let (mut conn, (found, application_id)) = connect(path, flags, durability)?;
        // Another program's version may be the same number.
        if application_id != migrate::APPLICATION_ID {
            let why = if found == 0 {
                "it has no schema; `el init` was never finished here"
            } else {
                "it belongs to another program"
            };
            return Err(Error::NotADatabase { path: path.to_owned(), why: why.to_owned() });
        }
        if found == migrate::SCHEMA_VERSION {
            return Ok(Store::of_file(conn, path, file));
        }
        if found <= closed::MARK {
            migrate::migrate(&mut conn, path, found)?;
            return Ok(Store::of_file(conn, path, file));
        }
        let mut store = Store::of_file(conn, path, file);
        store.closed = store.read(closed::read)?;
        match &store.closed {
            // The tables of that time cannot be read.
            Some(closed) if found != closed::MARK + migrate::SCHEMA_VERSION => Err(closed.error()),
            _ => Ok(store),
        }
    }

    /// Creates the database of a project in one transaction; ids of atoms begin with `<prefix>-`.
    /// Finishes an earlier call that was interrupted.
    ///
    /// # Errors
    ///
    /// If there is a database already, by `el` or by another program.
    pub fn create(path: &Path, prefix: &str, now: Timestamp) -> Result<Store> {
        Store::create_filled(path, |tx| {
            meta::set(tx, meta::PREFIX, prefix)?;
            meta::set(tx, meta::CREATED_AT, &now.as_micros().to_string())
        })
    }

    pub(super) fn create_filled(
        path: &Path,
        fill: impl FnOnce(&Tx<'_>) -> Result<()>,
    ) -> Result<Store> {
        // The database holds the tokens of runs. SQLite gives the same permissions to the files
        // beside the database. An existing file keeps the permissions; SQLite reports all other
        // problems.
        let _ = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let (mut conn, (found, _)) = connect(path, flags, Durability::Normal)?;
        let exists = || {
            let message = format!("there is an el database at {} already", path.display());
            Error::conflict("exists", message)
        };
        if found != 0 {
            return Err(exists());
        }
        conn.pragma_update(None, "journal_mode", "WAL").doing("switch to write-ahead logging")?;
        let is_new = migrate::create_schema(&mut conn, path, fill)?;
        // The log holds the whole schema, which each later process would read from there.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)
            .doing("move the schema out of the log")?;
        let file = file_at(path).ok_or_else(|| Error::NoDatabase { path: path.to_owned() })?;
        if !is_new {
            return Err(exists());
        }
        Ok(Store::of_file(conn, path, file))
    }

    pub(super) fn of_file(conn: Connection, path: &Path, file: (u64, u64)) -> Store {
        Store::of_database(Database::Sqlite(Held::new(conn)), path, Some(file))
    }

    pub(super) fn of_database(database: Database, path: &Path, file: Option<(u64, u64)>) -> Store {
        Store {
            database,
            path: path.to_owned(),
            file,
            expected: None,
            has_written: false,
            closed: None,
        }
    }

    /// Why the tracker is closed to changes, in a sentence; `None` if it is open.
    pub fn closed(&self) -> Option<String> {
        self.closed.as_ref().map(Closed::sentence)
    }

    /// The path of the database. For a project on a server: the path that a file would have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the write-ahead log into the database, as far as no reader is in the way. For the idle
    /// moments of a worker.
    ///
    /// # Errors
    ///
    /// If SQLite fails.
    pub fn checkpoint(&self) -> Result<()> {
        let Some(conn) = self.database.sqlite() else { return Ok(()) };
        conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
            .doing("checkpoint the database")
    }

    /// Returns the number of steps of SQLite's machine for the work: a cost that does not depend on
    /// the clock.
    #[cfg(test)]
    pub(crate) fn steps(&mut self, work: impl FnOnce(&mut Store)) -> u64 {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicU64, Ordering};
        let count = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&count);
        let each = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            false
        };
        let conn = self.database.sqlite_mut();
        conn.progress_handler(1, Some(each)).expect("the connection is open");
        work(self);
        let conn = self.database.sqlite_mut();
        conn.progress_handler(0, None::<fn() -> bool>).expect("the connection is open");
        count.load(Ordering::Relaxed)
    }

    /// Returns how often a cached statement ran.
    #[cfg(test)]
    pub(crate) fn times_run(&mut self, sql: &str) -> i32 {
        let conn = self.database.sqlite_mut();
        let statement = conn.prepare_cached(sql).expect("the statement is sound");
        statement.get_status(rusqlite::StatementStatus::Run)
    }

    /// Refuses a change that would be lost, because git or a person removed or replaced the file.
    /// Costs one system call.
    ///
    /// # Errors
    ///
    /// If the database is not where it was opened, or is another one.
    pub fn ensure_in_place(&self) -> Result<()> {
        let Some(opened) = self.file else { return Ok(()) };
        match file_at(&self.path) {
            Some(file) if file == opened => Ok(()),
            Some(_) => Err(Error::conflict(
                "replaced",
                format!(
                    "another file took the place of {} while this process had it open; \
                     nothing was changed",
                    self.path.display()
                ),
            )),
            None => Err(Error::NoDatabase { path: self.path.clone() }),
        }
    }

    /// Makes the next change fail if the atom changed after `seen`.
    pub(crate) fn expect_unchanged(&mut self, id: String, seen: Timestamp) {
        self.expected = Some((id, seen));
    }

    pub(crate) fn write<T>(&mut self, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        self.ensure_in_place()?;
        if let Some(state) = self.path.parent() {
            // If the folder cannot be written, a later step reports it.
            let _ = keep_out_of_git(state);
        }
        let tx = self.database.begin_write().doing("begin a change")?;
        if let Some((id, seen)) = self.expected.take() {
            ensure_unchanged(&tx, &id, seen)?;
        }
        let done = work(&tx)?;
        tx.commit().doing("commit a change")?;
        self.has_written = true;
        Ok(done)
    }

    /// Does the work as [`Store::write`] would, then rolls the work back.
    pub(crate) fn rehearse<T>(&mut self, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        let tx = self.database.begin_write().doing("begin a rehearsal")?;
        let done = work(&tx)?;
        tx.rollback().doing("end a rehearsal")?;
        Ok(done)
    }

    /// Prepares for a transaction with many changes. With SQLite's own 2 MB of cache, an import of
    /// 87 MB spilled pages again and again, and wrote 19 GB.
    ///
    /// # Errors
    ///
    /// If SQLite refuses the settings.
    pub(crate) fn prepare_bulk(&self) -> Result<()> {
        self.prepare_cache(BULK_CACHE_KIB)
    }

    /// Prepares for an import, which may find that little has changed: see [`enlarge_cache`].
    ///
    /// # Errors
    ///
    /// If SQLite refuses the settings.
    pub(crate) fn prepare_import(&self) -> Result<()> {
        self.prepare_cache(READING_CACHE_KIB)
    }

    fn prepare_cache(&self, kib: i64) -> Result<()> {
        let Some(conn) = self.database.sqlite() else { return Ok(()) };
        // Each statement with a trigger writes the pages before its change to a journal, which
        // would be a file: a fifth of an import.
        conn.pragma_update(None, "temp_store", "MEMORY").doing("keep journals in memory")?;
        conn.pragma_update(None, "cache_size", -kib).doing("enlarge the cache")
    }

    pub(crate) fn read<T>(&self, work: impl FnOnce(&Tx<'_>) -> Result<T>) -> Result<T> {
        let tx = self.database.begin_read().doing("begin to read the database")?;
        work(&tx)
    }
}

/// Refuses a change to an atom that changed after `seen`.
pub(crate) fn ensure_unchanged(tx: &Tx<'_>, id: &str, seen: Timestamp) -> Result<()> {
    let now = atom::get(tx, id)?;
    if now.updated_at == seen {
        return Ok(());
    }
    Err(Error::conflict(
        "changed",
        format!("{id} was changed at {}; nothing was done", now.updated_at),
    ))
}

/// Enlarges the cache of a transaction that turns out to have many changes.
pub(crate) fn enlarge_cache(tx: &Tx<'_>) -> Result<()> {
    if !tx.is_sqlite() {
        return Ok(());
    }
    let sql = format!("PRAGMA cache_size = -{BULK_CACHE_KIB}");
    tx.execute_batch(&sql).doing("enlarge the cache")
}

/// The page cache of a connection that writes much, and of one that compares much.
const BULK_CACHE_KIB: i64 = 56 * 1024;
const READING_CACHE_KIB: i64 = 16 * 1024;

/// Device and inode of a plain file; `None` if there is none.
fn file_at(path: &Path) -> Option<(u64, u64)> {
    let meta = std::fs::metadata(path).ok()?;
    meta.is_file().then(|| (meta.dev(), meta.ino()))
}

pub(super) fn connect(path: &Path, flags: OpenFlags, durability: Durability) -> Result<Opened> {
    let mut conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .doing("open the database")?;
    conn.busy_handler(Some(busy::wait_and_retry)).doing("set the database's busy handler")?;
    // A checkpoint at every close would cost each call four waits for the disk, and hold an
    // exclusive lock: a process that is stopped just then would block all others. Commits still
    // checkpoint, each time that the log has grown, and so does the end of a process that leaves a
    // large log.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .doing("keep the database's log")?;
    // Otherwise SQLite prepares a statement again whenever another value is bound, for a plan that
    // might be better. There are no statistics here, so the plan would be the same.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .doing("keep the plans of statements")?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true).doing("keep references")?;
    let marks =
        read_marks(&conn, durability).doing("set it up").map_err(|error| not_ours(path, error))?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok((conn, marks))
}

/// A connection, with the version of the tables and the mark of the program that made them.
type Opened = (Connection, (i64, i64));

/// Reads what a start needs in one look at the file: the statement that has given its row and not
/// ended holds the moment, in which SQLite reads the schema too.
fn read_marks(conn: &Connection, durability: Durability) -> rusqlite::Result<(i64, i64)> {
    let mut statement = conn.prepare("PRAGMA user_version")?;
    let mut rows = statement.query([])?;
    let version = rows.next()?.map_or(Ok(0), |row| row.get(0))?;
    conn.execute_batch(match durability {
        Durability::Normal => "PRAGMA synchronous = NORMAL",
        Durability::Full => "PRAGMA synchronous = FULL",
    })?;
    Ok((version, conn.query_row("PRAGMA application_id", [], |row| row.get(0))?))
}

/// Brings the closed tables of a file to the version of this `el`.
pub(super) fn bring_up_closed(path: &Path) -> Result<()> {
    let (mut conn, _) = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, Durability::Full)?;
    migrate::bring_up_closed(&mut conn, path)
}

fn not_ours(path: &Path, error: Error) -> Error {
    match error {
        Error::Sqlite { source, .. }
            if source.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) =>
        {
            Error::NotADatabase { path: path.to_owned(), why: "it is not a SQLite file".to_owned() }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_leaves_a_small_log_and_a_reader_leaves_it_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("el.db");
        let now = Timestamp::from_micros(0);
        drop(Store::create(&path, "el", now).unwrap());
        let log = || std::fs::metadata(dir.path().join("el.db-wal")).map_or(0, |log| log.len());
        let mut largest = 0;
        for n in 0..100 {
            let mut store = Store::open(&path, Durability::Normal).unwrap();
            store.write(|tx| meta::set(tx, "note", &"x".repeat(9_000 + n))).unwrap();
            drop(store);
            largest = largest.max(log());
            let before = log();
            drop(Store::open(&path, Durability::Normal).unwrap());
            assert_eq!(log(), before);
        }
        assert!((LOG_KEPT / 2..=LOG_KEPT).contains(&largest), "{largest}");
    }
}
