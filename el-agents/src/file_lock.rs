//! File locks, which the system releases at any end of the holder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::poll::poll_until;

/// The pause between two tries for a held lock.
const TRY_AGAIN: Duration = Duration::from_millis(10);

/// An exclusive lock, held until dropped.
#[derive(Debug)]
pub struct FileLock(#[expect(dead_code, reason = "held for as long as it is open")] File);

impl FileLock {
    /// Locks a file, and waits for other holders without limit. A missing file and its folders are
    /// made for this user alone. The file stays.
    ///
    /// # Errors
    /// If the file cannot be made or locked.
    pub fn acquire_blocking(path: &Path) -> io::Result<FileLock> {
        let file = open_lock_file(path)?;
        file.lock()?;
        Ok(FileLock(file))
    }

    /// Locks a file as above, but waits for at most `limit`. `None` if another process still holds
    /// the lock.
    ///
    /// # Errors
    /// The same.
    pub fn acquire_within(path: &Path, limit: Duration) -> io::Result<Option<FileLock>> {
        let file = open_lock_file(path)?;
        let taken = poll_until(limit, TRY_AGAIN, || match file.try_lock() {
            Ok(()) => Some(Ok(())),
            Err(TryLockError::Error(error)) => Some(Err(error)),
            Err(TryLockError::WouldBlock) => None,
        });
        taken.transpose().map(|taken| taken.map(|()| FileLock(file)))
    }

    /// Returns true if another process holds the lock now. Errors count as false.
    pub fn is_held(path: &Path) -> bool {
        File::open(path)
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

fn open_lock_file(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    // Opening a pipe without a reader fails instead of blocking. A link leads elsewhere.
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits()).unwrap_or_default();
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
    let not_a_file = || io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file");
    let file = match options.open(path) {
        Err(error)
            if [Errno::NXIO, Errno::LOOP]
                .map(|no| Some(no.raw_os_error()))
                .contains(&error.raw_os_error()) =>
        {
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
        let held = FileLock::acquire_blocking(&path).unwrap();
        assert!(FileLock::is_held(&path));
        assert!(FileLock::acquire_within(&path, Duration::from_millis(50)).unwrap().is_none());
        drop(held);
        // A child that another test starts has the file until it begins its program.
        assert!(FileLock::acquire_within(&path, Duration::from_secs(90)).unwrap().is_some());
    }

    #[test]
    fn what_is_no_plain_file_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        assert!(FileLock::acquire_within(&pipe, Duration::ZERO).is_err());
        assert!(FileLock::acquire_blocking(dir.path()).is_err());
    }
}
