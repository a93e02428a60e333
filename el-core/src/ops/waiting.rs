use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::explain::load_surroundings;
use super::list::with_parent;
use super::placement::unplaced_now;
use super::{AtomFilter, Page, Sort};
use crate::Result;
use crate::model::{Atom, Status, Timestamp, Worker};
use crate::rules::ready::Hold;
use crate::store::filter::Query;
use crate::store::{Store, Tx};

/// An atom that cannot begin yet, with all its holds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Held {
    #[serde(flatten)]
    pub atom: Atom,
    pub holds: Vec<Hold>,
}

/// Returns the waiting atoms that fit the filter: open or deferred ones that a blocker, a parent, a
/// plan, a date or a back-off holds, and those that need what no worker offers. The filter's
/// statuses do not count. `is_there` tells if a worker's process still runs.
///
/// # Errors
/// If the database cannot be read.
pub fn waiting(
    store: &Store,
    filter: &AtomFilter,
    sort: Sort,
    limit: Option<i64>,
    offset: i64,
    now: Timestamp,
    is_there: &dyn Fn(&Worker) -> bool,
) -> Result<Page<Held>> {
    store.read(|tx| {
        let statuses = vec![Status::Open, Status::Deferred];
        let filter = AtomFilter { statuses, ..with_parent(tx, filter)? };
        let is_free = unheld_ids(tx, &filter, now)?;
        let unplaced = unplaced_now(tx, is_there)?;
        let mut page = Page::of_total(Vec::new(), 0);
        Query::new(&filter).visit_atoms(tx, &sort.order_sql(now), |atom| {
            let holds = match is_free.contains(&atom.id) {
                true => Vec::new(),
                false => waits_of(tx, &atom, now)?,
            };
            let holds = with_needs(holds, &atom, &unplaced);
            if holds.is_empty() {
                return Ok(());
            }
            let has_room = limit.is_none_or(|limit| page.total < offset.saturating_add(limit));
            if page.total >= offset && has_room {
                page.items.push(Held { atom, holds });
            }
            page.total += 1;
            Ok(())
        })?;
        Ok(page)
    })
}

/// The longest list that is checked atom by atom; a longer one is compared with the queue first.
const FEW: usize = 200;

/// Returns the holds of each of these atoms, in their order; none for one that can begin, is in
/// work, or over.
///
/// # Errors
/// If the database cannot be read.
pub fn waits(
    store: &Store,
    atoms: &[&Atom],
    now: Timestamp,
    is_there: &dyn Fn(&Worker) -> bool,
) -> Result<Vec<Vec<Hold>>> {
    store.read(|tx| {
        let unplaced = unplaced_now(tx, is_there)?;
        let is_free = match atoms.len() > FEW {
            true => unheld_ids(tx, &AtomFilter::default(), now)?,
            false => HashSet::new(),
        };
        atoms
            .iter()
            .map(|atom| {
                let holds = match is_free.contains(&atom.id) {
                    true => Vec::new(),
                    false => waits_of(tx, atom, now)?,
                };
                Ok(with_needs(holds, atom, &unplaced))
            })
            .collect()
    })
}

fn with_needs(
    mut holds: Vec<Hold>,
    atom: &Atom,
    unplaced: &HashMap<String, Vec<String>>,
) -> Vec<Hold> {
    holds.extend(unplaced.get(&atom.id).map(|needs| Hold::Needs { needs: needs.clone() }));
    holds
}

fn unheld_ids(tx: &Tx<'_>, filter: &AtomFilter, now: Timestamp) -> Result<HashSet<String>> {
    let filter = AtomFilter { statuses: Vec::new(), ..filter.clone() };
    Query::unheld_at(&filter, now).ids(tx)
}

/// Returns the holds of an atom. Its type and its live run are left out: they are no cause to wait.
fn waits_of(tx: &Tx<'_>, atom: &Atom, now: Timestamp) -> Result<Vec<Hold>> {
    if !matches!(atom.status, Status::Open | Status::Deferred) {
        return Ok(Vec::new());
    }
    let mut holds = load_surroundings(tx, atom)?.find_holds(&atom.id, now);
    holds.retain(|hold| !matches!(hold, Hold::Abstract { .. } | Hold::Running { .. }));
    Ok(holds)
}
