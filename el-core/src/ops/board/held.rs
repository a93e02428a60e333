//! The atoms that people hold: those that a person has begun, or put off without a date.

use super::{COUNTED, Part};
use crate::Result;
use crate::model::AtomRow;
use crate::store::{Tx, board as rows};

pub(super) fn held_part(tx: &Tx<'_>, most: usize) -> Result<Part<AtomRow>> {
    let (ids, is_cut) = rows::list_held(tx, COUNTED)?;
    let mut held = Vec::new();
    for id in ids.iter().take(most) {
        held.extend(rows::atom_row(tx, id)?);
    }
    Ok(Part::new(held, i64::try_from(ids.len()).unwrap_or(i64::MAX), most, is_cut))
}
