//! Maps failures of `el-agents` to errors of the command line.

use std::error::Error as _;

use el_agents::BringError;
use el_agents::forge::ForgeError;
use el_agents::git::GitError;
use el_agents::land::LandError;
use el_agents::pull_requests::PullError;
use el_agents::requirements::ConfigurationError;
use el_core::text::last_lines;

use super::CommandError;
use crate::Exit;

impl From<ConfigurationError> for CommandError {
    fn from(error: ConfigurationError) -> CommandError {
        CommandError::config_error(error.field, error.message).with_hint(error.hint)
    }
}

impl From<GitError> for CommandError {
    fn from(error: GitError) -> CommandError {
        let exit = match &error {
            GitError::NoRepository(_) | GitError::NoRevision(_) => Exit::NotFound,
            GitError::Program(_)
            | GitError::Broken(_)
            | GitError::NotTrusted(_)
            | GitError::TooOld(_)
            | GitError::NotLetIn { .. }
            | GitError::Setup { .. }
            | GitError::Untracked { .. }
            | GitError::Reftable => Exit::Configuration,
            GitError::TimedOut { .. } | GitError::NotReached { .. } => Exit::TimedOut,
            GitError::NotFetched { error, .. } => match **error {
                GitError::TimedOut { .. } | GitError::NotReached { .. } => Exit::TimedOut,
                _ => Exit::Configuration,
            },
            GitError::MergeConflict { .. }
            | GitError::Damaged { .. }
            | GitError::Astray { .. }
            | GitError::Diverged { .. }
            | GitError::OnOtherHost { .. }
            | GitError::Bare(_)
            | GitError::NoCommit(_)
            | GitError::Detached(_)
            | GitError::BranchElsewhere { .. }
            | GitError::InTheWay(_)
            | GitError::LockedAway(_)
            | GitError::Unrelated { .. }
            | GitError::HalfMoved(_)
            | GitError::Left(_)
            | GitError::Locked(_) => Exit::Conflict,
            GitError::File { .. } | GitError::Failed { .. } => Exit::Internal,
        };
        let retryable =
            matches!(error, GitError::Locked(_) | GitError::Left(_) | GitError::NotReached { .. });
        let (message, hint) = (error.to_string(), error.hint());
        let made =
            CommandError::new(exit, "git", message).with_hint(hint).with_retryable(retryable);
        match error.source() {
            Some(source) => made.with_detail("cause", source.to_string()),
            None => made,
        }
    }
}

impl From<BringError> for CommandError {
    fn from(error: BringError) -> CommandError {
        let message = error.to_string();
        match error {
            BringError::Store(error) => error.into(),
            BringError::Files(source) => CommandError::internal_error(message).with_source(source),
        }
    }
}

impl From<LandError> for CommandError {
    fn from(error: LandError) -> CommandError {
        let message = error.to_string();
        match error {
            LandError::Git(error) => error.into(),
            LandError::Tracker(error) => error.into(),
            LandError::File { doing, path, source } => {
                CommandError::file_error(doing, &path, source)
            }
            LandError::Busy => CommandError::conflict("busy", message)
                .with_retryable(true)
                .with_hint("wait for it to end"),
            LandError::AgentBranch(_) => CommandError::usage_error(message)
                .with_hint("name a branch of your own with --onto, or in land_onto"),
            LandError::Signals(source) => CommandError::internal_error(message).with_source(source),
            LandError::TargetFails { output, .. } => {
                CommandError::conflict("check_failed", message)
                    .with_detail("output", output.lines().collect::<Vec<_>>().join("\n"))
                    .with_listing(last_lines(&output, 8).map(str::to_owned))
                    .with_hint(
                        "nothing was moved; mend the branch, or the commands in land_check and \
                         worktree_setup",
                    )
            }
            LandError::CannotRun { key, .. } => CommandError::config_error(key, message).with_hint(
                format!("{key} is a program and its arguments; sh -c '…' gives it a shell"),
            ),
            LandError::Interrupted => CommandError::conflict("broken_off", message),
        }
    }
}

impl From<ForgeError> for CommandError {
    fn from(error: ForgeError) -> CommandError {
        let (exit, code) = match &error {
            ForgeError::Missing { .. }
            | ForgeError::TooOld { .. }
            | ForgeError::Configuration { .. }
            | ForgeError::Unclear { .. }
            | ForgeError::NotSignedIn { .. }
            | ForgeError::NoRepository { .. }
            | ForgeError::NoRights { .. }
            | ForgeError::NoDrafts { .. }
            | ForgeError::Silent { .. }
            | ForgeError::Answer { .. } => (Exit::Configuration, "forge"),
            ForgeError::NoRequest { .. } => (Exit::NotFound, "not_found"),
            ForgeError::RateLimit { .. } => (Exit::Paused, "rate_limit"),
            ForgeError::Network { .. } | ForgeError::NotJson { .. } | ForgeError::Hangs { .. } => {
                (Exit::TimedOut, "network")
            }
            ForgeError::Refused { .. } => (Exit::Conflict, "refused"),
        };
        let (message, hint, is_passing) = (error.to_string(), error.hint(), error.is_passing());
        CommandError::new(exit, code, message).with_hint(hint).with_retryable(is_passing)
    }
}

impl From<PullError> for CommandError {
    fn from(error: PullError) -> CommandError {
        match error {
            PullError::Git(error) => error.into(),
            PullError::Tracker(error) => error.into(),
            PullError::Land(error) => error.into(),
            PullError::Forge(error) => error.into(),
            PullError::Place { message, hint } => {
                CommandError::config_error("pr_remote", message).with_hint(hint)
            }
            PullError::Remotes { .. } => CommandError::config_error("pr_remote", error.to_string())
                .with_hint(
                    "el config set pr_remote NAME says where branches are pushed, and el config \
                     set pr_repo OWNER/NAME which repository receives the work",
                ),
            PullError::Fork { ref fork, ref parent } => {
                CommandError::config_error("pr_repo", error.to_string()).with_hint(format!(
                    "el config set pr_repo {parent}, or pr_repo {fork}, says which one receives \
                     the work"
                ))
            }
        }
    }
}
