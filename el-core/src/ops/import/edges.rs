//! The bonds and parents of an import: resolved, checked for cycles together, and written.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::*;
use crate::store::bond;

mod cycles;

use cycles::leave_cycles_out;

/// A bond between two atoms here.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Ends {
    pub(super) source: String,
    pub(super) target: String,
    pub(super) kind: BondKind,
}

impl Ends {
    pub(super) fn as_words(&self) -> [&str; 3] {
        [&self.source, &self.target, self.kind.as_str()]
    }
}

/// The changes of bonds, by the record that named the bond.
#[derive(Default)]
pub(super) struct Changes {
    add: Vec<(Option<usize>, Ends, Option<Timestamp>)>,
    remove: Vec<(usize, Ends)>,
}

impl Changes {
    /// Returns the records with changed bonds.
    pub(super) fn changed_records(&self) -> impl Iterator<Item = (usize, bool)> + '_ {
        self.add
            .iter()
            .filter_map(|(owner, ..)| *owner)
            .chain(self.remove.iter().map(|(owner, _)| *owner))
            .map(|at| (at, true))
    }
}

/// Leaves parents and bonds as they are, and as earlier imports told them.
pub(super) fn keep_edges(planned: &mut [Planned]) {
    for plan in planned {
        plan.bonds = last_told(plan);
        plan.keeps_parent = true;
        plan.parent = plan.before.as_ref().and_then(|before| before.parent_id.clone());
    }
}

/// Resolves the ends of every bond and parent, and leaves out impossible edges.
pub(super) fn plan_edges(
    lookup: &Lookup<'_>,
    planned: &mut [Planned],
    bonds: Vec<RecordBond>,
    notes: &mut Notes,
) -> Result<Changes> {
    find_parents(lookup, planned, notes)?;
    let mut new = find_bonds(lookup, planned, bonds, notes)?;
    let present: HashSet<Ends> = bond::list_all(lookup.tx)?
        .into_iter()
        .map(|b| Ends { source: b.source_id, target: b.target_id, kind: b.dependency_type })
        .collect();
    let remove = removed_bonds(planned, &new, &present);
    new.retain(|bond| !present.contains(&bond.ends) && !was_removed_here(planned, bond));
    let parents = parents_to_be(lookup.tx, planned)?;
    let epics = atom::abstract_ids(lookup.tx)?;
    leave_cycles_out(planned, &mut new, &present, &remove, &parents, epics, notes);
    let add = new.into_iter().map(|bond| (bond.owner, bond.ends, bond.created_at)).collect();
    Ok(Changes { add, remove })
}

/// A bond of the file with resolved ends.
pub(super) struct NewBond {
    pub(super) owner: Option<usize>,
    pub(super) ends: Ends,
    created_at: Option<Timestamp>,
    /// In the file's own words, for the report.
    pub(super) told: RecordBond,
}

fn find_parents(lookup: &Lookup<'_>, planned: &mut [Planned], notes: &mut Notes) -> Result<()> {
    for at in 0..planned.len() {
        let Some(parent) = planned[at].record.parent.clone() else { continue };
        planned[at].parent = match lookup.find_atom(&parent)? {
            Found::Record(other) => Some(planned[other].atom_id.clone()),
            Found::Atom(id) => Some(id),
            Found::Nothing => {
                let own = planned[at].record.id.clone();
                leave_out(
                    &mut planned[at],
                    (&parent, &own, BondKind::ParentChild),
                    "whose other end is nowhere",
                    notes,
                );
                None
            }
        };
    }
    Ok(())
}

fn find_bonds(
    lookup: &Lookup<'_>,
    planned: &mut [Planned],
    bonds: Vec<RecordBond>,
    notes: &mut Notes,
) -> Result<Vec<NewBond>> {
    let mut new = Vec::with_capacity(bonds.len());
    let mut seen = HashSet::new();
    for told in bonds {
        let owner = lookup.known.get(&told.owner).copied();
        let end = |id: &str| -> Result<Option<String>> {
            Ok(match lookup.find_atom(id)? {
                Found::Record(at) => Some(planned[at].atom_id.clone()),
                Found::Atom(id) => Some(id),
                Found::Nothing => None,
            })
        };
        let why = match (end(&told.source)?, end(&told.target)?) {
            (Some(source), Some(target)) if source == target => "of an atom with itself",
            (Some(source), Some(target)) => {
                let ends = Ends { source, target, kind: told.kind };
                if seen.insert(ends.clone()) {
                    if let Some(owner) = owner {
                        planned[owner].bonds.push(ends.clone());
                    }
                    new.push(NewBond { owner, ends, created_at: told.created_at, told });
                }
                continue;
            }
            _ => "whose other end is nowhere",
        };
        match owner {
            Some(owner) => {
                leave_out(&mut planned[owner], (&told.source, &told.target, told.kind), why, notes)
            }
            None => notes.add(
                NoteKind::LeftOut,
                format!("a bond '{}' {why}", told.kind),
                &format!("line {}", told.line),
            ),
        }
    }
    Ok(new)
}

