//! Where the atoms of an epic stand, all together.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{CompletionStatus, Status};
use crate::rules::ready::has_failed;

/// An atom under the epic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub id: String,
    pub status: Status,
    pub close_reason: Option<String>,
    /// A run works on the atom.
    pub is_running: bool,
    /// Deferred with a date: the atom becomes ready without a person.
    pub has_date: bool,
    /// The atoms that must be over first.
    pub waits_for: Vec<String>,
    /// Atoms that are closed, and whose branches must be merged first.
    pub unmerged: Vec<String>,
}

/// The state of an atom in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Over with a result.
    Done,
    /// Over without a result.
    Failed,
    Running,
    /// A worker will take the atom, now or when the time has come.
    Ready,
    /// Waits for an atom that makes progress.
    Waiting,
    /// A person has to review the atom.
    Review,
    /// Blocked, or held by a person: no progress without a person.
    Stuck,
    /// Waits for a stuck atom.
    Held,
}

/// All atoms by state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Work {
    pub done: Vec<String>,
    pub running: Vec<String>,
    pub ready: Vec<String>,
    pub waiting: Vec<String>,
    pub review: Vec<String>,
    /// Atoms without a result now and later: failed, stuck, and held by stuck atoms.
    pub missing: Vec<String>,
    /// Each atom, in the order of the members.
    #[serde(skip)]
    pub standings: Vec<(String, Standing)>,
}

impl Work {
    /// Returns true if the plan makes progress without a person.
    pub fn is_moving(&self) -> bool {
        !(self.running.is_empty()
            && self.ready.is_empty()
            && self.waiting.is_empty()
            && self.review.is_empty())
    }
}

impl Member {
    /// Returns true if the atom has a result.
    pub fn is_done(&self) -> bool {
        self.own_standing() == Standing::Done
    }

    /// Returns the state of an atom without dependencies.
    fn own_standing(&self) -> Standing {
        // Until the run has ended, hand-over and last words are still to come, whatever the status.
        if self.is_running {
            return Standing::Running;
        }
        match self.status {
            Status::Closed if !has_failed(self.status, self.close_reason.as_deref()) => {
                Standing::Done
            }
            Status::Closed | Status::WontDo | Status::Discard => Standing::Failed,
            // A person may have the claim and work on the atom.
            Status::InProgress => Standing::Running,
            Status::Open => Standing::Ready,
            Status::Deferred if self.has_date => Standing::Ready,
            Status::Review | Status::Testing => Standing::Review,
            Status::Blocked | Status::Deferred => Standing::Stuck,
        }
    }
}

/// Sorts the atoms by state. A dependency outside of the epic holds an atom; the caller leaves
/// known finished dependencies out of [`Member::waits_for`].
pub fn sort_members(members: &[Member]) -> Work {
    let places: HashMap<&str, usize> =
        members.iter().enumerate().map(|(n, member)| (member.id.as_str(), n)).collect();
    let mut standings: Vec<Standing> = members.iter().map(Member::own_standing).collect();
    let stuck: HashSet<usize> = held_members(members, &places, &standings);
    for (n, member) in members.iter().enumerate() {
        if standings[n] != Standing::Ready {
            continue;
        }
        let is_over =
            |id: &String| places.get(id.as_str()).is_some_and(|at| members[*at].status.is_over());
        if stuck.contains(&n) {
            standings[n] = Standing::Held;
        } else if !member.unmerged.is_empty() || !member.waits_for.iter().all(is_over) {
            standings[n] = Standing::Waiting;
        }
    }
    let mut work = Work::default();
    for (member, standing) in members.iter().zip(standings) {
        let id = member.id.clone();
        work.standings.push((id.clone(), standing));
        match standing {
            Standing::Done => work.done.push(id),
            Standing::Running => work.running.push(id),
            Standing::Ready => work.ready.push(id),
            Standing::Waiting => work.waiting.push(id),
            Standing::Review => work.review.push(id),
            Standing::Failed | Standing::Stuck | Standing::Held => work.missing.push(id),
        }
    }
    work
}

/// Returns the atoms that wait, directly or not, for a stuck atom, or in a cycle that a person
/// made.
fn held_members(
    members: &[Member],
    places: &HashMap<&str, usize>,
    standings: &[Standing],
) -> HashSet<usize> {
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); members.len()];
    let mut open = vec![0_usize; members.len()];
    for (n, member) in members.iter().enumerate() {
        for before in member.waits_for.iter().filter_map(|id| places.get(id.as_str())) {
            if !members[*before].status.is_over() {
                followers[*before].push(n);
                open[n] += 1;
            }
        }
    }
    // An atom that will be over frees the followers; an atom never reached is held.
    let moves = |n: usize| standings[n] != Standing::Stuck;
    let mut todo: Vec<usize> = (0..members.len()).filter(|n| open[*n] == 0 && moves(*n)).collect();
    // A running atom ends, whatever the dependencies.
    todo.extend(
        (0..members.len()).filter(|n| {
            open[*n] > 0 && matches!(standings[*n], Standing::Running | Standing::Review)
        }),
    );
    let mut freed: HashSet<usize> = todo.iter().copied().collect();
    while let Some(n) = todo.pop() {
        for follower in &followers[n] {
            open[*follower] = open[*follower].saturating_sub(1);
            if open[*follower] == 0 && moves(*follower) && freed.insert(*follower) {
                todo.push(*follower);
            }
        }
    }
    (0..members.len()).filter(|n| !freed.contains(n)).collect()
}

/// Compares a worker's report with the atom's status, which alone counts. `None`: the two agree, or
/// the atom is not over.
pub fn find_contradiction(
    said: CompletionStatus,
    status: Status,
    close_reason: Option<&str>,
) -> Option<String> {
    let is_good = said == CompletionStatus::Success;
    let what = match status {
        Status::Closed if !has_failed(status, close_reason) => match said {
            CompletionStatus::Failed | CompletionStatus::Timeout => "was closed as done",
            CompletionStatus::Success | CompletionStatus::Partial => return None,
        },
        Status::Closed if is_good => "was closed as failed",
        Status::WontDo | Status::Discard | Status::Blocked | Status::Deferred if is_good => {
            "is not done"
        }
        _ => return None,
    };
    Some(format!("its worker says \"{said}\", but the work item {what} (status {status})"))
}
