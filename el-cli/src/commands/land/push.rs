//! `el land --push`: bring the target branch to its remote. Nothing else of `el` pushes it.

use el_agents::git::{PushResult, Repository};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::error::{CommandError, Result};
use crate::exit::Exit;

/// Where the target branch is pushed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct PushTarget {
    remote: String,
    branch: String,
}

impl PushTarget {
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.remote, self.branch)
    }

    /// Finds it before anything is landed.
    pub(super) fn find(app: &App, repository: &Repository, onto: &str) -> Result<PushTarget> {
        if app.settings()?.lands_by_pull_request()? {
            return Err(CommandError::new(
                Exit::Configuration,
                "lands_by_pull_request",
                format!("land_via = \"pr\": el does not push {onto}"),
            )
            .with_hint("el land, without --push, opens pull requests"));
        }
        let (remote, branch) = repository.push_target(onto)?.ok_or_else(|| {
            CommandError::new(
                Exit::Configuration,
                "no_upstream",
                format!("{onto} follows no branch of a remote, and there is not just one remote"),
            )
            .with_hint(format!("git push -u REMOTE {onto} says once where it belongs"))
        })?;
        Ok(PushTarget { remote, branch })
    }

    /// Pushes the branch if it is ahead. Never forces.
    pub(super) fn push(&self, repository: &Repository, onto: &str) -> Result<()> {
        let name = self.name();
        let there = repository.fetch_branch(&self.remote, &self.branch)?;
        let Some(tip) = repository.branch_tip(onto)? else { return Ok(()) };
        if there.as_ref() == Some(&tip) {
            return Ok(());
        }
        if let Some(there) = &there
            && !repository.contains(&tip, there)?
        {
            return Err(CommandError::new(
                Exit::Conflict,
                "not_pushed",
                format!("{name} has commits that {onto} lacks, so {onto} was not pushed"),
            )
            .with_hint(format!("git pull brings them to {onto}; then: el land --all --push")));
        }
        match repository.push_branch(&self.remote, &tip, &self.branch, there.as_deref())? {
            PushResult::Pushed => Ok(()),
            PushResult::Refused(why) => Err(CommandError::new(
                Exit::Conflict,
                "not_pushed",
                format!("{name} did not take {onto}: {why}"),
            )
            .with_hint("a protected branch wants pull requests: el land --pr")),
        }
    }
}
