//! Opens plain files below a folder: no link that leads out, no blocking pipe, no device.
//!
//! The path is walked name by name with open folders, so that a concurrent rename cannot lead out
//! either. `openat2` with `RESOLVE_BENEATH` would do the same, but only on newer kernels and
//! outside of some sandboxes.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use el_core::model::NotSent;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;

/// The maximum number of followed links.
const LINKS_MAX: usize = 16;

/// Why a file was not opened.
#[derive(Debug, thiserror::Error)]
#[error("it {}", why.reason_text())]
pub struct OpenError {
    /// The kind.
    pub why: NotSent,
    /// The system's error, if there is one.
    #[source]
    pub source: Option<io::Error>,
}

impl From<NotSent> for OpenError {
    fn from(why: NotSent) -> OpenError {
        OpenError { why, source: None }
    }
}

/// A file that was opened.
#[derive(Debug)]
pub struct Opened {
    pub file: File,
    /// The path relative to the root, with all links resolved.
    pub path: String,
}

/// Opens the plain file at `path`, relative to `root`, for reading.
///
/// # Errors
/// If the file is missing, is not a plain file, or is not below `root`.
pub fn open(root: &Path, path: &str) -> Result<Opened, OpenError> {
    let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // The open folders from the root to the present folder.
    let mut way = vec![rustix::fs::open(root, folder, Mode::empty()).map_err(open_error)?];
    let mut names: VecDeque<OsString> = path.split('/').map(OsString::from).collect();
    let mut links = 0;
    // The names of the open folders below the root.
    let mut resolved: Vec<String> = Vec::new();
    while let Some(name) = names.pop_front() {
        let here = way.last().expect("the root is never taken off");
        match name.as_bytes() {
            b"" | b"." => continue,
            b".." if way.len() == 1 => return Err(NotSent::Outside.into()),
            b".." => {
                way.pop();
                resolved.pop();
                continue;
            }
            _ => {}
        }
        let is_last = names.iter().all(|name| matches!(name.as_bytes(), b"" | b"."));
        let found = statat(here, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(open_error)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory if is_last => return Err(NotSent::Folder.into()),
            FileType::Directory => {
                let next = openat(here, &name, folder | OFlags::NOFOLLOW, Mode::empty())
                    .map_err(open_error)?;
                way.push(next);
                resolved.push(name.to_string_lossy().into_owned());
            }
            FileType::Symlink => {
                links += 1;
                let target = readlinkat(here, &name, Vec::new()).map_err(open_error)?;
                let (from_root, rest) = target_of(root, target.as_bytes())
                    .filter(|_| links <= LINKS_MAX)
                    .ok_or(NotSent::Link)?;
                if from_root {
                    way.truncate(1);
                    resolved.clear();
                }
                // The link, not the path, leads above the root.
                if leads_out(&rest, if from_root { 0 } else { way.len() - 1 }) {
                    return Err(NotSent::Link.into());
                }
                for name in rest.into_iter().rev() {
                    names.push_front(name);
                }
            }
            FileType::RegularFile if is_last => {
                let file = plain_file(here, &name)?;
                resolved.push(name.to_string_lossy().into_owned());
                return Ok(Opened { file, path: resolved.join("/") });
            }
            FileType::RegularFile => return Err(NotSent::Missing.into()),
            _ => return Err(NotSent::NotAFile.into()),
        }
    }
    Err(NotSent::Folder.into())
}

/// Opens a file without blocking, if the file is still a plain file.
fn plain_file(folder: &OwnedFd, name: &OsStr) -> Result<File, OpenError> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(folder, name, flags, Mode::empty()).map_err(open_error)?);
    let is_plain = file
        .metadata()
        .map_err(|error| OpenError { why: NotSent::Unreadable, source: Some(error) })?
        .is_file();
    if is_plain { Ok(file) } else { Err(NotSent::NotAFile.into()) }
}

/// Returns the names of a link's target, and true if the names begin at the root. `None` if an
/// absolute target leads out.
fn target_of(root: &Path, target: &[u8]) -> Option<(bool, Vec<OsString>)> {
    let names = |bytes: &[u8]| {
        bytes.split(|b| *b == b'/').map(|name| OsStr::from_bytes(name).to_owned()).collect()
    };
    if !target.starts_with(b"/") {
        return Some((false, names(target)));
    }
    let real = root.canonicalize().ok();
    let below = [Some(root), real.as_deref()].into_iter().flatten().find_map(|root| {
        let rest = target.strip_prefix(root.as_os_str().as_bytes())?;
        rest.starts_with(b"/").then(|| names(rest))
    });
    below.map(|names| (true, names))
}

