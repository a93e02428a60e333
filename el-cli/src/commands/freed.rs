//! The effects of ended atoms: atoms that are ready now, and epics whose contents are all over.

use el_core::model::{Atom, Status};
use el_core::{Store, ops};

use crate::output::sanitize;
use crate::{App, Result};

/// The atoms that waited for others before those ended.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    ids: Vec<String>,
    /// The parents that were over already.
    closed: Vec<String>,
}

impl Waiting {
    /// The atoms that wait for these. The change itself reports an atom that cannot be found.
    pub(super) fn find_waiting(app: &App, store: &Store, ids: &[String]) -> Waiting {
        if app.printer.is_robot() {
            return Waiting::default();
        }
        let shown: Vec<_> = ids.iter().filter_map(|id| ops::show(store, id).ok()).collect();
        let parents = shown.iter().filter_map(|shown| shown.atom.parent_id.clone()).collect();
        let closed = over_above(store, parents).into_iter().map(|epic| epic.id).collect();
        let shown = shown.into_iter();
        let bonds = shown.flat_map(|shown| shown.dependencies.outgoing);
        let holding = bonds.filter(|bond| bond.dependency_type.is_blocking());
        Waiting { ids: holding.map(|bond| bond.target_id).collect(), closed }
    }

    /// Reports the atoms that are ready now, and the epics without an open atom.
    pub(super) fn report_freed(
        &self,
        app: &App,
        store: &Store,
        ended: impl IntoIterator<Item = impl std::borrow::Borrow<Atom>>,
    ) -> Result<()> {
        let mut told: Vec<String> = Vec::new();
        for id in &self.ids {
            let explained = ops::explain(store, id, app.now())?;
            if explained.ready {
                let title = sanitize::one_line(&explained.atom.title).into_owned();
                told.push(format!("{} is ready now: {title}", explained.atom.id));
            }
        }
        let parents: Vec<String> =
            ended.into_iter().filter_map(|atom| atom.borrow().parent_id.clone()).collect();
        if app.settings()?.epic_autoclose() {
            let mut closed = over_above(store, parents.clone());
            closed.retain(|epic| epic.status == Status::Closed && !self.closed.contains(&epic.id));
            told.extend(closed.iter().map(|Atom { id, .. }| {
                format!("closed {id}, too: all that it contains is over (epic_autoclose)")
            }));
        }
        told.extend(ops::finished_among(store, &parents)?.iter().map(offer));
        told.sort();
        told.dedup();
        told.iter().for_each(|line| app.printer.note(line));
        Ok(())
    }
}

/// Those of these atoms that are over, and those right above them.
fn over_above(store: &Store, parents: Vec<String>) -> Vec<Atom> {
    let (mut found, mut todo): (Vec<Atom>, Vec<String>) = (Vec::new(), parents);
    while let Some(id) = todo.pop() {
        // The change itself reports a fault of the store.
        let Ok(epic) = ops::get_atom(store, &id) else { continue };
        if epic.status.is_over() && !found.iter().any(|one| one.id == id) {
            todo.extend(epic.parent_id.clone());
            found.push(epic);
        }
    }
    found
}

/// Tells of the parents that are over around these atoms, which are to be done.
pub(super) fn tell_of_over_parents<'a>(
    app: &App,
    store: &Store,
    atoms: impl IntoIterator<Item = &'a Atom>,
) {
    let open = atoms.into_iter().filter(|atom| !atom.status.is_over());
    let parents = open.filter_map(|atom| atom.parent_id.clone()).collect();
    for Atom { id, status, .. } in over_above(store, parents) {
        let holds = if status.holds_children() { ", which holds what is in it" } else { "" };
        app.printer.note(&format!("{id} is {status}{holds}: el reopen {id} has it open again"));
    }
}

/// Offers to close an epic.
pub(super) fn offer(epic: &Atom) -> String {
    format!("all in {0} is over: el close {0}", epic.id)
}
