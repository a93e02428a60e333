//! Edges that make atoms wait for themselves, for thousands of edges at once. A search for each
//! edge would take minutes.

use crate::model::BondKind;

/// The way an atom depends on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// The target waits for the source: `blocks`, `conditional_blocks`.
    Hold,
    /// The target waits for the source and all descendants of the source: `waits_for`, and every
    /// blocking bond from an epic, since an epic is over only with all descendants.
    Tree,
    /// The source contains the target: `parent_child`.
    Contain,
}

impl Wait {
    /// Returns the wait of a bond; `None` if the bond holds nothing. `from_epic`: the source is an
    /// abstract atom.
    pub const fn of_bond(kind: BondKind, from_epic: bool) -> Option<Wait> {
        match kind {
            BondKind::Blocks | BondKind::ConditionalBlocks if !from_epic => Some(Wait::Hold),
            BondKind::Blocks | BondKind::ConditionalBlocks | BondKind::WaitsFor => Some(Wait::Tree),
            BondKind::ParentChild => Some(Wait::Contain),
            _ => None,
        }
    }
}

/// An edge between two atoms. Atoms are numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    pub source: usize,
    pub target: usize,
    pub wait: Wait,
}

/// The most steps of the whole search, some seconds. Beyond the limit, all remaining suspects are
/// refused.
const BUDGET: usize = 100_000_000;

/// Returns the positions in `new` of edges that would close a cycle with `held` (which has no
/// cycle) and earlier new edges.
///
/// Each atom `a` has two vertices: `2a` is the atom, and `2a + 1` means "a descendant is not over".
/// The targets of `waits_for` wait for the second, and edges lead from each child's second vertex
/// to the parent's. So the graph stays as small as the project, however deep the families.
pub fn refused_edges(atoms: usize, held: &[Edge], new: &[Edge]) -> Vec<usize> {
    let graph = Graph::from_edges(atoms, held.iter().chain(new));
    let component = graph.component_numbers();
    let in_a_cycle = |edge: &Edge| {
        edge_arcs(edge).any(|(from, to)| from == to || component[from] == component[to])
    };
    if !new.iter().any(in_a_cycle) {
        return Vec::new();
    }
    // Add the certain edges first, then the suspects one by one.
    let mut graph =
        Graph::from_edges(atoms, held.iter().chain(new.iter().filter(|edge| !in_a_cycle(edge))));
    let mut refused = Vec::new();
    let mut search = Search { seen: vec![0; atoms * 2], round: 0, budget: BUDGET };
    for (at, edge) in new.iter().enumerate().filter(|(_, edge)| in_a_cycle(edge)) {
        let mut added = 0;
        let is_fine = edge.source != edge.target
            && edge_arcs(edge).all(|(from, to)| {
                let is_free = !search.reaches(&graph, &component, to, from);
                if is_free {
                    graph.add_arc((from, to));
                    added += 1;
                }
                is_free
            });
        if !is_fine {
            edge_arcs(edge).take(added).for_each(|(from, _)| graph.undo_arc(from));
            refused.push(at);
        }
    }
    refused
}

/// Returns a cycle for every group of atoms that wait for each other: the atoms along the cycle,
/// both ends included. The time is proportional to the edges and the cycles found.
pub fn find_cycles(atoms: usize, edges: &[Edge]) -> Vec<Vec<usize>> {
    let graph = Graph::from_edges(atoms, edges);
    let component = graph.component_numbers();
    let mut told = vec![false; component.len()];
    let mut cycles = Vec::new();
    let mut before = vec![usize::MAX; component.len()];
    for start in 0..component.len() {
        if std::mem::replace(&mut told[component[start]], true) {
            continue;
        }
        let Some(mut vertex) = graph.last_of_cycle(start, &component, &mut before) else {
            continue;
        };
        let mut path = vec![start / 2];
        while vertex != start {
            path.push(vertex / 2);
            vertex = before[vertex];
        }
        path.push(start / 2);
        path.reverse();
        path.dedup();
        if path.len() == 1 {
            path.push(start / 2);
        }
        cycles.push(path);
    }
    cycles
}

