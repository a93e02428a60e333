use crate::Result;
use crate::store::{Store, run};

/// Records where the run's agent works, if that was found out after the claim only.
pub fn place_run(store: &mut Store, run_id: &str, token: &str, workdir: &str) -> Result<()> {
    store.write(|tx| {
        run::live_with_token(tx, run_id, Some(token))?;
        run::set(tx, run_id, "workdir", &workdir)
    })
}
