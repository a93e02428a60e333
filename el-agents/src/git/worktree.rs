//! A worktree for one atom: made, or used again.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::repository::{Repository, branch_of};
use super::{GitError, Worktree, foundation};

/// How an agent is kept apart from others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// The folder of the worktrees; absolute.
    pub folder: PathBuf,
    /// Where branches begin; `None`: at what is checked out.
    pub base: Option<String>,
    /// Untracked files and folders of the main checkout that each worktree gets a copy of.
    pub copy: Vec<String>,
    /// The same, as links.
    pub link: Vec<String>,
    /// A command that makes a new worktree ready, in words; empty: none.
    pub setup: Vec<String>,
    /// How long that may take, in milliseconds.
    pub setup_timeout_ms: u64,
}

/// A worktree that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// Where the agent works: the worktree, or the folder in it that the project is in.
    pub workdir: PathBuf,
    pub top: PathBuf,
    pub branch: String,
    /// It was not there before.
    pub is_new: bool,
    /// Branches with finished work that this one builds on and does not have: it was made before
    /// they were finished, or it is to join them.
    pub missing: Vec<String>,
}

/// For whom a worktree is.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The atom.
    pub atom: &'a str,
    /// The one that it is part of: where that has a branch, its own begins there.
    pub parent: Option<&'a str>,
    /// Those whose finished work it needs, nearest first.
    pub builds_on: &'a [String],
    /// Bringing those together is its own work: what does not fit by itself is left to its agent.
    pub joins: bool,
}

/// Name of the file in a worktree's own git folder that says that its setup is done, and what was
/// there then that git ignores.
const READY: &str = "el-ready";

/// Makes the atom's worktree, or finds it. Idempotent, and to be called again if it was broken off.
///
/// # Errors
/// If it cannot be had; nothing of anybody's was changed.
pub fn prepare(
    isolation: &Isolation,
    folder: &Path,
    wanted: &Wanted<'_>,
) -> Result<Prepared, GitError> {
    let atom = wanted.atom;
    let repository = Repository::of(folder)?;
    let git = repository.git().without_hooks();
    let head = repository.head()?;
    let branch = branch_of(atom);
    folder_of_worktrees(&isolation.folder)?;
    let folder = isolation.folder.canonicalize().map_err(fault("find", &isolation.folder))?;
    let path = folder.join(atom);
    let known = repository.worktrees()?;
    let mut registered = known.iter().find(|tree| tree.path == path);
    if registered.is_some_and(|tree| tree.is_half_made && !tree.is_missing) {
        // Nobody has worked in it: half of its files may not be there.
        git.ask(&[
            "worktree".as_ref(),
            "remove".as_ref(),
            "--force".as_ref(),
            "--force".as_ref(),
            path.as_os_str(),
        ])?;
        registered = None;
    }
    let elsewhere =
        known.iter().find(|tree| tree.path != path && tree.branch.as_deref() == Some(&branch));
    if registered.is_none_or(|tree| tree.is_missing) {
        if let Some(other) = elsewhere.filter(|tree| !tree.is_missing) {
            return Err(GitError::BranchElsewhere { branch, at: other.path.clone() });
        }
        for gone in registered.into_iter().chain(elsewhere) {
            // A person removed its folder; git remembers the worktree, and would refuse.
            git.ask(&[
                "worktree".as_ref(),
                "remove".as_ref(),
                "--force".as_ref(),
                gone.path.as_os_str(),
            ])?;
        }
        if fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_some()) || path.is_file() {
            return Err(GitError::InTheWay(path));
        }
        add(&repository, isolation, wanted, &path, &head)?;
    }
    let is_new = !ready(&super::Git::at(&path).in_own_checkout())?.exists();
    if is_new {
        furnish(repository.top(), &path, &isolation.copy, &isolation.link)?;
    }
    let prefix = repository.prefix();
    let below = path.join(prefix);
    let workdir =
        if prefix.as_os_str().is_empty() || !below.is_dir() { path.clone() } else { below };
    let missing = match repository.tip(&branch)? {
        Some(tip) => {
            let base =
                isolation.base.as_deref().map_or(Ok(None), |name| repository.commit(name))?;
            foundation::missing(
                &repository,
                &tip,
                base.as_deref().unwrap_or(&head),
                wanted.builds_on,
            )?
        }
        None => Vec::new(),
    };
    let missing = missing.iter().map(|atom| branch_of(atom)).collect();
    Ok(Prepared { workdir, top: path, branch, is_new, missing })
}

