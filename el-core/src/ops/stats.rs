mod series;

use super::pause::paused_in;
use crate::Result;
use crate::model::{Stats, Timestamp};
use crate::store::filter::{AtomFilter, Query};
use crate::store::{Store, stats};

pub use series::{SERIES_DAYS_MAX, series};

/// Counts atoms, runs and costs.
///
/// # Errors
///
/// If the database cannot be read.
pub fn stats(store: &Store, now: Timestamp) -> Result<Stats> {
    store.read(|tx| {
        Ok(Stats {
            total: stats::count_atoms(tx)?,
            ready: Query::ready_at(&AtomFilter::default(), now).count(tx)?,
            by_status: stats::atoms_by_status(tx)?,
            by_type: stats::atoms_by_type(tx)?,
            by_priority: stats::live_atoms_by_priority(tx)?,
            runs: stats::count_runs(tx)?,
            pause: paused_in(tx, now)?,
        })
    })
}
