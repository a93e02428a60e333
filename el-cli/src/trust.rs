//! A person's trust in a repository's configuration, which may name programs and widen rights. The
//! trust is stored in the person's own state, for a single project and a single content, as direnv
//! does: a clone, another folder or a changed line needs new trust.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use el_agents::artifacts::sha256_hex;
use el_agents::settings::ProjectFile;
use el_core::model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::own_state::{canonical_folder, own_file, read_own, write_own};
use crate::{CommandError, Result};

/// The settings that a person is asked to trust.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    /// Setting → value, as `el config get` prints values.
    pub(crate) settings: BTreeMap<String, String>,
    /// The files by which the repository tells Claude Code what to do.
    #[serde(default)]
    pub(crate) files: BTreeSet<ProjectFile>,
}

impl Claims {
    fn digest(&self) -> String {
        let text = serde_json::to_vec(self).expect("maps of texts are JSON");
        sha256_hex(&text)
    }
}

/// The trusted content, and the time of the trust.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Word {
    /// The tracker's folder.
    path: PathBuf,
    /// SHA-256 of the claims.
    digest: String,
    pub(crate) trusted_at: Timestamp,
    /// Kept to show later changes.
    pub(crate) claims: Claims,
}

/// The file that stores the trust in a project.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    /// The tracker's folder, without links.
    project: PathBuf,
    file: Option<PathBuf>,
}

impl Trust {
    /// The trust in the project with this configuration file.
    pub(crate) fn for_project(config: &Path) -> Trust {
        let project = canonical_folder(config.parent().unwrap_or(config));
        let file = own_file("trust", &project);
        Trust { project, file }
    }

    /// Returns true if there is a project that it is about.
    pub(crate) fn is_about_a_project(&self) -> bool {
        self.project.is_absolute()
    }

    /// The stored trust. An unreadable record, a record about another project, and a record that
    /// others may have written count as none.
    pub(crate) fn stored_word(&self) -> Option<Word> {
        let file = self.file.as_deref()?;
        let word: Word = serde_json::from_slice(&read_own(file)?).ok()?;
        (word.path == self.project && word.digest == word.claims.digest()).then_some(word)
    }

    /// Returns true if these very settings are trusted. None need no word.
    pub(crate) fn holds(&self, settings: &BTreeMap<String, String>) -> bool {
        settings.is_empty()
            || self.stored_word().is_some_and(|word| word.claims.settings == *settings)
    }

    /// The trusted ones of the files that Claude Code obeys.
    pub(crate) fn files(&self) -> BTreeSet<ProjectFile> {
        self.stored_word().map(|word| word.claims.files).unwrap_or_default()
    }

    /// Trusts these settings, and the files as before.
    pub(crate) fn give_settings(
        &self,
        settings: BTreeMap<String, String>,
        now: Timestamp,
    ) -> Result<()> {
        self.give(Claims { settings, files: self.files() }, now)
    }

    /// Trusts these files, and the settings as before.
    pub(crate) fn give_files(&self, files: BTreeSet<ProjectFile>, now: Timestamp) -> Result<()> {
        let settings = self.stored_word().map(|word| word.claims.settings).unwrap_or_default();
        self.give(Claims { settings, files }, now)
    }

    /// Trusts these claims instead of earlier ones.
    pub(crate) fn give(&self, claims: Claims, now: Timestamp) -> Result<()> {
        let file = self.file.as_deref().ok_or_else(|| {
            CommandError::config_error("HOME", "there is no home folder to keep the trust in")
                .with_hint("set HOME or XDG_STATE_HOME")
        })?;
        let digest = claims.digest();
        let word = Word { path: self.project.clone(), digest, trusted_at: now, claims };
        let bytes = serde_json::to_vec_pretty(&word).map_err(|source| {
            CommandError::internal_error("the trust cannot be written as JSON").with_source(source)
        })?;
        write_own(file, &bytes).map_err(|source| CommandError::file_error("write", file, source))
    }

    /// Forgets the trust. Returns `false` if there was none.
    pub(crate) fn revoke(&self) -> Result<bool> {
        let Some(file) = self.file.as_deref() else { return Ok(false) };
        match fs::remove_file(file) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(CommandError::file_error("remove", file, source)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    fn claims(value: &str) -> Claims {
        Claims { settings: settings(value), files: BTreeSet::new() }
    }

    fn settings(value: &str) -> BTreeMap<String, String> {
        [("notify".to_owned(), value.to_owned())].into()
    }

    fn trust(dir: &Path) -> Trust {
        Trust { project: dir.to_owned(), file: Some(dir.join("state/el/trust/x.json")) }
    }

    #[test]
    fn a_word_is_about_one_content_and_one_project() {
        let dir = tempfile::tempdir().unwrap();
        let trust = trust(dir.path());
        assert!(trust.holds(&BTreeMap::new()) && !trust.holds(&settings("a")));
        trust.give(claims("a"), Timestamp::from_micros(0)).unwrap();
        assert!(trust.holds(&settings("a")) && !trust.holds(&settings("b")));
        let elsewhere = Trust { project: "/elsewhere".into(), file: trust.file.clone() };
        assert!(!elsewhere.holds(&settings("a")));
        trust.give(claims("b"), Timestamp::from_micros(0)).unwrap();
        assert!(!trust.holds(&settings("a")), "the last word counts");
        assert!(trust.revoke().unwrap() && !trust.revoke().unwrap());
        assert!(!trust.holds(&settings("b")));
    }

    #[test]
    fn a_word_that_others_may_have_written_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let trust = trust(dir.path());
        trust.give(claims("a"), Timestamp::from_micros(0)).unwrap();
        let file = trust.file.clone().unwrap();
        let mode = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        mode(0o620);
        assert!(!trust.holds(&settings("a")));
        mode(0o600);
        assert!(trust.holds(&settings("a")));
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("\"a\"", "\"b\"")).unwrap();
        assert!(!trust.holds(&settings("b")), "the digest is of what was shown");
    }
}
