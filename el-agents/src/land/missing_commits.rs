//! Commits of an atom that are not on its branch here: another host has them, or the remote that
//! hosts share.

use el_core::{Store, ops};

use super::Result;
use crate::git::Repository;
use crate::run_files::{SHARED, TIP, is_in_worktree, other_host};

/// Says which commits the branch lacks; `None` if it has all commits that were handed in.
pub(super) fn find_missing(
    store: &Store,
    repository: &Repository,
    id: &str,
    branch: &str,
    tip: &str,
) -> Result<Option<String>> {
    if let Some(theirs) = repository.new_at_remote(id, tip)? {
        return Ok(Some(format!(
            "the remote has commits that the branch here lacks, up to {}: merge \
             refs/el/shared/{branch} in its worktree",
            short(&theirs)
        )));
    }
    if !store.is_on_server() {
        return Ok(None);
    }
    let runs = ops::list_attempts(store, id).unwrap_or_default();
    let Some(run) = runs.iter().rfind(|run| run.has_handed_in()) else { return Ok(None) };
    let known = run.supervisor.as_ref().and_then(|stamp| stamp.host());
    let host = known.unwrap_or("its host");
    let Some(wanted) = recorded_tip(store, &run.id)? else {
        let is_elsewhere = known.is_none() || other_host(run).is_some();
        return Ok((is_elsewhere && is_in_worktree(run, id)).then(|| {
            format!(
                "{host} has not told which commits {} handed in: run el work there, or if it is \
                 gone for good, el reopen {id} here",
                run.id
            )
        }));
    };
    if wanted.ends_with(SHARED) {
        // The host pushed this commit. The branch here has the remote's later commits, as checked
        // above.
        return Ok(None);
    }
    let is_known = repository.resolve_commit(&wanted)?.is_some();
    if is_known && repository.contains(tip, &wanted)? {
        return Ok(None);
    }
    Ok(Some(format!(
        "{} handed in {} on {host}, which the branch here lacks: git push there, then el land",
        run.id,
        short(&wanted)
    )))
}

/// The commit of a run's branch at the end of the run, as the run's host told the server.
fn recorded_tip(store: &Store, run: &str) -> Result<Option<String>> {
    let mut found = Vec::new();
    ops::read_run_file(store, (run, TIP), 0, |_, part| {
        found.extend_from_slice(part);
        Ok(())
    })?;
    let text = String::from_utf8(found).unwrap_or_default();
    Ok(Some(text.trim().to_owned()).filter(|commit| !commit.is_empty()))
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}
