use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::bonds::{add_bond, ensure_parent_fits, tell_of_bond};
use super::change::{ensure_may_change_bounds, resolve_atom};
use crate::model::{Atom, Bond, BondKind, EventKind, Status};
use crate::rules::waits::{self, Edge, Wait};
use crate::store::{Store, Tx, atom, bond, event, run};
use crate::{Ctx, Error, Result};

/// Binds `source` to `target`; for a blocking kind, `target` waits for `source`. Adding an existing
/// bond is no error.
///
/// # Errors
///
/// If the bond makes a cycle, the session may not bind the atoms, an id is unknown or ambiguous,
/// the caller's run is stale, or the database cannot be written.
pub fn dep_add(
    store: &mut Store,
    ctx: &Ctx<'_>,
    source: &str,
    target: &str,
    kind: BondKind,
) -> Result<Bond> {
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        let (source, target) = (resolve_atom(tx, source)?, resolve_atom(tx, target)?);
        if kind == BondKind::ParentChild {
            ensure_may_change_bounds(
                session.as_ref(),
                &target,
                &Atom { parent_id: Some(source.id.clone()), ..target.clone() },
            )?;
        }
        let bond = Bond {
            record_type: Bond::RECORD_TYPE,
            source_id: source.id.clone(),
            target_id: target.id.clone(),
            dependency_type: kind,
            created_at: ctx.now,
        };
        if kind == BondKind::ParentChild {
            let is_new = target.parent_id.as_deref() != Some(&source.id);
            atom::update_fields(
                tx,
                &target,
                &Atom { parent_id: Some(source.id.clone()), updated_at: ctx.now, ..target.clone() },
            )?;
            ensure_parent_fits(tx, &target.id, &source.id)?;
            if is_new {
                let data = json!({
                    "source": source.id, "target": target.id, "type": kind,
                    "was": target.parent_id,
                });
                event::insert(tx, ctx, EventKind::BondAdded, Some(&target.id), None, &data)?;
            }
        } else {
            add_bond(tx, ctx, &source.id, &target.id, kind)?;
        }
        Ok(bond)
    })
}

/// Removes a bond, or all bonds between two atoms if `kind` is `None`.
///
/// # Errors
///
/// If there is no such bond, an id is unknown or ambiguous, the caller's run is stale, or the
/// database cannot be written.
pub fn dep_remove(
    store: &mut Store,
    ctx: &Ctx<'_>,
    source: &str,
    target: &str,
    kind: Option<BondKind>,
) -> Result<Vec<Bond>> {
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        let (source, target) = (resolve_atom(tx, source)?, resolve_atom(tx, target)?);
        if kind.is_none_or(|k| k == BondKind::ParentChild)
            && target.parent_id.as_deref() == Some(&source.id)
        {
            ensure_may_change_bounds(
                session.as_ref(),
                &target,
                &Atom { parent_id: None, ..target.clone() },
            )?;
        }
        let mut removed = bond::remove(tx, &source.id, &target.id, kind)?;
        if kind.is_none_or(|k| k == BondKind::ParentChild)
            && target.parent_id.as_deref() == Some(&source.id)
        {
            atom::update_fields(
                tx,
                &target,
                &Atom { parent_id: None, updated_at: ctx.now, ..target.clone() },
            )?;
            removed.push(Bond {
                record_type: Bond::RECORD_TYPE,
                source_id: source.id.clone(),
                target_id: target.id.clone(),
                dependency_type: BondKind::ParentChild,
                created_at: target.created_at,
            });
        }
        if removed.is_empty() {
            let kind = kind.map_or_else(String::new, |k| format!("'{k}' "));
            return Err(Error::not_found("bond", format!("{kind}{} → {}", source.id, target.id)));
        }
        for bond in &removed {
            let ends = (source.id.as_str(), target.id.as_str());
            tell_of_bond(tx, ctx, EventKind::BondRemoved, ends, bond.dependency_type)?;
        }
        Ok(removed)
    })
}

/// Returns every bond of the project, containment included.
///
/// # Errors
///
/// If the database cannot be read.
pub fn dep_all(store: &Store) -> Result<Vec<Bond>> {
    store.read(bond::list_all)
}

