use el_core::model::PullRequest;
use el_core::text;
use schemars::JsonSchema;
use serde::Serialize;

use crate::land::{LandItem, LandOutcome};

/// The bytes that are kept of the reason why commits could not be pushed.
const WHY_MAX: usize = 500;

/// The outcome for an atom's branch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PullOutcome {
    /// To be tried; with `--dry-run`: it would be opened.
    #[default]
    ToOpen,
    /// With `--dry-run`: it would be updated.
    ToUpdate,
    Opened,
    /// A pull request of the branch was there, and is recorded now.
    Adopted,
    /// Commits were pushed or taken in, or the body or the base was changed.
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
        use PullOutcome::{Adopted, Already, Nothing, Opened, ToOpen, ToUpdate, Unchanged};
        use PullOutcome::{Updated, Waits};
        !matches!(
            self,
            ToOpen | ToUpdate | Opened | Adopted | Updated | Unchanged | Already | Nothing | Waits
        )
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
            LandOutcome::Waits => PullOutcome::Waits,
            LandOutcome::ChangesConfiguration
            | LandOutcome::Held
            | LandOutcome::TakenBack
            | LandOutcome::BrokenOff => PullOutcome::Held,
        }
    }
}

/// The steps that would be taken for a branch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PullPlan {
    /// The commit that would be pushed; `null`: the remote has it, or it is not made yet.
    pub push: Option<String>,
    /// The base that would be merged into the branch, so that the merge is what is pushed.
    pub merges: Option<String>,
    /// The branch that would receive the work; `null`: it stays as it is.
    pub base: Option<String>,
    /// Of a new one.
    pub title: Option<String>,
    /// A draft, or ready for review; `null`: it stays as it is.
    pub draft: Option<bool>,
    /// The whole body; `null`: it stays as it is.
    pub body: Option<String>,
}

/// An atom's branch with its pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// The closing words in messages of new commits, such as `Fixes #12 (1a2b3c4d5e)`: the forge
    /// closes those issues once the commits reach the default branch.
    pub closes: Vec<String>,
    /// The commits that others pushed on top, and that come to the branch here, newest first, such
    /// as `1a2b3c4d5e by Ann`.
    pub taken_in: Vec<String>,
    /// `null`: none is known.
    pub pull_request: Option<PullRequest>,
    /// Only with `--dry-run`.
    pub plan: Option<PullPlan>,
    /// The atom whose open pull request is the base.
    #[serde(skip)]
    pub(super) below: Option<String>,
    /// With `--dry-run`: the base that would be merged into the branch.
    #[serde(skip)]
    pub(super) merges: Option<String>,
}

impl PullItem {
    pub(super) fn of_landing(item: LandItem) -> PullItem {
        PullItem {
            outcome: PullOutcome::of_landing(item.outcome),
            atom_id: item.atom_id,
            title: item.title,
            branch: item.branch,
            tip: item.tip,
            detail: item.detail,
            files: item.files,
            conflict_atom: item.conflict_atom,
            ..PullItem::default()
        }
    }

    /// The one below that is to be its base is not open.
    pub(super) fn wait_for_base(&mut self) {
        let below = self.below.as_deref().unwrap_or_default();
        let why = format!("it builds on {below}, which has no open pull request");
        self.hold(PullOutcome::Waits, why);
    }

    /// A person has opened a pull request for the branch.
    pub(super) fn hold_foreign(&mut self, number: u64) {
        let (branch, id) = (self.branch.as_deref().unwrap_or_default(), &self.atom_id);
        let why = format!(
            "#{number} is open for {branch}, with another head; el pr adopt {id} {number} takes it"
        );
        self.hold(PullOutcome::Held, why);
    }

    /// Says which issues the messages of its new commits close.
    pub fn closing_note(&self) -> Option<String> {
        closing_note(&self.closes)
    }

    /// The reason why commits of the branch are not at the forge; `None`: no obstacle, or an agent
    /// is at work on them. `base`: the branch that is to receive them.
    pub(super) fn why_held(&self, base: &str) -> Option<String> {
        use PullOutcome::{AtWork, CheckFailed, Conflict, NotFinished, Uncommitted, Waits};
        let detail = self.detail.as_deref().unwrap_or("it cannot be pushed");
        Some(match self.outcome {
            AtWork | NotFinished => return None,
            Uncommitted => "its worktree has changes that are not committed".to_owned(),
            Conflict => match &self.conflict_atom {
                Some(atom) => format!("it is in conflict with {base}, which {atom} is to resolve"),
                None => format!("it is in conflict with {base}"),
            },
            CheckFailed => "land_check fails with it".to_owned(),
            outcome if outcome.is_failure() || outcome == Waits => {
                let lines: Vec<&str> = detail.lines().map(str::trim).collect();
                text::head_bytes(&lines.join("; "), WHY_MAX).to_owned()
            }
            _ => return None,
        })
    }

    pub(super) fn hold(&mut self, outcome: PullOutcome, why: impl Into<String>) {
        self.outcome = outcome;
        self.detail = Some(why.into());
    }
}

/// Says which issues these closing words close.
pub(super) fn closing_note(closes: &[String]) -> Option<String> {
    let closes = closes.join(", ");
    let note = || format!("messages of its commits close issues once they are merged: {closes}");
    (!closes.is_empty()).then(note)
}
