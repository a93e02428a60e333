//! Decides which worktrees and branches may be removed.

use std::path::PathBuf;

use el_agents::git::{self, Repository, Worktree};
use el_agents::land::{AtomBranch, LandSettings};
use schemars::JsonSchema;
use serde::Serialize;

use super::find_repository;
use crate::{App, Result};

/// A branch that stays, and why.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Kept<'a> {
    #[serde(flatten)]
    pub(super) branch: &'a AtomBranch,
    pub(super) reason: String,
    /// Files that would be lost although git reports no change.
    would_lose: Vec<String>,
}

/// Facts that are looked up once for all branches.
pub(super) struct Removal {
    pub(super) repository: Repository,
    pub(super) settings: LandSettings,
    worktrees: Vec<Worktree>,
    folder: PathBuf,
}

impl Removal {
    pub(super) fn new(app: &App) -> Result<Removal> {
        let repository = find_repository(app)?;
        let settings = app.settings()?.land_settings()?;
        let worktrees = repository.worktrees()?;
        let folder = settings.worktrees.canonicalize();
        let folder = folder.unwrap_or_else(|_| settings.worktrees.clone());
        Ok(Removal { repository, settings, worktrees, folder })
    }

    /// The worktree that has the branch checked out.
    fn checkout_of(&self, branch: &AtomBranch) -> Option<&Worktree> {
        self.worktrees.iter().find(|tree| tree.branch.as_deref() == Some(&branch.branch))
    }

    /// The worktree of the atom, in any checkout.
    pub(super) fn worktree_of(&self, branch: &AtomBranch) -> Option<&Worktree> {
        self.worktrees.iter().find(|tree| branch.path.as_ref() == Some(&tree.path))
    }

    /// Why the branch is not to be taken away; `ignored`: files that git ignores may go.
    pub(super) fn why_kept<'a>(
        &self,
        branch: &'a AtomBranch,
        ignored: bool,
    ) -> Result<Option<Kept<'a>>> {
        let (mut reason, mut would_lose) = (reason_to_keep(branch), Vec::new());
        if reason.is_none()
            && let Some(tree) = self.checkout_of(branch)
        {
            if !tree.is_made_by_el(&self.folder.join(&branch.atom_id)) {
                reason = Some("its worktree was not made by el".to_owned());
            } else if let Some((said, found)) = self.nested_repositories(tree)? {
                (reason, would_lose) = (Some(said), found);
            } else if !ignored {
                let put = &self.settings.put_into_worktrees;
                would_lose = tree.would_lose(self.repository.top(), put)?;
                reason = (!would_lose.is_empty()).then(|| describe_ignored(&would_lose));
            }
        }
        Ok(reason.map(|reason| Kept { branch, reason, would_lose }))
    }

    /// The repositories in a worktree whose commits may exist nowhere else, in words and by name.
    pub(super) fn nested_repositories(
        &self,
        tree: &Worktree,
    ) -> Result<Option<(String, Vec<String>)>> {
        let found = tree.nested_repositories(self.repository.top())?;
        let names = found.join(", ");
        Ok((!found.is_empty()).then(|| {
            let said = format!(
                "repositories in it have commits that may be nowhere else: {names}; push them, or \
                 move them away"
            );
            (said, found)
        }))
    }

    /// Removes the worktree and the branch. Git has the last word, and refuses to lose later
    /// changes.
    pub(super) fn remove_branch<'a>(&self, branch: &'a AtomBranch) -> Option<Kept<'a>> {
        let (tree, put) = (self.checkout_of(branch), &self.settings.put_into_worktrees);
        let removed =
            git::remove_worktree(&self.repository, tree, &branch.atom_id, &branch.tip, put);
        let error = removed.err()?;
        Some(Kept { branch, reason: error.to_string(), would_lose: Vec::new() })
    }
}

/// The reason why the branch is still needed; `None` if the branch may be removed.
fn reason_to_keep(branch: &AtomBranch) -> Option<String> {
    if branch.live {
        return Some("a run is at work in it".to_owned());
    }
    match branch.status {
        None => return Some("the tracker does not know its atom".to_owned()),
        Some(status) if !status.is_over() => return Some(format!("its atom is {status}")),
        Some(_) => {}
    }
    if !branch.ours {
        return Some("its branch was not made by el".to_owned());
    }
    if let Some(why) = branch.describe_stray() {
        return Some(why);
    }
    if !branch.uncommitted.is_empty() {
        return Some(format!(
            "{} of its files have changes that are not committed",
            branch.uncommitted.len()
        ));
    }
    if let Some(why) = branch.describe_revert() {
        return Some(why);
    }
    if !branch.landed && branch.commits > 0 {
        return Some("it has commits that have not landed".to_owned());
    }
    None
}

fn describe_ignored(paths: &[String]) -> String {
    let first = paths.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if paths.len() > 3 { ", …" } else { "" };
    format!(
        "git does not look at these, and they would be lost: {first}{more}; with --ignored they \
         go too"
    )
}
