use schemars::JsonSchema;
use serde::Serialize;

use crate::Result;
use crate::model::Timestamp;
use crate::store::{Store, Tx, meta};

/// Nothing is claimed for now: the account's usage limit was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Pause {
    pub until: Timestamp,
    pub reason: String,
}

/// The pause that holds at `now`, if one does.
pub fn paused(store: &Store, now: Timestamp) -> Result<Option<Pause>> {
    store.read(|tx| paused_in(tx, now))
}

/// Ends the pause early, as a person may who knows better. Says whether there was one.
pub fn resume(store: &mut Store) -> Result<bool> {
    store.write(|tx| {
        let was = meta::get(tx, meta::PAUSED_UNTIL)?.is_some();
        meta::remove(tx, meta::PAUSED_UNTIL)?;
        meta::remove(tx, meta::PAUSE_REASON)?;
        Ok(was)
    })
}

pub(super) fn paused_in(tx: &Tx<'_>, now: Timestamp) -> Result<Option<Pause>> {
    let until = meta::get(tx, meta::PAUSED_UNTIL)?.and_then(|text| text.parse().ok()).map(Timestamp::from_micros);
    let Some(until) = until.filter(|until| *until > now) else { return Ok(None) };
    Ok(Some(Pause { until, reason: meta::get(tx, meta::PAUSE_REASON)?.unwrap_or_default() }))
}

/// Pauses until `until`; a pause that reaches further stands.
pub(super) fn pause_in(tx: &Tx<'_>, until: Timestamp, reason: &str) -> Result<()> {
    let standing: i64 = meta::get(tx, meta::PAUSED_UNTIL)?.and_then(|text| text.parse().ok()).unwrap_or(i64::MIN);
    if until.as_micros() > standing {
        meta::set(tx, meta::PAUSED_UNTIL, &until.as_micros().to_string())?;
        meta::set(tx, meta::PAUSE_REASON, reason)?;
    }
    Ok(())
}