fn edge_arcs(edge: &Edge) -> impl Iterator<Item = (usize, usize)> {
    let (source, target) = (edge.source * 2, edge.target * 2);
    let (first, second) = match edge.wait {
        Wait::Hold => ((source, target), None),
        Wait::Tree => ((source + 1, target), None),
        Wait::Contain => ((source, target), Some((target + 1, source + 1))),
    };
    std::iter::once(first).chain(second)
}

struct Graph {
    next: Vec<Vec<usize>>,
}

impl Graph {
    /// Two vertices for each atom, and the arcs of the edges.
    fn from_edges<'a>(atoms: usize, edges: impl IntoIterator<Item = &'a Edge>) -> Graph {
        let mut graph = Graph { next: vec![Vec::new(); atoms * 2] };
        for atom in 0..atoms {
            graph.add_arc((atom * 2, atom * 2 + 1));
        }
        for edge in edges {
            edge_arcs(edge).for_each(|arc| graph.add_arc(arc));
        }
        graph
    }

    /// Returns the vertex before `start` on the shortest cycle through `start` within the
    /// component. `before` holds the way back.
    fn last_of_cycle(
        &self,
        start: usize,
        component: &[usize],
        before: &mut [usize],
    ) -> Option<usize> {
        let mut todo = std::collections::VecDeque::from([start]);
        while let Some(vertex) = todo.pop_front() {
            for &to in &self.next[vertex] {
                if to == start {
                    return Some(vertex);
                }
                if component[to] == component[start] && before[to] == usize::MAX {
                    before[to] = vertex;
                    todo.push_back(to);
                }
            }
        }
        None
    }

    fn add_arc(&mut self, (from, to): (usize, usize)) {
        self.next[from].push(to);
    }

    /// Removes the arc added last from the vertex.
    fn undo_arc(&mut self, from: usize) {
        self.next[from].pop();
    }

    /// Returns the number of the strongly connected component of each vertex (Tarjan's algorithm,
    /// without recursion).
    fn component_numbers(&self) -> Vec<usize> {
        const NONE: usize = usize::MAX;
        let count = self.next.len();
        let (mut index, mut low, mut component) =
            (vec![NONE; count], vec![0; count], vec![NONE; count]);
        let (mut stack, mut calls): (Vec<usize>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
        let (mut clock, mut found) = (0, 0);
        for root in 0..count {
            if index[root] != NONE {
                continue;
            }
            calls.push((root, 0));
            while let Some((vertex, tried)) = calls.last_mut() {
                let vertex = *vertex;
                if *tried == 0 {
                    index[vertex] = clock;
                    low[vertex] = clock;
                    clock += 1;
                    stack.push(vertex);
                }
                if let Some(&to) = self.next[vertex].get(*tried) {
                    *tried += 1;
                    if index[to] == NONE {
                        calls.push((to, 0));
                    } else if component[to] == NONE {
                        low[vertex] = low[vertex].min(index[to]);
                    }
                    continue;
                }
                calls.pop();
                if let Some((parent, _)) = calls.last() {
                    low[*parent] = low[*parent].min(low[vertex]);
                }
                if low[vertex] == index[vertex] {
                    while let Some(member) = stack.pop() {
                        component[member] = found;
                        if member == vertex {
                            break;
                        }
                    }
                    found += 1;
                }
            }
        }
        component
    }
}

struct Search {
    seen: Vec<usize>,
    round: usize,
    budget: usize,
}

