//! Atoms that no worker can take.

use std::collections::HashMap;

use crate::Result;
use crate::model::{Atom, Status, Worker};
use crate::rules::placement::missing;
use crate::rules::ready::Hold;
use crate::store::{Tx, atom, worker};

/// The workers that are there and go on claiming.
pub(super) fn workers_there(
    tx: &Tx<'_>,
    is_there: &dyn Fn(&Worker) -> bool,
) -> Result<Vec<Worker>> {
    let mut workers = worker::list_workers(tx)?;
    workers.retain(|worker| !worker.stop_requested && is_there(worker));
    Ok(workers)
}

/// The atoms to be done that none of these workers can take, each with what none offers.
pub(super) fn find_unplaced<'w>(
    tx: &Tx<'_>,
    workers: impl IntoIterator<Item = &'w Worker, IntoIter: Clone>,
) -> Result<HashMap<String, Vec<String>>> {
    Ok(without_worker(atom::list_needs(tx)?, workers))
}

/// The same, of the workers that are there.
pub(super) fn unplaced_now(
    tx: &Tx<'_>,
    is_there: &dyn Fn(&Worker) -> bool,
) -> Result<HashMap<String, Vec<String>>> {
    let needs = atom::list_needs(tx)?;
    if needs.is_empty() {
        return Ok(HashMap::new());
    }
    Ok(without_worker(needs, &workers_there(tx, is_there)?))
}

fn without_worker<'w>(
    all: Vec<(String, Vec<String>)>,
    workers: impl IntoIterator<Item = &'w Worker, IntoIter: Clone>,
) -> HashMap<String, Vec<String>> {
    let workers = workers.into_iter();
    let none = |(id, needs): (String, Vec<String>)| (id, missing(&needs, workers.clone()));
    all.into_iter().map(none).filter(|(_, missing)| !missing.is_empty()).collect()
}

/// Returns the hold of an atom that needs what no worker offers.
pub(super) fn hold_of(atom: &Atom, workers: &[Worker]) -> Option<Hold> {
    if !matches!(atom.status, Status::Open | Status::Deferred) {
        return None;
    }
    let needs = missing(&atom.needs, workers);
    (!needs.is_empty()).then_some(Hold::Needs { needs })
}
