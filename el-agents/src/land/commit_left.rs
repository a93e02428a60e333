//! Commits the uncommitted work of agents at a person's request.

use el_core::Store;
use el_core::model::{Run, Summary};
use el_core::ops::{self, RunFilter};

use super::{LandError, LandItem, LandOutcome, LandSettings};
use crate::git::{Git, GitError, add_all};

/// Commits the changes in the worktree of each uncommitted branch. The summary of the atom's last
/// run is the message; the repository's hooks run as for any commit. Returns true if a commit was
/// made: the caller then looks at the branches again. If git refuses a commit, the item says why.
///
/// # Errors
/// If the store fails, or git cannot be run.
pub fn commit_left(
    store: &Store,
    settings: &LandSettings,
    items: &mut [LandItem],
) -> Result<bool, LandError> {
    let mut has_committed = false;
    for item in items.iter_mut().filter(|item| item.outcome == LandOutcome::Uncommitted) {
        let Some(path) = &item.path else { continue };
        let git = Git::at(path).in_own_checkout().as_committer();
        let message = commit_message(item, last_run(store, &item.atom_id)?.as_ref());
        let committed = add_all(&git, &settings.put_into_worktrees).and_then(|()| {
            git.ask_with(&["commit", "--quiet", "--cleanup=whitespace", "-F", "-"], Some(&message))
        });
        match committed {
            Ok(_) => has_committed = true,
            Err(GitError::Failed { said, .. }) => {
                item.detail = Some(format!("{}\ngit refused the commit: {said}", path.display()));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(has_committed)
}

fn last_run(store: &Store, atom: &str) -> Result<Option<Run>, LandError> {
    let filter = RunFilter { atom: Some(atom.to_owned()), limit: Some(1), ..RunFilter::default() };
    Ok(ops::runs(store, &filter)?.items.into_iter().next())
}

/// Composes the message: the atom's title, the work of the last run, and the atom's id.
fn commit_message(item: &LandItem, run: Option<&Run>) -> String {
    let title = item.title.as_deref().unwrap_or_default();
    let mut parts = vec![format!("{title}\n")];
    if let Some(summary) = run.and_then(|run| run.summary.as_ref()) {
        parts.extend(summary_parts(summary));
    }
    parts.push(format!("Atom: {}\n", item.atom_id));
    parts.join("\n")
}

fn summary_parts(summary: &Summary) -> impl Iterator<Item = String> {
    let bullets = |lines: &[String]| lines.iter().map(|line| format!("- {line}\n")).collect();
    let objective = summary.objective.as_ref().map(|text| format!("{text}\n"));
    [objective.unwrap_or_default(), bullets(&summary.accomplishments), bullets(&summary.notes)]
        .into_iter()
        .filter(|part: &String| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_what_the_summary_says() {
        let summary = Summary {
            objective: Some("Make it fast".to_owned()),
            accomplishments: vec!["Cached it".to_owned(), "Measured it".to_owned()],
            ..Summary::default()
        };
        assert_eq!(
            summary_parts(&summary).collect::<Vec<_>>(),
            ["Make it fast\n", "- Cached it\n- Measured it\n"]
        );
    }
}
