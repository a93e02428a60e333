//! The run's own copy of its branch in the sandbox.
//!
//! Git replaces a branch's file by a new one, so an agent that commits must be able to write the
//! folder of the branch, which has the branches of all atoms. The sandbox therefore shows a copy in
//! place of that folder. El takes over the commits of the run's branch from there, and no others.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::checkout::Checkout;
use crate::git::{BranchPrefixes, Git, GitError, KEEP_FILE};
use crate::rundir::{RunDir, private_folder, replace_private};

/// The reflog entry of commits that are taken over.
const TAKEN: &str = "el: committed in the sandbox";
/// A reference, its lock's name or its target is never longer.
const REFERENCE_MAX: u64 = 4096;

/// The branch of a run that works, or worked, in a sandbox.
#[derive(Debug, Clone)]
pub struct OwnBranch {
    /// Where the state is kept.
    file: PathBuf,
    state: State,
    /// The branch's file when last looked at.
    seen: Option<SystemTime>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct State {
    /// Git's folder of the repository.
    common: PathBuf,
    /// Git's folder of the worktree.
    own: PathBuf,
    /// `refs/heads/…`.
    name: String,
    /// The folder that the sandbox shows in place of the branch's.
    private: PathBuf,
    /// The commit that the branch was at on both sides; empty if it had none.
    base: String,
}

impl OwnBranch {
    /// Makes the run's own folder for the branch that the worktree has checked out. `None` if that
    /// is not an atom's branch, or the repository keeps its branches in other ways.
    pub(super) fn lay_out(run: &RunDir, checkout: &Checkout) -> io::Result<Option<OwnBranch>> {
        let Some(name) = checkout.branch.clone().filter(|_| checkout.is_linked()) else {
            return Ok(None);
        };
        let folder = checkout.common.join(&name).parent().map(Path::to_owned).unwrap_or_default();
        let prefixes = BranchPrefixes::of_repository(&checkout.common);
        let heads = checkout.common.join("refs/heads");
        let is_atoms =
            prefixes.iter().any(|prefix| heads.join(prefix.trim_end_matches('/')) == folder);
        if !is_atoms || !heads.is_dir() {
            return Ok(None);
        }
        // The state is of an earlier call whose supervisor was killed.
        if let Some(mut earlier) = OwnBranch::of_run(run) {
            let _ = earlier.take_over_finally();
            // A later look must not take the half-made folder below for a deleted branch.
            earlier.forget()?;
        }
        let private = run.path().join("branches");
        if private.exists() {
            fs::remove_dir_all(&private)?;
        }
        private_folder(&private).map_err(io::Error::other)?;
        fs::create_dir_all(&folder)?;
        // If the file cannot be made, the folder is still there for now.
        let _ = OpenOptions::new().write(true).create_new(true).open(folder.join(KEEP_FILE));
        copy_references(&folder, &private)?;
        let base = read_outside(&checkout.common, &name).unwrap_or_default();
        let (common, own) = (checkout.common.clone(), checkout.own.clone());
        let state = State { common, own, name, private, base };
        let branch = OwnBranch { file: state_file(run), state, seen: None };
        branch.keep_state()?;
        Ok(Some(branch))
    }

    /// The branch of a run whose sandbox had one.
    pub fn of_run(run: &RunDir) -> Option<OwnBranch> {
        let file = state_file(run);
        let state = serde_json::from_slice(&fs::read(&file).ok()?).ok()?;
        Some(OwnBranch { file, state, seen: None })
    }

    /// The folder of the branch in the repository, and the copy that is shown in its place.
    pub(super) fn shown_folder(&self) -> (PathBuf, PathBuf) {
        let folder = self.state.common.join(&self.state.name);
        (folder.parent().map(Path::to_owned).unwrap_or_default(), self.state.private.clone())
    }

    /// Takes new commits over, if there are any.
    ///
    /// # Errors
    /// If the branch was moved outside meanwhile, or names no commit.
    pub fn take_over(&mut self) -> Result<(), GitError> {
        let file = self.private_file();
        let changed = fs::symlink_metadata(&file).and_then(|found| found.modified()).ok();
        if changed.is_none() || changed == self.seen {
            return Ok(());
        }
        self.seen = changed;
        let Some(inside) = read_commit(&file).filter(|inside| *inside != self.state.base) else {
            return Ok(());
        };
        let git = Git::at_git_folder(&self.state.common).without_hooks();
        let name = self.state.name.as_str();
        let none = "0".repeat(inside.len());
        let base = if self.state.base.is_empty() { none.as_str() } else { &self.state.base };
        let moved = git.ask(&["update-ref", "-m", TAKEN, name, &inside, base]);
        if moved.is_err() && read_outside(&self.state.common, name).as_ref() != Some(&inside) {
            return moved.map(drop);
        }
        self.state.base = inside;
        // If the state is lost, the same commits are taken over once more.
        let _ = self.keep_state();
        Ok(())
    }

