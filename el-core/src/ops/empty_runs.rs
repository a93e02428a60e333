//! Counts empty runs in a row over all workers: runs that failed without having done anything. An
//! agent that fails again and again would use up the attempts of every atom in a night, so claiming
//! waits, longer each time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{Pause, PauseKind, Timestamp};
use crate::store::{Store, Tx, meta};
use crate::{Error, Result};

/// The number of empty runs in a row that begins a wait.
const IN_A_ROW: usize = 3;
/// The first wait. It doubles with each further run, four times at most.
const FIRST_WAIT: Duration = Duration::from_secs(60);
const DOUBLINGS: u32 = 4;

#[derive(Debug, Default, Serialize, Deserialize)]
struct EmptyRuns {
    /// The runs in a row, each once: several workers may see the end of one.
    runs: Vec<String>,
    until_micros: i64,
}

impl EmptyRuns {
    /// The doublings of the wait; `None`: too few to wait.
    fn doublings(&self) -> Option<u32> {
        let more = self.runs.len().checked_sub(IN_A_ROW)?;
        Some(u32::try_from(more).map_or(DOUBLINGS, |more| more.min(DOUBLINGS)))
    }
}

/// Counts an ended run if it was empty; any other run sets the count to zero.
///
/// # Errors
///
/// If the store fails.
pub fn count_empty_run(store: &mut Store, now: Timestamp, run: &str, is_empty: bool) -> Result<()> {
    if !is_empty && store.read(known_runs)?.runs.is_empty() {
        return Ok(());
    }
    store.write(|tx| {
        if !is_empty {
            return forget_empty_runs(tx);
        }
        let mut known = known_runs(tx)?;
        if known.runs.iter().any(|counted| counted == run) {
            return Ok(());
        }
        known.runs.push(run.to_owned());
        let wait = |more| now.plus(FIRST_WAIT * 2_u32.pow(more));
        known.until_micros = known.doublings().map_or(now, wait).as_micros();
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
    let holds = known.doublings().is_some() && until > now && until <= longest;
    Ok(holds.then(|| Pause {
        until: Some(until),
        reason: format!(
            "{} runs in a row failed without having done anything (el why says how they ended)",
            known.runs.len()
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
