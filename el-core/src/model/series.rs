use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::text_enum::text_enum;
use super::{Cost, Outcome, Status, Timestamp};

text_enum! {
    /// A series of figures about the project.
    pub enum SeriesName as "series" {
        /// The atoms that were done on each day.
        Done = "done",
        /// The time from ready to done, by the day of the end.
        LeadTime = "lead_time",
        /// The cost of each day.
        Cost = "cost",
        CostByAgent = "cost_by_agent",
        CostByEpic = "cost_by_epic",
        CostByModel = "cost_by_model",
        /// Dollars for each closed atom, and dollars in failed attempts, by day.
        CostPerClosed = "cost_per_closed",
        /// The causes of failed attempts.
        Failures = "failures",
        /// The share of first attempts that closed their atom, by the day of the beginning.
        FirstAttempts = "first_attempts",
        /// How long the atoms that are ready have waited.
        QueueAge = "queue_age",
    }
}

text_enum! {
    /// The unit of a figure.
    pub enum Unit as "unit" {
        Count = "count",
        Seconds = "seconds",
        /// Millionths of a US dollar.
        Micros = "micros",
        Percent = "percent",
    }
}

/// A figure that each point of a series has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Measure {
    /// The key in the points' `values`.
    pub name: &'static str,
    /// The same in plain words.
    pub title: &'static str,
    pub unit: Unit,
    /// The key of the part of an amount that is estimated.
    pub estimated: Option<&'static str>,
}

/// A day, an agent, a cause …, with its figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Point {
    /// A date such as `2026-11-29`, an id, or a word; `null`: no epic, or a model that is not
    /// known.
    pub key: Option<String>,
    /// The title of what the key names.
    pub label: Option<String>,
    /// The figures by the names of the measures; `null` if there is none.
    pub values: BTreeMap<&'static str, Option<i64>>,
}

/// A series of figures about the project. Days are those of UTC, as for budgets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Series {
    pub series: SeriesName,
    /// The title in plain words.
    pub title: &'static str,
    /// The kind of the keys: `day`, `agent`, `epic`, `model`, `cause` or `age`.
    pub by: &'static str,
    pub since: Timestamp,
    pub until: Timestamp,
    pub measures: Vec<Measure>,
    pub count: usize,
    pub total: usize,
    /// The time holds more than the limit; the oldest entries are left out.
    pub truncated: bool,
    pub items: Vec<Point>,
}

/// An attempt, as far as the series look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptFact {
    pub atom: String,
    pub agent: String,
    pub model: Option<String>,
    pub started: Timestamp,
    /// Counts from 1 for each atom.
    pub attempt: i64,
    pub outcome: Option<Outcome>,
    pub cost: Cost,
    /// The permissions denied a tool.
    pub was_denied: bool,
    /// A budget was spent while the run was on.
    pub was_over_budget: bool,
    /// For a first attempt: the atom's status, if no other attempt has followed.
    pub stands_as: Option<Status>,
}

/// An atom that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoneFact {
    pub status: Status,
    pub ready: Timestamp,
    pub closed: Timestamp,
}
