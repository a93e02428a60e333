use super::Page;
use crate::model::Atom;
use crate::store::{self, Store};
use crate::{Error, Result};

/// Full-text search, best match first.
///
/// # Errors
///
/// If the database cannot be read.
pub fn search(
    store: &Store,
    text: &str,
    include_over: bool,
    limit: Option<i64>,
) -> Result<Page<Atom>> {
    if text.trim().is_empty() {
        return Err(Error::invalid("query", "there is nothing to search for"));
    }
    store.read(|tx| store::search::search_atoms(tx, text, include_over, limit))
}
