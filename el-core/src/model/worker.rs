use serde::Serialize;

use super::{Stamp, Takes, Timestamp};

/// One `el work` process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Worker {
    pub id: String,
    pub process: Stamp,
    /// The first of its agents.
    pub agent: String,
    /// All agents that it serves.
    pub agents: Vec<String>,
    /// Which of their atoms it can be relied on to take.
    pub takes: Takes,
    /// Sessions that it may have at once, of all its agents together.
    pub concurrency: i64,
    pub started_at: Timestamp,
    pub heartbeat_at: Timestamp,
    /// Someone said `el work --stop`.
    pub stop_requested: bool,
}
