//! The final step of `el land`: moves the target branch, and the files of its checkout, or neither.
//!
//! `git merge --ff-only` moves the files, the index and the branch. A lock, a hook, a full disk or
//! a filter may stop git half-way; the files are then put back at once. A note in the checkout's
//! git folder records the move, so that a later process can put the files back after an `el land`
//! was killed.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::call::{failed_call, retry_while_locked};
use super::error::HalfMoved;
use super::files::{Difference, Rollback, first_names};
use super::repository::{Repository, is_being_rebased};
use super::worktree_list::{Worktree, status_lines};
use super::{Git, GitError, Result};

/// The note's name.
const NOTE: &str = "el-landing";

/// A branch that the new tip of the target contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandedBranch {
    pub atom: String,
    /// The tip of the branch itself.
    pub tip: String,
    /// The commit of the target that contains the branch.
    pub commit: String,
}

/// How moving the target ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdvanceResult {
    Moved,
    /// The target was not moved, for the given reason.
    Held(String),
}

/// Returns the reason why the target cannot be moved now, if there is a visible reason. `own` is a
/// file that el itself changes; changes of that file are ignored.
///
/// # Errors
/// If git fails.
pub fn find_obstacle(repository: &Repository, target: &str, own: &Path) -> Result<Option<String>> {
    let worktrees = repository.worktrees()?;
    let mut checkouts = worktrees.iter().filter(|tree| tree.is_checkout_of(target));
    let Some(tree) = checkouts.next() else {
        let is_moving = is_being_rebased(&worktrees, target)?;
        return Ok(is_moving.then(|| {
            format!("a rebase of {target} is under way; git rebase --continue or --abort ends it")
        }));
    };
    if checkouts.next().is_some() {
        return Ok(Some(format!(
            "{target} is checked out in more than one worktree; git worktree list shows them"
        )));
    }
    let git = Git::at(&tree.path);
    let own = own.canonicalize().unwrap_or_else(|_| own.to_owned());
    // A landing moves the commit of a submodule, and leaves the submodule's own checkout as it is.
    let is_submodule = |line: &&String| {
        line.strip_prefix(" M ").is_some_and(|path| {
            tree.path.join(path).symlink_metadata().is_ok_and(|found| found.is_dir())
        })
    };
    let changed: Vec<PathBuf> = status_lines(&git, false, &[])?
        .iter()
        .filter(|line| !is_submodule(line))
        .filter_map(|line| line.get(3..).map(PathBuf::from))
        .filter(|path| tree.path.join(path).canonicalize().ok().as_ref() != Some(&own))
        .collect();
    let at = format!("{target} is checked out in {}", tree.path.display());
    if let Some((what, end)) = operation_under_way(&git)? {
        return Ok(Some(format!("{at}, where a {what} is under way; {end} ends it")));
    }
    let noun = if changed.len() == 1 { "file has" } else { "files have" };
    Ok((!changed.is_empty()).then(|| {
        format!(
            "{at}, where {} {noun} changes that are not committed: {}",
            changed.len(),
            first_names(&changed)
        )
    }))
}

/// Returns the operation that a person has begun in a checkout and not ended, with the command that
/// ends the operation.
fn operation_under_way(git: &Git) -> Result<Option<(&'static str, &'static str)>> {
    let own = git.own_folder()?;
    let signs = [
        ("MERGE_HEAD", "merge", "git merge --continue or --abort"),
        ("CHERRY_PICK_HEAD", "cherry-pick", "git cherry-pick --continue or --abort"),
        ("REVERT_HEAD", "revert", "git revert --continue or --abort"),
        ("rebase-merge", "rebase", "git rebase --continue or --abort"),
        ("rebase-apply", "rebase", "git rebase --continue or --abort"),
        ("BISECT_LOG", "bisect", "git bisect reset"),
    ];
    Ok(signs
        .into_iter()
        .find(|(name, ..)| own.join(name).exists())
        .map(|(_, what, end)| (what, end)))
}

/// Returns the reason why the checkout of the target cannot take the files of a branch, which moves
/// it from `old` to `new`: files that no commit has are in the way.
///
/// # Errors
/// If git fails.
pub fn find_files_in_the_way(
    repository: &Repository,
    target: &str,
    old: &str,
    new: &str,
) -> Result<Option<String>> {
    let Some(tree) = repository.checkout_of(target)? else {
        return Ok(None);
    };
    let files = Difference::between(&Git::at(&tree.path), old, new)?.files_in_the_way();
    Ok((!files.is_empty()).then(|| {
        format!(
            "{} has files that no commit has and that this branch brings too: {}; commit them or \
             move them away",
            tree.path.display(),
            first_names(&files)
        )
    }))
}

