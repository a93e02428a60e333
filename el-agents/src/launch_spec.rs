//! The inputs that a run is launched with, as a file in the run's folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use el_core::Ctx;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::rundir::{RunDir, RunDirError, io_error, write_private};
use crate::sandbox::{Confinement, Sandbox};
use crate::settings::{AgentSettings, Places, RunRules};
use crate::summary_file::FileStamp;

/// The input of a supervisor besides the environment. Contains no secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LaunchSpec {
    pub(crate) run: String,
    pub(crate) atom: String,
    /// The session id for Claude Code.
    pub(crate) conversation: String,
    pub(crate) agent: AgentSettings,
    /// The agent's program, found on the worker's PATH.
    pub(crate) program: PathBuf,
    pub(crate) rules: RunRules,
    pub(crate) places: Places,
    /// The summary file before the run. A file unchanged at the end belongs to an earlier attempt.
    #[serde(default)]
    pub(crate) summary_before: Option<FileStamp>,
    /// Put at the head of the context.
    #[serde(default)]
    pub(crate) preamble: Option<String>,
    /// The branch of the run's own worktree, once there is one.
    #[serde(default)]
    pub(crate) branch: Option<String>,
    /// The sandbox that the agent runs in, if there is one.
    #[serde(default)]
    pub(crate) sandbox: Option<Sandbox>,
    /// Why there is none although the settings want one.
    #[serde(default)]
    pub(crate) missing_sandbox: Option<String>,
}

impl LaunchSpec {
    /// The agent as the actor, now.
    pub(crate) fn ctx(&self) -> Ctx<'_> {
        Ctx { now: clock::now(), actor: &self.agent.name, session: None }
    }

    /// The sandbox of the run's checks and of its setup.
    pub(crate) fn confinement(&self) -> Option<Confinement<'_>> {
        let places = &self.places;
        self.sandbox.as_ref().map(|sandbox| Confinement { sandbox, places })
    }
}

impl RunDir {
    fn launch_path(&self) -> PathBuf {
        self.path().join("launch.json")
    }

    pub(crate) fn write_launch(&self, spec: &LaunchSpec) -> Result<(), RunDirError> {
        let text = serde_json::to_vec_pretty(spec).expect("a launch spec has string keys only");
        write_private(&self.launch_path(), &text)
    }

    pub(crate) fn read_launch(&self) -> Result<LaunchSpec, RunDirError> {
        let path = self.launch_path();
        let text = fs::read(&path).map_err(io_error("read", &path))?;
        serde_json::from_slice(&text)
            .map_err(io::Error::from)
            .map_err(io_error("understand", &path))
    }
}

/// The sandbox that a run was launched in, with the places of its tracker. `None` also within that
/// sandbox, where the run's folder is hidden.
pub fn launched_sandbox(database: &Path, run: &str) -> Option<(Sandbox, Places)> {
    let spec = RunDir::of_run(database, run).read_launch().ok()?;
    spec.sandbox.map(|sandbox| (sandbox, spec.places))
}