/// Notes an impossible bond, and keeps the bond in the metadata of the record.
pub(super) fn leave_out(
    plan: &mut Planned,
    (source, target, kind): (&str, &str, BondKind),
    why: &str,
    notes: &mut Notes,
) {
    let place = format!("line {} ({source} → {target})", plan.record.line);
    notes.add(NoteKind::LeftOut, format!("a bond '{kind}' {why}"), &place);
    let kept = plan.record.metadata.entry("source").or_insert_with(|| Value::Object(Map::new()));
    if let Some(kept) = kept.as_object_mut() {
        let list = kept.entry("left_out").or_insert_with(|| Value::Array(Vec::new()));
        if let Some(list) = list.as_array_mut() {
            list.push(json!({ "source_id": source, "target_id": target, "dependency_type": kind }));
        }
    }
}

/// Returns the bonds of the last import.
fn last_told(plan: &Planned) -> Vec<Ends> {
    let text = plan.last.as_ref().and_then(|last| last.bonds.as_deref());
    let words: Vec<[String; 3]> =
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    words
        .into_iter()
        .filter_map(|[source, target, kind]| {
            Some(Ends { source, target, kind: kind.parse().ok()? })
        })
        .collect()
}

/// Bonds that the last import brought and the file has no more.
fn removed_bonds(
    planned: &[Planned],
    new: &[NewBond],
    present: &HashSet<Ends>,
) -> Vec<(usize, Ends)> {
    let told: HashSet<&Ends> = new.iter().map(|bond| &bond.ends).collect();
    let gone = |(at, plan): (usize, &Planned)| {
        let gone = last_told(plan)
            .into_iter()
            .filter(|ends| !told.contains(ends) && present.contains(ends));
        gone.map(move |ends| (at, ends)).collect::<Vec<_>>()
    };
    planned.iter().enumerate().filter(|(_, plan)| plan.last.is_some()).flat_map(gone).collect()
}

/// Returns true if the last import brought the bond and a person removed the bond since. The
/// removal stands.
fn was_removed_here(planned: &[Planned], bond: &NewBond) -> bool {
    bond.owner.is_some_and(|at| {
        planned[at].last.is_some() && last_told(&planned[at]).contains(&bond.ends)
    })
}

/// Returns the parent of every atom after the import, with the record that changes the parent.
fn parents_to_be(
    tx: &Tx<'_>,
    planned: &[Planned],
) -> Result<HashMap<String, (String, Option<usize>)>> {
    let mut parents: HashMap<String, (String, Option<usize>)> = atom::all_parents(tx)?
        .into_iter()
        .filter_map(|(id, parent)| Some((id, (parent?, None))))
        .collect();
    for (at, plan) in planned.iter().enumerate() {
        let Some(parent) = &plan.parent else { continue };
        let is_there = parents.get(&plan.atom_id).is_some_and(|(there, _)| there == parent);
        if !is_there {
            parents.insert(plan.atom_id.clone(), (parent.clone(), Some(at)));
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
            bond_event(
                tx,
                ctx,
                EventKind::BondRemoved,
                (&bond.source_id, &bond.target_id, bond.dependency_type),
            )?;
        }
    }
    for (_, ends, created_at) in &changes.add {
        steps.begin_step();
        if bond::add(tx, &ends.source, &ends.target, ends.kind, created_at.unwrap_or(ctx.now))? {
            done.bonds_added += 1;
            bond_event(tx, ctx, EventKind::BondAdded, (&ends.source, &ends.target, ends.kind))?;
        }
    }
    Ok(())
}
