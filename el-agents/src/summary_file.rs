//! The agent's summary file: the path, the name for the agent, and the proof that this run wrote
//! the file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use el_core::model::NotSent;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::preparation::text_name;
use crate::rundir::RunDir;
use crate::settings::Places;

/// The maximum kept size, in bytes. A longer summary keeps its beginning and its end.
const READ_MAX: u64 = 4 << 20;

/// Returns the path of an atom's summary.
pub(crate) fn summary_file(places: &Places, atom: &str) -> PathBuf {
    summaries_folder(places).join(text_name(atom))
}

/// Returns the file that a run writes in a sandbox, in its own hand-over folder.
pub(crate) fn handover_file(atom: &str, run: &RunDir) -> PathBuf {
    run.handover().join(text_name(atom))
}

/// Returns the file that a run wrote, in a sandbox or not.
pub(crate) fn written_file(places: &Places, atom: &str, run: &RunDir) -> PathBuf {
    let own = handover_file(atom, run);
    let is_there = std::fs::symlink_metadata(&own).is_ok();
    if is_there { own } else { summary_file(places, atom) }
}

/// The folder of the summaries.
pub(crate) fn summaries_folder(places: &Places) -> PathBuf {
    if places.summaries.as_os_str().is_empty() {
        places.database.parent().unwrap_or(Path::new(".")).join("summaries")
    } else {
        places.summaries.clone()
    }
}

/// Returns the path relative to a folder above, with links resolved; `None` if the path lies
/// elsewhere. The file need not exist.
pub(crate) fn path_below(file: &Path, folder: &Path) -> Option<PathBuf> {
    let real = resolve_folder_links(file)?;
    let relative = real.strip_prefix(folder.canonicalize().ok()?).ok()?;
    (!relative.as_os_str().is_empty()).then(|| relative.to_owned())
}

/// Resolves the links of the path's folder.
pub(crate) fn resolve_folder_links(file: &Path) -> Option<PathBuf> {
    Some(file.parent()?.canonicalize().ok()?.join(file.file_name()?))
}

/// Returns the path for an agent in this folder: relative if possible.
pub(crate) fn as_seen_from(file: &Path, folder: &Path) -> String {
    path_below(file, folder).unwrap_or_else(|| file.to_owned()).display().to_string()
}

/// Identifies a state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileStamp {
    inode: u64,
    size: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl FileStamp {
    /// The stamp of the file now; `None` without a file.
    pub(crate) fn of_file(path: &Path) -> Option<FileStamp> {
        std::fs::symlink_metadata(path).ok().map(|found| FileStamp::from(&found))
    }
}

impl From<&std::fs::Metadata> for FileStamp {
    fn from(found: &std::fs::Metadata) -> FileStamp {
        FileStamp {
            inode: found.ino(),
            size: found.size(),
            seconds: found.mtime(),
            nanoseconds: found.mtime_nsec(),
        }
    }
}

/// The reason why this run has no summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoSummary {
    Missing,
    Empty,
    /// The file is unchanged since before the run.
    Stale,
    Refused(NotSent),
}

impl NoSummary {
    /// Returns a sentence for the user; `None` if there is no need for a warning.
    pub(crate) fn warning_text(self) -> Option<String> {
        match self {
            NoSummary::Missing => None,
            NoSummary::Empty => Some("the summary file is empty".to_owned()),
            NoSummary::Stale => Some(
                "the summary file is an earlier attempt's, which this run left as it was"
                    .to_owned(),
            ),
            NoSummary::Refused(why) => {
                Some(format!("the summary file was not taken: it {}", why.reason_text()))
            }
        }
    }
}

