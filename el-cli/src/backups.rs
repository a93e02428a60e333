//! The backups of a tracker, in the user's own state folder, outside of the repository: no change
//! of the repository takes the backups along.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use el_agents::artifacts::sha256_hex;
use el_agents::file_lock::FileLock;
use el_core::model::{Timestamp, safe_prefix};
use el_core::{copy_database, files_of, inspect_copy, inspect_database};
use etcetera::BaseStrategy as _;
use schemars::JsonSchema;
use serde::Serialize;

use crate::own_state::make_own_folder;
use crate::{CommandError, Result, known_trackers};

mod due;
mod keep;
mod restore;

pub(crate) use due::{FIRST, start_if_due, watch, watch_in_supervisor};
pub(crate) use restore::{Present, Restored};

/// Why a backup was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reason {
    Hourly,
    /// `el backup now`.
    Manual,
    BeforeImport,
    BeforePrune,
    /// Before `--force` on many atoms.
    BeforeForce,
    BeforeMigration,
    /// The tracker that a restore replaced.
    Replaced,
    /// The files of a database that could not be used, as a restore found them.
    Damaged,
}

impl Reason {
    const ALL: [Reason; 8] = [
        Reason::Hourly,
        Reason::Manual,
        Reason::BeforeImport,
        Reason::BeforePrune,
        Reason::BeforeForce,
        Reason::BeforeMigration,
        Reason::Replaced,
        Reason::Damaged,
    ];

    /// The word in the file's name.
    fn file_word(self) -> &'static str {
        match self {
            Reason::Hourly => "hourly",
            Reason::Manual => "manual",
            Reason::BeforeImport => "before-import",
            Reason::BeforePrune => "before-prune",
            Reason::BeforeForce => "before-force",
            Reason::BeforeMigration => "before-migration",
            Reason::Replaced => "replaced",
            Reason::Damaged => "damaged",
        }
    }

    pub(crate) fn reason_text(self) -> &'static str {
        match self {
            Reason::Hourly => "hourly",
            Reason::Manual => "el backup now",
            Reason::BeforeImport => "before an import",
            Reason::BeforePrune => "before a prune",
            Reason::BeforeForce => "before --force on many",
            Reason::BeforeMigration => "before a migration",
            Reason::Replaced => "replaced by a restore",
            Reason::Damaged => "damaged, as found by a restore",
        }
    }
}

/// A backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Backup {
    pub(crate) path: PathBuf,
    pub(crate) at: Timestamp,
    pub(crate) reason: Reason,
    /// In bytes.
    pub(crate) size: u64,
}

/// The folder of one tracker's backups.
#[derive(Debug, Clone)]
pub(crate) struct Backups {
    database: PathBuf,
    folder: PathBuf,
}

impl Backups {
    /// The backups of the tracker with this database, which may be missing. `None`: the user has no
    /// state folder.
    pub(crate) fn for_database(database: &Path) -> Option<Backups> {
        let database = real_path(database);
        let state = etcetera::choose_base_strategy().ok()?.state_dir()?;
        let folder = database.parent().unwrap_or(Path::new("/"));
        let root = match folder.file_name() {
            Some(name) if name == crate::project::STATE_FOLDER => folder.parent().unwrap_or(folder),
            _ => folder,
        };
        let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let hash = sha256_hex(database.as_os_str().as_encoded_bytes());
        let folder =
            state.join("el/backups").join(format!("{}-{}", safe_prefix(&name), &hash[..16]));
        Some(Backups { database, folder })
    }

    pub(crate) fn backups_folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn database(&self) -> &Path {
        &self.database
    }

