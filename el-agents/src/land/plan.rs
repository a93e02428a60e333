//! Decides about each branch from the observed state alone.

use std::collections::HashSet;
use std::path::PathBuf;

use el_core::model::{Status, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::{AtomBranch, Result, WorkBelow};
use crate::git::{GitError, Revert};

/// The outcome for a branch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LandOutcome {
    /// To be tried.
    #[default]
    ToLand,
    Landed,
    /// The branch landed earlier.
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
    /// The worktree has another branch checked out, or commits of the atom are on another host or
    /// at the remote, so el cannot tell the commits of the atom.
    Astray,
    Conflict,
    CheckFailed,
    /// The branch changes the configuration, which a person has to allow.
    ChangesConfiguration,
    /// The branch is ready, but the target cannot be moved now, or the branch has changed since the
    /// plan was made.
    Held,
    /// The branch has commits of another atom, which a pull request is to bring in, or which is not
    /// closed.
    Waits,
    /// The branch landed earlier and was reverted by `git revert` since.
    TakenBack,
    /// A signal came before the branch's turn.
    BrokenOff,
}

impl LandOutcome {
    /// Returns true if the branch should have landed and did not.
    pub fn is_failure(self) -> bool {
        use LandOutcome::{Already, Landed, Nothing, ToLand};
        !matches!(self, ToLand | Landed | Already | Nothing)
    }

    /// The word for the atom's history; `None` if the outcome is not recorded there.
    pub(super) fn in_history(self) -> Option<&'static str> {
        match self {
            LandOutcome::Landed => Some("landed"),
            LandOutcome::Conflict => Some("conflict"),
            LandOutcome::CheckFailed => Some("check_failed"),
            _ => None,
        }
    }

    /// Returns true if `--all` leaves out a branch with this outcome.
    fn is_left_out(self) -> bool {
        use LandOutcome::{Already, AtWork, NotFinished, Nothing, TakenBack};
        matches!(self, Already | TakenBack | NotFinished | AtWork | Nothing)
    }
}

/// A branch and the outcome of landing the branch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LandItem {
    pub atom_id: String,
    pub title: Option<String>,
    pub branch: Option<String>,
    pub tip: Option<String>,
    #[serde(rename = "fate")]
    pub outcome: LandOutcome,
    /// The files in conflict, the end of the check's output, or why the branch was not moved.
    pub detail: Option<String>,
    pub files: Vec<String>,
    /// The atom that was filed to resolve a conflict.
    pub conflict_atom: Option<String>,
    /// Commits of the target that reverted the work. The landing reverts the reverts.
    pub brings_back: Vec<String>,
    /// The folder of the worktree.
    #[serde(skip)]
    pub(super) path: Option<PathBuf>,
    #[serde(skip)]
    pub(super) closed_at: Option<Timestamp>,
    #[serde(skip)]
    pub(super) parent: Option<String>,
    /// A further remark to people once the branch has landed.
    #[serde(skip)]
    pub(super) remark: Option<String>,
}

/// Decides about each branch to be landed here, in the order in which the atoms were closed.
/// `wanted`: ids of atoms; `None`: every closed atom, except those that land by a pull request.
/// A branch that has commits of another atom waits for that atom if it lands by a pull request or
/// is not closed, unless it is wanted, too.
pub fn plan_landing(branches: &[AtomBranch], wanted: Option<&[String]>) -> Vec<LandItem> {
    let mut items = plan_any(branches, wanted);
    if wanted.is_none() {
        let is_pulled = |branch: &&AtomBranch| {
            branch.pull_request.as_ref().is_some_and(|one| one.carries(&branch.tip))
        };
        let pulled: HashSet<&str> =
            branches.iter().filter(is_pulled).map(|branch| branch.atom_id.as_str()).collect();
        items.retain(|item| !pulled.contains(item.atom_id.as_str()));
    }
    let names = |items: &[LandItem]| -> HashSet<String> {
        to_land(items).into_iter().map(|at| items[at].atom_id.clone()).collect()
    };
    let together = names(&items);
    for item in items.iter_mut().filter(|item| item.outcome == LandOutcome::ToLand) {
        item.leave_to_others(branches.iter().filter(|one| !together.contains(&one.atom_id)));
    }
    let to_land = names(&items);
    for item in items.iter_mut().filter(|item| item.outcome == LandOutcome::ToLand) {
        let Some(branch) = branches.iter().find(|branch| branch.atom_id == item.atom_id) else {
            continue;
        };
        let is_gone = |below: &&(String, String)| !to_land.contains(&below.0);
        item.tell_of_reverted(branch.reverted_below.iter().filter(is_gone));
        item.wait_for(&branch.work_below, wanted, "land");
    }
    items
}

