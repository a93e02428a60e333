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
    /// A run is on it.
    pub is_running: bool,
    /// It is deferred with a date, at which it is ready by itself.
    pub has_date: bool,
    /// The atoms that must be over before it.
    pub waits_for: Vec<String>,
}

/// Where one atom stands in the flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It gave its result.
    Done,
    /// It is over without one.
    Failed,
    Running,
    /// A worker takes it by itself, now or when its time has come.
    Ready,
    /// It waits for an atom that moves.
    Waiting,
    /// A person is to look at it.
    Review,
    /// Blocked, or held by a person: nothing happens by itself.
    Stuck,
    /// It waits for an atom that is stuck.
    Held,
}

/// All atoms, by where they stand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Work {
    pub done: Vec<String>,
    pub running: Vec<String>,
    pub ready: Vec<String>,
    pub waiting: Vec<String>,
    pub review: Vec<String>,
    /// Gave no result, and will not by themselves: failed, stuck, and held by these.
    pub missing: Vec<String>,
    /// Each atom, in the order of the members.
    #[serde(skip)]
    pub standings: Vec<(String, Standing)>,
}

impl Work {
    /// Whether something will happen that the flow waits for.
    pub fn is_moving(&self) -> bool {
        !(self.running.is_empty()
            && self.ready.is_empty()
            && self.waiting.is_empty()
            && self.review.is_empty())
    }
}

impl Member {
    /// It gave its result.
    pub fn is_done(&self) -> bool {
        self.alone() == Standing::Done
    }

    /// Where it stands, if it waits for nothing.
    fn alone(&self) -> Standing {
        // Until its run has ended, what it hands back and says last is still to come, whatever its
        // status.
        if self.is_running {
            return Standing::Running;
        }
        match self.status {
            Status::Closed if !has_failed(self.status, self.close_reason.as_deref()) => {
                Standing::Done
            }
            Status::Closed | Status::WontDo | Status::Discard => Standing::Failed,
            // Also claimed by a person, who works on it.
            Status::InProgress => Standing::Running,
            Status::Open => Standing::Ready,
            Status::Deferred if self.has_date => Standing::Ready,
            Status::Review | Status::Testing => Standing::Review,
            Status::Blocked | Status::Deferred => Standing::Stuck,
        }
    }
}

/// Where the atoms stand. An atom that waits for one outside of the epic waits; whoever knows more
/// tells [`Member::waits_for`] without it.
pub fn work(members: &[Member]) -> Work {
    let places: HashMap<&str, usize> =
        members.iter().enumerate().map(|(n, member)| (member.id.as_str(), n)).collect();
    let mut standings: Vec<Standing> = members.iter().map(Member::alone).collect();
    let stuck: HashSet<usize> = held(members, &places, &standings);
    for (n, member) in members.iter().enumerate() {
        if standings[n] != Standing::Ready {
            continue;
        }
        let is_over =
            |id: &String| places.get(id.as_str()).is_some_and(|at| members[*at].status.is_over());
        if stuck.contains(&n) {
            standings[n] = Standing::Held;
        } else if !member.waits_for.iter().all(is_over) {
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

/// The atoms that wait, directly or not, for one that is stuck, or in a circle that a person made.
fn held(
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
    // What will be over one day frees its followers; what is never reached is held.
    let moves = |n: usize| standings[n] != Standing::Stuck;
    let mut todo: Vec<usize> = (0..members.len()).filter(|n| open[*n] == 0 && moves(*n)).collect();
    // What runs ends, whatever it waits for.
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

/// What a worker says about its task against the atom's status, which alone is true; `None`: they
/// agree, or the atom is not over.
pub fn contradiction(
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
