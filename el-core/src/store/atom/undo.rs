use crate::store::engine::params;
use serde_json::Value;

use super::Tx;
use crate::Result;
use crate::error::Doing;
use crate::model::Timestamp;

/// Restores a status with all values that its change overwrote. A status that a run had set belongs
/// to that run again, so a question of an agent is still asked.
pub(crate) fn restore_status(
    tx: &Tx<'_>,
    id: &str,
    status: &Value,
    was: &Value,
    now: Timestamp,
) -> Result<()> {
    let micros = |key: &str| was[key].as_i64();
    tx.execute_cached(
        "UPDATE atoms SET status = ?2, close_reason = ?3, closed_at = ?4, defer_until = ?5,
            retry_at = ?6, retry_from = ?7, fresh_since = coalesce(?8, fresh_since),
            status_by_run = ?12, updated_at = ?9,
            assignee = CASE WHEN ?10 = 1 THEN ?11 ELSE assignee END WHERE id = ?1",
        params![
            id,
            status.as_str(),
            was["close_reason"].as_str(),
            micros("closed_at"),
            micros("defer_until"),
            micros("retry_at"),
            micros("retry_from"),
            micros("fresh_since"),
            now.as_micros(),
            was.get("assignee").is_some(),
            was["assignee"].as_str(),
            was["status_by_run"].as_str(),
        ],
    )
    .doing("set a status again")
    .map(drop)
}
