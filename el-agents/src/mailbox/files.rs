//! Files that others write too: read whole, replaced whole, and never silently lost.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use el_core::model::Timestamp;
use el_core::protocol::mailbox::{Document, MailboxFile, number_messages};
use rustix::fs::OFlags;
use serde_json::Value;

use crate::file_lock::FileLock;

/// The maximum size of a file, far above any mailbox.
const SIZE_MAX: u64 = 64 << 20;
/// How long a lock may be held by someone else.
const LOCK_LIMIT: Duration = Duration::from_secs(20);
/// The time for which an empty or half-written file must stay unchanged before the content counts.
const SETTLED: Duration = Duration::from_millis(500);
const SETTLE_POLL: Duration = Duration::from_millis(25);
/// Flags for opening: a pipe or device in the place of a file must not block, and a link must not
/// lead elsewhere, since an agent can write there.
#[expect(
    clippy::cast_possible_wrap,
    reason = "flags of the system's own type, whose bits are meant"
)]
const PLAIN_ONLY: i32 =
    OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::NOFOLLOW).bits() as i32;

/// A file that could not be dealt with.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("cannot {doing} {}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} stayed locked by another program for {} s", path.display(), LOCK_LIMIT.as_secs())]
    Locked { path: PathBuf },
    #[error("{} is no plain file or folder", path.display())]
    NotAFile { path: PathBuf },
    #[error("{} has more than {} MiB", path.display(), SIZE_MAX >> 20)]
    TooLarge { path: PathBuf },
}

fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
    let path = path.to_owned();
    move |source| FileError::Io { doing, path, source }
}

/// Identifies a state of a file without reading the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint(Option<(u64, u64, u64, i64, i64)>);

pub(super) fn fingerprint_of(path: &Path) -> Fingerprint {
    Fingerprint(
        fs::metadata(path).ok().map(|m| (m.dev(), m.ino(), m.len(), m.mtime(), m.mtime_nsec())),
    )
}

/// Locks `<path>.lock`. The lock file is made if missing, and stays.
pub(super) fn lock_file(path: &Path) -> Result<FileLock, FileError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let lock = PathBuf::from(name);
    match FileLock::acquire_within(&lock, LOCK_LIMIT) {
        Ok(Some(held)) => Ok(held),
        Ok(None) => Err(FileError::Locked { path: lock }),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            Err(FileError::NotAFile { path: lock })
        }
        Err(error) => Err(io_error("lock", &lock)(error)),
    }
}

/// The content of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Missing,
    Text { text: String, inode: u64 },
    NotText,
}

impl Content {
    pub(super) fn found_text(&self) -> Option<&str> {
        match self {
            Content::Text { text, .. } => Some(text),
            Content::Missing | Content::NotText => None,
        }
    }
}

/// Opens a path for reading without blocking. A pipe is opened too, and recognised by the reader.
fn open_without_waiting(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(PLAIN_ONLY).open(path)
}

/// Reads the present content of a file.
pub(super) fn read_content(path: &Path) -> Result<Content, FileError> {
    match open_without_waiting(path) {
        Ok(mut file) => read_from(&mut file, path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Content::Missing),
        Err(_) if path.is_symlink() => Err(FileError::NotAFile { path: path.to_owned() }),
        Err(error) => Err(io_error("read", path)(error)),
    }
}

fn read_from(file: &mut File, path: &Path) -> Result<Content, FileError> {
    let metadata = file.metadata().map_err(io_error("read", path))?;
    if !metadata.is_file() {
        return Err(FileError::NotAFile { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))
        .and_then(|_| file.take(SIZE_MAX + 1).read_to_end(&mut bytes))
        .map_err(io_error("read", path))?;
    if bytes.len() as u64 > SIZE_MAX {
        return Err(FileError::TooLarge { path: path.to_owned() });
    }
    Ok(String::from_utf8(bytes)
        .map_or(Content::NotText, |text| Content::Text { text, inode: metadata.ino() }))
}

/// Reads a file. An empty file, or a file without valid JSON, is read again for a while: a writer
/// may be at work.
pub(super) fn read_settled(path: &Path) -> Result<Content, FileError> {
    let mut content = read_content(path)?;
    let mut since = Instant::now();
    while is_unfinished(&content) && since.elapsed() < SETTLED {
        std::thread::sleep(SETTLE_POLL);
        let now = read_content(path)?;
        if now != content {
            (content, since) = (now, Instant::now());
        }
    }
    Ok(content)
}

fn is_unfinished(content: &Content) -> bool {
    match content {
        Content::Missing => false,
        Content::NotText => true,
        Content::Text { text, .. } => {
            serde_json::from_str::<serde::de::IgnoredAny>(text.trim_start_matches('\u{feff}'))
                .is_err()
        }
    }
}

/// Replaces the content that was read by `text`. Returns `None`, without any change, if the file
/// has changed since; else the old open file, if there was a file.
pub(super) fn replace_file(
    path: &Path,
    was: &Content,
    text: &str,
) -> Result<Option<Option<File>>, FileError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let old = open_without_waiting(path).ok();
    let mode = old
        .as_ref()
        .and_then(|file| file.metadata().ok())
        .map_or(0o644, |m| m.permissions().mode() & 0o777);
    let write = || -> io::Result<()> {
        let _ = fs::remove_file(&draft);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        // The file may have the only copy of others' messages.
        file.sync_all()
    };
    let swap = || -> Result<bool, FileError> {
        write().map_err(io_error("write", &draft))?;
        if read_content(path)? != *was {
            return Ok(false);
        }
        if *was == Content::Missing {
            // Fails if the file exists after all.
            return match fs::hard_link(&draft, path) {
                Ok(()) => Ok(true),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
                Err(error) => Err(io_error("make", path)(error)),
            };
        }
        fs::rename(&draft, path).map_err(io_error("replace", path))?;
        Ok(true)
    };
    let swapped = swap();
    // After a rename the draft is gone.
    let _ = fs::remove_file(&draft);
    Ok(swapped?.then_some(old))
}

