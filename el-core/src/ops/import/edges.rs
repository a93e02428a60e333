//! The bonds and parents of an import: resolved, checked for cycles together, and written.

use std::collections::HashSet;

use super::*;
use crate::store::bond;

mod cycles;

use cycles::leave_cycles_out;

/// A bond between two atoms here.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Ends {
    pub(super) source: Arc<str>,
    pub(super) target: Arc<str>,
    pub(super) kind: BondKind,
}

impl Ends {
    fn as_words(&self) -> [&str; 3] {
        [&self.source, &self.target, self.kind.as_str()]
    }
}

/// The bonds of a record as they are remembered; `None` if there are none.
pub(super) fn text_of_bonds(bonds: &[Ends]) -> Option<String> {
    let words: Vec<_> = bonds.iter().map(Ends::as_words).collect();
    (!words.is_empty()).then(|| serde_json::to_string(&words).expect("texts are JSON"))
}

/// The changes of bonds, by the record that named the bond.
#[derive(Default)]
pub(super) struct Changes {
    add: Vec<(Option<usize>, Ends, Option<Timestamp>)>,
    remove: Vec<(usize, Ends)>,
}

impl Changes {
    /// Returns the records with changed bonds.
    pub(super) fn changed_records(&self) -> impl Iterator<Item = usize> + '_ {
        let added = self.add.iter().filter_map(|(owner, ..)| *owner);
        added.chain(self.remove.iter().map(|(owner, _)| *owner))
    }
}

/// Plans no change of parents and bonds.
pub(super) fn keep_edges(tx: &Tx<'_>, targets: &mut [Target]) -> Result<()> {
    for targets in targets.chunks_mut(AT_ONCE) {
        let known = targets.iter().filter(|target| !target.is_new);
        let known: Vec<Arc<str>> = known.map(|target| target.atom_id.clone()).collect();
        let mut parents = atom::parents_of(tx, &known.iter().map(|id| &**id).collect::<Vec<_>>())?;
        for target in targets {
            target.bonds = last_told(target);
            target.compare_bonds();
            target.keeps_parent = true;
            target.parent = parents.remove(&*target.atom_id).map(Into::into);
        }
    }
    Ok(())
}

/// Returns the parent that an atom has before the import.
fn parent_here(tx: &Tx<'_>, target: &Target) -> Result<Option<Arc<str>>> {
    if target.is_new {
        return Ok(None);
    }
    Ok(atom::parent_of(tx, &target.atom_id)?.map(Into::into))
}

/// Resolves the ends of every bond and parent, and leaves out impossible edges.
pub(super) fn plan_edges(
    lookup: &Lookup<'_>,
    targets: &mut [Target],
    bonds: Vec<RecordBond>,
    notes: &mut Notes,
) -> Result<Changes> {
    find_parents(lookup, targets, notes)?;
    let mut present = HashSet::new();
    bond::each_bond(lookup.tx, |source, target, kind| {
        present.insert(Ends { source: source.into(), target: target.into(), kind });
    })?;
    let (mut new, told) = find_bonds(lookup, targets, bonds, &present, notes)?;
    targets.iter_mut().for_each(Target::compare_bonds);
    let remove = removed_bonds(targets, &told, &present);
    drop(told);
    new.retain(|bond| !was_removed_here(targets, bond));
    // Only a new edge can close a cycle.
    if !new.is_empty() || has_new_families(lookup, targets)? {
        let parents = parents_to_be(lookup.tx, targets)?;
        leave_cycles_out(lookup, targets, &mut new, &present, &remove, &parents, notes)?;
    }
    count_blockers(lookup, targets, &new);
    let add = new.into_iter().map(|bond| (bond.owner, bond.ends, bond.created_at)).collect();
    Ok(Changes { add, remove })
}

