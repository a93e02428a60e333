//! The part of a run's output that its record keeps: the last lines, and the lines about errors.
//! Both are short and safe on a terminal; the run's folder has the whole output.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::claude::{Line, LineSplitter, Renderer, StreamEvent, one_line, parse_line, sanitize};
use crate::rundir::RunDir;

/// How much of the end of a file is looked at, in bytes.
const LOOKED_AT: u64 = 512 << 10;
/// Lines and bytes of the output that are kept.
const OUTPUT: Bounds = Bounds { lines: 60, bytes: 8 << 10 };
/// Lines and bytes of the errors that are kept.
const ERRORS: Bounds = Bounds { lines: 20, bytes: 4 << 10 };
/// Longest line, in characters.
const WIDTH: usize = 200;

#[derive(Debug, Clone, Copy)]
struct Bounds {
    lines: usize,
    bytes: usize,
}

/// The kept output.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RunOutput {
    pub(crate) output: String,
    pub(crate) error_lines: String,
}

impl RunOutput {
    /// Reads the output from a run's files. A missing or unreadable file is empty. `is_stream`: the
    /// transcript is Claude Code's event stream.
    pub(crate) fn from_folder(folder: &RunDir, is_stream: bool) -> RunOutput {
        let mut output = LastLines::new(OUTPUT);
        let mut errors = LastLines::new(ERRORS);
        let transcript = read_tail(&folder.transcript_path());
        if is_stream {
            read_events(&transcript, &mut output, &mut errors);
        } else {
            for line in clean_lines(&transcript) {
                if tells_of_an_error(&line) {
                    errors.push(line.clone());
                }
                output.push(line);
            }
        }
        if output.is_empty() {
            // An agent with a screen has no transcript; the pane's log has all output.
            clean_lines(&read_tail(&folder.pane_path()))
                .into_iter()
                .for_each(|line| output.push(line));
        }
        clean_lines(&read_tail(&folder.stderr_path()))
            .into_iter()
            .for_each(|line| errors.push(line));
        RunOutput { output: output.into_text(), error_lines: errors.into_text() }
    }
}

fn read_events(bytes: &[u8], output: &mut LastLines, errors: &mut LastLines) {
    let mut renderer = Renderer::new(WIDTH, false);
    let mut splitter = LineSplitter::default();
    let whole = splitter.push(bytes);
    for line in whole.into_iter().chain(splitter.finish()) {
        let Line::Whole(line) = line else { continue };
        for event in parse_line(&line) {
            let shown = renderer.render(&event);
            let is_error = match &event {
                StreamEvent::ToolResult { is_error, .. } => *is_error,
                StreamEvent::ApiError { .. } => true,
                StreamEvent::Result(result) => result.is_error,
                _ => false,
            };
            for line in shown.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
                if is_error {
                    errors.push(line.trim_start().to_owned());
                }
                output.push(line.to_owned());
            }
        }
    }
}

/// Returns the non-empty lines, safe for a terminal.
fn clean_lines(bytes: &[u8]) -> Vec<String> {
    let clean = sanitize(&String::from_utf8_lossy(bytes));
    clean.lines().map(|line| one_line(line, WIDTH)).filter(|line| !line.is_empty()).collect()
}

/// Returns true if a line of plain output contains a usual word of complaint.
fn tells_of_an_error(line: &str) -> bool {
    let lower = line.to_lowercase();
    ["error", "panic", "fatal", "failed", "exception", "traceback"]
        .iter()
        .any(|word| lower.contains(word))
}

/// The end of a file, from the beginning of a line.
fn read_tail(path: &Path) -> Vec<u8> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let from = length.saturating_sub(LOOKED_AT);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(LOOKED_AT).read_to_end(&mut bytes)?;
        if from > 0 {
            // A line without its beginning is dropped.
            let begin =
                bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
            bytes.drain(..begin);
        }
        Ok(bytes)
    };
    read().unwrap_or_default()
}

/// The last lines within bounds.
struct LastLines {
    bounds: Bounds,
    lines: VecDeque<String>,
    bytes: usize,
}

impl LastLines {
    fn new(bounds: Bounds) -> LastLines {
        LastLines { bounds, lines: VecDeque::new(), bytes: 0 }
    }

    fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn push(&mut self, line: String) {
        self.bytes += line.len() + 1;
        self.lines.push_back(line);
        while self.lines.len() > self.bounds.lines || self.bytes > self.bounds.bytes {
            match self.lines.pop_front() {
                Some(line) => self.bytes -= line.len() + 1,
                None => break,
            }
        }
    }

    fn into_text(self) -> String {
        Vec::from(self.lines).join("\n")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kept(transcript: &[u8], stderr: &[u8], is_stream: bool) -> RunOutput {
        let dir = tempfile::tempdir().unwrap();
        let folder = RunDir::new(dir.path(), "run-1");
        folder.create().unwrap();
        std::fs::write(folder.transcript_path(), transcript).unwrap();
        std::fs::write(folder.stderr_path(), stderr).unwrap();
        RunOutput::from_folder(&folder, is_stream)
    }

    #[test]
    fn the_last_lines_of_the_event_stream_and_its_errors_are_kept() {
        let stream = include_bytes!("claude/fixtures/close_after_hook.jsonl");
        let kept = kept(stream, b"warning: slow\n\n\x1b[31merror\x1b[0m: boom\n", true);
        assert!(
            kept.output.contains("Closed el-42.")
                && kept.output.ends_with("finished after 3 turns, $0.0030"),
            "{}",
            kept.output
        );
        assert_eq!(kept.error_lines, "warning: slow\nerror: boom");
    }

    #[test]
    fn of_any_other_program_the_complaints_are_told_by_their_words() {
        let kept = kept(b"one\ntwo\nError: no such file\nthree", b"", false);
        assert_eq!(
            (kept.output.as_str(), kept.error_lines.as_str()),
            ("one\ntwo\nError: no such file\nthree", "Error: no such file")
        );
    }

    #[test]
    fn nothing_is_kept_of_what_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(
            RunOutput::from_folder(&RunDir::new(dir.path(), "run-1"), true),
            RunOutput::default()
        );
    }

    #[test]
    fn a_huge_output_is_cut_at_its_beginning() {
        let many: String = (0..200_000).map(|n| format!("line {n}\n")).collect();
        let kept = kept(many.as_bytes(), many.as_bytes(), false);
        assert!(kept.output.ends_with("line 199999") && kept.error_lines.ends_with("line 199999"));
        assert!(kept.output.len() <= OUTPUT.bytes && kept.output.lines().count() == OUTPUT.lines);
        assert!(kept.error_lines.len() <= ERRORS.bytes);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_is_kept_is_short_and_harmless(
            bytes in prop::collection::vec(any::<u8>(), 0..2_000),
            is_stream: bool,
        ) {
            let kept = kept(&bytes, &bytes, is_stream);
            prop_assert!(kept.output.len() <= OUTPUT.bytes);
            prop_assert!(kept.error_lines.len() <= ERRORS.bytes);
            let mut all = kept.output.chars().chain(kept.error_lines.chars());
            prop_assert!(!all.any(|c| c.is_control() && c != '\n'));
        }
    }
}
