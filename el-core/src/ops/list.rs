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
    store.read(|tx| {
        let query = Query::new(&with_parent(tx, filter)?);
        let items = query.fetch_rows(tx, &sort.order_sql(now), limit, offset)?;
        let total = match total_of_last(&items, limit, offset) {
            Some(total) => total,
            None => query.count(tx)?,
        };
        Ok(Page::of_total(items, total))
    })
}

/// The limit for counting what is ready behind a page: each ready atom costs two microseconds.
pub const READY_COUNTED: i64 = 1_000;

/// Returns atoms that match the filter and are ready at `now`, in the order of the queue. Behind a
/// page, no more than [`READY_COUNTED`] are counted.
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
        let query = Query::ready_at(&with_parent(tx, filter)?, now);
        let items = query.fetch_rows(tx, &sort.order_sql(now), limit, offset)?;
        if let Some(total) = total_of_last(&items, limit, offset) {
            return Ok(Page::of_total(items, total));
        }
        let most = READY_COUNTED.max(offset + count_of(&items));
        let total = query.count_up_to(tx, most)?;
        Ok(Page { items, total, is_capped: total == most })
    })
}

/// A part of a streamed answer: first the count, then each item.
#[derive(Debug)]
pub enum Streamed<T> {
    Total(i64),
    Item(T),
}

/// Visits the atoms of [`list`] without a limit as JSON, each as [`Atom`] is written for robots, in
/// constant memory.
///
/// # Errors
///
/// If the database cannot be read, or `visit` fails.
pub fn list_lines(
    store: &Store,
    filter: &AtomFilter,
    sort: Sort,
    now: Timestamp,
    mut visit: impl FnMut(Streamed<&[u8]>) -> Result<()>,
) -> Result<()> {
    store.read(|tx| {
        let query = Query::new(&with_parent(tx, filter)?);
        visit(Streamed::Total(query.count(tx)?))?;
        query.visit_lines(tx, &sort.order_sql(now), |line| visit(Streamed::Item(line)))
    })
}

/// The total that the page itself shows, where it is the last. Counting is a second walk.
fn total_of_last(items: &[Atom], limit: Option<i64>, offset: i64) -> Option<i64> {
    let seen = count_of(items);
    let is_last = limit.is_none_or(|limit| seen < limit) && (offset == 0 || seen > 0);
    is_last.then_some(offset + seen)
}

fn count_of(items: &[Atom]) -> i64 {
    i64::try_from(items.len()).unwrap_or(i64::MAX)
}

pub(super) fn with_parent(tx: &Tx<'_>, filter: &AtomFilter) -> Result<AtomFilter> {
    let parent = filter.parent.as_deref().map(|id| atom::resolve(tx, id)).transpose()?;
    Ok(AtomFilter { parent, ..filter.clone() })
}
