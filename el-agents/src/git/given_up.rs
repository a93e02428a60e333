//! Gives up branches at a person's request. A reference keeps the work for a month.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::files::submodule_folders;
use super::repository::Repository;
use super::worktree_list::Worktree;
use super::{Git, Result};

/// Prefix of the references that keep the work: `<atom>/<seconds since 1970>` follows.
const KEPT: &str = "refs/el/given-up/";
/// The keeping time, in seconds.
const KEPT_FOR: i64 = 30 * 24 * 3600;

/// Removes a branch and its worktree with all content. The returned reference keeps the committed
/// work, and the uncommitted work that git would add. `put`: untracked files that el itself put
/// there. `now`: seconds since 1970.
///
/// # Errors
/// If git refuses. The branch is then still there.
pub fn give_up(
    repository: &Repository,
    tree: Option<&Worktree>,
    atom: &str,
    tip: &str,
    put: &[String],
    now: i64,
) -> Result<String> {
    let git = repository.git().without_hooks();
    let present = tree.filter(|tree| !tree.is_missing);
    let kept = present.map_or(Ok(tip.to_owned()), |tree| {
        let own = Git::at(&tree.path).in_own_checkout().without_hooks().as_committer();
        commit_all(repository, &own, atom, tip, put)
    })?;
    let name = format!("{KEPT}{atom}/{now}");
    git.ask(&["update-ref", &name, &kept])?;
    if let Some(tree) = tree {
        git.remove_worktree(&tree.path, &["--force"])?;
    }
    repository.delete_branch(atom, tip)?;
    Ok(name)
}

/// Commits the whole content of a worktree. The parents are the checked-out commit and the branch.
fn commit_all(
    repository: &Repository,
    own: &Git,
    atom: &str,
    tip: &str,
    put: &[String],
) -> Result<String> {
    add_all(own, put)?;
    let tree = own.ask(&["write-tree"])?;
    let head = own.ask(&["rev-parse", "HEAD"])?;
    if head == tip && tree == own.ask(&["rev-parse", &format!("{tip}^{{tree}}")])? {
        return Ok(tip.to_owned());
    }
    let message = format!("The work of {atom} when it was given up");
    let mut words = vec!["commit-tree", &tree, "-m", &message, "-p", &head];
    if !repository.contains(&head, tip)? {
        words.extend(["-p", tip]);
    }
    own.ask(&words)
}

/// Adds all files of a worktree to the index, except the files that el put there. Of a submodule,
/// only its commit is looked at: `git add` would run programs of the submodule's own configuration.
///
/// # Errors
/// If git fails.
pub(crate) fn add_all(git: &Git, put: &[String]) -> Result<()> {
    let submodules = submodule_folders(git)?;
    let mut words: Vec<OsString> = ["add", "--all", "--", "."].map(OsString::from).to_vec();
    // Git passes over an ignored file unless an argument names it, and refuses one that does.
    let ignored = match git.ask_with(&["check-ignore", "--stdin", "-z"], Some(&put.join("\0"))) {
        Err(error) if error.is_refusal() => String::new(),
        said => said?,
    };
    let put = put.iter().filter(|path| !ignored.split('\0').any(|one| one == path.as_str()));
    for path in put.map(Path::new).chain(submodules.iter().map(PathBuf::as_path)) {
        let mut word = OsString::from(":(exclude,top,literal)");
        word.push(path);
        words.push(word);
    }
    git.ask(&words)?;
    if submodules.is_empty() {
        return Ok(());
    }
    let words = ["update-index", "--remove", "--"].map(OsString::from).into_iter();
    git.ask(&words.chain(submodules.into_iter().map(Into::into)).collect::<Vec<_>>()).map(drop)
}

/// Drops work that was given up more than a month ago. Returns the names of the references.
///
/// # Errors
/// If git fails.
pub fn expire_given_up(repository: &Repository, now: i64, dry_run: bool) -> Result<Vec<String>> {
    let mut old = repository.refs_below(KEPT)?;
    old.retain(|(name, _)| {
        let since = name.rsplit('/').next().and_then(|text| text.parse::<i64>().ok());
        since.is_some_and(|since| now - since > KEPT_FOR)
    });
    if !dry_run && !old.is_empty() {
        let lines: String = old.iter().map(|(name, at)| format!("delete {name} {at}\n")).collect();
        repository.change_references(&lines)?;
    }
    Ok(old.into_iter().map(|(name, _)| name).collect())
}
