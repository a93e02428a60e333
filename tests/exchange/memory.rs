//! Memory stays bounded, whatever the size of a file.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use crate::support::{SOON, TestEnv};

/// The length of each description, in bytes.
const TEXT: usize = 8_000;

/// Writes an export of bd with so many issues.
fn write_issues(env: &TestEnv, issues: usize) {
    let mut text = String::new();
    for n in 0..issues {
        let words = format!("word{n} and more ").repeat(TEXT / 16);
        writeln!(
            text,
            "{{\"id\":\"x-{n}\",\"title\":\"Issue {n}\",\"status\":\"open\",\"description\":\
             \"{words}\",\"comments\":[{{\"id\":{n},\"author\":\"ann\",\"text\":\"{words}\",\
             \"created_at\":\"2026-01-01T00:00:00Z\"}}],\
             \"created_at\":\"2026-01-01T00:00:00Z\",\"updated_at\":\"2026-01-02T00:00:00Z\"}}"
        )
        .unwrap();
    }
    fs::write(env.project("x.jsonl"), text).unwrap();
}

/// Runs a command, and returns its peak of memory in MiB.
fn peak_of(env: &TestEnv, arguments: &[&str]) -> u64 {
    let running = env.start_el(arguments);
    let file = format!("/proc/{}/status", running.pid());
    let mut peak = 0;
    // The last line before the end has all but the last moment.
    while let Some(now) = fs::read_to_string(&file).ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    }) {
        peak = now;
        std::thread::sleep(Duration::from_millis(1));
    }
    running.wait(SOON).ok();
    peak / 1024
}

#[test]
fn the_peak_of_memory_grows_neither_with_a_file_nor_with_a_project() {
    let peaks = |issues: usize| {
        let env = TestEnv::with_tracker();
        write_issues(&env, issues);
        let peak = |arguments: &[&str]| peak_of(&env, arguments);
        let import = peak(&["import", "x.jsonl"]);
        let again = peak(&["import", "x.jsonl"]);
        let robot = peak(&["export", "--robot"]);
        let markdown = peak(&["export", "--format", "markdown", "-o", "x.md"]);
        let mermaid = peak(&["export", "--format", "mermaid", "-o", "x.mmd"]);
        let own = peak(&["export", "-o", "own.jsonl"]);
        for copy in ["ours", "theirs"] {
            fs::copy(env.project("own.jsonl"), env.project(copy)).unwrap();
        }
        let merge = peak(&["merge-driver", "own.jsonl", "ours", "theirs"]);
        [import, again, robot, markdown, mermaid, own, merge]
    };
    // 8 MB and 48 MB.
    let (small, large) = (peaks(500), peaks(3_000));
    // An import has a cache of 64 MiB for the pages that it changes; an export that waits for its
    // counts holds 4 MiB.
    let grows = |at: usize| large[at] > small[at] + 12;
    let is_bounded = large[0] < 115 && large[1] < 115 && !(2..7).any(grows);
    assert!(is_bounded, "MiB at two sizes: {small:?}, {large:?}");
}

#[test]
fn long_lists_of_events_and_runs_are_printed_in_bounded_memory() {
    let env = TestEnv::with_tracker();
    let id = env.create("Busy", &[]);
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 15000)";
    let events = format!(
        "INSERT INTO events (at, actor, kind, atom_id, data) {numbers} SELECT i, 'ada', 'updated', \
         '{id}', json_object('notes', printf('%0200d', i)) FROM n"
    );
    let runs = format!(
        "INSERT INTO runs (id, atom_id, attempt, agent, executor, token, workdir, started_at, \
         heartbeat_at, lease_until, ended_at, outcome, detail) {numbers} SELECT \
         printf('run-%08d', i), '{id}', i, 'claude', 'claude', printf('%08d', i), '/', i, i, i, i, \
         'failed', printf('%0200d', i) FROM n"
    );
    env.database().execute_batch(&format!("{events}; {runs};")).unwrap();
    for words in [&["history"][..], &["history", &id], &["runs"]] {
        for form in [&[][..], &["--robot"], &["--limit", "10000"]] {
            let arguments = [words, form].concat();
            let peak = peak_of(&env, &arguments);
            assert!(peak <= 30, "{arguments:?}: {peak} MiB");
        }
    }
}
