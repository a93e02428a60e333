//! Finds the atom of each record of a file.

use std::collections::HashMap;
use std::sync::Arc;

use super::steps::Steps;
use super::{AT_ONCE, Target, fields, ids};
use crate::exchange::{NoteKind, Notes, RecordHead, Tracker};
use crate::model::Timestamp;
use crate::store::{Tx, alias, atom};
use crate::{Error, Result};

/// Finds an atom by an id of the file.
pub(super) struct Lookup<'a> {
    pub(super) tx: &'a Tx<'a>,
    pub(super) source: &'a str,
    pub(super) heads: &'a [RecordHead],
    pub(super) index: &'a HashMap<Arc<str>, usize>,
}

/// Where an id of the file leads.
pub(super) enum Found {
    /// To a record of the file.
    Record(usize),
    /// To an atom that was here already.
    Atom(String),
    Nothing,
}

impl Lookup<'_> {
    /// Returns the id here of an atom that the file names.
    pub(super) fn find_id(&self, targets: &[Target], id: &str) -> Result<Option<Arc<str>>> {
        Ok(match self.find_atom(id)? {
            Found::Record(at) => Some(targets[at].atom_id.clone()),
            Found::Atom(id) => Some(id.into()),
            Found::Nothing => None,
        })
    }

    /// Whole ids and whole names only: a beginning that happens to fit is another atom.
    pub(super) fn find_atom(&self, id: &str) -> Result<Found> {
        if let Some(at) = self.index.get(id) {
            return Ok(Found::Record(*at));
        }
        if let Some(imported) = alias::find(self.tx, self.source, id)? {
            return Ok(Found::Atom(imported.atom_id));
        }
        if let Some(found) = atom::find(self.tx, &id.to_ascii_lowercase())? {
            return Ok(Found::Atom(found.id));
        }
        let mut named = alias::named_exactly(self.tx, id)?;
        Ok(if named.len() == 1 { Found::Atom(named.remove(0).0) } else { Found::Nothing })
    }
}

/// Finds or makes the id of each record.
pub(super) fn find_targets(
    tx: &Tx<'_>,
    prefix: &str,
    tracker: Tracker,
    source: &str,
    heads: &[RecordHead],
    notes: &mut Notes,
    steps: &mut Steps<'_, '_>,
) -> Result<Vec<Target>> {
    let mut ids = ids::Pool::default();
    let mut targets = Vec::with_capacity(heads.len());
    let mut known = Known::default();
    for (at, head) in heads.iter().enumerate() {
        steps.begin_step();
        if at.is_multiple_of(AT_ONCE) {
            known = Known::of_heads(tx, tracker, source, &heads[at..])?;
        }
        let last = known.imported.remove(&*head.id);
        let is_same = |made| head.created_at.is_none_or(|at| at == made);
        let found = match &last {
            Some(last) => {
                let atom_id = &last.imported.atom_id;
                let made = last.created_at.ok_or_else(|| Error::not_found("atom", atom_id))?;
                if !is_same(made) {
                    return Err(other_project(&head.id, atom_id, made));
                }
                Some(atom_id.as_str())
            }
            // Ids of `el` are the same everywhere. The creation time tells apart two atoms that
            // share an id by chance.
            None if tracker == Tracker::El => {
                let made = known.made.get(&*head.id).copied();
                made.filter(|made| is_same(*made)).map(|_| &*head.id)
            }
            None => None,
        };
        let atom_id: Arc<str> = match found {
            Some(found) => found.into(),
            None if tracker == Tracker::El && ids.take_id(tx, &head.id)? => head.id.clone(),
            None => {
                if tracker == Tracker::El {
                    let place = format!("line {} ({})", head.line, head.id);
                    let what =
                        "an id that another atom has here became a new one; the old one is a name";
                    notes.add(NoteKind::Approximated, what, &place);
                }
                ids.fresh_id(tx, prefix)?.into()
            }
        };
        targets.push(Target {
            atom_id,
            is_new: found.is_none(),
            parent: None,
            comes_before_parent: false,
            moves_later: false,
            blockers: 0,
            bonds: Vec::new(),
            has_last: last.is_some(),
            has_last_bonds: false,
            // A record that waits for the end of work here is looked at again.
            same_line: last.as_ref().filter(|last| !last.is_in_progress).and_then(|last| {
                fields::parent_of_line(last.imported.fields.as_deref()?, head.digest?)
            }),
            last_bonds: last.and_then(|last| last.imported.bonds).map(Into::into),
            left_out: Vec::new(),
            keeps_parent: false,
            keeps_type: false,
        });
    }
    Ok(targets)
}

/// The store's knowledge of the next records.
#[derive(Default)]
struct Known {
    /// By name.
    imported: HashMap<String, alias::Known>,
    /// By id: when the atoms were made that may be those of an export.
    made: HashMap<String, Timestamp>,
}

impl Known {
    fn of_heads(
        tx: &Tx<'_>,
        tracker: Tracker,
        source: &str,
        heads: &[RecordHead],
    ) -> Result<Known> {
        let names: Vec<&str> = heads.iter().take(AT_ONCE).map(|head| &*head.id).collect();
        let imported = alias::find_known(tx, source, &names)?;
        let unknown = names.into_iter().filter(|name| !imported.contains_key(*name));
        let unknown: Vec<&str> = unknown.filter(|_| tracker == Tracker::El).collect();
        let made = match unknown.is_empty() {
            true => HashMap::new(),
            false => atom::created_at(tx, &unknown)?,
        };
        Ok(Known { imported, made })
    }
}

fn other_project(id: &str, atom: &str, made: Timestamp) -> Error {
    Error::conflict(
        "other_project",
        format!(
            "{id} was imported before as {atom}, from another project: that one was made at \
             {made}; give this project's ids a name of their own with --as"
        ),
    )
}
