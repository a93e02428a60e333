//! What the exit of bubblewrap says of the program within.

use std::path::Path;

use el_core::model::{EndKind, ExitRecord};

/// Bubblewrap's exit code for a program that a signal ended is this and the signal.
const SIGNALLED: i32 = 128;
const SIGNALS: std::ops::RangeInclusive<i32> = 1..=64;
/// The beginning of what bubblewrap itself has to say, and of what the second layer has.
pub(super) const OWN_WORDS: [&str; 2] = ["bwrap: ", "el sandbox: "];
/// The beginning of what bubblewrap says if it cannot wait for the program any more.
const WHILE_IT_RUNS: &str = "init wait()";

/// Puts right a record that was read from bubblewrap's own exit: the signal that ended the agent,
/// or a sandbox that could not be made, which is no fault of the agent's. `stderr`: the file of
/// what was written to standard error.
pub(crate) fn read_exit(record: &mut ExitRecord, stderr: &Path) {
    let signal = record.exit_code.map(|code| code - SIGNALLED);
    if let Some(signal) = signal.filter(|signal| SIGNALS.contains(signal)) {
        record.exit_code = None;
        record.signal = Some(signal);
    }
    if record.end == EndKind::Exited
        && record.exit_code == Some(1)
        && let Some(line) = std::fs::read_to_string(stderr).ok().as_deref().and_then(own_words)
    {
        record.end = EndKind::SpawnFailed;
        record.message = Some(format!("the sandbox: {line}"));
    }
}

/// Either ends with its only line. The agent can break what runs it off, once it runs.
fn own_words(stderr: &str) -> Option<&str> {
    let line = stderr.lines().last()?;
    let words = OWN_WORDS.iter().find_map(|start| line.strip_prefix(start))?;
    Some(words).filter(|words| !words.starts_with(WHILE_IT_RUNS))
}