/// Counts the live blockers of each record, so that a new atom has its final place in the indices
/// from the beginning.
fn count_blockers(lookup: &Lookup<'_>, targets: &mut [Target], new: &[NewBond]) {
    for NewBond { told, .. } in new.iter().filter(|bond| bond.ends.kind == BondKind::Blocks) {
        let place = |id: &str| lookup.index.get(id).copied();
        let is_over = place(&told.source).is_some_and(|at| lookup.heads[at].is_over);
        if let Some(at) = place(&told.target).filter(|_| !is_over) {
            targets[at].blockers += 1;
        }
    }
}

/// A bond of the file with resolved ends.
pub(super) struct NewBond {
    pub(super) owner: Option<usize>,
    pub(super) ends: Ends,
    created_at: Option<Timestamp>,
    /// In the file's own words, for the report.
    pub(super) told: RecordBond,
}

fn find_parents(lookup: &Lookup<'_>, targets: &mut [Target], notes: &mut Notes) -> Result<()> {
    for (at, head) in lookup.heads.iter().enumerate() {
        let Some(parent) = head.parent.as_deref() else { continue };
        targets[at].parent = lookup.find_id(targets, parent)?;
        targets[at].comes_before_parent =
            lookup.index.get(parent).is_some_and(|parent| *parent > at);
        if targets[at].parent.is_none() {
            let ends = (parent, &*head.id, BondKind::ParentChild);
            leave_out(&mut targets[at], head.line, ends, "whose other end is nowhere", notes);
        }
    }
    Ok(())
}

/// Returns true if the import makes an atom the child of another than today, or an epic.
fn has_new_families(lookup: &Lookup<'_>, targets: &[Target]) -> Result<bool> {
    let parents = targets.iter().filter_map(|one| Some((&*one.atom_id, one.parent.as_deref()?)));
    let (mut parents, count) =
        parents.fold((HashMap::new(), 0), |(mut all, count), (id, parent)| {
            all.insert(id, parent);
            (all, count + 1)
        });
    // Two records of one atom are left to the check.
    let is_told_twice = parents.len() < count;
    let epics = targets.iter().zip(lookup.heads).filter(|(_, head)| head.issue_type.is_abstract());
    let mut epics: HashSet<&str> = epics.map(|(target, _)| &*target.atom_id).collect();
    atom::each_place(lookup.tx, |id, parent, is_abstract| {
        if parent.is_some() && parents.get(id).copied() == parent {
            parents.remove(id);
        }
        if is_abstract {
            epics.remove(id);
        }
    })?;
    Ok(is_told_twice || !parents.is_empty() || !epics.is_empty())
}

/// Returns the bonds that are not present, and all bonds that the file tells of.
fn find_bonds(
    lookup: &Lookup<'_>,
    targets: &mut [Target],
    bonds: Vec<RecordBond>,
    present: &HashSet<Ends>,
    notes: &mut Notes,
) -> Result<(Vec<NewBond>, HashSet<Ends>)> {
    let mut new = Vec::new();
    let mut seen = HashSet::with_capacity(bonds.len());
    for told in bonds {
        let owner = lookup.index.get(told.owner.as_str()).copied();
        let source = lookup.find_id(targets, &told.source)?;
        let why = match (source, lookup.find_id(targets, &told.target)?) {
            (Some(source), Some(target)) if source == target => "of an atom with itself",
            (Some(source), Some(target)) => {
                let ends = Ends { source, target, kind: told.kind };
                if seen.insert(ends.clone()) {
                    if let Some(owner) = owner {
                        targets[owner].bonds.push(ends.clone());
                    }
                    if !present.contains(&ends) {
                        new.push(NewBond { owner, ends, created_at: told.created_at, told });
                    }
                }
                continue;
            }
            _ => "whose other end is nowhere",
        };
        leave_bond_out(lookup, targets, owner, &told, why, notes);
    }
    Ok((new, seen))
}

/// Notes an impossible bond, and keeps the bond for the metadata of the record that named it.
pub(super) fn leave_bond_out(
    lookup: &Lookup<'_>,
    targets: &mut [Target],
    owner: Option<usize>,
    told: &RecordBond,
    why: &str,
    notes: &mut Notes,
) {
    let Some(owner) = owner else {
        let what = format!("a bond '{}' {why}", told.kind);
        return notes.add(NoteKind::LeftOut, what, &format!("line {}", told.line));
    };
    let ends = (&*told.source, &*told.target, told.kind);
    leave_out(&mut targets[owner], lookup.heads[owner].line, ends, why, notes);
}

