//! A rehearsal: what git writes goes to a folder that is removed afterwards.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use el_core::model::fresh_token;

use super::error::file_error;
use super::{Repository, Result};

/// A repository whose new commits are gone with this value.
#[derive(Debug)]
pub(crate) struct Rehearsal {
    repository: Repository,
    folder: PathBuf,
}

impl Rehearsal {
    /// # Errors
    /// If there is no folder for it, or git fails.
    pub(crate) fn begin(repository: &Repository) -> Result<Rehearsal> {
        let folder = std::env::temp_dir().join(format!("el-rehearsal-{}", fresh_token()));
        let made = DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(file_error("make", &folder))?;
        // Removes the folder if git fails.
        let mut begun = Rehearsal { repository: repository.clone(), folder };
        let git = repository.git().with_scratch_objects(&begun.folder)?;
        begun.repository = repository.with_git(git);
        Ok(begun)
    }

    /// The repository. No reference of it may be moved.
    pub(crate) fn repository(&self) -> &Repository {
        &self.repository
    }
}

impl Drop for Rehearsal {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
