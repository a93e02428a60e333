//! An account's pause (usage limit, refusal, outage), shared by all workers of this user on this
//! machine. Each account has a small file in the user's state folder. A fingerprint names the
//! account; the file holds no key and no path.

use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use el_core::model::Timestamp;
use el_core::rules::pause::{KnownPause, Shared, Step, reconcile};
use el_core::{Error, Store, ops};
use sha2::{Digest, Sha256};

use crate::file_lock::FileLock;
use crate::settings::{AgentSettings, Executor};

#[cfg(test)]
mod tests;

/// The maximum size of a record, in bytes.
const RECORD_MAX: u64 = 64 << 10;

/// The variables that identify the account. The first variable that is set counts.
const KEY_VARIABLES: [&str; 3] =
    ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];

/// An account, and the path of its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Distinguishes accounts without revealing the owner.
    fingerprint: String,
    file: PathBuf,
}

impl Account {
    /// Returns the account of an agent with this environment. `None` for a program other than
    /// Claude Code, or without a home.
    pub fn for_agent(
        agent: &AgentSettings,
        environment: &[(OsString, OsString)],
    ) -> Option<Account> {
        if matches!(agent.executor, Executor::Command(_)) {
            None
        } else {
            Account::from_environment(&agent.env_strip, &agent.env_pass, environment)
        }
    }

    /// The account's name in the store.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// `strip` names variables that the client does not get, unless `pass` names them.
    fn from_environment(
        strip: &[String],
        pass: &[String],
        environment: &[(OsString, OsString)],
    ) -> Option<Account> {
        let value = |name: &str| {
            let found =
                environment.iter().find(|(known, value)| known == name && !value.is_empty());
            found.map(|(_, value)| value.as_os_str())
        };
        let names = |rules: &[String], name: &str| {
            rules.iter().any(|rule| match rule.strip_suffix('*') {
                Some(head) => name.starts_with(head),
                None => rule == name,
            })
        };
        let seen = |name: &str| value(name).filter(|_| names(pass, name) || !names(strip, name));
        let home = value("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let state = value("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let state = state.or_else(|| Some(home.as_ref()?.join(".local/state")))?;
        let mut hash = Sha256::new();
        let mut add = |word: &str, value: &OsStr| {
            hash.update(word.as_bytes());
            hash.update([0]);
            hash.update(value.as_bytes());
            hash.update([0]);
        };
        if let Some(url) = seen("ANTHROPIC_BASE_URL") {
            add("url", url);
        }
        match KEY_VARIABLES.iter().find_map(|name| seen(name)) {
            Some(key) => add("key", key),
            None => match seen("CLAUDE_CONFIG_DIR")
                .map(PathBuf::from)
                .or_else(|| Some(home?.join(".claude")))
            {
                // The same folder under another name is the same account.
                Some(folder) => add("folder", resolve_links(&folder).as_os_str()),
                None => return None,
            },
        }
        let fingerprint: String =
            hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let file = state.join("el").join("accounts").join(format!("{fingerprint}.json"));
        Some(Account { fingerprint, file })
    }

    /// Reconciles this project's pause with the account's. Returns a warning if the record was
    /// unreadable and was set aside.
    ///
    /// # Errors
    /// If the store fails, or the record can be neither read nor written; the project's own pause
    /// holds all the same.
    pub(crate) fn reconcile_pause(
        &self,
        store: &mut Store,
        now: Timestamp,
    ) -> Result<Option<String>, ShareError> {
        let own = ops::known_pause(store, &self.fingerprint)?;
        let (shared, warning) = match self.read_record() {
            Ok(shared) => (shared, None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                let aside = self.set_aside()?;
                (
                    Shared::default(),
                    Some(format!(
                        "{}: it is no record of an account, and was set aside as {}",
                        self.file.display(),
                        aside.display()
                    )),
                )
            }
            Err(error) => return Err(error.into()),
        };
        match reconcile(own.as_ref(), &shared, now) {
            Step::Nothing => {}
            Step::Adopt(known) => ops::adopt_pause(store, &self.fingerprint, &known)?,
            Step::Clear => ops::clear_pause(store, &self.fingerprint)?,
            Step::Publish(known) => self.publish_pause(known)?,
        }
        Ok(warning)
    }

    fn publish_pause(&self, known: KnownPause) -> io::Result<()> {
        self.update_record(|shared| {
            // Another process may have published meanwhile.
            if shared.pause.as_ref().is_none_or(|other| {
                known.outlasts(other) || shared.cleared_at >= Some(other.learnt_at)
            }) {
                shared.pause = Some(known);
            }
        })
    }

    /// Clears the pause at a person's request, in every project of the account. Everything learnt
    /// before `now` is void.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub fn clear_pause(&self, now: Timestamp) -> io::Result<()> {
        self.update_record(|shared| *shared = Shared { pause: None, cleared_at: Some(now) })
    }

    fn read_record(&self) -> io::Result<Shared> {
        let invalid = |error: String| io::Error::new(io::ErrorKind::InvalidData, error);
        match fs::metadata(&self.file) {
            Ok(meta) if !meta.is_file() || meta.len() > RECORD_MAX => {
                return Err(invalid("it is no small file".to_owned()));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Shared::default()),
            Err(error) => return Err(error),
        }
        let bytes = match fs::read(&self.file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Shared::default()),
            Err(error) => return Err(error),
        };
        serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))
    }

    /// Reads, changes and replaces the record under a lock.
    fn update_record(&self, change: impl FnOnce(&mut Shared)) -> io::Result<()> {
        let _lock = self.lock_record()?;
        let mut shared = match self.read_record() {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                fs::rename(&self.file, self.file.with_extension("json.bad"))?;
                Shared::default()
            }
            read => read?,
        };
        change(&mut shared);
        let fresh = self.file.with_extension(format!("{}.new", std::process::id()));
        let mut file =
            OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&fresh)?;
        file.write_all(&serde_json::to_vec(&shared)?)?;
        file.sync_all()?;
        fs::rename(&fresh, &self.file)
    }

    fn set_aside(&self) -> io::Result<PathBuf> {
        let _lock = self.lock_record()?;
        let aside = self.file.with_extension("json.bad");
        // Another process may have replaced the record by a good one.
        if self.read_record().is_err() {
            fs::rename(&self.file, &aside)?;
        }
        Ok(aside)
    }

    /// Held for a small file's replacement.
    fn lock_record(&self) -> io::Result<FileLock> {
        FileLock::acquire_blocking(&self.file.with_extension("lock"))
    }
}

/// Returns the folder with symbolic links resolved; the folder need not exist.
fn resolve_links(folder: &Path) -> PathBuf {
    let parent = || {
        let parent = fs::canonicalize(folder.parent()?).ok()?;
        Some(parent.join(folder.file_name()?))
    };
    fs::canonicalize(folder).ok().or_else(parent).unwrap_or_else(|| folder.to_owned())
}

/// Why the account's record could not be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShareError {
    #[error("the record of the account cannot be used")]
    File(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] Error),
}
