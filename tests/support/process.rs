//! Processes: those that a test starts, and those with its mark.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::assert::{Assert, OutputAssertExt};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{SOON, wait_until};

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit status; 128 + n after signal n.
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    exit: ExitStatus,
}

impl Ran {
    /// Returns the output, and asserts success.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.assert().success();
        self
    }

    /// Returns the output, and asserts this status.
    #[track_caller]
    pub(crate) fn fails_with(self, status: i32) -> Self {
        if status > 128 {
            self.assert().interrupted();
            assert_eq!(self.status, status, "{self:#?}");
        } else {
            self.assert().code(status);
        }
        self
    }

    #[track_caller]
    fn assert(&self) -> Assert {
        let [stdout, stderr] = [&self.stdout, &self.stderr].map(|text| text.clone().into_bytes());
        Output { status: self.exit, stdout, stderr }.assert()
    }

    /// Returns stdout, which must be a single JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("stdout is not one JSON document ({e}): {self:#?}"))
    }
}

/// A running command, killed when dropped.
///
/// The output goes to files, not to pipes: a leftover process may keep the files open without
/// blocking the test.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    output: [PathBuf; 2],
    ended: bool,
}

impl Running {
    #[track_caller]
    pub(crate) fn start(command: &mut Command, output: [PathBuf; 2]) -> Self {
        command
            .stdin(Stdio::null())
            .stdout(fs::File::create(&output[0]).unwrap())
            .stderr(fs::File::create(&output[1]).unwrap());
        let child = command.spawn().unwrap_or_else(|e| panic!("cannot start {command:?}: {e}"));
        Self { child, output, ended: false }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        send(self.child.id(), signal);
    }

    /// Returns stdout so far.
    pub(crate) fn stdout(&self) -> String {
        read(&self.output[0])
    }

    /// Returns stderr so far.
    pub(crate) fn stderr(&self) -> String {
        read(&self.output[1])
    }

    /// Returns true if it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.ended = self.ended || self.child.try_wait().unwrap().is_some();
        self.ended
    }

    /// Waits for the end, for at most `timeout`.
    #[track_caller]
    pub(crate) fn wait(mut self, timeout: Duration) -> Ran {
        let what = format!(
            "the end of process {}; so far: {}{}",
            self.pid(),
            self.stdout(),
            read(&self.output[1])
        );
        let status = wait_until(&what, timeout, || self.child.try_wait().unwrap());
        self.ended = true;
        Ran { status: code(status), stdout: self.stdout(), stderr: self.stderr(), exit: status }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            // Both may fail for a process that has just ended, which is fine.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|n| 128 + n)).unwrap()
}

fn read(path: &PathBuf) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

/// A process of this machine, from `/proc`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) words: Vec<String>,
}

impl Process {
    /// Lists the living processes that were started with `entry` (`NAME=value`) in their
    /// environment.
    pub(crate) fn carrying(entry: &str) -> Vec<Self> {
        Self::carrying_any(&[entry.to_owned()])
    }

    /// The same for any of several entries.
    pub(crate) fn carrying_any(entries: &[String]) -> Vec<Self> {
        let mut found: Vec<Self> =
            Self::pids().filter(|pid| carries(*pid, entries)).map(Self::of).collect();
        found.sort_by_key(|p| p.pid);
        found
    }

    /// Returns the living process that knows itself by this pid, in a sandbox or not, and works in
    /// this folder or below.
    pub(crate) fn known_as(pid: u32, folder: &Path) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        let is_it = |outer: &u32| {
            let status = fs::read_to_string(format!("/proc/{outer}/status")).unwrap_or_default();
            let names = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
            let inner = names.and_then(|names| names.split_whitespace().last()?.parse().ok());
            inner == Some(pid)
                // A zombie works nowhere.
                && fs::read_link(format!("/proc/{outer}/cwd"))
                    .is_ok_and(|works| works.starts_with(&folder))
        };
        Self::pids().find(is_it).map(Self::of)
    }

    /// Lists the living processes whose command line contains this text.
    pub(crate) fn with_command(part: &str) -> Vec<Self> {
        Self::pids().map(Self::of).filter(|found| found.words.join(" ").contains(part)).collect()
    }

    fn pids() -> impl Iterator<Item = u32> {
        let all = fs::read_dir("/proc").into_iter().flatten();
        all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
    }

    fn of(pid: u32) -> Self {
        Self { pid, words: list(&format!("/proc/{pid}/cmdline")) }
    }

    /// Returns true if a process runs. An unreaped process does not run (a container's first
    /// process may never reap): it has no arguments any more.
    pub(crate) fn runs(pid: u32) -> bool {
        !list(&format!("/proc/{pid}/cmdline")).is_empty()
    }

    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        send(self.pid, signal);
    }
}

/// A zombie's environment reads as empty, so it carries no mark.
fn carries(pid: u32, entries: &[String]) -> bool {
    list(&format!("/proc/{pid}/environ")).iter().any(|entry| entries.contains(entry))
}

/// Returns the NUL-separated words of a file in `/proc`; empty if the process is gone or not ours.
fn list(path: &str) -> Vec<String> {
    let bytes = fs::read(path).unwrap_or_default();
    bytes
        .split(|b| *b == 0)
        .filter(|w| !w.is_empty())
        .map(|w| String::from_utf8_lossy(w).into_owned())
        .collect()
}

pub(crate) fn send(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // The process may be gone already.
        let _ = kill_process(pid, signal);
    }
}

/// Kills all processes with the mark, and their new children. Returns the survivors.
pub(crate) fn kill_all(entries: &[String]) -> Vec<Process> {
    let end = Instant::now() + SOON;
    loop {
        let left = Process::carrying_any(entries);
        if left.is_empty() || Instant::now() > end {
            return left;
        }
        left.iter().for_each(Process::kill);
        std::thread::sleep(Duration::from_millis(5));
    }
}