/// Moves the target branch from `old` to `new`, with the files of its checkout. `own`: as for
/// [`find_obstacle`].
///
/// # Errors
/// If git fails otherwise, or a half-done move could not be undone; the error then describes the
/// state.
pub fn advance_branch(
    repository: &Repository,
    target: &str,
    old: &str,
    new: &str,
    own: &Path,
) -> Result<AdvanceResult> {
    if old == new {
        return Ok(AdvanceResult::Moved);
    }
    if let Some(why) = find_obstacle(repository, target, own)? {
        return Ok(AdvanceResult::Held(why));
    }
    if let Some(tree) = repository.checkout_of(target)? {
        return Move::new(repository, &tree, target, old, new)?.fast_forward();
    }
    let branch = format!("refs/heads/{target}");
    let words = ["update-ref", "--create-reflog", "-m", "el land", &branch, new, old];
    match repository.git().without_hooks().ask(&words) {
        Err(GitError::Failed { said, .. }) => Ok(AdvanceResult::Held(said)),
        done => done.map(|_| AdvanceResult::Moved),
    }
}

/// Undoes the move that a killed `el land` has begun in the checkout of this branch. The caller
/// holds the landing lock.
///
/// # Errors
/// If the move cannot be undone; the error describes the state.
pub fn recover_move(repository: &Repository, target: &str) -> Result<()> {
    let Some(tree) = repository.checkout_of(target)? else {
        return Ok(());
    };
    let git = Git::at(&tree.path).in_own_checkout();
    let note = note_path(&git)?;
    let Ok(text) = fs::read_to_string(&note) else { return Ok(()) };
    let words: Vec<&str> = text.lines().collect();
    if words.first() == Some(&target) {
        // Git may still be at work after el was killed.
        retry_while_locked(|| match find_locks(&git, target)? {
            locks if locks.is_empty() => Ok(()),
            locks => Err(GitError::Left(locks)),
        })?;
    }
    if let [branch, old, new] = words[..]
        && branch == target
        && repository.branch_tip(target)?.as_deref() == Some(old)
        && repository.resolve_commit(new)?.is_some()
    {
        let begun = Move::new(repository, &tree, target, old, new)?;
        return begun.roll_back("an el land was killed while it moved them");
    }
    // The move had ended, or a person has moved on since.
    remove_note(&note)
}

/// The arguments of a fast-forward that ignores the configuration. Git may not overwrite ignored
/// files, stop before the branch moves, or start another operation.
const MERGE: [&str; 10] = [
    "merge",
    "--quiet",
    "--ff-only",
    "--no-overwrite-ignore",
    "--no-squash",
    "--commit",
    "--no-edit",
    "--no-stat",
    "--no-autostash",
    "--no-verify-signatures",
];

/// The move of a checked-out branch, with the files of the checkout.
struct Move<'a> {
    repository: &'a Repository,
    git: Git,
    target: &'a str,
    old: &'a str,
    new: &'a str,
    difference: Difference,
    note: PathBuf,
}

impl<'a> Move<'a> {
    fn new(
        repository: &'a Repository,
        tree: &Worktree,
        target: &'a str,
        old: &'a str,
        new: &'a str,
    ) -> Result<Move<'a>> {
        // The checkout belongs to a person, and so do its hooks.
        let git = Git::at(&tree.path).in_own_checkout().logged_as("el land");
        let difference = Difference::between(&git, old, new)?;
        let note = note_path(&git)?;
        Ok(Move { repository, git, target, old, new, difference, note })
    }

    fn fast_forward(&self) -> Result<AdvanceResult> {
        let (target, at) = (self.target, self.git.folder().display());
        let held = |why: String| {
            Ok(AdvanceResult::Held(format!("{target} is checked out in {at}: {why}")))
        };
        if let Some(why) = self.difference.describe_obstacle()? {
            return held(why);
        }
        match retry_while_locked(|| self.merge_or_roll_back()) {
            Ok(()) => Ok(AdvanceResult::Moved),
            Err(GitError::Failed { said, .. }) => held(said),
            Err(error) => Err(error),
        }
    }

    /// Moves the branch and all files, or puts everything back.
    fn merge_or_roll_back(&self) -> Result<()> {
        // With a lock in the way, git would move the files and then stop.
        let locks = find_locks(&self.git, self.target)?;
        if let Some(lock) = locks.iter().find(|lock| !lock.ends_with("packed-refs.lock")) {
            return Err(GitError::Locked(format!("'{}' is there", lock.display())));
        }
        write_note(&self.note, &format!("{}\n{}\n{}\n", self.target, self.old, self.new))?;
        let words = [&MERGE[..], &[self.new]].concat();
        let ran = self.git.run_once(&words, None, usize::MAX);
        let tip = self.repository.branch_tip(self.target)?;
        // A hook that fails after the move, or a late time-out, does not matter.
        if tip.as_deref() == Some(self.new) {
            return remove_note(&self.note);
        }
        let error = ran.map_or_else(|error| error, |ran| failed_call(&words, &ran));
        if tip.as_deref() == Some(self.old) {
            self.roll_back(&error.to_string())?;
        } else {
            // The branch has new commits: git refused the fast-forward and moved nothing.
            remove_note(&self.note)?;
        }
        Err(error)
    }

    /// Puts the files back. If that fails, the error says what a person can do. `why`: the reason
    /// why the move failed.
    fn roll_back(&self, why: &str) -> Result<()> {
        let which = match self.difference.roll_back() {
            Ok(Rollback::Done) => return remove_note(&self.note),
            Ok(Rollback::Changed(paths)) => format!("somebody has changed {}", first_names(&paths)),
            Err(error) => error.to_string(),
        };
        Err(GitError::from(Box::new(HalfMoved {
            at: self.git.folder().to_owned(),
            target: self.target.to_owned(),
            old: self.old.to_owned(),
            new: self.new.to_owned(),
            why: why.to_owned(),
            which,
        })))
    }
}