/// Reads the summary if this run wrote the file. A link, a pipe or a device does not count.
/// `before`: the file before the run.
pub(crate) fn read_summary(path: &Path, before: Option<FileStamp>) -> Result<Vec<u8>, NoSummary> {
    let refused = |why| Err(NoSummary::Refused(why));
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(NoSummary::Missing);
        }
        Err(_) => return refused(NotSent::Unreadable),
        Ok(found) if found.is_symlink() => return refused(NotSent::Link),
        Ok(found) if found.is_dir() => return refused(NotSent::Folder),
        Ok(found) if !found.is_file() => return refused(NotSent::NotAFile),
        Ok(found) if before == Some(FileStamp::from(&found)) => return Err(NoSummary::Stale),
        Ok(_) => {}
    }
    // The path may have changed since the look.
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::open(path, flags, Mode::empty()).map(File::from) else {
        return refused(NotSent::Unreadable);
    };
    if !file.metadata().is_ok_and(|found| found.is_file()) {
        return refused(NotSent::NotAFile);
    }
    let Ok(bytes) = read_both_ends(file) else { return refused(NotSent::Unreadable) };
    if bytes.iter().all(u8::is_ascii_whitespace) { Err(NoSummary::Empty) } else { Ok(bytes) }
}

/// The status stands at the end, so a cut leaves out the middle.
fn read_both_ends(mut file: File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = file.metadata()?.len();
    if length <= READ_MAX {
        file.take(READ_MAX).read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    (&mut file).take(READ_MAX / 2).read_to_end(&mut bytes)?;
    let left_out = length - READ_MAX;
    bytes.extend(format!("\n\n[… {left_out} bytes are left out …]\n\n").into_bytes());
    file.seek(SeekFrom::End(-i64::try_from(READ_MAX / 2).unwrap_or(i64::MAX)))?;
    file.take(READ_MAX / 2).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_path_is_told_as_the_agent_sees_it() {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work");
        fs::create_dir_all(work.join(".eluent/summaries")).unwrap();
        fs::create_dir(dir.path().join("other")).unwrap();
        let inside = work.join(".eluent/summaries/t-1.md");
        assert_eq!(as_seen_from(&inside, &work), ".eluent/summaries/t-1.md");
        let outside = dir.path().join("other/t-1.md");
        assert_eq!(as_seen_from(&outside, &work), outside.display().to_string());
        std::os::unix::fs::symlink(&work, dir.path().join("link")).unwrap();
        assert_eq!(
            as_seen_from(&dir.path().join("link/.eluent/summaries/t-1.md"), &work),
            ".eluent/summaries/t-1.md"
        );
    }

    #[test]
    fn a_summary_counts_if_this_run_wrote_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("t-1.md");
        assert_eq!(read_summary(&file, None), Err(NoSummary::Missing));
        fs::write(&file, " \n").unwrap();
        assert_eq!(read_summary(&file, None), Err(NoSummary::Empty));
        fs::write(&file, "one").unwrap();
        let before = FileStamp::of_file(&file);
        assert_eq!(read_summary(&file, before), Err(NoSummary::Stale));
        fs::write(&file, "other").unwrap();
        assert_eq!(read_summary(&file, before).unwrap(), b"other");
    }

    #[test]
    fn of_a_huge_summary_both_ends_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("t-1.md");
        let log = "log\n".repeat(2 << 20);
        fs::write(&file, format!("# Task\n{log}## Status\n❌ FAILED\n")).unwrap();
        let text = String::from_utf8(read_summary(&file, None).unwrap()).unwrap();
        assert!(text.starts_with("# Task\n") && text.ends_with("## Status\n❌ FAILED\n"));
        assert!(text.contains("bytes are left out") && text.len() < 5 << 20);
    }

    #[test]
    fn what_is_no_plain_file_is_refused_and_never_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let [link, folder, pipe] = ["link", "folder", "pipe"].map(|name| dir.path().join(name));
        std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
        fs::create_dir(&folder).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(read_summary(&link, None), Err(NoSummary::Refused(NotSent::Link)));
        assert_eq!(read_summary(&folder, None), Err(NoSummary::Refused(NotSent::Folder)));
        assert_eq!(read_summary(&pipe, None), Err(NoSummary::Refused(NotSent::NotAFile)));
    }
}