/// Returns true if the names go above the root, from a folder `depth` levels below.
fn leads_out(names: &[OsString], depth: usize) -> bool {
    let mut depth = depth;
    for name in names {
        match name.as_bytes() {
            b"" | b"." => {}
            b".." if depth == 0 => return true,
            b".." => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}

fn open_error(error: Errno) -> OpenError {
    match error {
        Errno::NOENT | Errno::NOTDIR => NotSent::Missing.into(),
        // The file became a link between two looks.
        Errno::LOOP => NotSent::Link.into(),
        Errno::NXIO => NotSent::NotAFile.into(),
        other => OpenError { why: NotSent::Unreadable, source: Some(other.into()) },
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;

    fn workspace() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("secret"), "outside").unwrap();
        let work = dir.path().join("work");
        fs::create_dir_all(work.join("src/deep")).unwrap();
        fs::write(work.join("src/deep/a.rs"), "inside").unwrap();
        dir
    }

    fn why(dir: &tempfile::TempDir, path: &str) -> Result<String, NotSent> {
        let mut text = String::new();
        open(&dir.path().join("work"), path)
            .map_err(|error| error.why)?
            .file
            .read_to_string(&mut text)
            .unwrap();
        Ok(text)
    }

    #[test]
    fn plain_files_below_the_folder_are_opened() {
        let dir = workspace();
        assert_eq!(why(&dir, "src/deep/a.rs").unwrap(), "inside");
        assert_eq!(why(&dir, "./src//deep/../deep/a.rs").unwrap(), "inside");
        assert_eq!(why(&dir, "src/deep/b.rs"), Err(NotSent::Missing));
        assert_eq!(why(&dir, "src/deep/a.rs/b"), Err(NotSent::Missing));
        assert_eq!(why(&dir, "src"), Err(NotSent::Folder));
        assert_eq!(why(&dir, "src/"), Err(NotSent::Folder));
        assert_eq!(why(&dir, "."), Err(NotSent::Folder));
        assert_eq!(why(&dir, "../secret"), Err(NotSent::Outside));
        assert_eq!(why(&dir, "src/../../secret"), Err(NotSent::Outside));
    }

    #[test]
    fn links_are_followed_as_long_as_they_stay_inside() {
        let dir = workspace();
        let work = dir.path().join("work");
        let link = |target: &str, name: &str| symlink(target, work.join(name)).unwrap();
        link("src/deep/a.rs", "in");
        link("../src/deep", "src/round");
        link(work.join("src").to_str().unwrap(), "absolute-in");
        link("../secret", "out");
        link("src/../../secret", "out-by-and-by");
        link("..", "up");
        link("/etc/passwd", "absolute-out");
        link("circle", "circle");
        link("nowhere", "broken");
        assert_eq!(why(&dir, "in").unwrap(), "inside");
        assert_eq!(why(&dir, "src/round/a.rs").unwrap(), "inside");
        assert_eq!(why(&dir, "absolute-in/deep/a.rs").unwrap(), "inside");
        for path in ["in", "src/round/a.rs", "absolute-in/deep/a.rs", "src/../in"] {
            assert_eq!(open(&work, path).unwrap().path, "src/deep/a.rs", "{path}");
        }
        for name in ["out", "out-by-and-by", "up/secret", "absolute-out", "circle"] {
            assert_eq!(why(&dir, name), Err(NotSent::Link), "{name}");
        }
        assert_eq!(why(&dir, "broken"), Err(NotSent::Missing));
    }

    #[test]
    fn what_is_no_plain_file_is_refused_at_once() {
        let dir = workspace();
        let work = dir.path().join("work");
        assert!(
            std::process::Command::new("mkfifo").arg(work.join("pipe")).status().unwrap().success()
        );
        let _socket = std::os::unix::net::UnixListener::bind(work.join("socket")).unwrap();
        assert_eq!(why(&dir, "pipe"), Err(NotSent::NotAFile));
        assert_eq!(why(&dir, "socket"), Err(NotSent::NotAFile));
        let error = open(Path::new("/dev"), "null").unwrap_err();
        assert_eq!(error.why, NotSent::NotAFile);
    }

    proptest! {
        #[test]
        fn no_path_and_no_link_leads_out(
            path in "[a.b/]{0,24}",
            target in "[a.b/]{0,24}",
            absolute: bool,
        ) {
            let dir = workspace();
            let work = dir.path().join("work");
            fs::create_dir_all(work.join("a/b")).unwrap();
            let above = if absolute { format!("{}/", dir.path().display()) } else { String::new() };
            let target = above + &target;
            if !target.is_empty() {
                symlink(&target, work.join("a/a")).unwrap();
            }
            fs::write(dir.path().join("b"), "outside").unwrap();
            fs::write(work.join("b"), "inside").unwrap();
            if let Ok(text) = why(&dir, &path) {
                prop_assert_eq!(text, "inside");
            }
        }
    }
}
