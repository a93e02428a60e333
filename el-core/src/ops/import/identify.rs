//! Which atom each record of a file is.

use std::collections::HashMap;

use super::steps::Steps;
use super::{Planned, ids};
use crate::exchange::{NoteKind, Notes, Record, Tracker};
use crate::store::{Tx, alias, atom};
use crate::{Error, Result};

/// Finds an atom by an id of the file.
pub(super) struct Lookup<'a> {
    pub(super) tx: &'a Tx<'a>,
    pub(super) source: &'a str,
    pub(super) known: &'a HashMap<String, usize>,
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
    /// Whole ids and whole names only: a beginning that happens to fit is another atom.
    pub(super) fn find_atom(&self, id: &str) -> Result<Found> {
        if let Some(at) = self.known.get(id) {
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
pub(super) fn identify_records(
    tx: &Tx<'_>,
    prefix: &str,
    tracker: Tracker,
    source: &str,
    records: Vec<Record>,
    notes: &mut Notes,
    steps: &mut Steps<'_, '_>,
) -> Result<Vec<Planned>> {
    let mut ids = ids::Pool::default();
    let mut planned = Vec::with_capacity(records.len());
    for record in records {
        steps.begin_step();
        let last = alias::find(tx, source, &record.id)?;
        let mut before = last.as_ref().map(|last| atom::get(tx, &last.atom_id)).transpose()?;
        if let Some(other) = before
            .as_ref()
            .filter(|before| record.created_at.is_some_and(|at| at != before.created_at))
        {
            return Err(Error::conflict(
                "other_project",
                format!(
                    "{} was imported before as {}, from another project: that one was made at {}; \
                     give this project's ids a name of their own with --as",
                    record.id, other.id, other.created_at
                ),
            ));
        }
        if tracker == Tracker::El && last.is_none() {
            // Ids of `el` are the same everywhere. The creation time tells apart two atoms that
            // share an id by chance.
            before = atom::find(tx, &record.id)?
                .filter(|found| record.created_at.is_none_or(|at| at == found.created_at));
        }
        let atom_id = match &before {
            Some(before) => before.id.clone(),
            None if tracker == Tracker::El && ids.take_id(tx, &record.id)? => record.id.clone(),
            None => {
                let id = ids.fresh_id(tx, prefix)?;
                if tracker == Tracker::El {
                    let place = format!("line {} ({})", record.line, record.id);
                    notes.add(
                        NoteKind::Approximated,
                        "an id that another atom has here became a new one; the old one is a name",
                        &place,
                    );
                }
                id
            }
        };
        planned.push(Planned {
            record,
            atom_id,
            before,
            last,
            parent: None,
            bonds: Vec::new(),
            owns_metadata: tracker == Tracker::El,
            keeps_parent: false,
        });
    }
    Ok(planned)
}
