//! The summary file as the end of the work (`completion = "summary"`): a file that has appeared and
//! stays unchanged.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::summary_file::{FileStamp, read_summary};

/// The time for which the file must stay unchanged: an editor may write in pieces.
const STILL: Duration = Duration::from_secs(2);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(500);

/// Waits for a summary file.
#[derive(Debug)]
pub(crate) struct SummaryWatch {
    path: PathBuf,
    /// The file as an earlier attempt left it.
    before: Option<FileStamp>,
    seen: Option<(FileStamp, Instant)>,
    looked: Option<Instant>,
}

impl SummaryWatch {
    /// Starts before the agent. An existing file counts only after a change.
    pub(crate) fn new(path: PathBuf) -> SummaryWatch {
        SummaryWatch { before: FileStamp::of_file(&path), path, seen: None, looked: None }
    }

    /// Returns the text as soon as the file exists and stays unchanged. A link, a pipe or an empty
    /// file does not count.
    pub(crate) fn poll_summary(&mut self, now: Instant) -> Option<String> {
        if self.looked.is_some_and(|at| now.duration_since(at) < LOOK) {
            return None;
        }
        self.looked = Some(now);
        let stamp = FileStamp::of_file(&self.path).filter(|stamp| self.before != Some(*stamp))?;
        match self.seen {
            Some((seen, since)) if seen == stamp => {
                if now.duration_since(since) < STILL {
                    return None;
                }
                read_summary(&self.path, self.before)
                    .ok()
                    .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            }
            _ => {
                self.seen = Some((stamp, now));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_counts_when_it_is_new_or_changed_and_stands_still() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t-1.md");
        std::fs::write(&path, "an earlier attempt's").unwrap();
        let mut summary = SummaryWatch::new(path.clone());
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(summary.poll_summary(at(0)), None);
        assert_eq!(summary.poll_summary(at(100)), None, "it has not changed");
        std::fs::write(&path, "half").unwrap();
        assert_eq!(summary.poll_summary(at(101)), None);
        std::fs::write(&path, "half and half").unwrap();
        assert_eq!(summary.poll_summary(at(104)), None, "it has changed since the last look");
        assert_eq!(summary.poll_summary(at(107)).as_deref(), Some("half and half"));
    }

    #[test]
    fn what_is_no_plain_file_is_no_summary() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t-1.md");
        let mut summary = SummaryWatch::new(path.clone());
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        let start = Instant::now();
        assert_eq!(
            (summary.poll_summary(start), summary.poll_summary(start + Duration::from_secs(9))),
            (None, None)
        );
    }
}