impl Prepared {
    /// The setup was done: it is not done again on a retry.
    ///
    /// # Errors
    /// If that cannot be written down.
    pub fn is_ready(&self) -> Result<(), GitError> {
        let git = super::Git::at(&self.top).in_own_checkout();
        let note = ready(&git)?;
        // What is there now was put there, and can be put there again.
        fs::write(&note, super::lost::ignored(&git)?.join("\0")).map_err(fault("write", &note))
    }
}

fn ready(git: &super::Git) -> Result<PathBuf, GitError> {
    Ok(PathBuf::from(git.ask(&["rev-parse", "--absolute-git-dir"])?).join(READY))
}

/// Whether the worktree was made ready by el.
pub(super) fn is_ready(git: &super::Git) -> bool {
    ready(git).is_ok_and(|note| note.exists())
}

/// What git ignores of what was there when the worktree had been made ready, and when that was.
pub(super) fn put_by_setup(
    git: &super::Git,
) -> Result<(HashSet<String>, Option<SystemTime>), GitError> {
    let note = ready(git)?;
    let paths = fs::read_to_string(&note).unwrap_or_default();
    let paths = paths.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    Ok((paths, fs::metadata(&note).and_then(|note| note.modified()).ok()))
}

fn add(
    repository: &Repository,
    isolation: &Isolation,
    wanted: &Wanted<'_>,
    path: &Path,
    head: &str,
) -> Result<(), GitError> {
    let git = repository.git().without_hooks();
    let atom = wanted.atom;
    let branch = branch_of(atom);
    let words = |rest: &[&str]| -> Vec<std::ffi::OsString> {
        let mut words: Vec<std::ffi::OsString> =
            vec!["worktree".into(), "add".into(), "--quiet".into()];
        words.push(path.into());
        words.extend(rest.iter().map(Into::into));
        words
    };
    if repository.tip(&branch)?.is_none() {
        let of_parent = match wanted.parent {
            Some(parent) => repository.tip(&branch_of(parent))?,
            None => None,
        };
        let base = match (of_parent, &isolation.base) {
            (Some(tip), _) => tip,
            (None, Some(name)) => {
                repository.commit(name)?.ok_or_else(|| GitError::NoRevision(name.clone()))?
            }
            (None, None) => head.to_owned(),
        };
        let base = foundation::lay(repository, &base, wanted)?;
        // The branch and where it began, or neither.
        let change = format!(
            "start\ncreate refs/heads/{branch} {base}\nupdate refs/el/base/{atom} {base}\nprepare\ncommit\n"
        );
        git.ask_with(&["update-ref", "--stdin"], Some(&change))?;
    }
    git.ask(&words(&[&branch])).map(drop)
}

