//! The one step of `el land` that anybody sees: the target moves, and with it the files where it is
//! checked out. Or nothing does.
//!
//! Git first promises to move the reference: its lock is held and its hooks have agreed. Then the
//! files move, then git keeps its word. What fails in between is put back at once. A note in the
//! checkout's git folder says what was begun, so that whoever comes after one that was killed can
//! put it back.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::call::unlocked;
use super::error::HalfMoved;
use super::files::{Difference, PutBack};
use super::promise::Promise;
use super::repository::{Repository, Worktree, changes};
use super::{Git, GitError};

/// The note's name.
const NOTE: &str = "el-landing";

/// A branch that the new tip of the target has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brought {
    pub atom: String,
    /// The branch's own.
    pub tip: String,
    /// The commit of the target that has it.
    pub commit: String,
}

/// What became of the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advanced {
    Moved,
    /// It stays as it was, and this is why.
    Held(String),
}

/// Why the target could not be moved as things are, if that can be seen. `own`: a file that el
/// itself changes, and that may have changes.
///
/// # Errors
/// If git fails.
pub fn held(repository: &Repository, target: &str, own: &Path) -> Result<Option<String>, GitError> {
    let Some(tree) = repository.checkout_of(target)?.filter(|tree| !tree.is_missing) else {
        let is_moving = repository.is_being_rebased(target)?;
        return Ok(is_moving.then(|| {
            format!("a rebase of {target} is under way; git rebase --continue or --abort ends it")
        }));
    };
    if repository
        .worktrees()?
        .iter()
        .filter(|tree| !tree.is_missing && tree.branch.as_deref() == Some(target))
        .count()
        > 1
    {
        return Ok(Some(format!(
            "{target} is checked out in more than one worktree; git worktree list shows them"
        )));
    }
    let git = Git::at(&tree.path);
    let own = own.canonicalize().unwrap_or_else(|_| own.to_owned());
    let changed: Vec<PathBuf> = changes(&git, false, &[])?
        .iter()
        .filter_map(|line| line.get(3..).map(PathBuf::from))
        .filter(|path| tree.path.join(path).canonicalize().ok().as_ref() != Some(&own))
        .collect();
    let at = format!("{target} is checked out in {}", tree.path.display());
    if let Some((what, end)) = under_way(&git)? {
        return Ok(Some(format!("{at}, where a {what} is under way; {end} ends it")));
    }
    let noun = if changed.len() == 1 { "file has" } else { "files have" };
    Ok((!changed.is_empty()).then(|| {
        format!(
            "{at}, where {} {noun} changes that are not committed: {}",
            changed.len(),
            names(&changed)
        )
    }))
}

