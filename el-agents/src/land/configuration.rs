//! Finds branches that change files which configure agents or start programs of a person.

use std::path::{Component, Path};

use super::plan::hold_refused;
use super::{LandItem, LandOutcome, Result};
use crate::git::{Git, GitError, Repository};

/// Files and folders, wherever they are in the tree: the tracker's configuration, what Claude Code
/// obeys, and the usual folders of git hooks.
const DECISIVE: [&str; 5] = [".eluent", ".claude", ".mcp.json", ".githooks", ".husky"];

const HOOKS: [&str; 2] = [".githooks", ".husky"];
const NAMES: [&str; 4] = ["diff", "--name-only", "--no-renames", "-z"];

/// Holds back the branches to be landed that change the configuration: a person has to allow each
/// landing of such a change.
///
/// # Errors
/// If git fails.
pub fn hold_configuration(
    repository: &Repository,
    onto: &str,
    items: &mut [LandItem],
) -> Result<()> {
    let hooks = hooks_folder(repository)?;
    let onto = format!("refs/heads/{onto}");
    for at in 0..items.len() {
        let item = &items[at];
        let (Some(tip), path) = (&item.tip, &item.path) else { continue };
        let changed = match (item.outcome, path) {
            (LandOutcome::ToLand, _) => {
                let range = format!("{onto}...{tip}");
                repository.git().ask(&[&NAMES[..], &[&range, "--"]].concat())
            }
            (LandOutcome::Uncommitted, Some(path)) => {
                list_decisive_changes(&Git::at(path), &onto, hooks.as_deref())
            }
            _ => continue,
        };
        let changed = match changed {
            Ok(changed) => changed,
            Err(error) => {
                hold_refused(items, at, error)?;
                continue;
            }
        };
        let item = &mut items[at];
        let decisive = |path: &&str| is_decisive(path, hooks.as_deref());
        let files: Vec<String> = changed.split('\0').filter(decisive).map(str::to_owned).collect();
        if !files.is_empty() {
            item.outcome = LandOutcome::ChangesConfiguration;
            item.detail = Some(files.join("\n"));
            item.files = files;
        }
    }
    Ok(())
}

/// Names the decisive files of a worktree that differ from the target. A commit there would run the
/// hooks of the worktree, so untracked hooks count too.
fn list_decisive_changes(git: &Git, onto: &str, hooks: Option<&str>) -> Result<String, GitError> {
    let tracked = git.ask(&[&NAMES[..], &["--merge-base", onto, "--"]].concat())?;
    let folders = HOOKS.iter().copied().chain(hooks);
    let words: Vec<&str> =
        ["ls-files", "--others", "-z", "--"].into_iter().chain(folders).collect();
    Ok([tracked, git.ask(&words)?].join("\0"))
}

/// Returns the folder of hooks that git's configuration names, below the top of the tree.
fn hooks_folder(repository: &Repository) -> Result<Option<String>> {
    let Some(named) = repository.git().ask_optional(&["config", "--get", "core.hooksPath"])? else {
        return Ok(None);
    };
    let path = Path::new(named.trim());
    let below = path.strip_prefix(repository.top()).unwrap_or(path);
    let plain: Vec<_> = below
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect();
    Ok(Some(plain.join("/")).filter(|path| !path.is_empty()))
}

/// File systems may ignore the case of names, so it does not count here.
fn is_decisive(path: &str, hooks: Option<&str>) -> bool {
    let is_named = |part: &str| DECISIVE.iter().any(|name| part.eq_ignore_ascii_case(name));
    let in_hooks = hooks.is_some_and(|hooks| Path::new(path).starts_with(hooks));
    path.split('/').any(is_named) || in_hooks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_is_found_wherever_it_is() {
        for path in [
            ".eluent/config.toml",
            "sub/.claude/settings.json",
            ".Claude/settings.local.json",
            ".mcp.json",
            ".mcp.json/odd",
            ".githooks/post-checkout",
            ".husky/pre-commit",
            "tools/hooks/pre-push",
        ] {
            assert!(is_decisive(path, Some("tools/hooks")), "{path}");
        }
        for path in ["src/main.rs", "docs/.claude.md", "mcp.json", "tools/hooks.md"] {
            assert!(!is_decisive(path, Some("tools/hooks")), "{path}");
        }
    }
}
