use super::{AtomFilter, Page, Sort};
use crate::Result;
use crate::model::{Atom, Timestamp};
use crate::store::filter::Query;
use crate::store::{Store, Tx, atom};

/// Returns atoms that match the filter.
///
/// # Errors
///
/// If the filter names an unknown atom, or the database cannot be read.
pub fn list(
    store: &Store,
    filter: &AtomFilter,
    sort: Sort,
    limit: Option<i64>,
    offset: i64,
    now: Timestamp,
) -> Result<Page<Atom>> {
    store
        .read(|tx| query_page(tx, &Query::new(&with_parent(tx, filter)?), sort, limit, offset, now))
}

/// Returns atoms that match the filter and are ready at `now`, in the order of the queue.
///
/// # Errors
///
/// If the filter names an unknown atom, or the database cannot be read.
pub fn ready(
    store: &Store,
    filter: &AtomFilter,
    sort: Sort,
    limit: Option<i64>,
    offset: i64,
    now: Timestamp,
) -> Result<Page<Atom>> {
    store.read(|tx| {
        query_page(tx, &Query::ready_at(&with_parent(tx, filter)?, now), sort, limit, offset, now)
    })
}

/// A part of a streamed answer: first the count, then each item.
#[derive(Debug)]
pub enum Streamed<T> {
    Total(i64),
    Item(T),
}

/// Visits the atoms of [`list`] without a limit, in constant memory.
///
/// # Errors
///
/// If the database cannot be read, or `visit` fails.
pub fn list_each(
    store: &Store,
    filter: &AtomFilter,
    sort: Sort,
    now: Timestamp,
    mut visit: impl FnMut(Streamed<Atom>) -> Result<()>,
) -> Result<()> {
    store.read(|tx| {
        let query = Query::new(&with_parent(tx, filter)?);
        visit(Streamed::Total(query.count(tx)?))?;
        query.visit_atoms(tx, &sort.order_sql(now), |atom| visit(Streamed::Item(atom)))
    })
}

fn query_page(
    tx: &Tx<'_>,
    query: &Query,
    sort: Sort,
    limit: Option<i64>,
    offset: i64,
    now: Timestamp,
) -> Result<Page<Atom>> {
    let items = query.fetch_rows(tx, &sort.order_sql(now), limit, offset)?;
    let seen = i64::try_from(items.len()).unwrap_or(i64::MAX);
    // Counting is a second walk: only when the page may not be all there is.
    let total = if limit.is_none_or(|limit| seen < limit) && (offset == 0 || seen > 0) {
        offset + seen
    } else {
        query.count(tx)?
    };
    Ok(Page { items, total })
}

pub(super) fn with_parent(tx: &Tx<'_>, filter: &AtomFilter) -> Result<AtomFilter> {
    let parent = filter.parent.as_deref().map(|id| atom::resolve(tx, id)).transpose()?;
    Ok(AtomFilter { parent, ..filter.clone() })
}
