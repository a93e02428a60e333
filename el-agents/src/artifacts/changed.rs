//! Finds the files that changed since a moment, by git or else by modification times.

use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use el_core::model::Timestamp;

use crate::clock;
use crate::git::{Git, base_reference};

/// The maximum number of files that are listed.
const FILES_MAX: usize = 40;
/// The maximum number of folder entries that are read without git.
const WALK_MAX: usize = 20_000;
/// The maximum depth of folders that are read without git.
const DEPTH_MAX: usize = 16;
/// The maximum number of bytes that are read of git's answer.
const ANSWER_MAX: usize = 4 << 20;

/// Files that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Changed {
    /// Relative to the folder, the last changed first.
    pub(super) files: Vec<String>,
    /// How many more there are.
    pub(super) more: usize,
    /// Files that git names and that are gone.
    pub(super) removed: Vec<String>,
    /// The source: git or modification times.
    pub(super) by: &'static str,
}

/// Lists files below `folder` that changed since `then`. In the atom's worktree, committed changes
/// are those since the branch began. `None` if the search took longer than `limit`.
pub(super) fn files_changed_since(
    folder: &Path,
    then: Timestamp,
    atom: &str,
    limit: Duration,
) -> Option<Changed> {
    let until = Instant::now() + limit;
    let then = clock::on_machine(then);
    let then = UNIX_EPOCH + Duration::from_micros(u64::try_from(then.as_micros()).ok()?);
    let is_in_git = folder.ancestors().any(|above| above.join(".git").exists());
    let by_git = if is_in_git { changed_by_git(folder, then, atom, until) } else { None };
    let (found, by) = match by_git {
        Some(found) => (found, "by git"),
        None => (walk_folder(folder, then, until)?, "by their times"),
    };
    let (gone, found): (Vec<String>, Vec<String>) =
        found.into_iter().partition(|path| is_gone(&folder.join(path)));
    let mut removed: Vec<String> =
        gone.into_iter().filter(|path| folder_changed_since(&folder.join(path), then)).collect();
    removed.sort();
    removed.dedup();
    removed.truncate(FILES_MAX);
    let mut dated: Vec<(SystemTime, String)> = found
        .into_iter()
        .filter_map(|path| Some((changed_at(folder, &path, then)?, path)))
        .collect();
    dated.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    dated.dedup_by(|a, b| a.1 == b.1);
    let more = dated.len().saturating_sub(FILES_MAX);
    Some(Changed {
        files: dated.into_iter().take(FILES_MAX).map(|(_, path)| path).collect(),
        more,
        removed,
        by,
    })
}

fn is_gone(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|e| e.kind() == ErrorKind::NotFound)
}

/// Returns true if the nearest folder above that exists changed since `then`. The removal of a file
/// changes the folder.
fn folder_changed_since(path: &Path, then: SystemTime) -> bool {
    let above = path.ancestors().skip(1).find_map(|folder| folder.symlink_metadata().ok());
    above.and_then(|found| found.modified().ok()).is_some_and(|at| at >= then)
}

/// When a plain file was last changed, if that is not before `then`.
fn changed_at(folder: &Path, path: &str, then: SystemTime) -> Option<SystemTime> {
    let found =
        std::fs::symlink_metadata(folder.join(path)).ok().filter(std::fs::Metadata::is_file)?;
    found.modified().ok().filter(|at| *at >= then)
}

/// Lists the files that git shows as uncommitted, untracked, or committed since `then`. Ignored
/// files do not count.
fn changed_by_git(
    folder: &Path,
    then: SystemTime,
    atom: &str,
    until: Instant,
) -> Option<Vec<String>> {
    let seconds = then.duration_since(UNIX_EPOCH).ok()?.as_secs();
    let since = format!("--since=@{seconds}");
    let new =
        ask_git_for_names(folder, &["ls-files", "-z", "--others", "--exclude-standard"], until)?;
    // Without a commit there is no base to compare with, so staged files count as well.
    let changed = ask_git_for_names(
        folder,
        &[
            "diff",
            "--name-only",
            "-z",
            "--relative",
            "--no-renames",
            "--no-ext-diff",
            "--ignore-submodules",
            "HEAD",
        ],
        until,
    )
    .or_else(|| ask_git_for_names(folder, &["ls-files", "-z", "--cached"], until))?;
    let words = ["--name-only", "-z", "--relative", "--no-renames", "--no-ext-diff"];
    let is_own = ask_git_for_names(folder, &["symbolic-ref", "-q", "--short", "HEAD"], until)
        .is_some_and(|on| on.iter().any(|name| name.rsplit('/').next() == Some(atom)));
    let own = |base: &str| {
        ask_git_for_names(folder, &[&["diff"], &words[..], &[base, "HEAD"]].concat(), until)
    };
    // The commits below the branch may be as young as the run.
    let own = is_own.then(|| own(&base_reference(atom))).flatten();
    let committed = own.or_else(|| {
        ask_git_for_names(
            folder,
            &[&["log"], &words[..], &["--format=", &since, "-n", "200"]].concat(),
            until,
        )
    });
    Some([new, changed, committed.unwrap_or_default()].concat())
}

