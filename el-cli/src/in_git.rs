//! Files of the tracker that got into git: a checkout replaces such files, ignored or not.

use el_agents::git::Git;
use el_core::ops::Finding;

use crate::output::sanitize;
use crate::project::{Project, STATE_FOLDER};
use crate::{CommandError, Result};

/// The most files that are named.
const NAMED: usize = 4;

/// Finds the tracker's files that git tracks, in the index or in the last commit. Empty without
/// git, outside of a repository, and in a bare repository.
pub(crate) fn find_tracked(project: &Project) -> Option<Finding> {
    if project.state.file_name().is_none_or(|name| name != STATE_FOLDER) {
        return None;
    }
    let git = Git::at(&project.state);
    let staged = git.ask(&["ls-files", "--", "."]).ok()?;
    // Fails where there is no commit yet.
    let committed =
        git.ask(&["ls-tree", "-r", "--name-only", "HEAD", "--", "."]).unwrap_or_default();
    let [staged, committed] = [&staged, &committed].map(|listed| -> Vec<&str> {
        listed.lines().filter(|file| *file != "config.toml").collect()
    });
    let mut files = [&staged[..], &committed].concat();
    files.sort_unstable();
    files.dedup();
    if files.is_empty() {
        return None;
    }
    let place = match (staged.is_empty(), committed.is_empty()) {
        (false, true) => "its index",
        (true, _) => "its last commit",
        (false, false) => "its index and its last commit",
    };
    let mut named = files.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    if files.len() > NAMED {
        named.push_str(&format!(" and {} more", files.len() - NAMED));
    }
    let folder = sanitize::path_line(&project.root);
    Some(Finding {
        code: "in_git",
        serious: files.iter().any(|file| file.starts_with("el.db")),
        message: format!(
            "git has files of the tracker in {place}: {named}; the next checkout can replace them"
        ),
        hint: format!(
            "cd {folder} && git rm -r -q --cached --ignore-unmatch {STATE_FOLDER} && \
             git add -A {STATE_FOLDER} && git commit -m 'Keep the tracker out of git'; \
             older commits keep the files, and a checkout of one replaces the tracker"
        ),
    })
}

/// Refuses a database that git tracks. A clone brings commands, folders and variables along that no
/// person here has chosen.
///
/// # Errors
/// If git has the database in the index or in the last commit.
pub(crate) fn ensure_untracked(project: &Project) -> Result<()> {
    match find_tracked(project) {
        Some(found) if found.serious => {
            let hint = format!(
                "{}; if it came with a clone, remove it and run el init; if it is yours: {}",
                project.db.display(),
                found.hint
            );
            Err(CommandError::refused("unsafe_tracker", found.message).with_hint(hint))
        }
        _ => Ok(()),
    }
}
