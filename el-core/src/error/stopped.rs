//! Finds a stopped process that keeps a lock of the database: SIGSTOP takes no lock away.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Returns a stopped process of the same user that has the database open, as this process has it
/// now. Linux tells it; elsewhere none is found.
pub(crate) fn find_stopped_holder() -> Option<u32> {
    let own = fs::metadata("/proc/self").ok()?.uid();
    let locks = open_files(Path::new("/proc/self"), |name| name.ends_with("-shm"));
    let mut processes = fs::read_dir("/proc").ok()?.flatten();
    processes.find_map(|process| {
        let pid = process.file_name().to_str()?.parse().ok()?;
        let is_own = process.metadata().ok()?.uid() == own;
        let path = process.path();
        let holds = || open_files(&path, |_| true).iter().any(|file| locks.contains(file));
        (is_own && is_stopped(&path) && holds()).then_some(pid)
    })
}

/// The state follows the name of the program, which is in parentheses and may have others in it.
fn is_stopped(process: &Path) -> bool {
    let stat = fs::read(process.join("stat")).unwrap_or_default();
    let stat = String::from_utf8_lossy(&stat);
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
}

/// Device and inode of the open files with such names.
fn open_files(process: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<(u64, u64)> {
    let Ok(files) = fs::read_dir(process.join("fd")) else { return Vec::new() };
    let id_of = |path: &Path| {
        let target = fs::read_link(path).ok()?;
        let file = is_wanted(target.to_str()?).then(|| fs::metadata(path).ok())??;
        Some((file.dev(), file.ino()))
    };
    files.flatten().filter_map(|file| id_of(&file.path())).collect()
}
