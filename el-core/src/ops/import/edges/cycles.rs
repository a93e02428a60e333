//! Edges of an import that would make an atom wait for itself. All edges are searched together.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Ends, Lookup, NewBond, Parents, leave_bond_out, leave_out, parent_here};
use crate::Result;
use crate::exchange::{NoteKind, Notes, RecordHead};
use crate::model::BondKind;
use crate::ops::import::Target;
use crate::rules::waits::{self, Edge, Wait};
use crate::store::atom;

const CYCLE: &str = "that would make an atom wait for itself";

/// The cause of a new edge: a position in the planned records, or in the new bonds.
#[derive(Clone, Copy)]
enum EdgeOwner {
    Parent(usize),
    Bond(usize),
    /// A bond of an atom that becomes an epic.
    Epic(usize),
}

/// The edges along which atoms wait, before and through the import.
struct WaitGraph {
    epics: HashSet<String>,
    /// A number for each atom with an edge.
    numbers: HashMap<Arc<str>, usize>,
    held: Vec<Edge>,
    new: Vec<Edge>,
    /// By position in `new`.
    owners: Vec<EdgeOwner>,
}

impl WaitGraph {
    /// Adds an edge; `owner` is `None` for an edge that exists. A bond that holds nothing is no
    /// edge.
    fn add(
        &mut self,
        source: &Arc<str>,
        target: &Arc<str>,
        kind: BondKind,
        owner: Option<EdgeOwner>,
    ) {
        let Some(wait) = Wait::of_bond(kind, self.epics.contains(&**source)) else { return };
        let edge = Edge { source: self.number(source), target: self.number(target), wait };
        match owner {
            None => self.held.push(edge),
            Some(owner) => {
                self.new.push(edge);
                self.owners.push(owner);
            }
        }
    }

    fn number(&mut self, id: &Arc<str>) -> usize {
        if let Some(number) = self.numbers.get(id) {
            return *number;
        }
        let next = self.numbers.len();
        self.numbers.insert(id.clone(), next);
        next
    }

    /// Returns the owners of the edges that close a cycle.
    fn refused(&self) -> Vec<EdgeOwner> {
        let refused = waits::refused_edges(self.numbers.len(), &self.held, &self.new);
        refused.into_iter().map(|at| self.owners[at]).collect()
    }
}

/// Leaves out edges that would make an atom wait for itself.
pub(super) fn leave_cycles_out(
    lookup: &Lookup<'_>,
    targets: &mut [Target],
    new: &mut Vec<NewBond>,
    present: &HashSet<Ends>,
    remove: &[(usize, Ends)],
    parents: &Parents,
    notes: &mut Notes,
) -> Result<()> {
    let gone: HashSet<&Ends> = remove.iter().map(|(_, ends)| ends).collect();
    let stays = present.iter().filter(|ends| !gone.contains(ends));
    let epics = atom::abstract_ids(lookup.tx)?;
    let graph = wait_graph(lookup.heads, targets, new, stays, parents, epics);
    let mut refused_bonds = HashSet::new();
    for owner in graph.refused() {
        match owner {
            EdgeOwner::Parent(at) => refuse_parent(lookup, at, &mut targets[at], notes)?,
            EdgeOwner::Epic(at) => {
                targets[at].keeps_type = true;
                let head = &lookup.heads[at];
                let place = format!("line {} ({})", head.line, head.id);
                notes.add(NoteKind::LeftOut, format!("a type 'epic' {CYCLE}"), &place);
            }
            EdgeOwner::Bond(at) => {
                refuse_bond(lookup, targets, &new[at], notes);
                refused_bonds.insert(at);
            }
        }
    }
    let mut at = 0;
    new.retain(|_| {
        at += 1;
        !refused_bonds.contains(&(at - 1))
    });
    Ok(())
}

/// Collects the edges. Families come first, so that a contradicting bond gives way; then the order
/// is that of the file, so that the result is always the same.
fn wait_graph<'a>(
    heads: &[RecordHead],
    targets: &[Target],
    new: &[NewBond],
    stays: impl Iterator<Item = &'a Ends>,
    parents: &Parents,
    mut epics: HashSet<String>,
) -> WaitGraph {
    // A new epic waits for all contents, so the bonds of a new epic are checked as new bonds.
    let is_new =
        |at: usize| heads[at].issue_type.is_abstract() && !epics.contains(&*targets[at].atom_id);
    let new_epics: HashMap<Arc<str>, usize> = (0..targets.len())
        .filter(|at| is_new(*at))
        .map(|at| (targets[at].atom_id.clone(), at))
        .collect();
    epics.extend(new_epics.keys().map(|id| id.to_string()));
    let mut graph = WaitGraph {
        epics,
        numbers: HashMap::new(),
        held: Vec::new(),
        new: Vec::new(),
        owners: Vec::new(),
    };
    let mut of_new_epics: Vec<(usize, &Ends)> = Vec::new();
    for ends in stays.filter(|ends| ends.kind != BondKind::ParentChild) {
        match new_epics.get(&ends.source) {
            Some(at) => of_new_epics.push((*at, ends)),
            None => graph.add(&ends.source, &ends.target, ends.kind, None),
        }
    }
    let mut by_place: Vec<_> = parents.iter().collect();
    by_place.sort_by_key(|(child, (_, at))| (*at, (*child).clone()));
    for (child, (parent, at)) in by_place {
        graph.add(parent, child, BondKind::ParentChild, at.map(EdgeOwner::Parent));
    }
    for (at, bond) in new.iter().enumerate() {
        let ends = &bond.ends;
        graph.add(&ends.source, &ends.target, ends.kind, Some(EdgeOwner::Bond(at)));
    }
    of_new_epics.sort_by_key(|(at, ends)| (*at, ends.target.clone()));
    for (at, ends) in of_new_epics {
        graph.add(&ends.source, &ends.target, ends.kind, Some(EdgeOwner::Epic(at)));
    }
    graph
}

/// Keeps the present parent in place of the file's.
fn refuse_parent(
    lookup: &Lookup<'_>,
    at: usize,
    target: &mut Target,
    notes: &mut Notes,
) -> Result<()> {
    let head = &lookup.heads[at];
    target.parent = parent_here(lookup.tx, target)?;
    let parent = head.parent.as_deref().unwrap_or_default();
    leave_out(target, head.line, (parent, &head.id, BondKind::ParentChild), CYCLE, notes);
    Ok(())
}

fn refuse_bond(lookup: &Lookup<'_>, targets: &mut [Target], bond: &NewBond, notes: &mut Notes) {
    if let Some(owner) = bond.owner {
        targets[owner].bonds.retain(|ends| *ends != bond.ends);
    }
    leave_bond_out(lookup, targets, bond.owner, &bond.told, CYCLE, notes);
}
