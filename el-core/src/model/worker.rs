use serde::Serialize;

use super::{Stamp, Timestamp};

/// One `el work` process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Worker {
    pub id: String,
    pub process: Stamp,
    pub agent: String,
    pub concurrency: i64,
    pub started_at: Timestamp,
    pub heartbeat_at: Timestamp,
    /// Someone said `el work --stop`.
    pub stop_requested: bool,
}