/// Notes an impossible edge, and keeps the edge for the metadata of the record.
pub(super) fn leave_out(
    owner: &mut Target,
    line: usize,
    (source, target, kind): (&str, &str, BondKind),
    why: &str,
    notes: &mut Notes,
) {
    let place = format!("line {line} ({source} → {target})");
    notes.add(NoteKind::LeftOut, format!("a bond '{kind}' {why}"), &place);
    owner
        .left_out
        .push(json!({ "source_id": source, "target_id": target, "dependency_type": kind }));
}

/// Returns the bonds of the last import.
fn last_told(target: &Target) -> Vec<Ends> {
    if target.has_last_bonds {
        return target.bonds.clone();
    }
    let text = target.last_bonds.as_deref();
    let words: Vec<[String; 3]> =
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    words
        .into_iter()
        .filter_map(|[source, target, kind]| {
            Some(Ends { source: source.into(), target: target.into(), kind: kind.parse().ok()? })
        })
        .collect()
}

/// Bonds that the last import brought and the file has no more.
fn removed_bonds(
    targets: &[Target],
    told: &HashSet<Ends>,
    present: &HashSet<Ends>,
) -> Vec<(usize, Ends)> {
    let mut gone = Vec::new();
    let may_lack = |target: &Target| target.has_last && !target.has_last_bonds;
    for (at, target) in targets.iter().enumerate().filter(|(_, target)| may_lack(target)) {
        let missing = last_told(target)
            .into_iter()
            .filter(|ends| !told.contains(ends) && present.contains(ends));
        gone.extend(missing.map(|ends| (at, ends)));
    }
    gone
}

/// Returns true if the last import brought the bond and a person removed the bond since. The
/// removal stands.
fn was_removed_here(targets: &[Target], bond: &NewBond) -> bool {
    bond.owner.is_some_and(|at| last_told(&targets[at]).contains(&bond.ends))
}

/// The parent of every atom after the import, with the record that changes the parent.
pub(super) type Parents = HashMap<Arc<str>, (Arc<str>, Option<usize>)>;

fn parents_to_be(tx: &Tx<'_>, targets: &[Target]) -> Result<Parents> {
    let mut parents: Parents = atom::all_parents(tx)?
        .into_iter()
        .filter_map(|(id, parent)| Some((id.into(), (parent?.into(), None))))
        .collect();
    for (at, target) in targets.iter().enumerate() {
        let Some(parent) = &target.parent else { continue };
        let is_there = parents.get(&target.atom_id).is_some_and(|(there, _)| there == parent);
        if !is_there {
            parents.insert(target.atom_id.clone(), (parent.clone(), Some(at)));
        }
    }
    Ok(parents)
}

/// Writes the bonds and the events.
pub(super) fn write_edges(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    changes: &Changes,
    done: &mut Imported,
    steps: &mut Steps<'_, '_>,
) -> Result<()> {
    for (_, ends) in &changes.remove {
        for bond in bond::remove(tx, &ends.source, &ends.target, Some(ends.kind))? {
            done.bonds_removed += 1;
            let gone = (&*bond.source_id, &*bond.target_id);
            tell_of_bond(tx, ctx, EventKind::BondRemoved, gone, bond.dependency_type)?;
        }
    }
    bond::add_many(tx, changes.add.len(), || {
        for (_, ends, created_at) in &changes.add {
            steps.begin_step();
            let made = created_at.unwrap_or(ctx.now);
            bond::add_new(tx, &ends.source, &ends.target, ends.kind, made)?;
            done.bonds_added += 1;
            tell_of_bond(tx, ctx, EventKind::BondAdded, (&ends.source, &ends.target), ends.kind)?;
        }
        Ok(())
    })
}
