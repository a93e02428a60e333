//! The worktrees that git lists, and their uncommitted changes.

use std::path::PathBuf;

use super::{Git, Result};

/// A worktree of the repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Worktree {
    pub path: PathBuf,
    /// The branch, in short; `None`: a detached HEAD.
    pub branch: Option<String>,
    /// The folder is not there any more.
    pub is_missing: bool,
    pub is_bare: bool,
    /// Git was interrupted while making the worktree.
    pub is_half_made: bool,
    /// A person has locked it.
    pub is_locked: bool,
}

impl Worktree {
    /// Returns true if the folder is there and has the branch checked out.
    pub(crate) fn is_checkout_of(&self, branch: &str) -> bool {
        !self.is_missing && self.branch.as_deref() == Some(branch)
    }

    /// Lists the uncommitted changes, by git as it is called elsewhere, with its deadline. `but`
    /// names untracked files that el itself put there.
    ///
    /// # Errors
    /// If git fails, or takes too long.
    pub fn uncommitted_changes(&self, git: &Git, but: &[String]) -> Result<Vec<String>> {
        match self.is_missing {
            true => Ok(Vec::new()),
            false => status_lines(&git.in_folder(&self.path), true, but),
        }
    }
}

/// Returns the lines of `git status` about uncommitted files. `but` names untracked files that el
/// itself put there.
///
/// # Errors
/// If git fails.
pub(super) fn status_lines(git: &Git, untracked: bool, but: &[String]) -> Result<Vec<String>> {
    let all = if untracked { "--untracked-files=all" } else { "--untracked-files=no" };
    // Git would look for changes in a submodule with the programs of the submodule's own
    // configuration, and an agent may have written that. A submodule's other commit is told.
    let words = ["status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty", all];
    let said = git.ask(&words)?;
    let is_ours = |line: &str| {
        line.strip_prefix("?? ").is_some_and(|path| but.iter().any(|ours| is_below(path, ours)))
    };
    Ok(said
        .split('\0')
        .filter(|line| !line.is_empty() && !is_ours(line))
        .map(str::to_owned)
        .collect())
}

/// Returns true if a path equals this file or folder, or lies below.
pub(super) fn is_below(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.trim_end_matches('/') == folder
        || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

pub(super) fn parse_worktrees(text: &str) -> Vec<Worktree> {
    let mut found: Vec<Worktree> = Vec::new();
    for line in text.split('\0') {
        if let Some(path) = line.strip_prefix("worktree ") {
            let path = PathBuf::from(path);
            found.push(Worktree { is_missing: !path.is_dir(), path, ..Worktree::default() });
        } else if let Some(last) = found.last_mut() {
            match line.split_once(' ') {
                Some(("branch", name)) => {
                    last.branch = Some(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned())
                }
                None if line == "bare" => last.is_bare = true,
                Some(("locked", "initializing")) => last.is_half_made = true,
                None if line == "locked" => last.is_locked = true,
                Some(("locked", _)) => last.is_locked = true,
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::GitError;
    use super::super::test_shop::Shop;
    use super::*;

    #[test]
    fn a_look_at_a_worktree_ends_at_the_deadline() {
        let shop = Shop::new(&[(".gitattributes", "file filter=slow\n"), ("file", "one\n")]);
        shop.git(&["config", "filter.slow.clean", "sleep 60"]);
        let path = shop.repository.top().to_owned();
        // Of the same length, so that git has to read it.
        std::fs::write(path.join("file"), "two\n").unwrap();
        let tree = Worktree { path, ..Worktree::default() };
        let git = shop.repository.git().with_deadline(Instant::now() + Duration::from_millis(300));
        let asked = tree.uncommitted_changes(&git, &[]);
        assert!(matches!(asked, Err(GitError::TimedOut { .. })), "{asked:?}");
    }
}
