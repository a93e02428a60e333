//! Cycles among the edges that make one atom wait for another.

use std::collections::HashSet;

/// A way from `start` back to `start` along `successors`, both ends included; `None` if there is
/// none. Every node is asked at most once.
pub fn cycle_through<E>(
    start: &str,
    mut successors: impl FnMut(&str) -> Result<Vec<String>, E>,
) -> Result<Option<Vec<String>>, E> {
    // The path from `start` to the node in hand, and what is left to try at each step of it.
    let mut path = vec![start.to_owned()];
    let mut todo = vec![successors(start)?];
    let mut seen = HashSet::new();
    while let Some(next) = todo.last_mut() {
        match next.pop() {
            None => {
                todo.pop();
                path.pop();
            }
            Some(node) if node == start => {
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
        cycle_through(&start.to_string(), |n| {
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

    proptest! {
        #[test]
        fn a_path_is_found_exactly_when_the_start_reaches_itself(pairs in prop::collection::vec((0_u8..8, 0_u8..8), 0..24), start in 0_u8..8) {
            let edges = edges(&pairs);
            let mut reached: HashSet<u8> = pairs.iter().filter(|(f, _)| *f == start).map(|(_, t)| *t).collect();
            loop {
                let more: HashSet<u8> = pairs.iter().filter(|(f, t)| reached.contains(f) && !reached.contains(t)).map(|(_, t)| *t).collect();
                if more.is_empty() { break; }
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
