//! What can be brought in, decided from a look.

use std::path::PathBuf;

use el_agents::git::Revert;
use el_core::model::{Atom, Status, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::worktrees::Place;

/// What becomes of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Fate {
    /// To be tried.
    ToLand,
    Landed,
    /// It was brought in before.
    Already,
    /// It has no commit of its own.
    Nothing,
    NoBranch,
    /// Its atom is not closed.
    NotFinished,
    /// A run is at work in it.
    AtWork,
    /// Its worktree has changes that no commit has.
    Uncommitted,
    /// Its worktree is on something else: nobody knows here which commits are its work.
    Astray,
    Conflict,
    CheckFailed,
    /// It is ready, but the branch cannot be moved now, or it has changed meanwhile.
    Held,
    /// It was brought in before, and taken back by `git revert` since.
    TakenBack,
    /// A signal came before its turn.
    BrokenOff,
}

impl Fate {
    pub(super) fn is_trouble(self) -> bool {
        !matches!(self, Fate::ToLand | Fate::Landed | Fate::Already | Fate::Nothing)
    }

    pub(super) fn words(self, onto: &str) -> String {
        match self {
            Fate::ToLand => format!("would be brought to {onto}"),
            Fate::Landed => format!("is on {onto} now"),
            Fate::Already => format!("was on {onto} already"),
            Fate::Nothing => "has no commits to bring in".to_owned(),
            Fate::NoBranch => "has no branch".to_owned(),
            Fate::NotFinished => "is not closed".to_owned(),
            Fate::AtWork => "has a run at work".to_owned(),
            Fate::Uncommitted => {
                "has changes that are not committed; commit them in its worktree first".to_owned()
            }
            Fate::Astray => "was left out".to_owned(),
            Fate::Conflict => format!("is in conflict with {onto}"),
            Fate::CheckFailed => "makes the check fail, and was left out".to_owned(),
            Fate::Held => format!("waits: {onto} was not moved"),
            Fate::TakenBack => format!("was on {onto}, and was taken back there"),
            Fate::BrokenOff => "was not brought in: this was broken off before".to_owned(),
        }
    }
}

/// One branch.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Item {
    pub(super) atom_id: String,
    pub(super) title: Option<String>,
    pub(super) branch: Option<String>,
    pub(super) tip: Option<String>,
    pub(super) fate: Fate,
    /// The files in conflict, the end of the check's output, or why the branch was not moved.
    pub(super) detail: Option<String>,
    pub(super) files: Vec<String>,
    /// The atom that was filed to resolve a conflict.
    pub(super) conflict_atom: Option<String>,
    /// Commits of the target that took its work back: what they took is brought in again.
    pub(super) brings_back: Vec<String>,
    /// Its worktree.
    #[serde(skip)]
    pub(super) path: Option<PathBuf>,
    #[serde(skip)]
    pub(super) closed_at: Option<Timestamp>,
    #[serde(skip)]
    pub(super) parent: Option<String>,
}

impl Item {
    pub(super) fn without_branch(atom: &str) -> Item {
        Item {
            atom_id: atom.to_owned(),
            title: None,
            branch: None,
            tip: None,
            fate: Fate::NoBranch,
            detail: None,
            files: Vec::new(),
            conflict_atom: None,
            brings_back: Vec::new(),
            path: None,
            closed_at: None,
            parent: None,
        }
    }
}

impl Item {
    /// What was taken back is brought in again if it was finished again since, or goes on; else a
    /// person's word stands. `reopened_at`: when it was last taken up again. Git tells whole
    /// seconds: within the one of the revert, a close is a later one if the atom was reopened in it
    /// too.
    pub(super) fn taken_back(&mut self, reverts: &[Revert], reopened_at: Option<Timestamp>) {
        let second = |at: Option<Timestamp>| at.map(|at| at.as_micros() / 1_000_000);
        let (closed, reopened) = (second(self.closed_at), second(reopened_at));
        let is_finished_since = |revert: &Revert| {
            closed > Some(revert.at) || (closed == Some(revert.at) && reopened == Some(revert.at))
        };
        let Some(last) = reverts.first() else { return };
        let commits = reverts.iter().map(|revert| revert.commit.clone()).collect();
        match self.fate {
            Fate::Already if is_finished_since(last) => {
                (self.fate, self.brings_back) = (Fate::ToLand, commits)
            }
            Fate::ToLand => self.brings_back = commits,
            Fate::Already => {
                self.fate = Fate::TakenBack;
                self.detail = Some(format!(
                    "by {0}; git revert {0} brings it back, and so does el reopen, el close, el land",
                    last.commit
                ));
            }
            _ => {}
        }
    }

    /// Whether it is none of those that `--all` is about.
    pub(super) fn is_left_out(&self) -> bool {
        matches!(
            self.fate,
            Fate::Already | Fate::TakenBack | Fate::NotFinished | Fate::AtWork | Fate::Nothing
        )
    }
}

/// What is to be done about this branch.
pub(super) fn item(place: &Place, atom: Option<&Atom>) -> Item {
    let fate = if (place.landed || place.taken_back.is_some()) && place.commits > 0 {
        Fate::Already
    } else if place.live {
        Fate::AtWork
    } else if place.status != Some(Status::Closed) {
        Fate::NotFinished
    } else if place.strayed_to.is_some() {
        Fate::Astray
    } else if !place.uncommitted.is_empty() {
        Fate::Uncommitted
    } else if place.commits == 0 {
        Fate::Nothing
    } else {
        Fate::ToLand
    };
    let at = || place.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let detail = match fate {
        Fate::Uncommitted => Some(format!("{}\n{}", at(), place.uncommitted.join("\n"))),
        Fate::Astray => {
            place.astray().map(|why| format!("{}\n{why}; its commits are not brought in", at()))
        }
        _ => None,
    };
    Item {
        atom_id: place.atom_id.clone(),
        title: place.title.clone(),
        branch: Some(place.branch.clone()),
        tip: Some(place.tip.clone()),
        fate,
        detail,
        files: Vec::new(),
        conflict_atom: None,
        brings_back: Vec::new(),
        path: place.path.clone().filter(|_| !place.missing),
        closed_at: atom.and_then(|atom| atom.closed_at),
        parent: atom.and_then(|atom| atom.parent_id.clone()),
    }
}

/// The first of `count` steps after which the check fails, counted from 1: with none of them it
/// passes, with all it fails.
pub(super) fn bisect<E>(
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
mod tests {
    use super::bisect;

    #[test]
    fn the_first_step_that_fails_is_found_with_few_checks() {
        for count in 1..40 {
            for first in 1..=count {
                let mut checks = 0;
                let found = bisect(count, |step| {
                    checks += 1;
                    Ok::<_, ()>(step < first)
                });
                assert_eq!(found, Ok(first));
                assert!(checks <= 6, "{checks} checks for {count}");
            }
        }
    }
}
