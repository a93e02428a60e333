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
    /// The checkout that a folder is in.
    pub(super) fn around_folder(folder: &Path, files: &impl Files) -> Option<Checkout> {
        let top = folder.ancestors().find(|above| files.is_there(&above.join(".git")))?;
        let link = top.join(".git");
        let (own, common) = match files.file_kind(&link)? {
            Kind::Folder => (link.clone(), link),
            Kind::File => {
                let text = files.read_small_file(&link)?;
                let named = top.join(text.strip_prefix("gitdir:")?.trim());
                let own = files.real(&named)?;
                // The repository has to know of this worktree: anybody can write such a file.
                let back = files.read_small_file(&own.join("gitdir"))?;
                if files.real(Path::new(back.trim()))? != link {
                    return None;
                }
                let common = files.read_small_file(&own.join("commondir"))?;
                (own.clone(), files.real(&own.join(common.trim()))?)
            }
            _ => return None,
        };
        let head = files.read_small_file(&own.join("HEAD"))?;
        let branch = head.strip_prefix("ref:").map(|name| name.trim().to_owned());
        Some(Checkout { top: top.to_owned(), own, common, branch })
    }

    /// Makes the files that are pinned read-only, empty as git takes them for absent. A file that
    /// is not there could be made inside: `config.worktree` names programs, and a `packed-refs`
    /// that ends with the sandbox takes the branches with it that git packed.
    pub(super) fn create_pinned(&self) {
        for path in [
            self.common.join("packed-refs"),
            self.common.join(PREFIXES_FILE),
            self.common.join("config.worktree"),
            self.own.join("config.worktree"),
        ] {
            // One that is there stays. Where none can be made, git cannot make one either.
            let _ = OpenOptions::new().write(true).create_new(true).open(path);
        }
    }

    /// A worktree beside the repository's own checkout.
    pub(super) fn is_linked(&self) -> bool {
        self.own != self.common
    }
}
