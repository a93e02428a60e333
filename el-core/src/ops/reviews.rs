use schemars::JsonSchema;
use serde::Serialize;

use super::{AtomFilter, Sort};
use crate::Result;
use crate::model::{Atom, Review, Run, Status, Timestamp};
use crate::store::filter::Query;
use crate::store::{Store, review, run};

/// An atom that waits for review: the atom's own row with more keys.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WaitingReview {
    #[serde(flatten)]
    pub atom: Atom,
    /// The hand-over; `null` if someone set the status without a report.
    pub review: Option<Review>,
    /// The run that did the work: the changes are in the run's folder.
    pub run: Option<Run>,
    /// The time of the hand-over.
    pub waiting_since: Timestamp,
}

/// Returns the atoms that wait for review, longest wait first.
///
/// # Errors
///
/// If the filter names an unknown atom, or the database cannot be read.
pub fn reviews(store: &Store, filter: &AtomFilter, now: Timestamp) -> Result<Vec<WaitingReview>> {
    store.read(|tx| {
        let filter =
            AtomFilter { statuses: vec![Status::Review], ..super::list::with_parent(tx, filter)? };
        let mut waiting = Vec::new();
        for atom in Query::new(&filter).fetch_rows(tx, &Sort::Priority.order_sql(now), None, 0)? {
            let review =
                review::last_review(tx, &atom.id)?.filter(|review| review.verdict.is_none());
            let by = review.as_ref().and_then(|review| review.run_id.clone());
            let run = match by {
                Some(id) => run::find(tx, &id)?,
                None => run::of_atom(tx, &atom.id)?.pop(),
            };
            let waiting_since = review.as_ref().map_or(atom.updated_at, |review| review.created_at);
            waiting.push(WaitingReview { atom, review, run, waiting_since });
        }
        waiting.sort_by_key(|one| one.waiting_since);
        Ok(waiting)
    })
}
