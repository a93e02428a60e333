use std::collections::BTreeSet;

use super::Board;
use crate::Result;
use crate::store::{Store, event};

/// Marks the atoms that others changed since this person looked. `looked` is the last event at that
/// time. An event of another tracker, or one that a restore took away, marks nothing.
///
/// # Errors
///
/// If the database cannot be read.
pub fn mark_fresh(
    store: &Store,
    board: &mut Board,
    looked: Option<i64>,
    actor: &str,
) -> Result<()> {
    board.looked = looked.filter(|seq| *seq <= board.seq);
    board.fresh.clear();
    let Some(seq) = board.looked else { return Ok(()) };
    let shown: BTreeSet<&String> = board
        .needs
        .items
        .iter()
        .filter_map(|need| need.atom_id.as_ref())
        .chain(board.running.items.iter().map(|run| &run.atom_id))
        .chain(board.ready.items.iter().map(|row| &row.id))
        .chain(board.waiting.items.iter().map(|row| &row.atom.id))
        .chain(board.done.items.iter().map(|row| &row.atom.id))
        .collect();
    let mut fresh = Vec::new();
    store.read(|tx| {
        for id in shown {
            if event::is_changed_by_others(tx, id, seq, actor)? {
                fresh.push(id.clone());
            }
        }
        Ok(())
    })?;
    board.fresh = fresh;
    Ok(())
}
