//! `el land --push`: bring the target branch to its remote. Nothing else of `el` pushes it.

use el_agents::forge::push_address;
use el_agents::git::{PushResult, Repository};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{App, CommandError, Exit, Result};

/// Where the target branch is pushed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct PushTarget {
    remote: String,
    branch: String,
    /// The commits of the target branch, newest first, that the remote lacks before the landing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commits: Vec<String>,
}

impl PushTarget {
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.remote, self.branch)
    }

    /// The commits that go along with what is landed.
    pub(super) fn commits(&self) -> &[String] {
        &self.commits
    }

    /// Finds and fetches it before anything is landed.
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
        let mut found = PushTarget { remote, branch, commits: Vec::new() };
        let asked = found.tip_ahead_of(repository, onto);
        let asked = asked.map_err(|error| error.after("nothing was landed"))?;
        if let (Some(there), Some(tip)) = asked {
            let words = ["log", "--format=%h %s", &format!("{there}..{tip}")];
            found.commits = repository.git().ask(&words)?.lines().map(str::to_owned).collect();
        }
        Ok(found)
    }

    /// Fetches the branch there. Returns the commits there, and here if it has others.
    fn tip_ahead_of(
        &self,
        repository: &Repository,
        onto: &str,
    ) -> Result<(Option<String>, Option<String>)> {
        let there = repository.fetch_tip(&push_address(repository, &self.remote)?, &self.branch)?;
        let tip = repository.branch_tip(onto)?.filter(|tip| there.as_ref() != Some(tip));
        if let (Some(there), Some(tip)) = (&there, &tip)
            && !repository.contains(tip, there)?
        {
            return Err(CommandError::conflict(
                "not_pushed",
                format!("{} has commits that {onto} lacks, so nothing is pushed", self.name()),
            )
            .with_hint(format!(
                "bring them to {onto} first (git pull --no-rebase), then el land --push again"
            )));
        }
        Ok((there, tip))
    }

    /// Pushes the branch if it is ahead. Never forces.
    pub(super) fn push_branch(&self, repository: &Repository, onto: &str) -> Result<()> {
        let done = format!("{onto} here has the landed work, and was not pushed");
        self.try_push(repository, onto).map_err(|error| error.after(&done))
    }

    fn try_push(&self, repository: &Repository, onto: &str) -> Result<()> {
        let (there, Some(tip)) = self.tip_ahead_of(repository, onto)? else { return Ok(()) };
        match repository.push_branch(&self.remote, &tip, &self.branch, there.as_deref())? {
            PushResult::Pushed => Ok(()),
            // The push of a call that was killed came first.
            PushResult::Refused(_)
                if repository
                    .remote_tip(&push_address(repository, &self.remote)?, &self.branch)?
                    .as_ref()
                    == Some(&tip) =>
            {
                Ok(())
            }
            PushResult::Refused(why) => Err(CommandError::conflict(
                "not_pushed",
                format!("{} did not take it: {why}", self.name()),
            )
            .with_hint("a protected branch wants pull requests: el land --pr")),
        }
    }
}