/// Decides as [`plan_landing`] does, but also for branches that land by a pull request.
pub(crate) fn plan_any(branches: &[AtomBranch], wanted: Option<&[String]>) -> Vec<LandItem> {
    let is_wanted =
        |branch: &&AtomBranch| wanted.is_none_or(|wanted| wanted.contains(&branch.atom_id));
    let mut items = Vec::new();
    for branch in branches.iter().filter(is_wanted) {
        let item = LandItem::of_branch(branch);
        // The agent of a closed atom may still be writing for a moment, so the atom is listed.
        let is_to_come =
            item.outcome == LandOutcome::AtWork && branch.status == Some(Status::Closed);
        if wanted.is_some() || is_to_come || !item.outcome.is_left_out() {
            items.push(item);
        }
    }
    for id in wanted.unwrap_or_default() {
        if !items.iter().any(|item| item.atom_id == *id) {
            items.push(LandItem::new(id, LandOutcome::NoBranch));
        }
    }
    items.sort_by(|a, b| (a.closed_at, &a.atom_id).cmp(&(b.closed_at, &b.atom_id)));
    items
}

/// The indices of the items that are still to be brought in.
pub(super) fn to_land(items: &[LandItem]) -> Vec<usize> {
    (0..items.len()).filter(|at| items[*at].outcome == LandOutcome::ToLand).collect()
}

pub(super) fn hold_items(items: &mut [LandItem], which: &[usize], why: &str) {
    for at in which {
        items[*at].outcome = LandOutcome::Held;
        items[*at].detail = Some(why.to_owned());
    }
}

/// Holds a branch that git refuses, so that it holds up no other.
///
/// # Errors
/// If git failed for another reason than the branch.
pub(super) fn hold_refused(items: &mut [LandItem], at: usize, error: GitError) -> Result<()> {
    if !error.is_refusal() {
        return Err(error.into());
    }
    hold_items(items, &[at], &error.to_string());
    Ok(())
}

impl LandItem {
    pub(super) fn set_conflict(&mut self, files: Vec<String>) {
        self.outcome = LandOutcome::Conflict;
        self.detail = Some(files.join("\n"));
        self.files = files;
    }

    /// The atom, and the tip of its branch.
    pub(super) fn atom_and_tip(&self) -> (&str, &str) {
        (&self.atom_id, self.tip.as_deref().unwrap_or_default())
    }

    fn new(atom: &str, outcome: LandOutcome) -> LandItem {
        LandItem { atom_id: atom.to_owned(), outcome, ..LandItem::default() }
    }

    fn of_branch(branch: &AtomBranch) -> LandItem {
        let outcome = outcome_of(branch);
        let at = || branch.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let detail = match outcome {
            LandOutcome::Uncommitted => {
                Some(format!("{}\n{}", at(), branch.uncommitted.join("\n")))
            }
            LandOutcome::Astray => branch.describe_stray().map(|why| match &branch.strayed_to {
                Some(_) => format!("{}\n{why}; its commits are not brought in", at()),
                None => why,
            }),
            _ => None,
        };
        let mut item = LandItem {
            title: branch.title.clone(),
            branch: Some(branch.branch.clone()),
            tip: Some(branch.tip.clone()),
            detail,
            path: branch.path.clone().filter(|_| !branch.missing),
            closed_at: branch.closed_at,
            parent: branch.parent.clone(),
            ..LandItem::new(&branch.atom_id, outcome)
        };
        item.apply_reverts(branch);
        item
    }