/// Returns the names in git's answer; `None` if git fails or takes too long. The calls take no
/// locks and run no program of the repository.
fn ask_git_for_names(folder: &Path, words: &[&str], until: Instant) -> Option<Vec<String>> {
    let (bytes, is_cut) =
        Git::at(folder).with_deadline(until).ask_beginning(words, ANSWER_MAX).ok()?;
    let names = String::from_utf8(bytes).ok().filter(|_| !is_cut)?;
    Some(names.split(['\0', '\n']).filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

/// Lists all changed files below, except hidden files, build folders and linked folders. Returns an
/// incomplete list when the time is up.
fn walk_folder(folder: &Path, then: SystemTime, until: Instant) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut todo = vec![(folder.to_owned(), 0)];
    let mut looked = 0;
    while let Some((at, depth)) = todo.pop() {
        let Ok(entries) = std::fs::read_dir(&at) else { continue };
        for entry in entries.flatten() {
            looked += 1;
            if looked > WALK_MAX || looked % 64 == 0 && Instant::now() > until {
                return Some(found);
            }
            let (Ok(kind), name) = (entry.file_type(), entry.file_name()) else { continue };
            if kind.is_dir() {
                let is_skipped = name.to_string_lossy().starts_with('.')
                    || matches!(name.to_str(), Some("node_modules" | "target" | "__pycache__"));
                if !is_skipped && depth < DEPTH_MAX {
                    todo.push((entry.path(), depth + 1));
                }
            } else if kind.is_file()
                && entry.metadata().is_ok_and(|found| found.modified().is_ok_and(|at| at >= then))
            {
                found.extend(relative_path(folder, &entry.path()));
            }
        }
    }
    (looked > 0 || folder.is_dir()).then_some(found)
}

fn relative_path(folder: &Path, path: &Path) -> Option<String> {
    Some(path.strip_prefix(folder).ok()?.to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Before now, by times: an hour old.
    fn age(path: &Path) {
        let file = fs::File::open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    }

    fn a_minute_ago() -> Timestamp {
        Timestamp::from(SystemTime::now()).minus(Duration::from_secs(60))
    }

    fn run_git(folder: &Path, words: &[&str]) {
        let mut command = Command::new("git");
        command
            .args([
                "-c",
                "user.name=T",
                "-c",
                "user.email=t@example.com",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(words);
        let done = command
            .current_dir(folder)
            .env("HOME", folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    }

    fn sorted(mut files: Vec<String>) -> Vec<String> {
        files.sort();
        files
    }

    #[test]
    fn without_git_the_times_tell() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["new.md", "src/deep/new.rs", "old.md", ".hidden/x", "node_modules/x.js"] {
            write(&dir.path().join(name), "x");
        }
        age(&dir.path().join("old.md"));
        std::os::unix::fs::symlink(dir.path().join("new.md"), dir.path().join("link.md")).unwrap();
        let found = files_changed_since(dir.path(), a_minute_ago(), "t-1", LIMIT).unwrap();
        assert_eq!(sorted(found.files), ["new.md", "src/deep/new.rs"]);
        assert_eq!((found.more, found.by), (0, "by their times"));
        assert_eq!(
            files_changed_since(&dir.path().join("nowhere"), a_minute_ago(), "t-1", LIMIT),
            None
        );
    }

    #[test]
    fn git_knows_what_is_new_changed_and_committed_and_leaves_out_what_it_ignores() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        run_git(dir.path(), &["init", "-q"]);
        for name in ["kept.md", "edited.md", "dirty-before.md", "gone.md", "past/gone-before.md"] {
            write(&at(name), "one");
        }
        write(&at(".gitignore"), "*.log\n");
        run_git(dir.path(), &["add", "."]);
        run_git(dir.path(), &["commit", "-q", "-m", "one", "--date=2020-01-01T00:00:00Z"]);
        for name in ["kept.md", "edited.md", ".gitignore"] {
            age(&at(name));
        }
        write(&at("dirty-before.md"), "two");
        age(&at("dirty-before.md"));
        write(&at("edited.md"), "two");
        fs::remove_file(at("gone.md")).unwrap();
        fs::remove_file(at("past/gone-before.md")).unwrap();
        write(&at("past/kept.md"), "x");
        age(&at("past/kept.md"));
        age(&at("past"));
        write(&at("new file ü.md"), "x");
        write(&at("noise.log"), "x");
        write(&at("sub/committed.md"), "x");
        run_git(dir.path(), &["add", "sub"]);
        run_git(dir.path(), &["commit", "-q", "-m", "two"]);
        let found = files_changed_since(dir.path(), a_minute_ago(), "t-1", LIMIT).unwrap();
        assert_eq!(found.by, "by git");
        assert_eq!(sorted(found.files), ["edited.md", "new file ü.md", "sub/committed.md"]);
        assert_eq!(found.removed, ["gone.md"]);
        let below = files_changed_since(&at("sub"), a_minute_ago(), "t-1", LIMIT).unwrap();
        assert_eq!(below.files, ["committed.md"]);
    }

    #[test]
    fn a_repository_without_a_commit_is_read_too() {
        let dir = tempfile::tempdir().unwrap();
        run_git(dir.path(), &["init", "-q"]);
        write(&dir.path().join("staged.md"), "x");
        run_git(dir.path(), &["add", "."]);
        write(&dir.path().join("new.md"), "x");
        let found = files_changed_since(dir.path(), a_minute_ago(), "t-1", LIMIT).unwrap();
        assert_eq!(
            (sorted(found.files), found.by),
            (vec!["new.md".to_owned(), "staged.md".to_owned()], "by git")
        );
    }

    #[test]
    fn a_git_that_takes_too_long_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let began = Instant::now();
        assert_eq!(ask_git_for_names(dir.path(), &["cat-file", "--batch"], Instant::now()), None);
        assert!(began.elapsed() < Duration::from_secs(10));
    }
}
