use std::collections::{HashSet, VecDeque};

use crate::Result;
use crate::model::{BondKind, Status};
use crate::store::{Store, Tx, atom, bond};

/// Atoms that are looked at; more than a person or a model lays out.
const LOOK_AT: usize = 2000;

/// The closed atoms whose work an atom builds on, nearest first: what blocked it or its parents and what is below that, and what blocked those in
/// turn. Not those of which it is the alternative.
pub fn builds_on(store: &Store, id: &str) -> Result<Vec<String>> {
    store.read(|tx| {
        let mut seen = HashSet::from([id.to_owned()]);
        let mut todo = VecDeque::from([id.to_owned()]);
        let mut found = Vec::new();
        while let Some(next) = todo.pop_front() {
            if next != id && atom::find(tx, &next)?.is_some_and(|atom| atom.status == Status::Closed) {
                found.push(next.clone());
            }
            let below = if next == id { Vec::new() } else { atom::children(tx, &next)? };
            for one in sources(tx, &next)?.into_iter().chain(below) {
                if seen.len() < LOOK_AT && seen.insert(one.clone()) {
                    todo.push_back(one);
                }
            }
        }
        Ok(found)
    })
}

/// What blocks an atom, or one of its parents.
fn sources(tx: &Tx<'_>, id: &str) -> Result<Vec<String>> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let mut next = Some(id.to_owned());
    while let Some(id) = next.filter(|id| seen.insert(id.clone())) {
        for edge in bond::touching(tx, &id)? {
            if edge.target_id == id && matches!(edge.dependency_type, BondKind::Blocks | BondKind::WaitsFor) {
                found.push(edge.source_id);
            }
        }
        next = atom::find(tx, &id)?.and_then(|atom| atom.parent_id);
    }
    Ok(found)
}
