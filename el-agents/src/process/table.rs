//! Snapshots of the process table, and the trees in them.

use std::collections::{HashMap, HashSet};
use std::io;

use super::platform;

/// A line of the process table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    /// The pid of the parent or adopter.
    pub parent: u32,
    /// The session (`setsid`); 0 where the platform does not tell.
    pub session: u32,
    /// As in [`super::ProcessId::start`].
    pub start: u64,
    /// Exited, and waiting to be reaped.
    pub zombie: bool,
    /// A signal has stopped it, until SIGCONT.
    pub is_stopped: bool,
    /// CPU time in clock ticks, including reaped children.
    pub cpu_ticks: u64,
}

/// An environment variable that marks the processes of a run, such as `EL_SESSION=…`. The marker
/// also finds processes that left the tree (`setsid`, `nohup`, double fork), unless they cleared
/// their environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    pub(super) key: String,
    pub(super) value: String,
}

impl Marker {
    /// Makes the marker `KEY=value`. An empty value finds no process.
    #[must_use]
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self { key: key.into(), value: value.into() }
    }

    /// Returns true if a block of NUL-ended `KEY=value` strings holds exactly this pair.
    #[cfg(any(target_os = "linux", test))]
    pub(super) fn is_in(&self, environ: &[u8]) -> bool {
        if self.key.is_empty() || self.value.is_empty() {
            return false;
        }
        environ.split(|byte| *byte == 0).any(|pair| {
            pair.strip_prefix(self.key.as_bytes())
                .and_then(|rest| rest.strip_prefix(b"="))
                .is_some_and(|value| value == self.value.as_bytes())
        })
    }
}

/// Makes this process adopt all orphans among its descendants, so that none can leave the tree.
/// Children do not inherit the role.
///
/// # Errors
/// If the kernel refuses; always an `Unsupported` error outside Linux.
pub fn become_subreaper() -> io::Result<()> {
    platform::become_subreaper()
}

/// Lists all living and unreaped descendants of a process, parents before children, without the
/// process itself.
///
/// # Errors
/// If the process table cannot be read.
pub fn descendants(root: u32) -> io::Result<Vec<Process>> {
    Ok(descendants_in(&platform::process_table()?, root))
}

/// Finds all living processes whose environment at `exec` holds the marker, except this process.
/// Processes with an unreadable environment (another user's, or protected ones) are not found.
///
/// # Errors
/// If the process table cannot be read.
pub fn find_marked(marker: &Marker) -> io::Result<Vec<Process>> {
    platform::find_marked(marker)
}

pub(super) fn descendants_in(table: &[Process], root: u32) -> Vec<Process> {
    let mut children: HashMap<u32, Vec<&Process>> = HashMap::new();
    for process in table {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    // The snapshot is not taken at an instant, so pid reuse could even produce a circle.
    let mut seen = HashSet::from([root]);
    let mut next = vec![root];
    while let Some(pid) = next.pop() {
        for child in children.get(&pid).into_iter().flatten() {
            if seen.insert(child.pid) {
                found.push(**child);
                next.push(child.pid);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    fn process(pid: u32, parent: u32) -> Process {
        let (zombie, is_stopped) = (false, false);
        Process { pid, parent, session: 1, start: 1, zombie, is_stopped, cpu_ticks: 0 }
    }

    #[test]
    fn descendants_are_found_at_any_depth_and_order_and_a_circle_ends() {
        let table = [
            process(9, 7),
            process(7, 5),
            process(5, 1),
            process(6, 5),
            process(8, 1),
            process(1, 9),
        ];
        let mut pids: Vec<u32> =
            descendants_in(&table, 5).iter().map(|process| process.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [1, 6, 7, 8, 9]);
        assert!(descendants_in(&table, 4).is_empty());
        assert!(descendants_in(&[process(3, 3)], 3).is_empty());
    }

    #[test]
    fn a_marker_matches_the_whole_pair_only() {
        let marker = Marker::new("EL_SESSION", "run-ab");
        assert!(marker.is_in(b"A=1\0EL_SESSION=run-ab\0B=2\0"));
        assert!(marker.is_in(b"EL_SESSION=run-ab"));
        for other in [
            &b"EL_SESSION=run-abc\0"[..],
            b"XEL_SESSION=run-ab\0",
            b"EL_SESSION=run-a\0",
            b"X=EL_SESSION=run-ab\0",
            b"EL_SESSION\0",
        ] {
            assert!(!marker.is_in(other));
        }
        assert!(
            !Marker::new("EL_SESSION", "").is_in(b"EL_SESSION=\0"),
            "an unset variable of ours must find nobody"
        );
    }

    #[test]
    fn a_tree_shows_its_grandchildren_and_their_cpu_time() {
        let mut child = Command::new("sh")
            .args(["-c", "sh -c 'ulimit -t 60; while :; do :; done' & echo started; wait"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let root = child.id();
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut first = None;
        let tree = loop {
            let now = descendants(root).unwrap();
            if let [one] = now[..]
                && one.cpu_ticks > *first.get_or_insert(one.cpu_ticks)
            {
                break now;
            }
            assert!(Instant::now() < deadline, "no CPU time seen: {now:?}");
            std::thread::sleep(Duration::from_millis(10));
        };
        let busy_child = super::super::identity::to_pid(tree[0].pid).unwrap();
        rustix::process::kill_process(busy_child, rustix::process::Signal::KILL).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(descendants(root).unwrap(), []);
    }

    #[test]
    fn marked_processes_are_found_outside_the_tree_and_never_ourselves() {
        let value = format!("marker-{}", std::process::id());
        let marker = Marker::new("EL_TEST_MARK", &value);
        assert_eq!(find_marked(&marker).unwrap(), []);
        let mut child = Command::new("setsid")
            .args(["sleep", "600"])
            .env("EL_TEST_MARK", &value)
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while find_marked(&marker).unwrap().iter().all(|process| process.pid != child.id()) {
            assert!(Instant::now() < deadline, "the marked process was not found");
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(find_marked(&marker).unwrap(), []);
    }
}
