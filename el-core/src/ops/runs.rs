use super::{Page, Streamed};
use crate::model::{Outcome, RUN_PREFIX, Run};
use crate::store::{self, Store, Tx, atom};
use crate::{Error, Result};

/// Which runs.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// An atom's id, as people type it.
    pub atom: Option<String>,
    pub live_only: bool,
    pub outcome: Option<Outcome>,
    pub limit: Option<i64>,
}

/// Runs, newest first.
pub fn runs(store: &Store, filter: &RunFilter) -> Result<Page<Run>> {
    store.read(|tx| {
        let atom = filter.atom.as_deref().map(|id| atom::resolve(tx, id)).transpose()?;
        let which = (atom.as_deref(), filter.live_only, filter.outcome);
        let (items, total) = store::run::list(tx, which, filter.limit)?;
        Ok(Page { items, total })
    })
}

/// As [`runs`] without a limit, one after the other: memory does not grow with them.
///
/// # Errors
/// If the database cannot be read, or `visit` fails.
pub fn runs_each(
    store: &Store,
    filter: &RunFilter,
    mut visit: impl FnMut(Streamed<Run>) -> Result<()>,
) -> Result<()> {
    store.read(|tx| {
        let atom = filter.atom.as_deref().map(|id| atom::resolve(tx, id)).transpose()?;
        let which = (atom.as_deref(), filter.live_only, filter.outcome);
        visit(Streamed::Total(store::run::count(tx, which)?))?;
        store::run::each(tx, which, None, |run| visit(Streamed::Item(run)))
    })
}

/// One run by its whole id.
pub fn run(store: &Store, id: &str) -> Result<Run> {
    store.read(|tx| store::run::get(tx, id))
}

/// The whole id of the run that `text` means.
pub fn resolve_run(store: &Store, text: &str) -> Result<String> {
    store.read(|tx| store::run::resolve(tx, text))
}

/// Every run of an atom, oldest first.
pub fn attempts(store: &Store, atom: &str) -> Result<Vec<Run>> {
    store.read(|tx| store::run::of_atom(tx, &atom::resolve(tx, atom)?))
}

/// The run that `text` means, where an atom or a run may be named: a run by `run-…` or its
/// session's name; an atom's live run, or else its last one.
pub fn target_run(store: &Store, text: &str) -> Result<Run> {
    store.read(|tx| target(tx, text))
}

pub(super) fn target(tx: &Tx<'_>, text: &str) -> Result<Run> {
    if text.trim().to_ascii_lowercase().starts_with(&format!("{RUN_PREFIX}-")) {
        let id = store::run::resolve(tx, text)?;
        return store::run::get(tx, &id);
    }
    let atom = match atom::resolve(tx, text) {
        Err(missing @ Error::NotFound { .. }) => {
            return store::run::of_session(tx, text.trim())?.ok_or(missing);
        }
        found => found?,
    };
    match store::run::live_of(tx, &atom)? {
        Some(live) => Ok(live),
        None => store::run::of_atom(tx, &atom)?.pop().ok_or_else(|| {
            Error::conflict("no_run", format!("{atom} was never worked on by `el work`"))
        }),
    }
}
