use serde::Serialize;

use super::{Stamp, Takes, Timestamp};

/// An `el work` process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Worker {
    pub id: String,
    /// The name from `el work --name`.
    pub name: Option<String>,
    pub process: Stamp,
    /// The first of the agents.
    pub agent: String,
    /// All agents of the worker.
    pub agents: Vec<String>,
    /// The atoms that the worker can be relied on to take.
    pub takes: Takes,
    /// The labels that it offers to atoms and agents. Sorted, without repetition.
    pub offers: Vec<String>,
    /// The most sessions at once, for all agents together.
    pub concurrency: i64,
    pub started_at: Timestamp,
    pub heartbeat_at: Timestamp,
    /// The load of its machine over a minute for each core, in thousandths, if it is known.
    pub load_milli: Option<i64>,
    /// Someone said `el work --stop`.
    pub stop_requested: bool,
}

impl Worker {
    /// Returns true if the worker offers all of this.
    pub fn offers_all(&self, needs: &[String]) -> bool {
        needs.iter().all(|need| self.offers.contains(need))
    }
}