/// The folder of the worktrees, of which git is to see nothing.
///
/// # Errors
/// If it cannot be made.
pub fn folder_of_worktrees(folder: &Path) -> Result<(), GitError> {
    if folder.is_dir() {
        // Somebody else's folder stays as it is.
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(fault("make the folder", folder))?;
    let ignore = folder.join(".gitignore");
    fs::write(&ignore, "*\n").map_err(fault("write", &ignore))
}

/// Puts what is not in git, but needed, into a checkout.
///
/// # Errors
/// If something cannot be put there.
pub fn furnish(from: &Path, to: &Path, copy: &[String], link: &[String]) -> Result<(), GitError> {
    for name in copy {
        put(from, to, name, copy_whole)?;
    }
    for name in link {
        put(from, to, name, |from, to| symlink(from, to))?;
    }
    Ok(())
}

/// Puts one untracked thing into a worktree. What the main checkout does not have is left out; what
/// is there already stays. No link is followed on the way: a branch may have one where the main
/// checkout has a folder.
fn put(
    from: &Path,
    to: &Path,
    name: &str,
    how: impl Fn(&Path, &Path) -> std::io::Result<()>,
) -> Result<(), GitError> {
    let fail = |why: String| GitError::Untracked { path: name.to_owned(), why };
    let io = |error: std::io::Error| fail(error.to_string());
    let name = Path::new(name);
    if !name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(fail("it is not a path below the repository's folder".to_owned()));
    }
    let source = from.join(name);
    if fs::symlink_metadata(&source).is_err() {
        return Ok(());
    }
    // The main checkout is the user's, and may have links within itself.
    let whole = source.parent().unwrap_or(from).canonicalize().map_err(io)?;
    if !whole.starts_with(from.canonicalize().map_err(io)?) {
        return Err(fail(format!(
            "a link on the way to it leads out of the repository, to {}",
            whole.display()
        )));
    }
    let mut target = to.to_owned();
    let mut parts = name.components().filter(|part| *part != Component::CurDir).peekable();
    while let Some(part) = parts.next() {
        target.push(part);
        let found = fs::symlink_metadata(&target);
        match found {
            Ok(_) if parts.peek().is_none() => return Ok(()),
            Ok(is) if is.is_symlink() => {
                let link = target.strip_prefix(to).unwrap_or(&target).display();
                return Err(fail(format!(
                    "the branch has a link at {link}, which is not followed"
                )));
            }
            Ok(_) => {}
            Err(_) if parts.peek().is_some() => fs::create_dir(&target).map_err(io)?,
            Err(_) => {}
        }
    }
    how(&source, &target).map_err(io)
}

/// A copy that was broken off is not taken for one.
fn copy_whole(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut name = std::ffi::OsString::from(".el-copying-");
    name.push(to.file_name().unwrap_or_default());
    let half = to.with_file_name(name);
    match fs::symlink_metadata(&half) {
        Ok(is) if is.is_dir() => fs::remove_dir_all(&half)?,
        Ok(_) => fs::remove_file(&half)?,
        Err(_) => {}
    }
    copy_all(from, &half)?;
    fs::rename(&half, to)
}

/// Nothing is there yet.
fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    let found = fs::symlink_metadata(from)?;
    if found.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if found.is_file() {
        let mut file = fs::File::create_new(to)?;
        std::io::copy(&mut fs::File::open(from)?, &mut file)?;
        return file.set_permissions(found.permissions());
    }
    if !found.is_dir() {
        // A socket or a pipe is of no use elsewhere.
        return Ok(());
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Takes a worktree and its branch away. `ours`: what el itself put into worktrees. The caller
/// knows that both are merged; git itself refuses a worktree that is not clean.
///
/// # Errors
/// If git refuses; then nothing that matters was removed.
pub fn remove(
    repository: &Repository,
    tree: Option<&Worktree>,
    atom: &str,
    tip: &str,
    ours: &[String],
) -> Result<(), GitError> {
    let git = repository.git().without_hooks();
    if let Some(tree) = tree {
        // What el itself put there, and git does not ignore, would make git refuse. A submodule may
        // hold commits that are nowhere else.
        let is_only_ours = !tree.is_missing
            && !tree.path.join(".gitmodules").exists()
            && tree.changes(ours)?.is_empty()
            && !tree.changes(&[])?.is_empty();
        let force: &[&std::ffi::OsStr] = if is_only_ours { &["--force".as_ref()] } else { &[] };
        git.ask(
            &[&["worktree".as_ref(), "remove".as_ref()], force, &[tree.path.as_os_str()]].concat(),
        )?;
    }
    let mut change = format!("start\ndelete refs/heads/{} {tip}\n", branch_of(atom));
    for (name, at) in repository.notes_of(atom)? {
        change.push_str(&format!("delete {name} {at}\n"));
    }
    git.ask_with(&["update-ref", "--stdin"], Some(&(change + "prepare\ncommit\n"))).map(drop)
}

pub(super) fn fault(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> GitError {
    let path = path.to_owned();
    move |source| GitError::File { doing, path, source }
}
