//! Counts empty runs in a row over all workers: runs that failed without having done anything. An
//! agent that fails again and again would use up the attempts of every atom in a night, so claiming
//! waits, longer each time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{Pause, PauseKind, Timestamp};
use crate::store::{Store, Tx, meta};
use crate::{Error, Result};

/// The number of empty runs in a row that begins a wait.
const IN_A_ROW: u32 = 3;
/// The first wait. It doubles with each further run, four times at most.
const FIRST_WAIT: Duration = Duration::from_secs(60);
const DOUBLINGS: u32 = 4;

#[derive(Debug, Default, Serialize, Deserialize)]
struct EmptyRuns {
    in_a_row: u32,
    until_micros: i64,
}

/// Counts an ended run if it was empty; any other run sets the count to zero.
///
/// # Errors
///
/// If the store fails.
pub fn count_empty_run(store: &mut Store, now: Timestamp, is_empty: bool) -> Result<()> {
    if !is_empty && store.read(known_runs)?.in_a_row == 0 {
        return Ok(());
    }
    store.write(|tx| {
        if !is_empty {
            return forget_empty_runs(tx);
        }
        let in_a_row = known_runs(tx)?.in_a_row.saturating_add(1);
        let doublings = in_a_row.checked_sub(IN_A_ROW).map(|more| more.min(DOUBLINGS));
        let until = doublings.map_or(now, |more| now.plus(FIRST_WAIT * 2_u32.pow(more)));
        let known = EmptyRuns { in_a_row, until_micros: until.as_micros() };
        let text = serde_json::to_string(&known)
            .map_err(|source| Error::invalid("empty runs", source.to_string()))?;
        meta::set(tx, meta::EMPTY_RUNS, &text)
    })
}

/// Returns the pause of all agents after too many empty runs.
pub(super) fn empty_runs_pause(tx: &Tx<'_>, now: Timestamp) -> Result<Option<Pause>> {
    let known = known_runs(tx)?;
    let until = Timestamp::from_micros(known.until_micros);
    let longest = now.plus(FIRST_WAIT * 2_u32.pow(DOUBLINGS));
    // A later end comes from a wrong clock.
    let holds = known.in_a_row >= IN_A_ROW && until > now && until <= longest;
    Ok(holds.then(|| Pause {
        until: Some(until),
        reason: format!(
            "{} runs in a row failed without having done anything (el why says how they ended)",
            known.in_a_row
        ),
        kind: PauseKind::EmptyRuns,
    }))
}

pub(super) fn forget_empty_runs(tx: &Tx<'_>) -> Result<()> {
    meta::remove(tx, meta::EMPTY_RUNS)
}

/// An unreadable record counts as none.
fn known_runs(tx: &Tx<'_>) -> Result<EmptyRuns> {
    let text = meta::get(tx, meta::EMPTY_RUNS)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}
