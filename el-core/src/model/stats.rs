use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Cost, Pause};

/// Counts by word, in the order of the words.
pub type Counts = BTreeMap<String, i64>;

/// The project in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Stats {
    pub total: i64,
    pub ready: i64,
    pub by_status: Counts,
    pub by_type: Counts,
    /// Counts of atoms that are not over.
    pub by_priority: Counts,
    pub runs: RunStats,
    /// A pause that stops all claims.
    pub pause: Option<Pause>,
}

/// The runs in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunStats {
    pub total: i64,
    pub live: i64,
    pub by_outcome: Counts,
    pub turns: i64,
    pub tokens_in: i64,
    pub tokens_out: i64,
    #[serde(flatten)]
    pub cost: Cost,
    /// Run time in seconds, of the runs that have ended.
    pub seconds: i64,
}
