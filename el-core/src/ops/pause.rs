use super::budget::day_pause;
use crate::Result;
use crate::model::Timestamp;
use crate::rules::budget::day;
use crate::rules::pause::{Known, Pause};
use crate::store::{Store, Tx, meta};

/// The pause that holds at `now`, if one does.
pub fn paused(store: &Store, now: Timestamp) -> Result<Option<Pause>> {
    store.read(|tx| paused_in(tx, now))
}

/// Ends the pause early, as a person may who knows better; `lift_budget` also lifts the day's
/// budget until the day is over. Says what held.
pub fn resume(store: &mut Store, now: Timestamp, lift_budget: bool) -> Result<Option<Pause>> {
    store.write(|tx| {
        let was = paused_in(tx, now)?;
        for key in [meta::PAUSED_UNTIL, meta::PAUSE_REASON, meta::PAUSED_AT] {
            meta::remove(tx, key)?;
        }
        if lift_budget && day_pause(tx, now)?.is_some() {
            meta::set(tx, meta::BUDGET_LIFTED, &day(now).to_string())?;
        }
        Ok(was)
    })
}

/// What this project knows of its account's usage limit, whether or not it still holds.
pub fn known_pause(store: &Store) -> Result<Option<Known>> {
    store.read(known_in)
}

/// Another project of the account learnt of its usage limit.
pub fn adopt_pause(store: &mut Store, known: &Known) -> Result<()> {
    store.write(|tx| pause_in(tx, known.until, &known.reason, known.learnt_at))
}

fn known_in(tx: &Tx<'_>) -> Result<Option<Known>> {
    let time = |key| -> Result<Option<Timestamp>> {
        Ok(meta::get(tx, key)?.and_then(|text| text.parse().ok()).map(Timestamp::from_micros))
    };
    let (Some(until), Some(learnt_at)) = (time(meta::PAUSED_UNTIL)?, time(meta::PAUSED_AT)?) else {
        return Ok(None);
    };
    Ok(Some(Known {
        until,
        learnt_at,
        reason: meta::get(tx, meta::PAUSE_REASON)?.unwrap_or_default(),
    }))
}

pub(super) fn paused_in(tx: &Tx<'_>, now: Timestamp) -> Result<Option<Pause>> {
    let limit = known_in(tx)?.filter(|known| known.until > now).map(|known| Pause {
        until: known.until,
        reason: known.reason,
        is_budget: false,
    });
    // Of two, the one that holds longer says when claiming goes on.
    Ok(limit.into_iter().chain(day_pause(tx, now)?).max_by_key(|pause| pause.until))
}

/// Pauses until `until`; a pause that reaches further stands.
pub(super) fn pause_in(
    tx: &Tx<'_>,
    until: Timestamp,
    reason: &str,
    learnt_at: Timestamp,
) -> Result<()> {
    let standing: i64 =
        meta::get(tx, meta::PAUSED_UNTIL)?.and_then(|text| text.parse().ok()).unwrap_or(i64::MIN);
    if until.as_micros() > standing {
        meta::set(tx, meta::PAUSED_UNTIL, &until.as_micros().to_string())?;
        meta::set(tx, meta::PAUSE_REASON, reason)?;
        meta::set(tx, meta::PAUSED_AT, &learnt_at.as_micros().to_string())?;
    }
    Ok(())
}
