//! A lock on a file, which the system gives back when its holder ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::poll::poll_until;

/// Between two tries to take what another process holds.
const AGAIN: Duration = Duration::from_millis(10);

/// An exclusive lock, held until it is dropped.
#[derive(Debug)]
pub struct FileLock(#[expect(dead_code, reason = "held for as long as it is open")] File);

impl FileLock {
    /// Locks a file, however long another process holds it. The file, and the folders to it, are
    /// made for this user alone if they are not there; it stays.
    ///
    /// # Errors
    /// If the file cannot be made or locked.
    pub fn wait(path: &Path) -> io::Result<FileLock> {
        let file = open(path)?;
        file.lock()?;
        Ok(FileLock(file))
    }

    /// The same, for at most so long; `None`: another process holds it.
    ///
    /// # Errors
    /// The same.
    pub fn within(path: &Path, limit: Duration) -> io::Result<Option<FileLock>> {
        let file = open(path)?;
        let taken = poll_until(limit, AGAIN, || match file.try_lock() {
            Ok(()) => Some(Ok(())),
            Err(TryLockError::Error(error)) => Some(Err(error)),
            Err(TryLockError::WouldBlock) => None,
        });
        taken.transpose().map(|taken| taken.map(|()| FileLock(file)))
    }

    /// Whether another process holds it just now. What cannot be told counts as no.
    pub fn is_held(path: &Path) -> bool {
        File::open(path)
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    // Opening a pipe that nobody reads is refused rather than waited for.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
    let not_a_file = || io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file");
    let file = match options.open(path) {
        Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
            return Err(not_a_file());
        }
        opened => opened?,
    };
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_a_file()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("below/x.lock");
        let held = FileLock::wait(&path).unwrap();
        assert!(FileLock::is_held(&path));
        assert!(FileLock::within(&path, Duration::from_millis(50)).unwrap().is_none());
        drop(held);
        assert!(!FileLock::is_held(&path));
        assert!(FileLock::within(&path, Duration::ZERO).unwrap().is_some());
    }

    #[test]
    fn what_is_no_plain_file_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        assert!(FileLock::within(&pipe, Duration::ZERO).is_err());
        assert!(FileLock::wait(dir.path()).is_err());
    }
}