    /// Says that a branch lands without the work below, since the target took that work back.
    fn tell_of_reverted<'a>(&mut self, below: impl Iterator<Item = &'a (String, String)>) {
        let each: Vec<String> = below
            .map(|(atom, revert)| {
                format!("{atom}, which {} took back", revert.get(..12).unwrap_or(revert))
            })
            .collect();
        if !each.is_empty() {
            self.remark = Some(format!("without the work of {}", each.join(", or of ")));
            self.detail.clone_from(&self.remark);
        }
    }

    /// Leaves it out if a revert of its revert would bring back the work of others, too.
    fn leave_to_others<'b>(&mut self, others: impl Iterator<Item = &'b AtomBranch>) {
        let is_shared = |revert: &&Revert| self.brings_back.contains(&revert.commit);
        let shared = |other: &'b AtomBranch| {
            let revert = other.reverts.iter().find(is_shared)?;
            Some((other.atom_id.as_str(), revert.commit.as_str()))
        };
        let shared: Vec<(&str, &str)> = others.filter_map(shared).collect();
        let Some((_, commit)) = shared.first() else { return };
        let ids = shared.iter().map(|(id, _)| *id).collect::<Vec<_>>().join(" ");
        self.outcome = LandOutcome::TakenBack;
        self.detail = Some(format!(
            "by {commit}, with the work of {ids}: git revert {commit} brings all of it back, and \
             so does el land once el reopen {ids} and el close {ids} have said so"
        ));
        self.brings_back.clear();
    }

    /// Leaves it out if it would bring in work that is still open, and that is not wanted, too.
    /// `verb`: of the command that brings in both.
    pub(crate) fn wait_for<'b>(
        &mut self,
        below: impl IntoIterator<Item = &'b WorkBelow>,
        wanted: Option<&[String]>,
        verb: &str,
    ) {
        let is_left =
            |below: &&WorkBelow| wanted.is_none_or(|wanted| !wanted.contains(&below.atom_id));
        let below: Vec<&WorkBelow> = below.into_iter().filter(is_left).collect();
        if below.is_empty() {
            return;
        }
        let each = below.iter().map(|one| format!("{}, whose {}", one.atom_id, one.state));
        let ids: Vec<&str> = below.iter().map(|one| one.atom_id.as_str()).collect();
        self.outcome = LandOutcome::Waits;
        self.detail = Some(format!(
            "it builds on {}; el {verb} {} {} brings that in, too",
            each.collect::<Vec<_>>().join(", and "),
            ids.join(" "),
            self.atom_id
        ));
    }

    /// Decides about reverted work. The work lands again if the atom was closed again after the
    /// revert, or the branch has new commits; else the revert stands. Git's times are whole
    /// seconds: a close in the second of the revert counts as later if the atom was also reopened
    /// in that second.
    fn apply_reverts(&mut self, branch: &AtomBranch) {
        let second = |at: Option<Timestamp>| at.map(|at| at.as_micros() / 1_000_000);
        let (closed, reopened) = (second(branch.closed_at), second(branch.reopened_at));
        let is_finished_since = |revert: &Revert| {
            closed > Some(revert.at) || (closed == Some(revert.at) && reopened == Some(revert.at))
        };
        let goes_on_since = |revert: &Revert| branch.committed_at > Some(revert.at);
        let Some(last) = branch.reverts.first() else { return };
        let commits = branch.reverts.iter().map(|revert| revert.commit.clone()).collect();
        match self.outcome {
            LandOutcome::Already if is_finished_since(last) => {
                (self.outcome, self.brings_back) = (LandOutcome::ToLand, commits);
            }
            LandOutcome::ToLand if is_finished_since(last) || goes_on_since(last) => {
                self.brings_back = commits;
            }
            LandOutcome::ToLand => {
                self.outcome = LandOutcome::Held;
                self.detail = Some(format!(
                    "some of its work was taken back by {}, and it has not gone on since; el \
                     reopen, el close, el land bring in all of it",
                    last.commit
                ));
            }
            LandOutcome::Already => {
                self.outcome = LandOutcome::TakenBack;
                self.detail = Some(format!(
                    "by {0}; git revert {0} brings it back, and so does el reopen, el close, \
                     el land",
                    last.commit
                ));
            }
            _ => {}
        }
    }
}

fn outcome_of(branch: &AtomBranch) -> LandOutcome {
    if branch.landed || branch.taken_back.is_some() {
        LandOutcome::Already
    } else if branch.live {
        LandOutcome::AtWork
    } else if branch.status != Some(Status::Closed) {
        LandOutcome::NotFinished
    } else if branch.strayed_to.is_some() || branch.apart.is_some() {
        LandOutcome::Astray
    } else if !branch.uncommitted.is_empty() {
        LandOutcome::Uncommitted
    } else if branch.commits == 0 {
        LandOutcome::Nothing
    } else {
        LandOutcome::ToLand
    }
}

/// Finds the first of `count` steps after which the check fails, counted from 1. The check passes
/// with no step and fails with all steps.
pub(super) fn find_first_failure<E>(
    count: usize,
    mut passes: impl FnMut(usize) -> Result<bool, E>,
) -> Result<usize, E> {
    let (mut good, mut bad) = (0, count);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if passes(middle)? { good = middle } else { bad = middle }
    }
    Ok(bad)
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
