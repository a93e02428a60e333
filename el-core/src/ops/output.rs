use crate::Result;
use crate::store::{Store, run};

/// Keeps the last lines of what a run's agent said, and the lines that tell of errors, before the
/// run is settled. Both were made harmless and short by the caller. Refused if the run is over or
/// the token is not its own.
pub fn record_output(
    store: &mut Store,
    run_id: &str,
    token: &str,
    output: &str,
    error_lines: &str,
) -> Result<()> {
    store.write(|tx| {
        run::live_with_token(tx, run_id, Some(token))?;
        // Nothing said is not an empty text.
        run::set(tx, run_id, "output", &Some(output).filter(|text| !text.is_empty()))?;
        run::set(tx, run_id, "error_lines", &Some(error_lines).filter(|text| !text.is_empty()))
    })
}
