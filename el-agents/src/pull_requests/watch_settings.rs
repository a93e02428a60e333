//! The settings of a watch, and what it shares with others: the waits for forges, and the lock of
//! landings.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use el_core::ServerAddress;
use el_core::model::PullRequest;

use super::{FeedbackRules, PullOptions, TextRules, WantedPlace};
use crate::file_lock::FileLock;
use crate::forge::{ForgeWaits, Forges};
use crate::land::{LandError, LandSettings, lock_landing};

/// How long an answer waits for another landing to end.
const LOCK_LIMIT: Duration = Duration::from_secs(60);

/// How pull requests are watched. All is owned, since a worker watches on another thread.
#[derive(Debug, Clone)]
pub struct WatchSettings {
    /// A folder in the repository.
    pub folder: PathBuf,
    pub database: PathBuf,
    /// The server that has the tables, if one has.
    pub server: Option<ServerAddress>,
    /// The tracker's folder, with the lock of landings.
    pub state: PathBuf,
    pub actor: String,
    pub el: PathBuf,
    pub environment: Vec<(OsString, OsString)>,
    pub waits: ForgeWaits,
    pub forges: Forges,
    pub feedback: FeedbackRules,
    pub place: WantedPlace,
    pub texts: TextRules,
    pub options: PullOptions,
    pub land: LandSettings,
}

impl WatchSettings {
    /// The lock of landings, once another process has it no more.
    pub(super) fn wait_for_lock(&self) -> Result<FileLock, LandError> {
        let until = Instant::now() + LOCK_LIMIT;
        loop {
            match lock_landing(&self.state) {
                Err(LandError::Busy) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_secs(1));
                }
                locked => return locked,
            }
        }
    }
}

pub(super) fn host_of(one: &PullRequest) -> &str {
    one.repo.split('/').next().unwrap_or_default()
}
