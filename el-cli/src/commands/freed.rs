//! The effects of ended atoms: atoms that are ready now, and epics whose contents are all over.

use el_core::Store;
use el_core::model::Atom;
use el_core::ops;

use crate::app::App;
use crate::error::Result;
use crate::output::sanitize;

/// The atoms that waited for others before those ended.
#[derive(Debug, Default)]
pub(super) struct Waiting(Vec<String>);

impl Waiting {
    /// The atoms that wait for these. The change itself reports an atom that cannot be found.
    pub(super) fn find_waiting(app: &App, store: &Store, ids: &[String]) -> Waiting {
        if app.printer.is_robot() {
            return Waiting::default();
        }
        let shown = ids.iter().filter_map(|id| ops::show(store, id).ok());
        let bonds = shown.flat_map(|shown| shown.dependencies.outgoing);
        let holding = bonds.filter(|bond| bond.dependency_type.is_blocking());
        Waiting(holding.map(|bond| bond.target_id).collect())
    }

    /// Reports the atoms that are ready now, and the epics without an open atom.
    pub(super) fn report_freed(
        &self,
        app: &App,
        store: &Store,
        ended: impl IntoIterator<Item = impl std::borrow::Borrow<Atom>>,
    ) -> Result<()> {
        let mut told: Vec<String> = Vec::new();
        for id in &self.0 {
            let explained = ops::explain(store, id, app.now())?;
            if explained.ready {
                let title = sanitize::one_line(&explained.atom.title).into_owned();
                told.push(format!("{} is ready now: {title}", explained.atom.id));
            }
        }
        let parents: Vec<String> =
            ended.into_iter().filter_map(|atom| atom.borrow().parent_id.clone()).collect();
        told.extend(closed_with_them(app, store, &parents)?);
        told.extend(ops::finished_among(store, &parents)?.iter().map(offer));
        told.sort();
        told.dedup();
        told.iter().for_each(|line| app.printer.note(line));
        Ok(())
    }
}

/// The epics that the setting closed with the last atom in them.
fn closed_with_them(app: &App, store: &Store, parents: &[String]) -> Result<Vec<String>> {
    if !app.settings()?.epic_autoclose() {
        return Ok(Vec::new());
    }
    let mut told = Vec::new();
    let mut todo = parents.to_vec();
    while let Some(id) = todo.pop() {
        let epic = ops::get_atom(store, &id)?;
        if epic.status == el_core::model::Status::Closed {
            told.push(format!("closed {id}, too: all that it contains is over (epic_autoclose)"));
            todo.extend(epic.parent_id);
        }
    }
    Ok(told)
}

/// Offers to close an epic.
pub(super) fn offer(epic: &Atom) -> String {
    format!("all in {0} is over: el close {0}", epic.id)
}
