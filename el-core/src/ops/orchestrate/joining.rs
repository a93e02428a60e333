//! Finished work that does not fit together: bringing it together becomes an atom of its plan, for
//! which waits whatever builds on it.

use serde_json::json;

use super::super::builds_on::sources;
use super::super::change::ensure_no_cycle;
use super::super::create::{NewAtom, create_in};
use crate::model::{Atom, BondKind, EventKind, Status, limits};
use crate::store::orchestration::{self, Planned};
use crate::store::{Store, Tx, atom, bond, budget, event};
use crate::{Ctx, Result};

/// In the metadata of such an atom: who waits for it.
const JOINS_FOR: &str = "joins_for";

/// What does not fit together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apart<'a> {
    pub branch: &'a str,
    /// The branches that had been joined before.
    pub with: &'a str,
    /// In conflict.
    pub files: &'a [String],
}

impl Apart<'_> {
    /// The atoms of the branches in conflict.
    fn atoms(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.branch)
            .chain(self.with.split(", "))
            .filter_map(|branch| branch.strip_prefix("el/"))
    }
}

/// Whether an atom was filed to bring finished work together.
pub fn is_joining(atom: &Atom) -> bool {
    joins_for(atom).is_some()
}

fn joins_for(atom: &Atom) -> Option<&str> {
    atom.metadata.get(JOINS_FOR).and_then(serde_json::Value::as_str)
}

/// What brings finished work together for an atom.
#[derive(Debug, Clone, PartialEq)]
pub struct Joining {
    pub atom: Atom,
    /// The atom that builds on it did not wait for it before. Otherwise it has been at it already,
    /// or is going to be.
    pub is_new: bool,
}

/// Lets `id` wait for the atom that brings together what it builds on: one that was filed for it
/// before, or for another atom of the plan that builds on the same, or else one that is filed now.
/// Two would settle one conflict in two ways. `None`: `id` is part of no plan, or brings things
/// together itself.
pub fn file_joining(
    store: &mut Store,
    ctx: &Ctx<'_>,
    id: &str,
    apart: &Apart<'_>,
) -> Result<Option<Joining>> {
    store.write(|tx| {
        let waiting = atom::get(tx, id)?;
        if joins_for(&waiting).is_some() || !is_in_plan(tx, id)? {
            return Ok(None);
        }
        if let Some(atom) = known(tx, &waiting, apart)? {
            let is_new = bond::add(tx, &atom.id, id, BondKind::Blocks, ctx.now)?;
            if is_new {
                ensure_no_cycle(tx, id)?;
                let data = json!({ "source": atom.id, "target": id, "type": BondKind::Blocks });
                event::insert(tx, ctx, EventKind::BondAdded, Some(id), None, &data)?;
            }
            return Ok(Some(Joining { atom, is_new }));
        }
        let atom = create_in(tx, ctx, &[new(tx, &waiting, apart)?])?.remove(0);
        if let Some((epic, planned)) = orchestration::planned_as(tx, id)? {
            let task_id = format!("{}/join", planned.task_id);
            orchestration::plan(
                tx,
                &epic,
                &Planned { list: planned.list, task_id, atom_id: atom.id.clone() },
            )?;
        }
        Ok(Some(Joining { atom, is_new: true }))
    })
}

/// One that `waiting` waits for already, or that stands beside it, and that is to bring these very
/// branches together.
fn known(tx: &Tx<'_>, waiting: &Atom, apart: &Apart<'_>) -> Result<Option<Atom>> {
    let before = sources(tx, &waiting.id)?;
    let beside = match &waiting.parent_id {
        Some(parent) => atom::children(tx, parent)?,
        None => Vec::new(),
    };
    for id in before.iter().chain(&beside) {
        let Some(found) = atom::find(tx, id)?.filter(is_joining) else { continue };
        let is_own = before.contains(id);
        // One that was given up helps nobody but whoever is held by it, to whom it is told.
        if !is_own && found.status.is_over() && found.status != Status::Closed {
            continue;
        }
        let joined = sources(tx, id)?;
        if apart.atoms().all(|one| joined.iter().any(|known| known == one))
            || joins_for(&found) == Some(&waiting.id) && is_own
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn is_in_plan(tx: &Tx<'_>, id: &str) -> Result<bool> {
    for parent in budget::parents(tx, id)? {
        if orchestration::find(tx, &parent)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whoever takes the waiting atom takes this one too.
fn new(tx: &Tx<'_>, waiting: &Atom, apart: &Apart<'_>) -> Result<NewAtom> {
    let Apart { branch, with, files } = *apart;
    let listed: String = files.iter().map(|name| format!("- `{name}`\n")).collect();
    let mut blocked_by = Vec::new();
    for source in sources(tx, &waiting.id)? {
        if atom::find(tx, &source)?.is_some_and(|found| found.status == Status::Closed) {
            blocked_by.push(source);
        }
    }
    let title = format!("Bring together what {} builds on", waiting.id);
    Ok(NewAtom {
        title: title.chars().take(limits::TITLE).collect(),
        description: format!(
            "{} ({}) builds on finished work that does not fit together: `{branch}` is in conflict with `{with}`. In conflict are:\n\n{listed}\n\
             Your branch begins with what fits. Merge the branches that it does not have (`git merge {branch}`), resolve each of these files so that \
             the intent of both sides is kept, commit the merge, and close this atom. {} goes on from there. `el diff ATOM` shows what a branch `el/ATOM` was about.",
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
