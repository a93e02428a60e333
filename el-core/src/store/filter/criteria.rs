//! The contents of a list of atoms, and their order.

use crate::model::{IssueType, Priority, Status, Timestamp};
use crate::store::ready;

/// A filter of atoms. Conditions are joined by *and*, the values of a condition by *or*. Labels are
/// an exception: an atom must have all of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AtomFilter {
    /// Empty: every status that is not over.
    pub statuses: Vec<Status>,
    /// Includes atoms that are over (only if `statuses` is empty).
    pub include_over: bool,
    pub types: Vec<IssueType>,
    pub exclude_types: Vec<IssueType>,
    pub priorities: Vec<Priority>,
    pub labels: Vec<String>,
    /// Only atoms that need nothing else than this.
    pub offers: Option<Vec<String>>,
    pub assignee: Option<AssigneeFilter>,
    /// Only direct children of the atom.
    pub parent: Option<String>,
    /// Only descendants of the atom with this whole id. A list of ready atoms then is for the
    /// driver of that epic's plan: the plan does not hold back the driver.
    pub below: Option<String>,
    /// Only these whole ids; empty: all.
    pub ids: Vec<String>,
    /// Only the questions of plans.
    pub asks: bool,
    /// Every word must stand in the title or the description, in any case.
    pub text: Option<String>,
    pub created_after: Option<Timestamp>,
    pub created_before: Option<Timestamp>,
    pub updated_after: Option<Timestamp>,
    pub updated_before: Option<Timestamp>,
}

/// A filter by assignee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssigneeFilter {
    /// Assigned to the name.
    Is(String),
    /// Without an assignee.
    Nobody,
    /// Without an assignee, or assigned to the agent: the atoms that a worker of the agent may
    /// claim.
    NobodyOr(String),
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Priority, then age: the order of the queue.
    #[default]
    Priority,
    /// Oldest first.
    Oldest,
    /// Newest first.
    Newest,
    /// Last changed first.
    Updated,
    /// By title.
    Title,
    /// By status in the order of work, then priority.
    Status,
    /// Atoms older than 48 h first, by age; then the rest by priority. No atom waits for ever.
    Hybrid,
}

/// A page of a list, with the total count.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub total: i64,
    /// Counting stopped at `total`: there may be more.
    pub is_capped: bool,
}

impl<T> Page<T> {
    /// A page of a list that was counted to its end.
    #[must_use]
    pub fn of_total(items: Vec<T>, total: i64) -> Page<T> {
        Page { items, total, is_capped: false }
    }

    /// Converts each item of the page by `change`.
    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Page<U> {
        Page {
            items: self.items.into_iter().map(change).collect(),
            total: self.total,
            is_capped: self.is_capped,
        }
    }
}

impl Sort {
    /// The fragment for `ORDER BY`; `now` is needed by [`Sort::Hybrid`] alone.
    pub(crate) fn order_sql(self, now: Timestamp) -> String {
        match self {
            Sort::Priority => ready::QUEUE_ORDER.to_owned(),
            Sort::Oldest => "a.created_at, a.seq".to_owned(),
            Sort::Newest => "a.created_at DESC, a.seq DESC".to_owned(),
            Sort::Updated => "a.updated_at DESC, a.seq DESC".to_owned(),
            Sort::Title => "a.title COLLATE NOCASE, a.seq".to_owned(),
            Sort::Status => {
                let cases: String = Status::ALL
                    .iter()
                    .enumerate()
                    .map(|(at, s)| format!(" WHEN '{s}' THEN {at}"))
                    .collect();
                format!("CASE a.status{cases} END, {}", ready::QUEUE_ORDER)
            }
            Sort::Hybrid => {
                let old = now.minus(std::time::Duration::from_secs(48 * 3600)).as_micros();
                format!(
                    "CASE WHEN a.created_at <= {old} THEN 0 ELSE 1 END, CASE WHEN a.created_at <= \
                     {old} THEN a.created_at END, {}",
                    ready::QUEUE_ORDER
                )
            }
        }
    }
}
