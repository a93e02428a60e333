//! The facts that a plan needs from the disk.

use std::fs;
use std::path::{Path, PathBuf};

/// A file or folder, as it is without following a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Folder,
    File,
    Link(PathBuf),
    /// A socket, a pipe, a device.
    Special,
}

/// The disk, or what a test puts in its place.
pub(super) trait Files {
    /// `None`: it is not there.
    fn file_kind(&self, path: &Path) -> Option<Kind>;
    /// The names in a folder.
    fn children(&self, folder: &Path) -> Vec<PathBuf>;
    /// The path with all links resolved.
    fn real(&self, path: &Path) -> Option<PathBuf>;
    /// The text of a small file.
    fn read_small_file(&self, path: &Path) -> Option<String>;

    fn is_there(&self, path: &Path) -> bool {
        self.file_kind(path).is_some()
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.file_kind(path) == Some(Kind::Folder)
    }
}

pub(super) struct Disk;

impl Files for Disk {
    fn file_kind(&self, path: &Path) -> Option<Kind> {
        let found = fs::symlink_metadata(path).ok()?.file_type();
        Some(if found.is_dir() {
            Kind::Folder
        } else if found.is_file() {
            Kind::File
        } else if found.is_symlink() {
            Kind::Link(fs::read_link(path).ok()?)
        } else {
            Kind::Special
        })
    }

    fn children(&self, folder: &Path) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        path.canonicalize().ok()
    }

    fn read_small_file(&self, path: &Path) -> Option<String> {
        fs::read_to_string(path).ok()
    }
}
