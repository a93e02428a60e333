//! The entries that were found so far, and those about atoms.

use super::COUNTED;
use super::entry::about_all;
use super::freed::list_freed;
use crate::Result;
use crate::model::{AtomRow, Cost, LastRun, Need, NeedKind};
use crate::rules::attention::weight_of;
use crate::store::Tx;
use crate::store::board::{self as rows, Waits};

/// The most entries of a part that are ranked; the rest is counted.
pub(super) const RANKED: i64 = 100;
/// The most waiting atoms that are counted for an entry, and for all entries together.
const FREED: i64 = 100;
const FREED_IN_ALL: i64 = 2_000;

/// The entries found, in no order.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) found: Vec<Need>,
    pub(super) total: i64,
    pub(super) is_capped: bool,
    /// The number of waiting atoms counted so far, over all entries.
    counted: i64,
}

impl Found {
    pub(super) fn push(&mut self, need: Need) {
        self.found.push(need);
        self.total += 1;
    }

    /// Counts the rest of a part that was ranked no further than [`RANKED`].
    pub(super) fn count_rest(&mut self, tx: &Tx<'_>, part: Waits, ranked: usize) -> Result<()> {
        if i64::try_from(ranked).is_ok_and(|ranked| ranked < RANKED) {
            return Ok(());
        }
        let all = rows::count_waiting(tx, part, COUNTED)?;
        self.total += all - RANKED;
        self.is_capped |= all == COUNTED;
        Ok(())
    }
}

/// Makes an entry about an atom, with the number of atoms that the decision frees.
pub(super) fn about_atom(
    tx: &Tx<'_>,
    kind: NeedKind,
    atom: &AtomRow,
    last: Option<&LastRun>,
    why: &str,
    found: &mut Found,
) -> Result<Need> {
    let holds_children = !matches!(kind.class(), 3);
    let behind = list_freed(tx, &atom.id, holds_children, FREED.min(FREED_IN_ALL - found.counted))?;
    let frees = i64::try_from(behind.len()).unwrap_or(FREED);
    found.counted += frees;
    Ok(Need {
        atom_id: Some(atom.id.clone()),
        priority: Some(atom.priority),
        run_id: last.map(|run| run.id.clone()),
        agent: last.map(|run| run.agent.clone()),
        frees,
        weight: behind.into_iter().map(weight_of).fold(weight_of(atom.priority), |a, b| a + b),
        cost: if last.is_some() { rows::cost_of(tx, &atom.id)? } else { Cost::default() },
        attempts: last.map_or(0, |run| run.attempt),
        ..about_all(kind, &atom.id, &atom.title, why.to_owned(), atom.updated_at)
    })
}