/// An atom in a dependency tree.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TreeNode {
    pub id: String,
    pub title: String,
    pub status: Status,
    /// The bond to the node above; `null` at the root.
    pub bond: Option<BondKind>,
    /// The atom is shown elsewhere in the tree, with the children.
    pub repeated: bool,
    pub children: Vec<TreeNode>,
}

/// Returns the tree below an atom: targets and children, or with `upwards` sources and the parent.
/// Each atom is unfolded once.
///
/// # Errors
///
/// If the id is unknown or ambiguous, or the database cannot be read.
pub fn dep_tree(store: &Store, id: &str, upwards: bool, blocking_only: bool) -> Result<TreeNode> {
    store.read(|tx| {
        let root = resolve_atom(tx, id)?;
        unfold_tree(tx, &root, None, upwards, blocking_only, &mut HashSet::new(), 0)
    })
}

/// The depth at which a tree is cut, so that no chain can exhaust the stack.
const DEEPEST: usize = 200;

fn unfold_tree(
    tx: &Tx<'_>,
    atom: &Atom,
    bond: Option<BondKind>,
    upwards: bool,
    blocking_only: bool,
    seen: &mut HashSet<String>,
    depth: usize,
) -> Result<TreeNode> {
    let is_new = seen.insert(atom.id.clone());
    let mut children = Vec::new();
    if is_new && depth < DEEPEST {
        for edge in bond::list_touching(tx, &atom.id)? {
            let (here, there) = if upwards {
                (&edge.target_id, &edge.source_id)
            } else {
                (&edge.source_id, &edge.target_id)
            };
            let kind = edge.dependency_type;
            if here != &atom.id || (blocking_only && !kind.is_blocking()) {
                continue;
            }
            if let Some(next) = atom::find(tx, there)? {
                children.push(unfold_tree(
                    tx,
                    &next,
                    Some(kind),
                    upwards,
                    blocking_only,
                    seen,
                    depth + 1,
                )?);
            }
        }
    }
    Ok(TreeNode {
        id: atom.id.clone(),
        title: atom.title.clone(),
        status: atom.status,
        bond,
        repeated: !is_new,
        children,
    })
}

/// A fault of the graph that keeps atoms waiting for ever.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum GraphIssue {
    /// Every atom on the path waits for itself. Every write refuses cycles, so only another program
    /// can have made one.
    Cycle { path: Vec<String> },
    /// The target is needed only if the source fails, and the source ended without failing.
    NeverNeeded { source: String, target: String },
}

/// Checks the whole graph, in time that grows with the number of bonds.
///
/// # Errors
/// If the database cannot be read.
pub fn dep_check(store: &Store) -> Result<Vec<GraphIssue>> {
    store.read(|tx| {
        let bonds = bond::list_all(tx)?;
        let mut issues = cycle_issues(&bonds, &atom::abstract_ids(tx)?);
        for bond in bonds.iter().filter(|b| b.dependency_type == BondKind::ConditionalBlocks) {
            let (source, target) =
                (atom::get(tx, &bond.source_id)?, atom::get(tx, &bond.target_id)?);
            let failed =
                crate::rules::ready::has_failed(source.status, source.close_reason.as_deref());
            if source.status.is_over() && !failed && !target.status.is_over() {
                issues.push(GraphIssue::NeverNeeded { source: source.id, target: target.id });
            }
        }
        Ok(issues)
    })
}

fn cycle_issues(bonds: &[Bond], epics: &HashSet<String>) -> Vec<GraphIssue> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut ids: Vec<&str> = Vec::new();
    let mut number = |id| {
        *numbers.entry(id).or_insert_with(|| {
            ids.push(id);
            ids.len() - 1
        })
    };
    let edges: Vec<Edge> = bonds
        .iter()
        .filter_map(|bond| {
            let wait = Wait::of_bond(bond.dependency_type, epics.contains(&bond.source_id))?;
            let (source, target) = (number(&bond.source_id), number(&bond.target_id));
            Some(Edge { source, target, wait })
        })
        .collect();
    waits::find_cycles(ids.len(), &edges)
        .into_iter()
        .map(|path| GraphIssue::Cycle {
            path: path.into_iter().map(|at| ids[at].to_owned()).collect(),
        })
        .collect()
}
