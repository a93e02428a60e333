//! A repository in which tests do what a team does: branches, squash merges, reverts.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::Repository;

pub(super) struct Shop {
    folder: TempDir,
    pub(super) repository: Repository,
}

/// The atom of the branch `el/t-1`.
pub(super) const ATOM: &str = "t-1";

impl Shop {
    /// A repository with these files, and the atom's branch checked out.
    pub(super) fn new(files: &[(&str, &str)]) -> Shop {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
        for (name, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
            git(folder.path(), &["config", name, value]);
        }
        write(folder.path(), files);
        git(folder.path(), &["add", "--all"]);
        git(folder.path(), &["commit", "--quiet", "-m", "base"]);
        let repository = Repository::open_at(folder.path()).unwrap();
        let shop = Shop { folder, repository };
        shop.begin_branch(ATOM);
        shop
    }

    /// Gives the repository a bare remote `origin` with all of its branches.
    pub(super) fn add_origin(&self) -> TempDir {
        let origin = tempfile::tempdir().unwrap();
        let path = origin.path().to_str().unwrap();
        git(origin.path(), &["init", "--quiet", "--bare", "--initial-branch=main"]);
        self.git(&["remote", "add", "origin", path]);
        self.git(&["push", "--quiet", "origin", "main"]);
        origin
    }

    /// A clone of a remote, as another host has one.
    pub(super) fn clone_of(origin: &TempDir) -> Shop {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["clone", "--quiet", origin.path().to_str().unwrap(), "."]);
        for (name, value) in [("user.name", "Bob"), ("user.email", "bob@example.com")] {
            git(folder.path(), &["config", name, value]);
        }
        let repository = Repository::open_at(folder.path()).unwrap();
        Shop { folder, repository }
    }

    pub(super) fn git(&self, words: &[&str]) -> String {
        git(self.folder.path(), words)
    }

    /// The commit of a name.
    pub(super) fn at(&self, name: &str) -> String {
        self.git(&["rev-parse", &format!("{name}^{{commit}}")])
    }

    pub(super) fn tree(&self, name: &str) -> String {
        self.git(&["rev-parse", &format!("{name}^{{tree}}")])
    }

    /// Commits files where HEAD is. Returns the commit.
    pub(super) fn commit(&self, files: &[(&str, &str)]) -> String {
        write(self.folder.path(), files);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "change"]);
        self.at("HEAD")
    }

    pub(super) fn check_out(&self, name: &str) {
        self.git(&["checkout", "--quiet", name]);
    }

    /// Begins and checks out the branch of an atom, where HEAD is.
    pub(super) fn begin_branch(&self, atom: &str) {
        self.git(&["update-ref", &format!("refs/el/base/{atom}"), "HEAD"]);
        self.git(&["checkout", "--quiet", "-b", &format!("el/{atom}")]);
    }

    /// Merges a branch into main as GitHub's "squash and merge" does. Returns the commit.
    pub(super) fn squash(&self, name: &str) -> String {
        self.commit_tree(&self.git(&["merge-tree", "--write-tree", "main", name]))
    }

    /// Makes main's next commit of a tree.
    pub(super) fn commit_tree(&self, tree: &str) -> String {
        self.check_out("main");
        let commit = self.git(&["commit-tree", tree, "-p", "main", "-m", "squashed (#1)"]);
        self.git(&["reset", "--quiet", "--hard", &commit]);
        commit
    }
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

fn git(folder: &Path, words: &[&str]) -> String {
    let ran = try_git(folder, words);
    ran.unwrap_or_else(|said| panic!("git {words:?}: {said}"))
}

/// Runs git with nobody's configuration.
fn try_git(folder: &Path, words: &[&str]) -> Result<String, String> {
    let ran = Command::new("git")
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_EDITOR", "true")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if ran.status.success() { Ok(text(&ran.stdout)) } else { Err(text(&ran.stderr)) }
}

impl Shop {
    /// Rebases the checked-out branch. False, and nothing changed, after a conflict.
    pub(super) fn rebase_onto(&self, onto: &str, since: &str) -> bool {
        let words = ["rebase", "--quiet", "--onto", onto, since];
        let is_done = try_git(self.folder.path(), &words).is_ok();
        if !is_done {
            self.git(&["rebase", "--abort"]);
        }
        is_done
    }
}