/// What a person has begun in a checkout and not ended, and what ends it.
fn under_way(git: &Git) -> Result<Option<(&'static str, &'static str)>, GitError> {
    let own = PathBuf::from(git.ask(&["rev-parse", "--absolute-git-dir"])?);
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

/// Moves the target branch from `old` to `new`, with its files where it is checked out. `own`: as
/// for [`held`].
///
/// # Errors
/// If git fails otherwise, or what had been begun could not be put back: the error says what is so
/// now.
pub fn advance(
    repository: &Repository,
    target: &str,
    old: &str,
    new: &str,
    own: &Path,
) -> Result<Advanced, GitError> {
    if old == new {
        return Ok(Advanced::Moved);
    }
    if let Some(why) = held(repository, target, own)? {
        return Ok(Advanced::Held(why));
    }
    let change = format!("update refs/heads/{target} {new} {old}\n");
    match repository.checkout_of(target)?.filter(|tree| !tree.is_missing) {
        Some(tree) => with_files(repository, &tree, target, old, new),
        None => match Promise::ask(&repository.git().without_hooks(), "el land", &change)
            .and_then(Promise::keep)
        {
            Err(GitError::Failed { said, .. }) => Ok(Advanced::Held(said)),
            done => done.map(|()| Advanced::Moved),
        },
    }
}

fn with_files(
    repository: &Repository,
    tree: &Worktree,
    target: &str,
    old: &str,
    new: &str,
) -> Result<Advanced, GitError> {
    // The checkout is a person's: so are its hooks.
    let git = Git::at(&tree.path).in_own_checkout();
    let at = |why: &str| {
        Advanced::Held(format!("{target} is checked out in {}: {why}", tree.path.display()))
    };
    let difference = Difference::between(&git, old, new)?;
    let there = difference.in_the_way()?;
    if !there.is_empty() {
        return Ok(at(&format!(
            "files that no commit has would be overwritten: {}",
            names(&there)
        )));
    }
    if let Some(why) = difference.refused()? {
        return Ok(at(&why));
    }
    let promise =
        match Promise::ask(&git, "el land", &format!("update refs/heads/{target} {new} {old}\n")) {
            Ok(promise) => promise,
            Err(GitError::Failed { said, .. }) => return Ok(at(&said)),
            Err(error) => return Err(error),
        };
    let note = note_of(&git)?;
    write(&note, &format!("{target}\n{old}\n{new}\n"))?;
    let failed = match difference.apply() {
        Ok(()) => promise.keep().err(),
        // Dropped: nothing is promised any more.
        Err(error) => Some(error),
    };
    // Git may have done it all the same.
    if let Some(error) =
        failed.filter(|_| repository.tip(target).ok().flatten().as_deref() != Some(new))
    {
        undo(&difference, &note, tree, target, old, new, &error.to_string())?;
        return match error {
            GitError::Failed { said, .. } => Ok(at(&said)),
            error => Err(error),
        };
    }
    forget(&note)?;
    // As after a merge by hand. That it fails says nothing to git either.
    let _ = git.maybe(&["hook", "run", "--ignore-missing", "post-merge", "--", "0"]);
    Ok(Advanced::Moved)
}

/// Puts back what a killed one has begun where this branch is checked out. The caller holds the
/// lock that makes it the only one.
///
/// # Errors
/// If that cannot be done: the error says what is so now.
pub fn recover(repository: &Repository, target: &str) -> Result<(), GitError> {
    let Some(tree) = repository.checkout_of(target)?.filter(|tree| !tree.is_missing) else {
        return Ok(());
    };
    let git = Git::at(&tree.path).in_own_checkout();
    let note = note_of(&git)?;
    let Ok(text) = fs::read_to_string(&note) else { return Ok(()) };
    let words: Vec<&str> = text.lines().collect();
    if words.first() == Some(&target) {
        // Git may still be at work though el is gone.
        unlocked(|| left(&git, target))?;
    }
    if let [branch, old, new] = words[..]
        && branch == target
        && repository.tip(target)?.as_deref() == Some(old)
        && repository.commit(new)?.is_some()
    {
        let difference = Difference::between(&git, old, new)?;
        return undo(
            &difference,
            &note,
            &tree,
            target,
            old,
            new,
            "an el land was killed while it moved them",
        );
    }
    // It had ended, or a person has moved on from there.
    forget(&note)
}

/// The locks that git holds during a move. Which git holds them nobody can tell for sure, so none
/// is taken away here.
fn left(git: &Git, target: &str) -> Result<(), GitError> {
    let names = [
        "index.lock".to_owned(),
        "HEAD.lock".to_owned(),
        format!("refs/heads/{target}.lock"),
        "packed-refs.lock".to_owned(),
    ];
    let mut found = Vec::new();
    for name in names {
        let path = git.folder().join(git.ask(&["rev-parse", "--git-path", &name])?);
        if path.exists() && !found.contains(&path) {
            found.push(path);
        }
    }
    if found.is_empty() { Ok(()) } else { Err(GitError::Left(found)) }
}

/// Puts the files back, and says what to do if they cannot be.
fn undo(
    moved: &Difference,
    note: &Path,
    tree: &Worktree,
    target: &str,
    old: &str,
    new: &str,
    why: &str,
) -> Result<(), GitError> {
    let half = |which: String| {
        let (target, old, new, why) =
            (target.to_owned(), old.to_owned(), new.to_owned(), why.to_owned());
        GitError::from(Box::new(HalfMoved { at: tree.path.clone(), target, old, new, why, which }))
    };
    match moved.put_back() {
        Ok(PutBack::Done) => forget(note),
        Ok(PutBack::Changed(paths)) => Err(half(format!("somebody has changed {}", names(&paths)))),
        Err(error) => Err(half(error.to_string())),
    }
}

fn note_of(git: &Git) -> Result<PathBuf, GitError> {
    Ok(PathBuf::from(git.ask(&["rev-parse", "--absolute-git-dir"])?).join(NOTE))
}

fn write(note: &Path, text: &str) -> Result<(), GitError> {
    let write = || {
        let mut file = fs::File::create(note)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(super::worktree::fault("write", note))
}

fn forget(note: &Path) -> Result<(), GitError> {
    match fs::remove_file(note) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(super::worktree::fault("take away", note)(error))
        }
        _ => Ok(()),
    }
}

/// The first few.
fn names(paths: &[PathBuf]) -> String {
    let first: Vec<String> = paths.iter().take(5).map(|path| path.display().to_string()).collect();
    let more =
        if paths.len() > 5 { format!(" and {} more", paths.len() - 5) } else { String::new() };
    format!("{}{more}", first.join(", "))
}

/// Notes what landed, for [`Repository::has_landed`]. Without it the branch is looked for by its
/// commits and what they change.
///
/// # Errors
/// If git refuses.
pub fn note_landed(repository: &Repository, landed: &[Brought]) -> Result<(), GitError> {
    let mut change = String::from("start\n");
    for Brought { atom, tip, commit } in landed {
        change.push_str(&format!("update refs/el/brought/{atom}/{tip}/{commit} {commit}\n"));
    }
    let git = repository.git().without_hooks();
    git.ask_with(&["update-ref", "--stdin"], Some(&(change + "prepare\ncommit\n"))).map(drop)
}

/// The commits of submodules that the new commit names and that may be in a worktree alone: who
/// gets the new commit could not fetch them. In words, with what to do.
///
/// # Errors
/// If git fails.
pub fn unpublished(
    repository: &Repository,
    old: &str,
    new: &str,
    worktree: Option<&Path>,
) -> Result<Vec<String>, GitError> {
    let mut found = Vec::new();
    for (path, commit) in Difference::between(repository.git(), old, new)?.submodules() {
        let here = |top: &Path| Some(top.join(path)).filter(|folder| folder.join(".git").exists());
        let Some(theirs) = worktree.and_then(here) else { continue };
        let is_here = here(repository.top()).is_some_and(|folder| {
            Git::at(&folder)
                .maybe(&["cat-file", "-e", &format!("{commit}^{{commit}}")])
                .is_ok_and(|said| said.is_some())
        });
        let is_public = || {
            let said = Git::at(&theirs).maybe(&["branch", "-r", "--contains", commit]);
            said.is_ok_and(|said| said.is_some_and(|said| !said.is_empty()))
        };
        if !is_here && !is_public() {
            let (name, at) = (path.display(), theirs.display());
            found.push(format!(
                "the submodule {name} is at {commit}, which is in {at} alone: push it from there, or git -C {} fetch {at} {commit}",
                repository.top().join(path).display()
            ));
        }
    }
    Ok(found)
}
