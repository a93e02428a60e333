//! What the sandbox kept an agent from, found in what programs said of it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes of the end of an output that are read.
const READ_MAX: u64 = 256 << 10;
/// What the system says of a write to what may only be read.
const SAYS: &str = "Read-only file system";
/// Denials that are told of one call.
const TOLD_MAX: usize = 3;

/// Sentences about the first paths that could not be written, each with the setting that opens it.
pub(crate) fn denials(outputs: &[&Path]) -> Vec<String> {
    let mut told = Vec::new();
    for text in outputs.iter().filter_map(|path| read_end(path)) {
        for line in text.lines().flat_map(|line| line.split("\\n")).filter(|l| l.contains(SAYS)) {
            let Some(path) = path_in(line) else { continue };
            let sentence = format!(
                "the sandbox keeps {path} read-only; sandbox_write with its folder opens it \
                 (docs/sandbox.md)"
            );
            if !told.contains(&sentence) {
                told.push(sentence);
            }
            if told.len() == TOLD_MAX {
                return told;
            }
        }
    }
    told
}

fn read_end(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let len = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(READ_MAX))).ok()?;
    let mut bytes = Vec::new();
    file.take(READ_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The last absolute path before the system's words.
fn path_in(line: &str) -> Option<&str> {
    let before = line.split(SAYS).next()?;
    let is_mark = |c: char| c.is_whitespace() || "'\"`‘’()\\,:".contains(c);
    before.split(is_mark).rfind(|word| word.len() > 1 && word.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_taken_from_what_programs_say() {
        for line in [
            "touch: cannot touch '/opt/x/y': Read-only file system",
            "sh: 1: cannot create /opt/x/y: Read-only file system",
            "npm ERR! EROFS: \"/opt/x/y\" (Read-only file system)",
            "fatal: Unable to create '/opt/x/y': Read-only file system",
        ] {
            assert_eq!(path_in(line), Some("/opt/x/y"), "{line}");
        }
        assert_eq!(path_in("touch: cannot touch 'y': Read-only file system"), None);
    }

    #[test]
    fn each_path_is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("stderr.log");
        let line = "touch: cannot touch '/opt/x': Read-only file system\n";
        std::fs::write(&file, line.repeat(9)).unwrap();
        let told = denials(&[&file, &dir.path().join("none")]);
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("the sandbox keeps /opt/x read-only; sandbox_write"));
    }
}
