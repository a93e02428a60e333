//! `el list --tree`: atoms below parents.

use std::collections::{BTreeMap, HashMap, HashSet};

use el_core::model::Atom;
use el_core::{Store, ops};

use crate::Result;
use crate::output::{Page, atoms, style};

/// The ancestors that are missing among these atoms, so that each atom stands below the parents.
pub(super) fn above(store: &Store, atoms: &[&Atom]) -> Result<Vec<Atom>> {
    let mut known: HashSet<String> = atoms.iter().map(|atom| atom.id.clone()).collect();
    let mut above = Vec::new();
    let mut todo: Vec<String> = atoms.iter().filter_map(|atom| atom.parent_id.clone()).collect();
    while let Some(id) = todo.pop() {
        if known.insert(id.clone()) {
            let parent = ops::get_atom(store, &id)?;
            todo.extend(parent.parent_id.clone());
            above.push(parent);
        }
    }
    Ok(above)
}

/// Prints the atoms below the parents, in order. Parents that are there for the sake of the tree
/// alone are dim.
pub(super) fn print(page: &mut Page, atoms: &[&Atom], above: &[Atom], waits: &[String]) {
    let waits: HashMap<&str, &String> =
        atoms.iter().zip(waits).map(|(atom, waits)| (atom.id.as_str(), waits)).collect();
    let all: Vec<&Atom> = atoms.iter().copied().chain(above).collect();
    let places: HashMap<&str, usize> =
        all.iter().enumerate().map(|(at, atom)| (atom.id.as_str(), at)).collect();
    let mut below: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut roots = Vec::new();
    for (at, atom) in all.iter().enumerate() {
        match atom.parent_id.as_deref().and_then(|parent| places.get(parent)) {
            Some(parent) => below.entry(*parent).or_default().push(at),
            None => roots.push(at),
        }
    }
    let mut todo: Vec<(usize, String, &str)> =
        roots.into_iter().rev().map(|at| (at, String::new(), "")).collect();
    while let Some((at, indent, branch)) = todo.pop() {
        let atom = all[at];
        let waits = waits.get(atom.id.as_str()).map(|waits| waits.as_str());
        let line = line(page, atom, waits);
        page.push_line(format!("{indent}{branch}{line}"));
        let further = match branch {
            "" => indent,
            "└─ " => format!("{indent}   "),
            _ => format!("{indent}│  "),
        };
        let children = below.remove(&at).unwrap_or_default();
        for (from_last, child) in children.into_iter().rev().enumerate() {
            let branch = if from_last == 0 { "└─ " } else { "├─ " };
            todo.push((child, further.clone(), branch));
        }
    }
}

/// `waits`: `None` for a parent that is not listed itself.
fn line(page: &Page, atom: &Atom, waits: Option<&str>) -> String {
    let line = atoms::one_line(page, atom.status.as_str(), &atom.id, &atom.title);
    match waits {
        None => format!("{line} {}", page.paint(style::DIM, "(not in this list)")),
        Some("") => line,
        Some(waits) => {
            let waits = crate::output::sanitize::one_line(waits);
            format!("{line} {}", page.paint(style::WARNING, &format!("← {waits}")))
        }
    }
}
