//! Removes traps that an agent left in git's folder of its worktree, which the agent can write.
//!
//! Git writes into files there by their names: the log of the head, the message of a commit. If an
//! agent puts a link in such a place, a git outside would write into a file of the agent's choice.

use std::fs;
use std::path::{Path, PathBuf};

use super::checkout::Checkout;
use super::files::Disk;

/// The most entries that are looked at. Git makes a few dozen.
const LOOKED_AT: usize = 100_000;

/// The most removed entries that are reported singly.
const TOLD: usize = 3;

/// Removes entries that git does not make there: links, pipes, sockets. No process of the run may
/// be left. Returns sentences for people.
pub(super) fn remove_links(workdir: &Path) -> Vec<String> {
    let Some(checkout) = Checkout::around_folder(workdir, &Disk).filter(Checkout::is_linked) else {
        return Vec::new();
    };
    let (mut told, mut looked_at) = (Vec::new(), 0);
    let mut todo = vec![checkout.own];
    while let Some(folder) = todo.pop() {
        for path in entries(&folder) {
            looked_at += 1;
            if looked_at > LOOKED_AT {
                return vec![format!(
                    "the agent made very many files in {}, of which some may be links: remove the \
                     worktree (el worktrees remove) before you use git there",
                    folder.display()
                )];
            }
            let Ok(kind) = fs::symlink_metadata(&path).map(|found| found.file_type()) else {
                continue;
            };
            if kind.is_dir() {
                todo.push(path);
            } else if !kind.is_file() {
                told.push(remove(&path));
            }
        }
    }
    let more = told.len().saturating_sub(TOLD);
    told.truncate(TOLD);
    if more > 0 {
        told.push(format!("the agent made {more} more of the kind there"));
    }
    told
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn remove(path: &Path) -> String {
    let what = match fs::read_link(path) {
        Ok(target) => format!("a link to {}", target.display()),
        Err(_) => "no plain file".to_owned(),
    };
    let made = format!("the agent made {} {what}, through which git writes", path.display());
    match fs::remove_file(path) {
        Ok(()) => format!("{made}; it is removed"),
        Err(error) => format!("{made}: look at it before you use git there ({error})"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    #[test]
    fn what_git_makes_stays_and_links_go() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let git = |words: &[&str]| {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=n", "-c", "user.email=e@e"]).args(words).current_dir(&top);
            assert!(git.status().unwrap().success());
        };
        git(&["init", "-q", "-b", "main", "."]);
        git(&["commit", "-q", "--allow-empty", "-m", "base"]);
        git(&["worktree", "add", "-q", "-b", "el/own", "tree"]);
        let (tree, own) = (top.join("tree"), top.join(".git/worktrees/tree"));
        assert_eq!(remove_links(&tree), [""; 0]);
        let mine = top.join("mine");
        fs::write(&mine, "mine").unwrap();
        fs::remove_file(own.join("logs/HEAD")).unwrap();
        for name in ["COMMIT_EDITMSG", "logs/HEAD", "FETCH_HEAD"] {
            symlink(&mine, own.join(name)).unwrap();
        }
        symlink(&top, own.join("logs/away")).unwrap();
        let told = remove_links(&tree);
        assert_eq!(told.len(), 4, "{told:?}");
        assert!(told[..3].iter().all(|one| one.ends_with("it is removed")), "{told:?}");
        assert_eq!(told[3], "the agent made 1 more of the kind there");
        assert_eq!(remove_links(&tree), [""; 0]);
        git(&["-C", "tree", "commit", "-q", "--allow-empty", "-m", "work"]);
        assert_eq!(fs::read_to_string(mine).unwrap(), "mine");
        // The repository's own checkout is not the agent's to write.
        symlink(top.join("mine"), top.join(".git/link")).unwrap();
        assert_eq!(remove_links(&top), [""; 0]);
    }
}
