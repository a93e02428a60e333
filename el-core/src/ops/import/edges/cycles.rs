//! Edges of an import that would make an atom wait for itself. All edges are searched together.

use std::collections::{HashMap, HashSet};

use super::{Ends, NewBond, leave_out};
use crate::exchange::{NoteKind, Notes};
use crate::model::BondKind;
use crate::ops::import::Planned;
use crate::rules::waits::{self, Edge, Wait};

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
    numbers: HashMap<String, usize>,
    held: Vec<Edge>,
    new: Vec<Edge>,
    /// By position in `new`.
    owners: Vec<EdgeOwner>,
}

impl WaitGraph {
    /// Adds an edge; `owner` is `None` for an edge that exists. A bond that holds nothing is no
    /// edge.
    fn add(&mut self, source: &str, target: &str, kind: BondKind, owner: Option<EdgeOwner>) {
        let Some(wait) = Wait::of_bond(kind, self.epics.contains(source)) else { return };
        let edge = Edge { source: self.number(source), target: self.number(target), wait };
        match owner {
            None => self.held.push(edge),
            Some(owner) => {
                self.new.push(edge);
                self.owners.push(owner);
            }
        }
    }

    fn number(&mut self, id: &str) -> usize {
        if let Some(number) = self.numbers.get(id) {
            return *number;
        }
        let next = self.numbers.len();
        self.numbers.insert(id.to_owned(), next);
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
    planned: &mut [Planned],
    new: &mut Vec<NewBond>,
    present: &HashSet<Ends>,
    remove: &[(usize, Ends)],
    parents: &HashMap<String, (String, Option<usize>)>,
    epics: HashSet<String>,
    notes: &mut Notes,
) {
    let gone: HashSet<&Ends> = remove.iter().map(|(_, ends)| ends).collect();
    let stays = present.iter().filter(|ends| !gone.contains(ends));
    let graph = wait_graph(planned, new, stays, parents, epics);
    let mut refused_bonds = HashSet::new();
    for owner in graph.refused() {
        match owner {
            EdgeOwner::Parent(at) => refuse_parent(&mut planned[at], notes),
            EdgeOwner::Epic(at) => refuse_epic(&mut planned[at], notes),
            EdgeOwner::Bond(at) => {
                refuse_bond(planned, &new[at], notes);
                refused_bonds.insert(at);
            }
        }
    }
    let mut at = 0;
    new.retain(|_| {
        at += 1;
        !refused_bonds.contains(&(at - 1))
    });
}

/// Collects the edges. Families come first, so that a contradicting bond gives way; then the order
/// is that of the file, so that the result is always the same.
fn wait_graph<'a>(
    planned: &[Planned],
    new: &[NewBond],
    stays: impl Iterator<Item = &'a Ends>,
    parents: &HashMap<String, (String, Option<usize>)>,
    mut epics: HashSet<String>,
) -> WaitGraph {
    // A new epic waits for all contents, so the bonds of a new epic are checked as new bonds.
    let new_epics: HashMap<String, usize> = planned
        .iter()
        .enumerate()
        .filter(|(_, plan)| plan.record.issue_type.is_abstract() && !epics.contains(&plan.atom_id))
        .map(|(at, plan)| (plan.atom_id.clone(), at))
        .collect();
    epics.extend(new_epics.keys().cloned());
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
fn refuse_parent(plan: &mut Planned, notes: &mut Notes) {
    let parent = plan.record.parent.clone().unwrap_or_default();
    let own = plan.record.id.clone();
    plan.parent = plan.before.as_ref().and_then(|before| before.parent_id.clone());
    leave_out(plan, (&parent, &own, BondKind::ParentChild), CYCLE, notes);
}

/// Keeps the present type in place of the file's.
fn refuse_epic(plan: &mut Planned, notes: &mut Notes) {
    if let Some(before) = &plan.before {
        plan.record.issue_type = before.issue_type;
    }
    let place = format!("line {} ({})", plan.record.line, plan.record.id);
    notes.add(NoteKind::LeftOut, format!("a type 'epic' {CYCLE}"), &place);
}

fn refuse_bond(planned: &mut [Planned], bond: &NewBond, notes: &mut Notes) {
    let told = &bond.told;
    let Some(owner) = bond.owner else {
        let what = format!("a bond '{}' {CYCLE}", bond.ends.kind);
        return notes.add(NoteKind::LeftOut, what, &format!("line {}", told.line));
    };
    planned[owner].bonds.retain(|ends| *ends != bond.ends);
    leave_out(&mut planned[owner], (&told.source, &told.target, told.kind), CYCLE, notes);
}
