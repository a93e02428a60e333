//! Where pushes to a remote go, which may be another repository than the one that is fetched.

use super::RepoName;
use crate::git::{GitError, Repository};

/// The remote's name, or its address for pushes if that is of another repository. Two addresses of
/// one repository, such as https to read and ssh to push, count as the same.
///
/// # Errors
/// If git fails.
pub fn push_address(repository: &Repository, remote: &str) -> Result<String, GitError> {
    let Some((fetched, pushed)) = repository.remote_addresses(remote)? else {
        return Ok(remote.to_owned());
    };
    let is_same = pushed == fetched || {
        let [pushed, fetched] = [&pushed, &fetched].map(|url| RepoName::of_remote(url));
        pushed.zip(fetched).is_some_and(|(pushed, fetched)| pushed.is_same(&fetched))
    };
    Ok(if is_same { remote.to_owned() } else { pushed })
}
