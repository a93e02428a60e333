use crate::Result;
use crate::store::{Store, run};

/// Records the working folder of a run, if known only after the claim.
///
/// # Errors
///
/// If the run is over or the token is not the run's, or the database cannot be written.
pub fn place_run(store: &mut Store, run_id: &str, token: &str, workdir: &str) -> Result<()> {
    store.write(|tx| {
        run::live_with_token(tx, run_id, Some(token))?;
        run::set_column(tx, run_id, "workdir", &workdir)
    })
}
