//! The git folders of the folder that an agent works in, read from its files: git itself would
//! read the configuration first.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use super::files::{Files, Kind};
use crate::git::PREFIXES_FILE;

/// A checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checkout {
    /// The folder with the `.git`.
    pub(super) top: PathBuf,
    /// `.git`, or for a linked worktree `.git/worktrees/<name>`.
    pub(super) own: PathBuf,
    /// The repository's `.git`.
    pub(super) common: PathBuf,
    /// `refs/heads/…`, unless the head is detached.
    pub(super) branch: Option<String>,
}

impl Checkout {
    /// Finds the checkout around a folder.
    pub(super) fn around_folder(folder: &Path, files: &impl Files) -> Option<Checkout> {
        let top = folder.ancestors().find(|above| files.is_there(&above.join(".git")))?;
        let link = top.join(".git");
        let (own, common) = match files.file_kind(&link)? {
            Kind::Folder => (link.clone(), link),
            Kind::File => {
                let text = files.read_small_file(&link)?;
                let named = top.join(text.strip_prefix("gitdir:")?.trim());
                let own = files.real(&named)?;
                // Anybody can write a `.git` file, so the repository has to know of this worktree.
                let back = files.read_small_file(&own.join("gitdir"))?;
                if files.real(Path::new(back.trim()))? != link {
                    return None;
                }
                let common = files.read_small_file(&own.join("commondir"))?;
                let common = files.real(&own.join(common.trim()))?;
                // An agent can write all of these files, but not in a folder of git.
                if own.parent() != Some(common.join("worktrees").as_path()) {
                    return None;
                }
                (own, common)
            }
            _ => return None,
        };
        let head = files.read_small_file(&own.join("HEAD"))?;
        let branch = head.strip_prefix("ref:").map(|name| name.trim().to_owned());
        Some(Checkout { top: top.to_owned(), own, common, branch })
    }

    /// Makes the files that are pinned read-only. Git takes an empty file for an absent one.
    /// Without these files, the agent could make them: `config.worktree` names programs, and
    /// branches that git packs into the sandbox's own `packed-refs` are lost at its end.
    pub(super) fn create_pinned(&self) {
        for path in [
            self.common.join("packed-refs"),
            self.common.join(PREFIXES_FILE),
            self.common.join("config.worktree"),
            self.own.join("config.worktree"),
        ] {
            // An existing file stays. If no file can be made here, git cannot make one either.
            let _ = OpenOptions::new().write(true).create_new(true).open(path);
        }
    }

    /// Returns true for a worktree beside the repository's own checkout.
    pub(super) fn is_linked(&self) -> bool {
        self.own != self.common
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::files::Disk;
    use super::*;

    /// An agent can write all files of a worktree's git folder, but for its place.
    #[test]
    fn a_worktree_is_one_that_its_repository_knows() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let (tree, common) = (top.join("tree"), top.join(".git"));
        fs::create_dir_all(&tree).unwrap();
        let link_to = |own: PathBuf| {
            fs::create_dir_all(&own).unwrap();
            fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
            fs::write(own.join("gitdir"), tree.join(".git").display().to_string()).unwrap();
            fs::write(own.join("commondir"), common.display().to_string()).unwrap();
            fs::write(own.join("HEAD"), "ref: refs/heads/el/x\n").unwrap();
            Checkout::around_folder(&tree, &Disk)
        };
        let found = link_to(common.join("worktrees/tree")).unwrap();
        assert!(found.is_linked() && found.common == common);
        assert_eq!(link_to(tree.join("own")), None);
        assert_eq!(link_to(tree.join("worktrees/own")), None);
    }
}
