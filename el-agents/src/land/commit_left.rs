//! Commits the uncommitted work of agents at a person's request.

use el_core::Store;
use el_core::model::{Run, Summary};
use el_core::ops::{self, RunFilter};

use super::{LandItem, LandOutcome, LandSettings, Result};
use crate::git::{Git, GitError, add_all};

/// Commits the changes in the worktree of each uncommitted branch. `message`, or else the summary
/// of the atom's last run, is the message; the repository's hooks run as for any commit. Returns
/// true if a commit was made: the caller then looks at the branches again. If git refuses a commit,
/// the item says why, and which message was tried.
///
/// # Errors
/// If the store fails, or git cannot be run.
pub fn commit_left(
    store: &Store,
    settings: &LandSettings,
    items: &mut [LandItem],
    message: Option<&str>,
) -> Result<bool> {
    let mut has_committed = false;
    for item in items.iter_mut().filter(|item| item.outcome == LandOutcome::Uncommitted) {
        let Some(path) = &item.path else { continue };
        let git = Git::at(path).in_own_checkout().as_committer();
        let text = match message {
            Some(message) => message.trim().to_owned(),
            None => match last_run(store, &item.atom_id)?.and_then(|run| run.summary) {
                Some(summary) => summary_text(&summary),
                None => String::new(),
            },
        };
        let text = commit_message(&text, item);
        let committed = add_all(&git, &settings.put_into_worktrees).and_then(|()| {
            git.ask_with(&["commit", "--quiet", "--cleanup=whitespace", "-F", "-"], Some(&text))
        });
        match committed {
            Ok(_) => has_committed = true,
            Err(GitError::Failed { said, .. }) => {
                let (path, subject) = (path.display(), text.lines().next().unwrap_or_default());
                item.detail = Some(format!(
                    "{path}\ngit refused the commit: {said}\nits message begins “{subject}”; \
                     --message gives another one"
                ));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(has_committed)
}

fn last_run(store: &Store, atom: &str) -> Result<Option<Run>> {
    let filter = RunFilter { atom: Some(atom.to_owned()), limit: Some(1), ..RunFilter::default() };
    Ok(ops::runs(store, &filter)?.items.into_iter().next())
}

/// Composes the message: the text, or else the atom's title, and the atom's id.
fn commit_message(text: &str, item: &LandItem) -> String {
    let text = if text.is_empty() { item.title.as_deref().unwrap_or_default() } else { text };
    format!("{text}\n\nAtom: {}\n", item.atom_id)
}

/// The summary: its objective, or else the first of its accomplishments, is the subject.
fn summary_text(summary: &Summary) -> String {
    let mut done = summary.accomplishments.iter();
    let subject = summary.objective.as_ref().or_else(|| done.next());
    let bullets = |lines: &mut dyn Iterator<Item = &String>| {
        lines.map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
    };
    let parts = [
        subject.map(|text| text.trim().to_owned()).unwrap_or_default(),
        bullets(&mut done),
        bullets(&mut summary.notes.iter()),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_what_the_summary_says() {
        let mut summary = Summary {
            objective: Some("Make it fast".to_owned()),
            accomplishments: vec!["Cached it".to_owned(), "Measured it".to_owned()],
            ..Summary::default()
        };
        assert_eq!(summary_text(&summary), "Make it fast\n\n- Cached it\n- Measured it");
        summary.objective = None;
        assert_eq!(summary_text(&summary), "Cached it\n\n- Measured it");
        assert_eq!(summary_text(&Summary::default()), "");
    }
}
