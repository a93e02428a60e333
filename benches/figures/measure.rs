//! Timing and counting of whole processes.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The cost of one command.
pub(crate) struct Cost {
    pub(crate) min: Duration,
    pub(crate) median: Duration,
    /// Peak resident memory in KiB.
    pub(crate) memory: u64,
    /// User-space instructions; `None` without valgrind.
    pub(crate) instructions: Option<u64>,
}

/// Runs the command `times` times, made anew for each run.
pub(crate) fn cost(times: usize, command: impl FnMut() -> Command) -> Cost {
    cost_fed(times, Path::new("/dev/null"), command)
}

/// The same, with this file as stdin.
pub(crate) fn cost_fed(times: usize, input: &Path, mut command: impl FnMut() -> Command) -> Cost {
    let mut walls = Vec::new();
    for _ in 0..times {
        let mut command = command();
        let begin = Instant::now();
        let status =
            command.stdin(File::open(input).unwrap()).stdout(Stdio::null()).status().unwrap();
        walls.push(begin.elapsed());
        assert!(status.success(), "{command:?}");
    }
    walls.sort();
    Cost {
        min: walls[0],
        median: walls[walls.len() / 2],
        memory: memory(command(), input),
        instructions: instructions(&command(), input),
    }
}

/// Peak resident memory of one run, by GNU time where it is installed.
fn memory(command: Command, input: &Path) -> u64 {
    let mut timed = wrapped(&command, "/usr/bin/time", &["-f", "%M"]);
    let Ok(output) = timed
        .stdin(File::open(input).unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
    else {
        return 0;
    };
    String::from_utf8_lossy(&output.stderr)
        .lines()
        .last()
        .and_then(|l| l.trim().parse().ok())
        .unwrap_or(0)
}

fn instructions(command: &Command, input: &Path) -> Option<u64> {
    let folder = tempfile::tempdir().unwrap();
    let out = format!("--callgrind-out-file={}", folder.path().join("out").display());
    let output = wrapped(command, "valgrind", &["--tool=callgrind", &out])
        .stdin(File::open(input).unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines()
        .find_map(|line| line.split_once("Collected : "))
        .and_then(|(_, n)| n.trim().parse().ok())
}

/// The same command, run by another program.
fn wrapped(command: &Command, by: &str, arguments: &[&str]) -> Command {
    let mut outer = Command::new(by);
    outer.args(arguments).arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        outer.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer
}

pub(crate) fn ms(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1000.0)
}

pub(crate) fn row(name: &str, cost: &Cost) {
    let instructions =
        cost.instructions.map_or_else(|| "–".to_owned(), |n| format!("{:.2} M", n as f64 / 1e6));
    println!(
        "| {name} | {} | {} | {instructions} | {:.1} MB |",
        ms(cost.min),
        ms(cost.median),
        cost.memory as f64 / 1024.0
    );
}

pub(crate) fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let model = read("/proc/cpuinfo")
        .lines()
        .find_map(|l| l.strip_prefix("model name"))
        .map(|l| l.trim_start_matches([' ', '\t', ':']).to_owned());
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let load = read("/proc/loadavg").split(' ').next().unwrap_or("?").to_owned();
    format!(
        "{}, {cores} cores, load {load} at the start",
        model.unwrap_or_else(|| "unknown".to_owned())
    )
}

/// The value in KiB of a line of `/proc/PID/…`, such as `VmRSS:` or `Pss:`.
pub(crate) fn proc_kib(path: &Path, key: &str) -> u64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix(key))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}