impl Search {
    /// Returns true if there is a path. A path can only lead through the component. Returns true as
    /// well if the budget is used up.
    fn reaches(&mut self, graph: &Graph, component: &[usize], start: usize, goal: usize) -> bool {
        if start == goal {
            return true;
        }
        self.round += 1;
        let mut todo = vec![start];
        while let Some(vertex) = todo.pop() {
            for &to in &graph.next[vertex] {
                self.budget = self.budget.saturating_sub(1);
                if to == goal || self.budget == 0 {
                    return true;
                }
                if component[to] == component[goal] && self.seen[to] != self.round {
                    self.seen[to] = self.round;
                    todo.push(to);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::super::graph::cycle_through;
    use super::*;

    fn edge(source: usize, target: usize, wait: Wait) -> Edge {
        Edge { source, target, wait }
    }

    #[test]
    fn the_edge_that_closes_a_circle_is_refused_and_no_other() {
        let held = [edge(0, 1, Wait::Hold)];
        let new = [
            edge(1, 2, Wait::Hold),
            edge(2, 0, Wait::Hold),
            edge(2, 3, Wait::Hold),
            edge(3, 3, Wait::Hold),
        ];
        assert_eq!(refused_edges(4, &held, &new), [1, 3]);
    }

    #[test]
    fn one_cycle_is_told_for_each_group() {
        let edges = [
            edge(0, 1, Wait::Hold),
            edge(1, 0, Wait::Hold),
            edge(2, 3, Wait::Contain),
            edge(2, 3, Wait::Tree),
            edge(3, 4, Wait::Hold),
        ];
        assert_eq!(find_cycles(5, &edges), [vec![0, 1, 0], vec![2, 3, 2]]);
    }

    #[test]
    fn a_bond_from_an_epic_waits_for_all_that_is_in_it() {
        assert_eq!(Wait::of_bond(BondKind::Blocks, false), Some(Wait::Hold));
        assert_eq!(Wait::of_bond(BondKind::Blocks, true), Some(Wait::Tree));
        assert_eq!(Wait::of_bond(BondKind::Related, true), None);
    }

    #[test]
    fn a_parent_cannot_wait_for_its_child_nor_a_member_for_its_family() {
        assert_eq!(refused_edges(2, &[edge(0, 1, Wait::Contain)], &[edge(1, 0, Wait::Hold)]), [0]);
        assert_eq!(refused_edges(2, &[edge(0, 1, Wait::Contain)], &[edge(0, 1, Wait::Tree)]), [0]);
        assert_eq!(
            refused_edges(
                3,
                &[edge(0, 1, Wait::Tree)],
                &[edge(2, 0, Wait::Contain), edge(1, 2, Wait::Hold)]
            ),
            [1]
        );
        assert_eq!(
            refused_edges(2, &[edge(0, 1, Wait::Contain)], &[edge(1, 0, Wait::Contain)]),
            [0]
        );
    }

    /// The definition that single writes go by, over the same edges.
    fn has_cycle(atoms: usize, edges: &[Edge]) -> bool {
        let mut parents: HashMap<usize, Vec<usize>> = HashMap::new();
        for edge in edges.iter().filter(|e| e.wait == Wait::Contain) {
            parents.entry(edge.target).or_default().push(edge.source);
        }
        let successors = |node: &String| -> Result<Vec<String>, Infallible> {
            let node: usize = node.parse().unwrap();
            let mut up = vec![node];
            let mut at = 0;
            while at < up.len() {
                for parent in parents.get(&up[at]).into_iter().flatten() {
                    if !up.contains(parent) {
                        up.push(*parent);
                    }
                }
                at += 1;
            }
            let follows = |e: &&Edge| match e.wait {
                Wait::Hold | Wait::Contain => e.source == node,
                Wait::Tree => up.contains(&e.source),
            };
            Ok(edges.iter().filter(follows).map(|e| e.target.to_string()).collect())
        };
        (0..atoms).any(|start| cycle_through(&start.to_string(), successors).unwrap().is_some())
    }

    fn kind() -> impl Strategy<Value = Wait> {
        prop::sample::select(vec![Wait::Hold, Wait::Tree, Wait::Contain])
    }

    proptest! {
        #[test]
        fn what_stays_has_no_cycle_and_what_is_refused_would_make_one(
            raw in prop::collection::vec((0_usize..7, 0_usize..7, kind()), 0..14),
        ) {
            let new: Vec<Edge> = raw.into_iter().map(|(s, t, w)| edge(s, t, w)).collect();
            let refused = refused_edges(7, &[], &new);
            let kept: Vec<Edge> = new
                .iter()
                .enumerate()
                .filter(|(at, _)| !refused.contains(at))
                .map(|(_, e)| *e)
                .collect();
            prop_assert!(!has_cycle(7, &kept));
            prop_assert!(find_cycles(7, &kept).is_empty());
            for at in refused {
                let mut with: Vec<Edge> = kept.clone();
                with.push(new[at]);
                prop_assert!(has_cycle(7, &with));
                prop_assert!(!find_cycles(7, &with).is_empty());
            }
        }
    }
}