    /// The backups, newest first. Files of other names are left alone.
    pub(crate) fn list(&self) -> Vec<Backup> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut found: Vec<Backup> = entries.filter_map(|entry| backup_at(&entry.path())).collect();
        found.sort_by(|a, b| (b.at, &b.path).cmp(&(a.at, &a.path)));
        found
    }

    /// The newest backup that a restore takes by itself.
    pub(crate) fn newest(&self) -> Option<Backup> {
        self.list()
            .into_iter()
            .find(|backup| !matches!(backup.reason, Reason::Replaced | Reason::Damaged))
    }

    /// One process at a time makes, removes or restores backups. `None`: another process still
    /// does.
    pub(crate) fn lock(&self, wait: Duration) -> Result<Option<FileLock>> {
        self.make_folder()?;
        let path = self.folder.join("lock");
        FileLock::acquire_within(&path, wait)
            .map_err(|source| CommandError::file_error("lock", &path, source))
    }

    /// Makes a backup, and removes the backups that newer backups supersede.
    pub(crate) fn make_backup(&self, reason: Reason, now: Timestamp) -> Result<Backup> {
        let Some(_lock) = self.lock(LOCK_WAIT)? else {
            return Err(busy());
        };
        self.make_locked(reason, now)
    }

    /// Makes a backup. `None` if nothing has changed since the newest backup.
    pub(crate) fn make_if_changed(
        &self,
        reason: Reason,
        now: Timestamp,
        wait: Duration,
    ) -> Result<Option<Backup>> {
        let Some(_lock) = self.lock(wait)? else { return Ok(None) };
        let newest = self.newest().and_then(|backup| inspect_copy(&backup.path).ok());
        let present = inspect_database(&self.database)?;
        if present.last_event == 0 {
            return Ok(None);
        }
        if newest.is_some_and(|newest| newest == present) {
            return Ok(None);
        }
        self.make_locked(reason, now).map(Some)
    }

    pub(crate) fn make_locked(&self, reason: Reason, now: Timestamp) -> Result<Backup> {
        let begun = Instant::now();
        self.remove_halves();
        let size = files_of(&self.database)[..2].iter().map(|file| length(file)).sum();
        self.ensure_room(size)?;
        let temporary = self.folder.join(format!(".new-{}", std::process::id()));
        let path = self.path_of(reason, now);
        let made = copy_database(&self.database, &temporary).map_err(CommandError::from);
        let made = made.and_then(|()| {
            fs::rename(&temporary, &path)
                .and_then(|()| sync_folder(&self.folder))
                .map_err(|source| CommandError::file_error("write", &path, source))
        });
        if let Err(error) = made {
            self.remove_halves();
            return Err(error);
        }
        self.thin_out(now);
        self.set_due_after(begun.elapsed());
        let size = length(&path);
        Ok(Backup { path, at: now, reason, size })
    }

    /// Where the files of a damaged database are kept.
    pub(crate) fn path_of(&self, reason: Reason, now: Timestamp) -> PathBuf {
        let end = if reason == Reason::Damaged { "" } else { ".db" };
        self.folder.join(format!("{}Z-{}{end}", stamp(now), reason.file_word()))
    }

    /// Removes the files of a killed process, none of which has a backup's name.
    fn remove_halves(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if entry.file_name().as_encoded_bytes().starts_with(b".new-") {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn thin_out(&self, now: Timestamp) {
        for old in keep::superseded(&self.list(), now) {
            let _ = match old.reason {
                Reason::Damaged => fs::remove_dir_all(&old.path),
                _ => fs::remove_file(&old.path),
            };
        }
    }

    /// Refuses to fill a disk: agents and the tracker need it more.
    fn ensure_room(&self, size: u64) -> Result<()> {
        let Ok(disk) = rustix::fs::statvfs(&self.folder) else { return Ok(()) };
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if free >= size.saturating_add(size / 8).saturating_add(ROOM) {
            return Ok(());
        }
        Err(CommandError::internal_error(format!(
            "there is no room for a backup of {} KiB in {}: {} KiB are free",
            size >> 10,
            self.folder.display(),
            free >> 10
        )))
    }

    fn make_folder(&self) -> Result<()> {
        make_own_folder(&self.folder)
            .map(|()| known_trackers::remember(&self.folder, &self.database))
            .map_err(|source| CommandError::file_error("create", &self.folder, source))
    }
}

/// The error where there is no place for backups.
pub(crate) fn no_home() -> CommandError {
    CommandError::config_error("HOME", "there is no home folder to keep backups in")
        .with_hint("set HOME or XDG_STATE_HOME")
}

/// The space that stays free on the disk of the backups.
const ROOM: u64 = 16 << 20;
/// Another process that makes a backup needs seconds at most.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(60);

fn busy() -> CommandError {
    CommandError::new(
        crate::exit::Exit::TimedOut,
        "busy",
        "another process makes or restores a backup of this tracker",
    )
    .with_retryable(true)
    .with_hint("try again when it has ended")
}

fn length(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |meta| meta.len())
}

pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// The path without links; of a missing file, the folder's; of a missing folder, the parent's.
fn real_path(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut missing = Vec::new();
    let mut at = path.as_path();
    loop {
        if let Ok(found) = fs::canonicalize(at) {
            return missing.iter().rev().fold(found, |path, name| path.join(name));
        }
        let (Some(folder), Some(name)) = (at.parent(), at.file_name()) else { return path };
        missing.push(name.to_owned());
        at = folder;
    }
}

/// `2026-11-28T23-05-25.123456`: sorts by time, and is a file's name everywhere.
fn stamp(at: Timestamp) -> String {
    let seconds = jiff::Timestamp::from_microsecond(at.as_micros()).unwrap_or_default();
    seconds.strftime("%Y-%m-%dT%H-%M-%S.%6f").to_string()
}

fn backup_at(path: &Path) -> Option<Backup> {
    let name = path.file_name()?.to_str()?;
    let (time, word) = name.split_once("Z-")?;
    let word = word.strip_suffix(".db").unwrap_or(word);
    let reason = Reason::ALL.into_iter().find(|reason| reason.file_word() == word)?;
    let time = jiff::civil::DateTime::strptime("%Y-%m-%dT%H-%M-%S.%6f", time).ok()?;
    let at = time.to_zoned_datetime(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    let at = Timestamp::from_micros(at.as_microsecond());
    let size = match reason {
        Reason::Damaged => fs::read_dir(path).ok()?.flatten().map(|e| length(&e.path())).sum(),
        _ => fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?.len(),
    };
    Some(Backup { path: path.to_owned(), at, reason, size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_when_and_why() {
        let dir = tempfile::tempdir().unwrap();
        let backups = Backups { database: dir.path().join("el.db"), folder: dir.path().to_owned() };
        let at = Timestamp::from_micros(1_764_000_010_012_345);
        for reason in Reason::ALL {
            let path = backups.path_of(reason, at);
            match reason {
                Reason::Damaged => fs::create_dir(&path).unwrap(),
                _ => fs::write(&path, "x").unwrap(),
            }
            let found = backup_at(&path).unwrap();
            assert_eq!((found.at, found.reason), (at, reason), "{path:?}");
        }
        for other in ["due", "lock", "notes.db", ".new-12"] {
            fs::write(dir.path().join(other), "").unwrap();
        }
        assert_eq!(backups.list().len(), Reason::ALL.len());
    }

    #[test]
    fn a_missing_tracker_has_the_path_that_it_had() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        std::os::unix::fs::symlink(&root, root.join("link")).unwrap();
        let database = root.join("p/.eluent/el.db");
        assert_eq!(real_path(&root.join("link/p/.eluent/el.db")), database);
        fs::create_dir_all(root.join("p/.eluent")).unwrap();
        assert_eq!(real_path(&root.join("link/p/.eluent/el.db")), database);
    }
}