    /// Takes new commits over a last time, once the agent rests. Work on a branch that only the
    /// sandbox has is left on a detached head, where el finds it.
    ///
    /// # Errors
    /// As [`Self::take_over`].
    pub fn take_over_finally(&mut self) -> Result<(), GitError> {
        self.seen = None;
        let taken = self.take_over();
        let is_missing = fs::symlink_metadata(self.private_file())
            .is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        if is_missing && self.state.private.is_dir() && !self.state.base.is_empty() {
            // Deleted outside too, the branch is later restored as any deleted branch is.
            let git = Git::at_git_folder(&self.state.common).without_hooks();
            let words = ["update-ref", "-d", self.state.name.as_str(), self.state.base.as_str()];
            if git.ask(&words).is_ok() {
                self.state.base = String::new();
                let _ = self.keep_state();
            }
        }
        let head = self.state.own.join("HEAD");
        let on =
            read_small(&head).and_then(|text| Some(text.strip_prefix("ref:")?.trim().to_owned()));
        let folder = self.state.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let leaf = on.as_deref().and_then(|on| on.strip_prefix(folder)?.strip_prefix('/'));
        if let Some(leaf) = leaf.filter(|leaf| !leaf.contains('/'))
            && on.as_deref().is_some_and(|on| read_outside(&self.state.common, on).is_none())
            && let Some(commit) = read_commit(&self.state.private.join(leaf))
        {
            // If another git holds the lock, that git decides where the head is.
            let _ = replace_locked(&head, &commit);
        }
        taken
    }

    /// Shows inside where the branch is now, if el moved it.
    pub fn show_inside(&mut self) {
        let Some(outside) = read_outside(&self.state.common, &self.state.name) else { return };
        if outside != self.state.base && replace_locked(&self.private_file(), &outside).is_ok() {
            self.state.base = outside;
            let _ = self.keep_state();
        }
    }

    /// Ends the taking over.
    ///
    /// # Errors
    /// If the state cannot be removed.
    pub(crate) fn forget(&self) -> io::Result<()> {
        fs::remove_file(&self.file)
    }

    fn private_file(&self) -> PathBuf {
        self.state.private.join(self.state.name.rsplit('/').next().unwrap_or_default())
    }

    fn keep_state(&self) -> io::Result<()> {
        let text = serde_json::to_vec(&self.state).expect("names and paths are plain JSON");
        replace_private(&self.file, &text).map_err(io::Error::other)
    }
}

fn state_file(run: &RunDir) -> PathBuf {
    run.path().join("branch.json")
}

/// Copies the files of a folder of references, and of those below.
fn copy_references(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)?.flatten() {
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        let is_lock = path.extension().is_some_and(|end| end == "lock");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                fs::create_dir(&copy)?;
                copy_references(&path, &copy)?;
            }
            // A branch that was removed meanwhile is missing inside, too.
            Ok(kind) if kind.is_file() && !is_lock => drop(fs::copy(&path, &copy)),
            _ => {}
        }
    }
    Ok(())
}

/// The commit of a reference, from its own file or from that of the packed ones.
fn read_outside(common: &Path, name: &str) -> Option<String> {
    read_commit(&common.join(name)).or_else(|| {
        let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
        let of_line = |line: &str| line.strip_suffix(name)?.strip_suffix(' ').map(str::to_owned);
        packed.lines().find_map(of_line).filter(|commit| is_commit(commit))
    })
}

/// The commit that a file names; the file may be an agent's.
fn read_commit(file: &Path) -> Option<String> {
    read_small(file).map(|text| text.trim_end().to_owned()).filter(|text| is_commit(text))
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Reads a small file. Follows no link, and waits for no pipe.
fn read_small(file: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(file, flags, Mode::empty()).ok()?);
    let is_small =
        file.metadata().is_ok_and(|found| found.is_file() && found.len() < REFERENCE_MAX);
    let mut text = String::new();
    file.take(REFERENCE_MAX).read_to_string(&mut text).ok().filter(|_| is_small)?;
    Some(text)
}

