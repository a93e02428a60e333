//! The reasons why an atom is not ready. `store/ready` says the same in SQL; a property test
//! compares the two.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{BondKind, IssueType, Status, Timestamp};

/// A back-off that begins later than this from now dates from before the clock went back.
pub const CLOCK_SKEW: Duration = Duration::from_secs(60);

/// As much of an atom as readiness depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub status: Status,
    pub issue_type: IssueType,
    pub parent: Option<String>,
    pub defer_until: Option<Timestamp>,
    pub retry_at: Option<Timestamp>,
    /// When the back-off began.
    pub retry_from: Option<Timestamp>,
    pub close_reason: Option<String>,
    pub live_run: Option<String>,
    /// Closed, and dependants wait for the merge of its branch.
    pub is_unmerged: bool,
    /// The epic of a plan that has not ended and has no driver.
    pub is_resting_plan: bool,
}

/// Atoms with their bonds; possibly only the part around an atom.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    pub nodes: BTreeMap<String, Node>,
    /// Source, target, kind. Without containment, which is in [`Node::parent`].
    pub bonds: Vec<(String, String, BondKind)>,
}

/// A reason that holds an atom back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "hold", rename_all = "snake_case")]
pub enum Hold {
    /// The status does not allow work to begin.
    Status { status: Status },
    /// An epic or a formula is never worked on.
    Abstract { issue_type: IssueType },
    /// Deferred, with or without a date.
    Deferred { until: Option<Timestamp> },
    /// An attempt failed, or was over at once, a moment ago.
    BackOff { until: Timestamp },
    /// A run works on the atom, or is being settled.
    Running { run: String },
    /// A bond of the atom, or of an ancestor (`via`).
    Blocked { by: String, bond: BondKind, via: Option<String> },
    /// A dependency of the atom, or of an ancestor (`via`), is over with a live run: the agent may
    /// still be writing.
    Ending { of: String, run: String, via: Option<String> },
    /// A dependency of the atom, or of an ancestor (`via`), is closed with a branch that is not
    /// merged.
    Unmerged { of: String, via: Option<String> },
    /// An ancestor is held.
    Parent { parent: String, status: Status },
    /// No worker that is there offers this. The atom is ready all the same: a person may take it.
    Needs { needs: Vec<String> },
    /// The plan of the atom has no driver: only filed, or interrupted.
    Plan { epic: String },
}

/// Returns true if a blocker *failed*: the blocker was decided against, or closed with a reason
/// that begins with fail, error or abort.
pub fn has_failed(status: Status, close_reason: Option<&str>) -> bool {
    match status {
        Status::WontDo => true,
        Status::Closed => {
            let reason = close_reason.unwrap_or_default().trim_matches(' ').to_ascii_lowercase();
            ["fail", "error", "abort"].iter().any(|word| reason.starts_with(word))
        }
        _ => false,
    }
}

impl Snapshot {
    /// Returns every reason that holds `id` back at `now`; empty means ready. An atom outside of
    /// the snapshot has no holds.
    pub fn find_holds(&self, id: &str, now: Timestamp) -> Vec<Hold> {
        let Some(node) = self.nodes.get(id) else { return Vec::new() };
        let mut holds = Vec::new();
        match node.status {
            Status::Open => {}
            Status::Deferred if node.defer_until.is_some_and(|at| at <= now) => {}
            Status::Deferred => holds.push(Hold::Deferred { until: node.defer_until }),
            status => holds.push(Hold::Status { status }),
        }
        if node.issue_type.is_abstract() {
            holds.push(Hold::Abstract { issue_type: node.issue_type });
        }
        let clock_went_back = node.retry_from.is_some_and(|from| from > now.plus(CLOCK_SKEW));
        if let Some(until) = node.retry_at.filter(|at| *at > now && !clock_went_back) {
            holds.push(Hold::BackOff { until });
        }
        if let Some(run) = &node.live_run {
            holds.push(Hold::Running { run: run.clone() });
        }
        self.add_blockers(id, None, &mut holds);
        let mut seen = HashSet::from([id]);
        let mut parent = node.parent.as_deref();
        while let Some(id) = parent.filter(|id| seen.insert(id)) {
            let Some(node) = self.nodes.get(id) else { break };
            let is_due =
                node.status == Status::Deferred && node.defer_until.is_some_and(|at| at <= now);
            if node.status.holds_children() && !is_due {
                holds.push(Hold::Parent { parent: id.to_owned(), status: node.status });
            }
            if node.is_resting_plan {
                holds.push(Hold::Plan { epic: id.to_owned() });
            }
            self.add_blockers(id, Some(id), &mut holds);
            parent = node.parent.as_deref();
        }
        holds
    }

    fn add_blockers(&self, target: &str, via: Option<&str>, holds: &mut Vec<Hold>) {
        for (source, _, bond) in self.bonds.iter().filter(|(_, t, _)| t == target) {
            let Some(node) = self.nodes.get(source) else { continue };
            let is_live = match bond {
                BondKind::Blocks => !node.status.is_over(),
                BondKind::WaitsFor => !node.status.is_over() || self.has_live_descendant(source),
                BondKind::ConditionalBlocks => {
                    !has_failed(node.status, node.close_reason.as_deref())
                }
                _ => false,
            };
            if is_live {
                holds.push(Hold::Blocked {
                    by: source.clone(),
                    bond: *bond,
                    via: via.map(str::to_owned),
                });
            } else if bond.is_blocking() {
                let via = via.map(str::to_owned);
                holds.extend(self.hold_after_close(source, *bond == BondKind::WaitsFor, via));
            }
        }
    }

    fn has_live_descendant(&self, id: &str) -> bool {
        self.nodes_below(id).iter().skip(1).any(|(_, node)| !node.status.is_over())
    }

    /// A live run or an unmerged branch of an atom that is over, or also of a descendant.
    fn hold_after_close(&self, id: &str, with_children: bool, via: Option<String>) -> Option<Hold> {
        let looked_at = if with_children {
            self.nodes_below(id)
        } else {
            self.nodes.get_key_value(id).into_iter().collect()
        };
        let run = looked_at.iter().find_map(|(id, node)| Some((*id, node.live_run.clone()?)));
        if let Some((of, run)) = run {
            return Some(Hold::Ending { of: of.clone(), run, via });
        }
        let (of, _) = looked_at.into_iter().find(|(_, node)| node.is_unmerged)?;
        Some(Hold::Unmerged { of: of.clone(), via })
    }

    /// Returns an atom and all descendants, without duplicates.
    fn nodes_below(&self, id: &str) -> Vec<(&String, &Node)> {
        let mut children: HashMap<&String, Vec<(&String, &Node)>> = HashMap::new();
        for (id, node) in &self.nodes {
            if let Some(parent) = &node.parent {
                children.entry(parent).or_default().push((id, node));
            }
        }
        let mut found: Vec<(&String, &Node)> = self.nodes.get_key_value(id).into_iter().collect();
        let mut next = 0;
        while let Some((parent, _)) = found.get(next).copied() {
            // Taken out, so that parents that go round in a circle end.
            found.extend(children.remove(parent).into_iter().flatten());
            next += 1;
        }
        found
    }
}
