//! Counts a run's changes by git: bounded in time and size, and without running any program that
//! the repository names.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use el_core::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::git::{Git, GitError, OwnWorktree, base_reference};

/// The time limit for all calls of git together.
const LIMIT: Duration = Duration::from_secs(3);
/// The maximum size of git's output, in bytes; nobody reviews larger changes line by line.
const OUTPUT_MAX: usize = 1 << 20;
/// The maximum number of untracked files whose lines are counted.
const NEW_FILES_MAX: usize = 500;
const NEW_FILE_MAX: u64 = 4 << 20;
/// The project's own bookkeeping is no work of an agent's.
const NOT_WORK: [&str; 2] = [".eluent/", ".claude-orchestrator/"];

/// Lines added and removed, file by file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiffStat {
    pub added: u64,
    pub removed: u64,
    pub files: Vec<FileStat>,
    /// There was more than is listed.
    pub truncated: bool,
}

/// The changes of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileStat {
    /// Relative to the folder that was asked about.
    pub path: String,
    /// `null` for a file that is no text.
    pub added: Option<u64>,
    pub removed: Option<u64>,
}

/// Where the changes of an atom begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffStart<'a> {
    /// At the last commit.
    Uncommitted,
    /// At the last commit before this moment.
    Moment(Timestamp),
    /// In the worktree of an atom, the base of the branch, for commits of all attempts. Elsewhere
    /// at the moment.
    Branch(&'a str, Timestamp),
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoDiff {
    #[error("there is no git repository")]
    NoRepository,
    #[error("git did not answer in time")]
    Slow,
    #[error("git could not be run")]
    NoGit,
}

/// Counts the changes in a working folder: later commits, uncommitted changes, and untracked files.
/// `paths`, relative to the folder, limits the files; empty means all.
///
/// # Errors
/// If git cannot tell.
pub fn diff_stat(
    folder: &Path,
    start: DiffStart<'_>,
    paths: &[String],
) -> Result<DiffStat, NoDiff> {
    let git = Git::at(folder).with_deadline(Instant::now() + LIMIT);
    git.ask(&["rev-parse", "--is-inside-work-tree"])?;
    let before = |moment: Timestamp| {
        git.ask(&["rev-list", "-1", &format!("--before=@{}", moment.as_secs()), "HEAD"])
            .ok()
            .filter(|id| !id.is_empty())
    };
    let base = match start {
        DiffStart::Uncommitted => git.ask(&["rev-parse", "--verify", "--quiet", "HEAD"]).ok(),
        DiffStart::Moment(moment) => before(moment),
        DiffStart::Branch(atom, moment) => branch_start(&git, atom)?.or_else(|| before(moment)),
    };
    let base = match base {
        Some(base) => base,
        None => git.ask(&["hash-object", "-t", "tree", "/dev/null"])?,
    };
    let mut stat = DiffStat::default();
    let numstat = [
        "diff",
        "--numstat",
        "-z",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=dirty",
        "--relative",
        base.as_str(),
        "--",
    ];
    let (bytes, cut) = ask_about_paths(&git, &numstat, paths)?;
    stat.truncated |= cut;
    for record in String::from_utf8_lossy(&bytes).split('\0') {
        let mut parts = record.splitn(3, '\t');
        if let (Some(added), Some(removed), Some(path)) = (parts.next(), parts.next(), parts.next())
        {
            stat.push(path, added.parse().ok(), removed.parse().ok());
        }
    }
    let (bytes, cut) =
        ask_about_paths(&git, &["ls-files", "--others", "--exclude-standard", "-z", "--"], paths)?;
    stat.truncated |= cut;
    let names = String::from_utf8_lossy(&bytes).into_owned();
    for (at, path) in names.split('\0').filter(|path| !path.is_empty()).enumerate() {
        if at >= NEW_FILES_MAX {
            stat.truncated = true;
            break;
        }
        stat.push(path, count_lines(&folder.join(path)), Some(0));
    }
    stat.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(stat)
}

/// The commit at which the atom's branch began, if the folder is in the atom's worktree.
fn branch_start(git: &Git, atom: &str) -> Result<Option<String>, GitError> {
    if OwnWorktree::find(git.folder(), atom)?.is_none() {
        return Ok(None);
    }
    git.ask_optional(&["rev-parse", "--verify", "--quiet", &base_reference(atom)])
}

impl DiffStat {
    fn push(&mut self, path: &str, added: Option<u64>, removed: Option<u64>) {
        if NOT_WORK.iter().any(|prefix| path.starts_with(prefix)) {
            return;
        }
        self.added += added.unwrap_or(0);
        self.removed += removed.unwrap_or(0);
        self.files.push(FileStat { path: path.to_owned(), added, removed });
    }
}

/// Counts the lines of an untracked file; `None` for a binary, large or special file.
fn count_lines(path: &Path) -> Option<u64> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > NEW_FILE_MAX {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(NEW_FILE_MAX).read_to_end(&mut bytes).ok()?;
    if bytes.contains(&0) {
        return None;
    }
    let ends = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    Some(ends + u64::from(bytes.last().is_some_and(|byte| *byte != b'\n')))
}

/// Asks git about these paths. Returns the output, and true if the output was cut.
fn ask_about_paths(
    git: &Git,
    words: &[&str],
    paths: &[String],
) -> Result<(Vec<u8>, bool), GitError> {
    let paths = paths.iter().map(String::as_str);
    let words: Vec<&str> =
        ["--literal-pathspecs"].into_iter().chain(words.iter().copied()).chain(paths).collect();
    git.ask_beginning(&words, OUTPUT_MAX)
}

impl From<GitError> for NoDiff {
    fn from(error: GitError) -> NoDiff {
        match error {
            GitError::Program(_) => NoDiff::NoGit,
            GitError::TimedOut { .. } => NoDiff::Slow,
            _ => NoDiff::NoRepository,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn git(folder: &Path, arguments: &[&str], date: &str) {
        let status = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
            .args(arguments)
            .current_dir(folder)
            .env("GIT_COMMITTER_DATE", date)
            .env("GIT_AUTHOR_DATE", date)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "{arguments:?}");
    }

    #[test]
    fn commits_changes_and_new_files_since_a_moment_count() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        let write = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();
        assert_eq!(diff_stat(path, DiffStart::Uncommitted, &[]), Err(NoDiff::NoRepository));
        git(path, &["init", "-q"], "");
        write("new", "1\n2");
        assert_eq!(
            diff_stat(path, DiffStart::Uncommitted, &[]).unwrap().added,
            2,
            "a repository without a commit"
        );
        write("old", "a\nb\n");
        git(path, &["add", "."], "");
        git(path, &["commit", "-qm", "before"], "2026-01-01T00:00:00Z");
        write("old", "a\nc\nd\n");
        git(path, &["commit", "-qam", "during"], "2026-01-02T00:00:00Z");
        write("new", "1\n");
        std::fs::create_dir(path.join(".eluent")).unwrap();
        write(".eluent/el.db", "x");
        write("odd \t[name]", "z\n");
        write("binary", "\0");
        let since = Timestamp::parse("2026-01-01T12:00:00Z").unwrap();
        let stat = diff_stat(path, DiffStart::Moment(since), &[]).unwrap();
        let told: Vec<_> =
            stat.files.iter().map(|f| (f.path.as_str(), f.added, f.removed)).collect();
        let want = [
            ("binary", None, Some(0)),
            ("new", Some(0), Some(1)),
            ("odd \t[name]", Some(1), Some(0)),
            ("old", Some(2), Some(1)),
        ];
        assert_eq!(told, want);
        assert_eq!((stat.added, stat.removed, stat.truncated), (3, 2, false));
        let named = diff_stat(
            path,
            DiffStart::Moment(since),
            &["old".to_owned(), "odd \t[name]".to_owned(), "nowhere".to_owned()],
        )
        .unwrap();
        assert_eq!(named.files.len(), 2);
        assert_eq!(
            diff_stat(path, DiffStart::Uncommitted, &["old".to_owned()]).unwrap().files,
            [],
            "without a moment, what is not committed"
        );
    }
}