/// Moves a file out of the way, under a name that tells when; gives that, and the file, open.
pub(super) fn set_aside(path: &Path, now: Timestamp) -> Result<(PathBuf, Option<File>), FileError> {
    let handle = open_without_waiting(path).ok();
    let stamp: String = now.to_millis_text().chars().filter(char::is_ascii_alphanumeric).collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut aside = path.with_file_name(format!("{name}.bad-{stamp}"));
    let mut n = 1;
    while aside.symlink_metadata().is_ok() {
        n += 1;
        aside = path.with_file_name(format!("{name}.bad-{stamp}-{n}"));
    }
    fs::rename(path, &aside).map_err(io_error("set aside", path))?;
    Ok((aside, handle))
}

/// Appends lines to a file. A missing file begins with `begin`.
pub(super) fn append_lines(path: &Path, begin: &str, lines: &str) -> Result<(), FileError> {
    let write = || -> io::Result<()> {
        match OpenOptions::new().append(true).create_new(true).open(path) {
            // A single write each, so that concurrent appends keep whole lines.
            Ok(mut file) => file.write_all(format!("{begin}{lines}").as_bytes()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && lines.is_empty() => {
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => OpenOptions::new()
                .append(true)
                .custom_flags(PLAIN_ONLY)
                .open(path)?
                .write_all(lines.as_bytes()),
            Err(error) => Err(error),
        }
    };
    write().map_err(|error| match path.is_symlink() {
        true => FileError::NotAFile { path: path.to_owned() },
        false => io_error("write", path)(error),
    })
}

/// Makes the folder of a file. No link below the root leads elsewhere.
pub(super) fn make_folder_of(path: &Path, root: &Path) -> Result<(), FileError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut below = folder.ancestors().take_while(|above| *above != root);
    if let Some(link) = below.find(|above| above.is_symlink()) {
        return Err(FileError::NotAFile { path: link.to_owned() });
    }
    fs::create_dir_all(folder).map_err(io_error("make", folder))
}

/// A file that was replaced or set aside. Another program may have the file open.
#[derive(Debug)]
pub(super) struct Orphan {
    pub(super) file: MailboxFile,
    pub(super) since: Instant,
    handle: File,
    known: Vec<(String, i64)>,
    last: Content,
}

impl Orphan {
    pub(super) fn new(file: MailboxFile, handle: File, was: &Content) -> Orphan {
        let items = was
            .found_text()
            .and_then(|text| Document::parse(text, file.list_key()).ok())
            .map(|d| d.items)
            .unwrap_or_default();
        Orphan {
            file,
            since: Instant::now(),
            handle,
            known: number_messages(&items),
            last: was.clone(),
        }
    }

    /// Returns the messages that were added after the replacement, each once.
    pub(super) fn late_messages(&mut self) -> Vec<Value> {
        if !matches!(self.file, MailboxFile::ToDeveloper | MailboxFile::ToTeamLead) {
            return Vec::new();
        }
        let Ok(now) = read_from(&mut self.handle, Path::new("the old file")) else {
            return Vec::new();
        };
        if now == self.last {
            return Vec::new();
        }
        let Some(document) = now
            .found_text()
            .filter(|t| !t.trim().is_empty())
            .and_then(|t| Document::parse(t, self.file.list_key()).ok())
        else {
            return Vec::new();
        };
        let numbers = number_messages(&document.items);
        let late: Vec<Value> = document
            .items
            .iter()
            .zip(&numbers)
            .filter(|(_, n)| !self.known.contains(n))
            .map(|(item, _)| item.clone())
            .collect();
        self.known = numbers;
        self.last = now;
        late
    }
}
