//! The settings of a watch.

use std::ffi::OsString;
use std::path::PathBuf;

use el_core::ServerAddress;
use el_core::model::PullRequest;

use super::{FeedbackRules, PullOptions, TextRules, WantedPlace};
use crate::forge::{ForgeWaits, Forges};
use crate::land::LandSettings;

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

pub(super) fn host_of(one: &PullRequest) -> &str {
    one.repo.split('/').next().unwrap_or_default()
}
