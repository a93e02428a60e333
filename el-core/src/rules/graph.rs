//! Cycles among edges along which an atom waits for another.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// A vertex of the graph of waiting. Each atom has two vertices.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Vertex {
    pub atom: String,
    pub side: Side,
}

/// The two things that others wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The atom alone.
    Itself,
    /// The atom and all descendants. Only then is an epic over.
    Family,
}

impl Vertex {
    pub fn itself(atom: &str) -> Vertex {
        Vertex { atom: atom.to_owned(), side: Side::Itself }
    }

    pub fn family(atom: &str) -> Vertex {
        Vertex { atom: atom.to_owned(), side: Side::Family }
    }
}

/// The atoms along a cycle of vertices, each once, and the first one again. A way into an epic and
/// back, between the two vertices of an atom, is left out.
pub fn atoms_of(mut cycle: Vec<Vertex>) -> Vec<String> {
    let end = cycle.pop();
    let mut atoms: Vec<String> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for Vertex { atom, .. } in cycle {
        match places.get(&atom) {
            Some(&place) => {
                for left in atoms.drain(place + 1..) {
                    places.remove(&left);
                }
            }
            None => {
                places.insert(atom.clone(), atoms.len());
                atoms.push(atom);
            }
        }
    }
    atoms.extend(end.map(|vertex| vertex.atom));
    atoms
}

/// A longer cycle is shown by the ends and the length.
const CYCLE_SHOWN: usize = 12;
/// The number of atoms shown at each end.
const CYCLE_ENDS: usize = 4;

/// A cycle for people: `a → b → a`.
pub fn cycle_text(path: &[String]) -> String {
    if path.len() <= CYCLE_SHOWN {
        return path.join(" → ");
    }
    let left_out = path.len() - 2 * CYCLE_ENDS;
    format!(
        "{} → … {left_out} more … → {} ({} atoms)",
        path[..CYCLE_ENDS].join(" → "),
        path[path.len() - CYCLE_ENDS..].join(" → "),
        path.len() - 1
    )
}

/// A way from `start` back to `start` along `successors`, both ends included; `None` if there is
/// none. Every node is asked at most once.
///
/// # Errors
/// The first failure of `successors`.
pub fn cycle_through<V: Clone + Eq + Hash, E>(
    start: &V,
    mut successors: impl FnMut(&V) -> Result<Vec<V>, E>,
) -> Result<Option<Vec<V>>, E> {
    // The path from `start` to the current node, and the edges left to try at each step.
    let mut path = vec![start.clone()];
    let mut todo = vec![successors(start)?];
    let mut seen = HashSet::new();
    while let Some(next) = todo.last_mut() {
        match next.pop() {
            None => {
                todo.pop();
                path.pop();
            }
            Some(node) if node == *start => {
                path.push(node);
                return Ok(Some(path));
            }
            Some(node) => {
                if seen.insert(node.clone()) {
                    todo.push(successors(&node)?);
                    path.push(node);
                }
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    type Edges = HashMap<String, Vec<String>>;

    fn edges(pairs: &[(u8, u8)]) -> Edges {
        let mut edges = Edges::new();
        for (from, to) in pairs {
            edges.entry(from.to_string()).or_default().push(to.to_string());
        }
        edges
    }

    fn find(edges: &Edges, start: u8) -> Option<Vec<String>> {
        cycle_through(&start.to_string(), |n: &String| {
            Ok::<_, Infallible>(edges.get(n).cloned().unwrap_or_default())
        })
        .unwrap()
    }

    #[test]
    fn a_cycle_is_told_as_a_path() {
        let edges = edges(&[(1, 2), (2, 3), (3, 1), (2, 4)]);
        assert_eq!(find(&edges, 1).unwrap(), ["1", "2", "3", "1"]);
        assert_eq!(find(&edges, 4), None);
    }

    #[test]
    fn a_cycle_of_vertices_is_told_with_each_atom_once() {
        let told =
            |atoms: &[&str]| atoms_of(atoms.iter().map(|atom| Vertex::itself(atom)).collect());
        assert_eq!(told(&["c", "g", "c", "e", "c"]), ["c", "e", "c"]);
        assert_eq!(told(&["e", "e", "c", "g", "c", "c", "e"]), ["e", "c", "e"]);
        assert_eq!(told(&["a", "a"]), ["a", "a"]);
    }

    #[test]
    fn a_long_cycle_is_told_by_its_ends_and_its_length() {
        let path: Vec<String> = (0..20_000).chain([0]).map(|n| format!("a{n}")).collect();
        assert_eq!(
            cycle_text(&path),
            "a0 → a1 → a2 → a3 → … 19993 more … → a19997 → a19998 → a19999 → a0 (20000 atoms)"
        );
        assert_eq!(cycle_text(&path[..3]), "a0 → a1 → a2");
    }

    proptest! {
        #[test]
        fn a_path_is_found_exactly_when_the_start_reaches_itself(
            pairs in prop::collection::vec((0_u8..8, 0_u8..8), 0..24),
            start in 0_u8..8,
        ) {
            let edges = edges(&pairs);
            let mut reached: HashSet<u8> =
                pairs.iter().filter(|(f, _)| *f == start).map(|(_, t)| *t).collect();
            loop {
                let more: HashSet<u8> = pairs
                    .iter()
                    .filter(|(f, t)| reached.contains(f) && !reached.contains(t))
                    .map(|(_, t)| *t)
                    .collect();
                if more.is_empty() {
                    break;
                }
                reached.extend(more);
            }
            let path = find(&edges, start);
            prop_assert_eq!(path.is_some(), reached.contains(&start));
            for step in path.unwrap_or_default().windows(2) {
                prop_assert!(edges[&step[0]].contains(&step[1]));
            }
        }
    }
}