/// Replaces a reference as git does: by its lock.
fn replace_locked(file: &Path, commit: &str) -> io::Result<()> {
    let mut lock = file.as_os_str().to_owned();
    lock.push(".lock");
    let lock = PathBuf::from(lock);
    let mut draft = OpenOptions::new().write(true).create_new(true).open(&lock)?;
    draft.write_all(format!("{commit}\n").as_bytes())?;
    fs::rename(&lock, file)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    struct Repository {
        folder: tempfile::TempDir,
        run: RunDir,
        checkout: Checkout,
    }

    fn git(folder: &Path, words: &[&str]) -> String {
        let ran = Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=e@e"])
            .args(words)
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(ran.status.success(), "{words:?}: {ran:?}");
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    }

    fn repository() -> Repository {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        git(&top, &["init", "-q", "-b", "main", "."]);
        git(&top, &["commit", "-q", "--allow-empty", "-m", "base"]);
        git(&top, &["branch", "el/other"]);
        git(&top, &["worktree", "add", "-q", "-b", "el/own", "tree"]);
        let run = RunDir::new(&top.join("runs"), "run-1");
        run.create().unwrap();
        let checkout = Checkout {
            top: top.join("tree"),
            own: top.join(".git/worktrees/tree"),
            common: top.join(".git"),
            branch: Some("refs/heads/el/own".to_owned()),
        };
        Repository { folder, run, checkout }
    }

    impl Repository {
        fn commit(&self, message: &str) -> String {
            let top = self.folder.path();
            let parent = git(top, &["rev-parse", "main"]);
            git(top, &["commit-tree", "main^{tree}", "-p", &parent, "-m", message])
        }

        fn tip(&self, branch: &str) -> String {
            git(self.folder.path(), &["rev-parse", branch])
        }
    }

    #[test]
    fn its_own_commits_are_taken_over_and_no_other_branch() {
        for is_packed in [false, true] {
            let repository = repository();
            if is_packed {
                git(repository.folder.path(), &["pack-refs", "--all"]);
            }
            let mut branch =
                OwnBranch::lay_out(&repository.run, &repository.checkout).unwrap().unwrap();
            let (shown, private) = branch.shown_folder();
            assert!(shown.ends_with(".git/refs/heads/el"));
            let before = repository.tip("el/other");
            let (one, two) = (repository.commit("one"), repository.commit("two"));
            for name in ["other", "new"] {
                fs::write(private.join(name), format!("{one}\n")).unwrap();
            }
            fs::write(private.join("own"), format!("{one}\n")).unwrap();
            branch.take_over().unwrap();
            assert_eq!(repository.tip("el/own"), one);
            // A process that knows the run's folder alone goes on.
            fs::write(private.join("own"), format!("{two}\n")).unwrap();
            OwnBranch::of_run(&repository.run).unwrap().take_over_finally().unwrap();
            assert_eq!(repository.tip("el/own"), two);
            assert_eq!(repository.tip("el/other"), before);
            let branches = git(repository.folder.path(), &["branch", "--format=%(refname)"]);
            assert_eq!(branches.lines().count(), 3, "{branches}");
            git(repository.folder.path(), &["fsck", "--strict"]);
            git(repository.folder.path(), &["pack-refs", "--all", "--prune"]);
            assert!(shown.is_dir(), "git removes no folder that a sandbox covers");
        }
    }

    #[test]
    fn nothing_but_a_commit_is_taken_over() {
        let repository = repository();
        let mut branch =
            OwnBranch::lay_out(&repository.run, &repository.checkout).unwrap().unwrap();
        let file = branch.shown_folder().1.join("own");
        let before = repository.tip("el/own");
        for text in ["ref: refs/heads/main\n", "x", &"z".repeat(40), &"7".repeat(9000)] {
            fs::write(&file, text).unwrap();
            branch.take_over_finally().unwrap();
        }
        fs::write(&file, "7".repeat(40)).unwrap();
        assert!(branch.take_over_finally().is_err(), "there is no such commit");
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        branch.take_over_finally().unwrap();
        fs::remove_dir(&file).unwrap();
        std::os::unix::fs::symlink(repository.checkout.common.join("refs/heads/main"), &file)
            .unwrap();
        branch.take_over_finally().unwrap();
        assert_eq!(repository.tip("el/own"), before);
    }

    #[test]
    fn a_branch_that_moved_outside_stays_there() {
        let repository = repository();
        let mut branch =
            OwnBranch::lay_out(&repository.run, &repository.checkout).unwrap().unwrap();
        let file = branch.shown_folder().1.join("own");
        let (inside, outside) = (repository.commit("inside"), repository.commit("outside"));
        git(repository.folder.path(), &["update-ref", "refs/heads/el/own", &outside]);
        fs::write(&file, &inside).unwrap();
        assert!(branch.take_over().is_err());
        assert_eq!(repository.tip("el/own"), outside);
        branch.show_inside();
        assert_eq!(fs::read_to_string(&file).unwrap().trim(), outside);
        fs::write(&file, &inside).unwrap();
        branch.take_over_finally().unwrap();
        assert_eq!(repository.tip("el/own"), inside);
    }

    #[test]
    fn work_on_a_branch_of_the_sandbox_alone_is_left_on_no_branch() {
        let repository = repository();
        let mut branch =
            OwnBranch::lay_out(&repository.run, &repository.checkout).unwrap().unwrap();
        let private = branch.shown_folder().1;
        let commit = repository.commit("work");
        fs::write(private.join("renamed"), &commit).unwrap();
        fs::remove_file(private.join("own")).unwrap();
        fs::write(repository.checkout.own.join("HEAD"), "ref: refs/heads/el/renamed\n").unwrap();
        branch.take_over_finally().unwrap();
        assert_eq!(git(&repository.checkout.top, &["rev-parse", "HEAD"]), commit);
        // The own branch is gone inside, and outside: el restores it. A folder that is gone is
        // none.
        let branches = git(repository.folder.path(), &["branch", "--format=%(refname:short)"]);
        assert!(!branches.lines().any(|name| name == "el/own"), "{branches}");
        git(repository.folder.path(), &["branch", "el/own", &commit]);
        branch.show_inside();
        fs::remove_dir_all(&private).unwrap();
        branch.take_over_finally().unwrap();
        assert_eq!(repository.tip("el/own"), commit);
        branch.forget().unwrap();
        assert!(OwnBranch::of_run(&repository.run).is_none());
    }
}
