use super::AtomFilter;
use super::list::with_parent;
use crate::exchange::{Exported, Piece};
use crate::store::filter::Query;
use crate::store::{Store, Tx, alias, bond, comment, meta};
use crate::{Error, Result};

/// Passes every atom that fits the filter to `each`, with all that an export contains. All atoms
/// are of one moment, and the order depends only on the content. A bond comes with the target, even
/// if the source does not fit the filter.
///
/// # Errors
///
/// If the store cannot be read; and the first error of `each`, which ends the export.
pub fn export<E: From<Error>>(
    store: &Store,
    filter: &AtomFilter,
    each: &mut dyn FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    store.read(|tx| Ok(export_in(tx, filter, each)))?
}

fn export_in<E: From<Error>>(
    tx: &Tx<'_>,
    filter: &AtomFilter,
    each: &mut dyn FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    let prefix = meta::get(tx, meta::PREFIX)?
        .ok_or_else(|| Error::Corrupt { table: "meta", why: "the prefix is missing".to_owned() })?;
    each(Piece::Start { prefix })?;
    let query = Query::new(&with_parent(tx, filter)?);
    query.for_each(tx, "a.created_at, a.id", |atom| {
        let exported = Exported {
            bonds: bond::list_into(tx, &atom.id)?,
            comments: comment::by_time(tx, &atom.id)?,
            names: alias::names_of(tx, &atom.id)?,
            atom,
        };
        each(Piece::Atom(Box::new(exported)))
    })
}
