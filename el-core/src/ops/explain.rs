use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::budget::SpentBudget;
use super::change::resolve_atom;
use super::pause::paused_in;
use super::placement;
use crate::Result;
use crate::model::{Atom, BondKind, Comment, Pause, Run, Status, Timestamp, Worker};
use crate::rules::ready::{Hold, Node, Snapshot};
use crate::store::{Store, Tx, atom, bond, comment, orchestration, run, unmerged};

/// Why an atom has its status.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Explanation {
    pub atom: Atom,
    pub ready: bool,
    /// The reasons that hold the atom back. Of a ready atom, `needs` at the most.
    pub holds: Vec<Hold>,
    /// The attempts, oldest first.
    pub attempts: Vec<Run>,
    /// The last comment.
    pub last_comment: Option<Comment>,
    /// A pause that stops all claims.
    pub pause: Option<Pause>,
    /// Why a worker holds back ready atoms, because of the machine.
    pub held_back: Option<String>,
    /// The budget that holds the atom.
    pub spent_budget: Option<SpentBudget>,
}

/// Explains an atom: the reasons that hold the atom, and the end of each attempt.
///
/// # Errors
///
/// If the id is unknown or ambiguous, or the database cannot be read.
pub fn explain(store: &Store, id: &str, now: Timestamp) -> Result<Explanation> {
    store.read(|tx| {
        let atom = resolve_atom(tx, id)?;
        let holds = load_surroundings(tx, &atom)?.find_holds(&atom.id, now);
        Ok(Explanation {
            ready: holds.is_empty(),
            holds,
            attempts: run::of_atom(tx, &atom.id)?,
            last_comment: comment::list_of(tx, &atom.id)?.pop(),
            pause: paused_in(tx, now)?,
            held_back: super::budget::held_back(tx, now)?,
            spent_budget: if atom.status.is_over() {
                None
            } else {
                super::budget::spent_budget(tx, &atom.id)?
            },
            atom,
        })
    })
}

/// The same, also as to whether a worker can take the atom. `is_there` tells if a worker's process
/// still runs.
///
/// # Errors
///
/// As for [`explain`].
pub fn explain_placed(
    store: &Store,
    id: &str,
    now: Timestamp,
    is_there: &dyn Fn(&Worker) -> bool,
) -> Result<Explanation> {
    let mut explained = explain(store, id, now)?;
    if !explained.atom.needs.is_empty() {
        let workers = store.read(|tx| placement::workers_there(tx, is_there))?;
        explained.holds.extend(placement::hold_of(&explained.atom, &workers));
    }
    Ok(explained)
}

/// Loads the part of the project that decides the atom's readiness: the atom and the ancestors,
/// their sources, and the descendants of sources that are waited for as a family.
pub(super) fn load_surroundings(tx: &Tx<'_>, atom: &Atom) -> Result<Snapshot> {
    let mut snapshot = Snapshot::default();
    let mut seen = HashSet::new();
    let mut next = Some(atom.clone());
    while let Some(atom) = next.filter(|a| seen.insert(a.id.clone())) {
        // Targets of the atom and children of an epic are left out: an epic may contain thousands.
        let mut edges = bond::list_into(tx, &atom.id)?;
        edges.retain(|edge| edge.dependency_type.is_blocking());
        edges.sort_by(|a, b| (a.created_at, &a.source_id).cmp(&(b.created_at, &b.source_id)));
        for edge in edges {
            if edge.dependency_type == BondKind::WaitsFor {
                add_below(tx, &edge.source_id, &mut snapshot)?;
            } else {
                add_atom(tx, &edge.source_id, &mut snapshot)?;
            }
            snapshot.bonds.push((edge.source_id, edge.target_id, edge.dependency_type));
        }
        next = atom.parent_id.as_deref().map(|id| atom::get(tx, id)).transpose()?;
        let is_resting_plan = orchestration::is_resting(tx, &atom.id)?;
        let node = Node { is_resting_plan, ..load_node(tx, &atom)? };
        snapshot.nodes.insert(atom.id.clone(), node);
    }
    Ok(snapshot)
}

fn add_atom(tx: &Tx<'_>, id: &str, snapshot: &mut Snapshot) -> Result<()> {
    if let Some(atom) = atom::find(tx, id)? {
        snapshot.nodes.insert(atom.id.clone(), load_node(tx, &atom)?);
    }
    Ok(())
}

fn add_below(tx: &Tx<'_>, root: &str, snapshot: &mut Snapshot) -> Result<()> {
    let mut seen = HashSet::new();
    let mut todo = vec![root.to_owned()];
    while let Some(id) = todo.pop() {
        if seen.insert(id.clone()) {
            add_atom(tx, &id, snapshot)?;
            todo.extend(atom::child_ids(tx, &id)?);
        }
    }
    Ok(())
}

pub(super) fn load_node(tx: &Tx<'_>, atom: &Atom) -> Result<Node> {
    let retry_from = match atom.retry_at {
        Some(_) => atom::state_of(tx, &atom.id)?.and_then(|state| state.retry_from),
        None => None,
    };
    Ok(Node {
        retry_from,
        status: atom.status,
        issue_type: atom.issue_type,
        parent: atom.parent_id.clone(),
        defer_until: atom.defer_until,
        retry_at: atom.retry_at,
        close_reason: atom.close_reason.clone(),
        live_run: atom.run_id.clone(),
        is_unmerged: atom.status == Status::Closed && unmerged::is_noted(tx, &atom.id)?,
        is_resting_plan: false,
    })
}