/// Lists the locks that hinder a move, or that git holds during a move. The holder of a lock is
/// unknown, so no lock is removed here.
fn find_locks(git: &Git, target: &str) -> Result<Vec<PathBuf>> {
    let branch = format!("refs/heads/{target}.lock");
    let names = ["index.lock", "HEAD.lock", &branch, "packed-refs.lock"];
    let mut words = vec!["rev-parse"];
    words.extend(names.iter().flat_map(|name| ["--git-path", name]));
    let said = git.ask(&words)?;
    let paths = said.lines().map(|path| git.folder().join(path));
    Ok(paths.filter(|path| path.exists()).collect())
}

fn note_path(git: &Git) -> Result<PathBuf> {
    Ok(git.own_folder()?.join(NOTE))
}

fn write_note(note: &Path, text: &str) -> Result<()> {
    let write = || {
        let mut file = fs::File::create(note)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(super::error::file_error("write", note))
}

fn remove_note(note: &Path) -> Result<()> {
    match fs::remove_file(note) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(super::error::file_error("take away", note)(error))
        }
        _ => Ok(()),
    }
}

/// Records landed branches for [`Repository::has_landed`], and what each had taken from the target,
/// which was at `before`. Without the record, a landed branch is recognised only by its commits and
/// their changes.
///
/// # Errors
/// If git refuses.
pub fn note_landed(repository: &Repository, before: &str, landed: &[LandedBranch]) -> Result<()> {
    let git = repository.git().without_hooks();
    let mut change = String::new();
    for LandedBranch { atom, tip, commit } in landed {
        change.push_str(&format!("update refs/el/brought/{atom}/{tip}/{commit} {commit}\n"));
        let name = format!("refs/el/taken/{atom}/{tip}");
        let taken = git.ask_optional(&["merge-base", before, tip])?;
        // Work that lands again after a revert of its revert was in the target before.
        if let Some(taken) = taken.filter(|taken| taken != tip)
            && repository.refs_below(&name)?.is_empty()
        {
            change.push_str(&format!("update {name} {taken}\n"));
        }
    }
    repository.change_references(&change)
}

/// Lists, with advice, the submodule commits that the new commit names and that may exist in a
/// worktree alone. Others could not fetch these commits.
///
/// # Errors
/// If git fails.
pub fn unpublished_submodules(
    repository: &Repository,
    old: &str,
    new: &str,
    worktree: Option<&Path>,
) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (path, commit) in Difference::between(repository.git(), old, new)?.changed_submodules() {
        let here = |top: &Path| Some(top.join(path)).filter(|folder| folder.join(".git").exists());
        let Some(theirs) = worktree.and_then(here) else { continue };
        let is_here = here(repository.top()).is_some_and(|folder| {
            Git::at(&folder)
                .ask_optional(&["cat-file", "-e", &format!("{commit}^{{commit}}")])
                .is_ok_and(|said| said.is_some())
        });
        let is_public = || {
            let said =
                Git::in_nested(&theirs).ask_optional(&["branch", "-r", "--contains", commit]);
            said.is_ok_and(|said| said.is_some_and(|said| !said.is_empty()))
        };
        if !is_here && !is_public() {
            let (name, at) = (path.display(), theirs.display());
            found.push(format!(
                "the submodule {name} is at {commit}, which is in {at} alone: push it from there, \
                 or git -C {} fetch {at} {commit}",
                repository.top().join(path).display()
            ));
        }
    }
    Ok(found)
}
