use super::{Page, Streamed};
use crate::model::{Outcome, RUN_PREFIX, Run};
use crate::store::{self, Store, Tx, atom};
use crate::{Error, Result};

/// A filter of runs.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// The id of an atom, as people type ids.
    pub atom: Option<String>,
    pub live_only: bool,
    pub outcome: Option<Outcome>,
    pub limit: Option<i64>,
}

/// Returns runs, newest first.
///
/// # Errors
///
/// If the filter names an unknown atom, or the database cannot be read.
pub fn runs(store: &Store, filter: &RunFilter) -> Result<Page<Run>> {
    store.read(|tx| {
        let atom = filter.atom.as_deref().map(|id| atom::resolve(tx, id)).transpose()?;
        let which = (atom.as_deref(), filter.live_only, filter.outcome);
        let (items, total) = store::run::list(tx, which, filter.limit)?;
        Ok(Page::of_total(items, total))
    })
}

/// Visits the runs of [`runs`] in constant memory: `passes` times the same, each time after their
/// total.
///
/// # Errors
///
/// If the database cannot be read, or `visit` fails.
pub fn runs_each(
    store: &Store,
    filter: &RunFilter,
    passes: usize,
    mut visit: impl FnMut(Streamed<Run>) -> Result<()>,
) -> Result<()> {
    store.read(|tx| {
        let atom = filter.atom.as_deref().map(|id| atom::resolve(tx, id)).transpose()?;
        let which = (atom.as_deref(), filter.live_only, filter.outcome);
        let total = store::run::count(tx, which)?;
        for _ in 0..passes {
            visit(Streamed::Total(total))?;
            store::run::visit_each(tx, which, filter.limit, |run| visit(Streamed::Item(run)))?;
        }
        Ok(())
    })
}

/// Returns a run by the whole id.
///
/// # Errors
///
/// If there is no such run, or the database cannot be read.
pub fn get_run(store: &Store, id: &str) -> Result<Run> {
    store.read(|tx| store::run::get(tx, id))
}

/// Resolves a text to the whole id of a run.
///
/// # Errors
///
/// If the id is unknown or ambiguous, or the database cannot be read.
pub fn resolve_run(store: &Store, text: &str) -> Result<String> {
    store.read(|tx| store::run::resolve(tx, text))
}

/// Returns every run of an atom, oldest first.
///
/// # Errors
///
/// If the id is unknown or ambiguous, or the database cannot be read.
pub fn list_attempts(store: &Store, atom: &str) -> Result<Vec<Run>> {
    store.read(|tx| store::run::of_atom(tx, &atom::resolve(tx, atom)?))
}

/// Resolves a text to a run: `run-…`, a session's name, or an atom, which stands for the live run
/// or else the last run.
///
/// # Errors
///
/// If the id is unknown or ambiguous, or the database cannot be read.
pub fn target_run(store: &Store, text: &str) -> Result<Run> {
    store.read(|tx| resolve_target(tx, text))
}

pub(super) fn resolve_target(tx: &Tx<'_>, text: &str) -> Result<Run> {
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
