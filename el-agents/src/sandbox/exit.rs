//! The exit of bubblewrap, and what it says of the program within.

use std::path::Path;

use el_core::model::{EndKind, ExitRecord};

/// Bubblewrap's exit code for a program that a signal ended is this number plus the signal.
const SIGNALLED: i32 = 128;
const SIGNALS: std::ops::RangeInclusive<i32> = 1..=64;
/// The beginnings of the messages of bubblewrap itself, and of the second layer.
pub(super) const OWN_WORDS: [&str; 2] = ["bwrap: ", "el sandbox: "];
/// The beginning of bubblewrap's message if it cannot wait for the program any more.
const WHILE_IT_RUNS: &str = "init wait()";

/// Corrects a record that was read from bubblewrap's own exit: with the signal that ended the
/// agent, or with a sandbox that could not be made, which is no fault of the agent. `stderr`: the
/// file with the output to standard error.
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

/// The most attempts to lay out a sandbox for one start of a program.
pub(crate) const LAYOUTS: u32 = 3;

/// Returns true if a path vanished between the layout and the start, such as the socket of a
/// service that just ended. The program has not begun, and its sandbox has to be laid out again.
/// `said`: the whole output of the start.
pub(crate) fn has_lost_a_path(exit_code: Option<i32>, said: &str) -> bool {
    let mut lines = said.trim_end().lines();
    let words = lines.next().and_then(|line| line.strip_prefix(OWN_WORDS[0]));
    let is_all = lines.next().is_none();
    exit_code == Some(1) && is_all && words.is_some_and(|words| words.starts_with("Can't "))
}

/// Finds the last words of bubblewrap or the second layer: either ends with its only line.
fn own_words(stderr: &str) -> Option<&str> {
    let line = stderr.lines().last()?;
    let words = OWN_WORDS.iter().find_map(|start| line.strip_prefix(start))?;
    Some(words).filter(|words| !words.starts_with(WHILE_IT_RUNS))
}

#[cfg(test)]
mod tests {
    use super::has_lost_a_path;

    #[test]
    fn only_bubblewraps_own_last_words_tell_of_a_path_that_is_gone() {
        let words = "bwrap: Can't create file at /home/ann/.agent/a.sock: Read-only file system";
        for (code, said, expected) in [
            (Some(1), words.to_owned(), true),
            (Some(1), format!("{words}\n"), true),
            (Some(1), format!("begun\n{words}\n"), false),
            (Some(1), format!("{words}\nit goes on\n"), false),
            (Some(2), words.to_owned(), false),
            (None, words.to_owned(), false),
            (Some(1), "bwrap: execvp agent: No such file or directory".to_owned(), false),
            (Some(1), String::new(), false),
        ] {
            assert_eq!(has_lost_a_path(code, &said), expected, "{code:?} {said}");
        }
    }
}
