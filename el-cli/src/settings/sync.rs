//! The settings of `el sync`.

use super::Settings;
use crate::Result;

/// Where issues are, and which of them are taken.
#[derive(Debug)]
pub(crate) struct SyncSettings {
    /// `[HOST/]OWNER/NAME`
    pub(crate) repository: Option<String>,
    /// The label that accepts a stranger's issue.
    pub(crate) label: Option<String>,
}

impl Settings {
    /// The settings of `el sync github`.
    pub(crate) fn sync_settings(&self) -> Result<SyncSettings> {
        Ok(SyncSettings {
            repository: self.optional_text("pr_repo", None)?,
            label: self.optional_text("sync_github_label", None)?,
        })
    }
}
