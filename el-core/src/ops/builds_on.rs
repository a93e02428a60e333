use std::collections::HashSet;

use crate::Result;
use crate::model::{BondKind, Status};
use crate::store::{Store, Tx, atom, bond};

/// The most atoms that are looked at. No person or model plans as many.
const LOOK_AT: usize = 2000;

/// Returns the closed atoms that an atom builds on: the blockers of the atom and of the ancestors,
/// with all descendants, and their blockers in turn. Each atom comes before its own dependencies,
/// so that the first branches mostly contain the others. Excluded are atoms that the atom is an
/// alternative to.
///
/// # Errors
///
/// If the id is unknown or ambiguous, or the database cannot be read.
pub fn builds_on(store: &Store, id: &str) -> Result<Vec<String>> {
    store.read(|tx| {
        let mut seen = HashSet::from([id.to_owned()]);
        // Depth first, without recursion. Dependencies are found first; the list is then reversed.
        let mut path = vec![(id.to_owned(), atoms_before(tx, id, false)?)];
        let mut found = Vec::new();
        while let Some((at, left)) = path.last_mut() {
            match left.pop() {
                Some(next) => {
                    if seen.len() < LOOK_AT && seen.insert(next.clone()) {
                        let left = atoms_before(tx, &next, true)?;
                        path.push((next, left));
                    }
                }
                None => {
                    if at != id
                        && atom::find(tx, at)?.is_some_and(|atom| atom.status == Status::Closed)
                    {
                        found.push(at.clone());
                    }
                    path.pop();
                }
            }
        }
        found.reverse();
        Ok(found)
    })
}

fn atoms_before(tx: &Tx<'_>, id: &str, with_children: bool) -> Result<Vec<String>> {
    let mut before = blocking_sources(tx, id)?;
    if with_children {
        before.extend(atom::child_ids(tx, id)?);
    }
    Ok(before)
}

/// Returns the sources that block an atom or an ancestor.
pub(super) fn blocking_sources(tx: &Tx<'_>, id: &str) -> Result<Vec<String>> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let mut next = Some(id.to_owned());
    while let Some(id) = next.filter(|id| seen.insert(id.clone())) {
        for edge in bond::list_touching(tx, &id)? {
            if edge.target_id == id
                && matches!(edge.dependency_type, BondKind::Blocks | BondKind::WaitsFor)
            {
                found.push(edge.source_id);
            }
        }
        next = atom::find(tx, &id)?.and_then(|atom| atom.parent_id);
    }
    Ok(found)
}
