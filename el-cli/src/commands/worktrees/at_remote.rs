//! Atoms' branches at the remote that machines share, once their work has landed there.

use el_agents::git::{PushResult, Repository};
use el_core::{Error, Store, ops};

use super::target_branch;
use crate::{App, Result};

/// Deletes the branches of atoms that are over. Returns their names. A remote that does not answer
/// is told, and is no error.
pub(super) fn prune(
    app: &App,
    store: &Store,
    repository: &mut Repository,
    dry_run: bool,
) -> Result<Vec<String>> {
    let settings = app.settings()?;
    let Some(remote) = settings.shared_remote()? else { return Ok(Vec::new()) };
    // On no branch, nothing can be said to have landed.
    let Ok(onto) = target_branch(app, repository, None) else { return Ok(Vec::new()) };
    let fetched = repository
        .fetch_shared(&remote, &settings.branch_prefix()?)
        .and_then(|()| repository.landed_at_remote(&remote, &onto));
    let landed = match fetched {
        Ok(landed) => landed,
        Err(error) => {
            app.printer.warn(&format!("the branches at {remote} were left: {error}"));
            return Ok(Vec::new());
        }
    };
    let mut deleted = Vec::new();
    for shared in landed {
        if !is_done_with(store, &shared.atom)? {
            continue;
        }
        if dry_run {
            deleted.push(shared.branch);
            continue;
        }
        match repository.delete_shared(&remote, &shared) {
            Ok(PushResult::Pushed) => deleted.push(shared.branch),
            Ok(PushResult::Refused(why)) => {
                app.printer.warn(&format!("{} stays at {remote}: {why}", shared.branch));
            }
            Err(error) => {
                app.printer.warn(&format!("{} stays at {remote}: {error}", shared.branch));
            }
        }
    }
    Ok(deleted)
}

/// Returns true if an atom is over, no run works on it, and no pull request of its branch is open.
fn is_done_with(store: &Store, atom: &str) -> Result<bool> {
    let found = match ops::get_atom(store, atom) {
        Err(Error::NotFound { .. }) => return Ok(false),
        found => found?,
    };
    let pulls = ops::latest_pull_requests(store, &[atom])?;
    let is_live = pulls.iter().any(|pull| pull.state.is_live());
    Ok(found.status.is_over() && found.run_id.is_none() && !is_live)
}
