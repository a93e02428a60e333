//! The file system that a sandbox shows, and the arguments of bubblewrap that make it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The most bytes that a private folder holds. They are in memory.
pub(super) const PRIVATE_MAX: u64 = 1 << 30;

/// The access of a program in the sandbox to a path and all below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    /// A folder of the sandbox's own, empty at first and gone at its end.
    Private,
    /// A private folder that every user may write, as `/tmp`.
    Scratch,
    /// A folder that shows only what is mounted below it.
    Hidden,
    /// A file that reads as empty.
    Empty,
    /// A link, in a private folder, as it is outside.
    Link(PathBuf),
    /// Shows another file or folder in this place, which may be written.
    Other(PathBuf),
}

/// Paths with an access. For each file, the longest path above the file decides. All other files
/// may be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Mounts(BTreeMap<PathBuf, Access>);

impl Mounts {
    /// Sets the access to a path, in place of an earlier access to the same path.
    pub(super) fn set(&mut self, path: impl Into<PathBuf>, access: Access) {
        self.0.insert(path.into(), access);
    }

    /// Removes the access that was set for this very path.
    pub(super) fn forget(&mut self, path: &Path) {
        self.0.remove(path);
    }

    /// All paths, each before those below it.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Path, &Access)> {
        self.0.iter().map(|(path, access)| (path.as_path(), access))
    }

    /// The access to a file.
    pub(super) fn access(&self, path: &Path) -> &Access {
        path.ancestors().find_map(|above| self.0.get(above)).unwrap_or(&Access::Read)
    }

    /// Shows a path again that a private or hidden folder above it covers.
    pub(super) fn show_again(&mut self, path: &Path) {
        if self.is_covered(path) {
            self.set(path, Access::Read);
        }
    }

    /// Returns true if a private or hidden folder above the path covers it.
    pub(super) fn is_covered(&self, path: &Path) -> bool {
        let covers = [Access::Private, Access::Scratch, Access::Hidden];
        !self.0.contains_key(path) && covers.contains(self.access(path))
    }

    /// Returns true if the path may be written because a folder above it may.
    pub(super) fn is_in_opened(&self, path: &Path) -> bool {
        !self.0.contains_key(path) && *self.access(path) == Access::Write
    }

    /// The paths that may be written, for good or for the run alone.
    pub(super) fn writable(&self) -> Vec<PathBuf> {
        let own = ["/dev", "/proc"].map(PathBuf::from);
        let is_open = |access: &Access| {
            matches!(access, Access::Write | Access::Other(_) | Access::Private | Access::Scratch)
        };
        let open = self.0.iter().filter(|(_, access)| is_open(access));
        own.into_iter().chain(open.map(|(path, _)| path.clone())).collect()
    }

    /// Bubblewrap's arguments. A path comes before the paths below, which are mounted on top.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut words = Words::default();
        words.add(["--ro-bind", "/", "/", "--dev", "/dev"]);
        words.mount_private_folder("/dev/shm".as_ref(), "1777");
        words.add(["--remount-ro", "/dev", "--proc", "/proc"]);
        // The kernel's settings are files of root, and its rights stay with uid 0.
        words.add(["--ro-bind", "/proc/sys", "/proc/sys"]);
        for (path, access) in &self.0 {
            match access {
                Access::Read => words.mount("--ro-bind", path, path),
                Access::Write => words.mount("--bind", path, path),
                Access::Private => words.mount_private_folder(path, "0700"),
                Access::Scratch => words.mount_private_folder(path, "1777"),
                Access::Hidden => words.mount_private_folder(path, "0755"),
                Access::Empty => words.mount("--ro-bind", "/dev/null".as_ref(), path),
                Access::Link(target) => words.mount("--symlink", target, path),
                Access::Other(source) => words.mount("--bind", source, path),
            }
        }
        // A hidden folder becomes read-only once everything below it is mounted.
        for (path, _) in self.0.iter().filter(|(_, access)| **access == Access::Hidden) {
            words.add(["--remount-ro"]);
            words.0.push(path.into());
        }
        words.0
    }
}

#[derive(Default)]
struct Words(Vec<OsString>);

impl Words {
    fn add<const N: usize>(&mut self, words: [&str; N]) {
        self.0.extend(words.map(OsString::from));
    }

    fn mount(&mut self, how: &str, source: &Path, path: &Path) {
        self.0.extend([how.into(), source.into(), path.into()]);
    }

    fn mount_private_folder(&mut self, path: &Path, mode: &str) {
        self.add(["--perms", mode, "--size", &PRIVATE_MAX.to_string(), "--tmpfs"]);
        self.0.push(path.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_path_decides() {
        let mut mounts = Mounts::default();
        mounts.set("/home/ann", Access::Private);
        mounts.set("/home/ann/shop", Access::Write);
        mounts.set("/home/ann/shop/.eluent", Access::Hidden);
        mounts.show_again("/home/ann/bin".as_ref());
        mounts.show_again("/home/ann/shop/bin".as_ref());
        for (path, access) in [
            ("/etc/passwd", Access::Read),
            ("/home/ann/x", Access::Private),
            ("/home/ann/bin/x", Access::Read),
            ("/home/ann/shop/src", Access::Write),
            ("/home/ann/shop/.eluent/el.db", Access::Hidden),
        ] {
            assert_eq!(mounts.access(path.as_ref()), &access, "{path}");
        }
        let open = ["/dev", "/proc", "/home/ann", "/home/ann/shop"].map(PathBuf::from);
        assert_eq!(mounts.writable(), open);
    }

    #[test]
    fn what_lies_below_is_mounted_later_and_hidden_folders_are_closed_at_last() {
        let mut mounts = Mounts::default();
        mounts.set("/w/a/b", Access::Write);
        mounts.set("/w/a", Access::Hidden);
        mounts.set("/w", Access::Read);
        let words: Vec<String> =
            mounts.arguments().into_iter().map(|word| word.into_string().unwrap()).collect();
        let size = PRIVATE_MAX.to_string();
        let expected = [
            "--ro-bind",
            "/w",
            "/w",
            "--perms",
            "0755",
            "--size",
            &size,
            "--tmpfs",
            "/w/a",
            "--bind",
            "/w/a/b",
            "/w/a/b",
            "--remount-ro",
            "/w/a",
        ];
        assert_eq!(words[words.len() - expected.len()..], expected);
    }
}
