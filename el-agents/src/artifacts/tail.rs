//! The last lines of a file of a run.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::claude::sanitize;

/// Bytes from the end that are looked at.
const LOOK: u64 = 32 << 10;
/// The maximum length of a line, in characters.
const LINE_MAX: usize = 400;

/// Returns the last `lines` non-empty lines without control codes; empty if there are none.
pub(crate) fn read_last_lines(path: &Path, lines: usize) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let from = file.metadata()?.len().saturating_sub(LOOK);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(LOOK).read_to_end(&mut bytes)?;
        if from > 0 {
            // The first line is incomplete.
            let end = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            bytes.drain(..end);
        }
        Ok(bytes)
    };
    let text = sanitize(&String::from_utf8_lossy(&read().unwrap_or_default()));
    let said: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let last = &said[said.len().saturating_sub(lines)..];
    last.iter()
        .map(|line| line.chars().take(LINE_MAX).collect::<String>())
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_come_without_control_codes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pane.log");
        assert_eq!(read_last_lines(&path, 3), "");
        std::fs::write(&path, "one\n\x1b[31mtwo\x1b[0m\n\n  three  \nfour").unwrap();
        assert_eq!(read_last_lines(&path, 3), "two\n  three\nfour");
        std::fs::write(&path, format!("{}\nlast\n", "x".repeat(1 << 20))).unwrap();
        assert_eq!(read_last_lines(&path, 3), "last");
    }
}
