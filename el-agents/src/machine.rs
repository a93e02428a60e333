//! The load and the free memory of the machine. An unreadable figure is `None` and holds no start
//! back.

use std::fs;
use std::path::{Path, PathBuf};

use el_core::rules::admit::Machine;

/// Reads the figures; some microseconds.
pub(crate) fn read_figures() -> Machine {
    read_below(Path::new("/"))
}

/// The load of each core over a minute, in thousandths.
pub(crate) fn load_milli() -> Option<i64> {
    read_figures().load.map(|load| (load * 1000.0).round() as i64)
}

/// Elsewhere than on Linux there is no `/proc`, and so no figures.
fn read_below(root: &Path) -> Machine {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let text = |path: &str| fs::read_to_string(root.join(path)).ok();
    let load: Option<f64> =
        text("proc/loadavg").and_then(|line| line.split_whitespace().next()?.parse().ok());
    let host = text("proc/meminfo")
        .and_then(|text| number_after(&text, "MemAvailable:"))
        .map(|kib| kib.saturating_mul(1024));
    let group = text("proc/self/cgroup").and_then(|text| free_in_group(root, &text));
    Machine {
        load: load.map(|load| load / f64::from(u32::try_from(cores).unwrap_or(u32::MAX))),
        cores,
        memory: host.into_iter().chain(group).min(),
    }
}

/// Returns the free memory in this process's control group (version 2) and the groups above: the
/// least difference between limit and use, without droppable file cache. `None` without a limit.
fn free_in_group(root: &Path, cgroup: &str) -> Option<u64> {
    let own = cgroup.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let base = root.join("sys/fs/cgroup");
    let mut folder: PathBuf = base.join(own);
    let mut least = None;
    while folder.starts_with(&base) {
        let number =
            |file: &str| fs::read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok();
        if let (Some(max), Some(current)) = (number("memory.max"), number("memory.current")) {
            let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
            let used = current.saturating_sub(number_after(&stat, "inactive_file").unwrap_or(0));
            let free = max.saturating_sub(used);
            least = Some(least.map_or(free, |least: u64| least.min(free)));
        }
        if !folder.pop() {
            break;
        }
    }
    least
}

/// The number behind a word at the head of a line.
fn number_after(text: &str, word: &str) -> Option<u64> {
    let mut words =
        text.lines().find(|line| line.split_whitespace().next() == Some(word))?.split_whitespace();
    words.nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_limit_of_the_groups_counts_and_what_is_missing_is_unknown() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!((read_below(dir.path()).load, read_below(dir.path()).memory), (None, None));
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("proc/loadavg", "3.50 2.00 1.00 1/100 7\n");
        write("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n");
        write("proc/self/cgroup", "0::/a/b\n");
        write("sys/fs/cgroup/a/b/memory.max", "max\n");
        write("sys/fs/cgroup/a/memory.max", "4096000\n");
        write("sys/fs/cgroup/a/memory.current", "2048000\n");
        write("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 1000\n");
        let read = read_below(dir.path());
        assert_eq!(read.memory, Some(2_049_000));
        assert!(read.load.unwrap() > 0.0);
        write("sys/fs/cgroup/a/memory.max", "nonsense");
        assert_eq!(read_below(dir.path()).memory, Some(8000 * 1024));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_figures() {
        let read = read_figures();
        assert!(read.load.is_some() && read.memory.is_some_and(|free| free > 0));
    }
}
