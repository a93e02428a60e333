//! Keeps the tracker out of git. Ignored files survive `git clean -fd`, `git add -A`,
//! `git stash -u` and a branch that once committed the folder.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// The folder that holds a tracker.
const STATE_FOLDER: &str = ".eluent";

/// The file ignores itself too: a committed one would come and go with branches.
const GIT_IGNORE: &str = "\
# Written by el, and written again whenever it differs. The tracker stays on this machine.
*
!config.toml
";

/// Restores the tracker's `.gitignore` if it is missing or differs, and the lines in
/// `.git/info/exclude`. Costs one system call if all is well. Folders of other names are left
/// alone.
///
/// # Errors
/// If `.gitignore` cannot be written.
pub fn keep_out_of_git(state: &Path) -> io::Result<()> {
    if !is_state_folder(state) {
        return Ok(());
    }
    let path = state.join(".gitignore");
    let is_ours = fs::symlink_metadata(&path)
        .is_ok_and(|meta| meta.is_file() && meta.len() == GIT_IGNORE.len() as u64);
    if is_ours {
        return Ok(());
    }
    // The second line of defence holds while the first one is away. A repository that el may not
    // write is no error.
    let _ = exclude(state);
    let temporary = state.join(format!(".gitignore.{}", std::process::id()));
    fs::write(&temporary, GIT_IGNORE).and_then(|()| fs::rename(&temporary, &path)).inspect_err(
        |_| {
            // The first error is the one to report.
            let _ = fs::remove_file(&temporary);
        },
    )
}

fn is_state_folder(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == STATE_FOLDER)
}

/// Restores the lines in `.git/info/exclude` alone: the repository may be younger than the tracker.
///
/// # Errors
/// If the file cannot be read or written.
pub fn exclude_from_git(state: &Path) -> io::Result<()> {
    if is_state_folder(state) { exclude(state) } else { Ok(()) }
}

/// Adds the tracker to the repository's `info/exclude`, which no branch can change.
fn exclude(state: &Path) -> io::Result<()> {
    let state = fs::canonicalize(state)?;
    let Some(top) = state.ancestors().find(|folder| folder.join(".git").exists()) else {
        return Ok(());
    };
    let Ok(below) = state.strip_prefix(top) else { return Ok(()) };
    let common = common_folder(&top.join(".git"))?;
    // A `.git` file may lead to a repository that is gone, which must not be made.
    if !common.join("HEAD").is_file() {
        return Ok(());
    }
    let path = common.join("info/exclude");
    let old = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let pattern = escaped(below);
    let lines =
        [[b"/", &pattern[..], b"/*"].concat(), [b"!/", &pattern[..], b"/config.toml"].concat()];
    if lines.iter().all(|line| old.split(|byte| *byte == b'\n').any(|had| had == line)) {
        return Ok(());
    }
    let mut added = if old.is_empty() || old.ends_with(b"\n") { vec![] } else { vec![b'\n'] };
    for line in &lines {
        added.extend_from_slice(line);
        added.push(b'\n');
    }
    match fs::create_dir(path.parent().unwrap_or(Path::new("/"))) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // One call appends all of it: git never reads half a line.
    OpenOptions::new().append(true).create(true).open(&path)?.write_all(&added)
}

/// The folder that all worktrees of a repository share: `.git` itself, or the folder that a `.git`
/// file leads to.
fn common_folder(git: &Path) -> io::Result<PathBuf> {
    if git.is_dir() {
        return Ok(git.to_owned());
    }
    let path_in = |text: Vec<u8>, start: usize| {
        PathBuf::from(std::ffi::OsString::from_vec(text[start..].trim_ascii().to_vec()))
    };
    let link = fs::read(git)?;
    let start = if link.starts_with(b"gitdir:") { b"gitdir:".len() } else { 0 };
    let own = git.parent().unwrap_or(Path::new("/")).join(path_in(link, start));
    match fs::read(own.join("commondir")) {
        Ok(common) => Ok(own.join(path_in(common, 0))),
        // The repository is a submodule, or its folder is elsewhere.
        Err(_) => Ok(own),
    }
}

/// The path as git's pattern that matches this path alone.
fn escaped(path: &Path) -> Vec<u8> {
    let mut pattern = Vec::new();
    for byte in path.as_os_str().as_bytes() {
        if b"*?[]\\ #!".contains(byte) {
            pattern.push(b'\\');
        }
        pattern.push(*byte);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_missing_or_differs_is_written_and_other_folders_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join(STATE_FOLDER);
        fs::create_dir(&state).unwrap();
        let file = state.join(".gitignore");
        for before in [None, Some(""), Some("*\n!.gitignore\n!config.toml\n")] {
            if let Some(text) = before {
                fs::write(&file, text).unwrap();
            }
            keep_out_of_git(&state).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), GIT_IGNORE);
        }
        keep_out_of_git(dir.path()).unwrap();
        assert!(!dir.path().join(".gitignore").exists());
    }

    #[test]
    fn what_a_link_leads_to_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join(STATE_FOLDER);
        fs::create_dir(&state).unwrap();
        let target = dir.path().join("target");
        fs::write(&target, "mine").unwrap();
        std::os::unix::fs::symlink(&target, state.join(".gitignore")).unwrap();
        keep_out_of_git(&state).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
        assert_eq!(fs::read_to_string(state.join(".gitignore")).unwrap(), GIT_IGNORE);
    }

    #[test]
    fn a_repository_that_is_gone_is_not_made() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join(STATE_FOLDER);
        fs::create_dir(&state).unwrap();
        let repository = dir.path().join("gone");
        fs::write(dir.path().join(".git"), format!("gitdir: {}\n", repository.display())).unwrap();
        keep_out_of_git(&state).unwrap();
        assert!(!repository.exists());
        fs::create_dir(&repository).unwrap();
        fs::write(repository.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::remove_file(state.join(".gitignore")).unwrap();
        keep_out_of_git(&state).unwrap();
        assert!(repository.join("info/exclude").exists());
    }

    #[test]
    fn patterns_match_one_path_alone() {
        assert_eq!(escaped(Path::new("a b/[x]*/.eluent")), b"a\\ b/\\[x\\]\\*/.eluent");
    }
}
