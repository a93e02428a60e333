//! Conflicts between finished branches. Joining the branches becomes an atom of the plan, and every
//! atom that builds on the branches waits for the join.

use serde_json::json;

use super::super::bonds::add_bond;
use super::super::builds_on::blocking_sources;
use super::super::create::{NewAtom, create_in};
use crate::model::{Atom, BondKind, Status, limits};
use crate::store::orchestration::{self, Planned};
use crate::store::{Store, Tx, atom, budget};
use crate::{Ctx, Result};

/// The metadata key of the atom that a join was filed for.
const JOINS_FOR: &str = "joins_for";

/// The branches in conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchConflict<'a> {
    pub branch: &'a str,
    /// The branches that had been joined before.
    pub with: &'a str,
    /// In conflict.
    pub files: &'a [String],
}

impl BranchConflict<'_> {
    /// The atoms of the branches in conflict.
    fn branch_atoms(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.branch)
            .chain(self.with.split(", "))
            .filter_map(|branch| branch.rsplit('/').next())
    }
}

/// Returns true if an atom was filed to join finished work.
pub fn is_joining(atom: &Atom) -> bool {
    joins_for(atom).is_some()
}

fn joins_for(atom: &Atom) -> Option<&str> {
    atom.metadata.get(JOINS_FOR).and_then(serde_json::Value::as_str)
}

/// The join that an atom waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct Joining {
    pub atom: Atom,
    /// The atom that builds on the join did not wait for the join before. Otherwise the join is in
    /// progress or comes next.
    pub is_new: bool,
}

/// Lets `id` wait for the atom that joins the conflicting branches: an earlier join for `id`, a
/// join for another atom of the plan that builds on the same branches, or else a new join. Two
/// joins would settle one conflict in two ways. Returns `None` if `id` belongs to no plan or is a
/// join.
///
/// # Errors
///
/// If the id is unknown or ambiguous, the caller's run is stale, or the database cannot be written.
pub fn file_joining(
    store: &mut Store,
    ctx: &Ctx<'_>,
    id: &str,
    apart: &BranchConflict<'_>,
) -> Result<Option<Joining>> {
    store.write(|tx| {
        let waiting = atom::get(tx, id)?;
        if joins_for(&waiting).is_some() || !is_in_plan(tx, id)? {
            return Ok(None);
        }
        if let Some(atom) = find_joining(tx, &waiting, apart)? {
            let is_new = add_bond(tx, ctx, &atom.id, id, BondKind::Blocks)?;
            return Ok(Some(Joining { atom, is_new }));
        }
        let atom = create_in(tx, ctx, &[new(tx, &waiting, apart)?])?.remove(0);
        if let Some((epic, planned)) = orchestration::planned_as(tx, id)? {
            let task_id = format!("{}/join", planned.task_id);
            orchestration::record_planned(
                tx,
                &epic,
                &Planned { list: planned.list, task_id, atom_id: atom.id.clone() },
            )?;
        }
        Ok(Some(Joining { atom, is_new: true }))
    })
}

/// Returns an existing join of exactly these branches, as a dependency of `waiting` or as a
/// sibling.
fn find_joining(tx: &Tx<'_>, waiting: &Atom, apart: &BranchConflict<'_>) -> Result<Option<Atom>> {
    let before = blocking_sources(tx, &waiting.id)?;
    let beside = match &waiting.parent_id {
        Some(parent) => atom::child_ids(tx, parent)?,
        None => Vec::new(),
    };
    for id in before.iter().chain(&beside) {
        let Some(found) = atom::find(tx, id)?.filter(is_joining) else { continue };
        let is_own = before.contains(id);
        // A join that was given up counts only for the atom that already waits for the join: that
        // atom is told.
        if !is_own && found.status.is_over() && found.status != Status::Closed {
            continue;
        }
        let joined = blocking_sources(tx, id)?;
        if apart.branch_atoms().all(|one| joined.iter().any(|known| known == one))
            || joins_for(&found) == Some(&waiting.id) && is_own
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn is_in_plan(tx: &Tx<'_>, id: &str) -> Result<bool> {
    for parent in budget::parent_ids(tx, id)? {
        if orchestration::find(tx, &parent)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The workers of the waiting atom also serve the join.
fn new(tx: &Tx<'_>, waiting: &Atom, apart: &BranchConflict<'_>) -> Result<NewAtom> {
    let BranchConflict { branch, with, files } = *apart;
    let listed: String = files.iter().map(|name| format!("- `{name}`\n")).collect();
    let mut blocked_by = Vec::new();
    for source in blocking_sources(tx, &waiting.id)? {
        if atom::find(tx, &source)?.is_some_and(|found| found.status == Status::Closed) {
            blocked_by.push(source);
        }
    }
    let title = format!("Bring together what {} builds on", waiting.id);
    Ok(NewAtom {
        title: title.chars().take(limits::TITLE).collect(),
        description: format!(
            "{} ({}) builds on finished work that does not fit together: `{branch}` is in conflict \
             with `{with}`. In conflict are:\n\n{listed}\n\
             Your branch begins with what fits. Merge the branches that it does not have (`git \
             merge {branch}`), resolve each of these files so that the intent of both sides is \
             kept, commit the merge, and close this atom. {} goes on from there. `el diff ATOM` \
             shows what the branch of ATOM was about.",
            waiting.id, waiting.title, waiting.id
        ),
        priority: Some(waiting.priority),
        labels: waiting.labels.clone(),
        assignee: waiting.assignee.clone(),
        parent: waiting.parent_id.clone(),
        blocked_by,
        blocks: vec![waiting.id.clone()],
        metadata: Some(json!({ JOINS_FOR: waiting.id, "files": files })),
        ..NewAtom::default()
    })
}
