//! Dependants that wait for merges wait for nothing where a branch has no commits of its own.

use std::path::Path;

use el_core::{Store, ops};

use crate::git::Repository;
use crate::pull_requests::PullError;

/// Lets the dependants of an atom go on once it is closed, if its branch has no commits. `folder`:
/// a folder in the repository.
pub(crate) fn open_without_commits(
    store: &mut Store,
    folder: &Path,
    atom: &str,
) -> Result<(), PullError> {
    if ops::waits_for_merge(store, atom)? {
        let repository = Repository::open_at(folder)?;
        if !repository.has_own_commits(atom)? {
            ops::forget_unmerged(store, atom)?;
        }
    }
    Ok(())
}
