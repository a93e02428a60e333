use el_core::model::PullRequest;
use schemars::JsonSchema;
use serde::Serialize;

use crate::land::{LandItem, LandOutcome};

/// What became of an atom's branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PullOutcome {
    /// To be tried.
    ToOpen,
    Opened,
    /// A pull request of the branch was there, and is recorded now.
    Adopted,
    /// Commits were pushed, or the body or the base was changed.
    Updated,
    Unchanged,
    /// The base has the work.
    Already,
    /// The branch has no commit of its own.
    Nothing,
    NoBranch,
    /// The atom is not closed.
    NotFinished,
    /// The atom has a live run.
    AtWork,
    /// The worktree has uncommitted changes.
    Uncommitted,
    /// The worktree has another branch checked out.
    Astray,
    Conflict,
    CheckFailed,
    /// The branch has work of another atom that is not merged yet.
    Waits,
    /// A text has something that looks like a key.
    HasKey,
    /// Nothing was done, for the reason given.
    Held,
    /// The forge or the remote could not be asked; another call goes on.
    Failed,
}

impl PullOutcome {
    /// The pull request was wanted, and is not as it should be.
    pub fn is_failure(self) -> bool {
        use PullOutcome::{Adopted, Already, Nothing, Opened, ToOpen, Unchanged, Updated, Waits};
        !matches!(self, ToOpen | Opened | Adopted | Updated | Unchanged | Already | Nothing | Waits)
    }

    fn of_landing(outcome: LandOutcome) -> PullOutcome {
        match outcome {
            LandOutcome::ToLand => PullOutcome::ToOpen,
            LandOutcome::Landed | LandOutcome::Already => PullOutcome::Already,
            LandOutcome::Nothing => PullOutcome::Nothing,
            LandOutcome::NoBranch => PullOutcome::NoBranch,
            LandOutcome::NotFinished => PullOutcome::NotFinished,
            LandOutcome::AtWork => PullOutcome::AtWork,
            LandOutcome::Uncommitted => PullOutcome::Uncommitted,
            LandOutcome::Astray => PullOutcome::Astray,
            LandOutcome::Conflict => PullOutcome::Conflict,
            LandOutcome::CheckFailed => PullOutcome::CheckFailed,
            LandOutcome::ChangesConfiguration
            | LandOutcome::Held
            | LandOutcome::TakenBack
            | LandOutcome::BrokenOff => PullOutcome::Held,
        }
    }
}

/// An atom's branch with its pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PullItem {
    pub atom_id: String,
    pub title: Option<String>,
    pub branch: Option<String>,
    pub tip: Option<String>,
    #[serde(rename = "fate")]
    pub outcome: PullOutcome,
    /// The files in conflict, the end of the check's output, or why nothing was done.
    pub detail: Option<String>,
    pub files: Vec<String>,
    /// The atom that was filed to resolve a conflict.
    pub conflict_atom: Option<String>,
    /// `null`: none is known.
    pub pull_request: Option<PullRequest>,
    /// The atom whose open pull request is the base.
    #[serde(skip)]
    pub(super) below: Option<String>,
}

impl PullItem {
    pub(super) fn of_landing(item: LandItem) -> PullItem {
        let is_taken_back = item.outcome == LandOutcome::ToLand && !item.brings_back.is_empty();
        let mut made = PullItem {
            outcome: PullOutcome::of_landing(item.outcome),
            atom_id: item.atom_id,
            title: item.title,
            branch: item.branch,
            tip: item.tip,
            detail: item.detail,
            files: item.files,
            conflict_atom: item.conflict_atom,
            pull_request: None,
            below: None,
        };
        if is_taken_back {
            let commits = item.brings_back.join(", ");
            made.hold(
                PullOutcome::Held,
                format!("its work was taken back by {commits}; git revert of that brings it back"),
            );
        }
        made
    }

    pub(super) fn hold(&mut self, outcome: PullOutcome, why: impl Into<String>) {
        self.outcome = outcome;
        self.detail = Some(why.into());
    }
}
