use super::unmerged::note_branch;
use crate::Result;
use crate::model::Timestamp;
use crate::store::{Store, run};

/// Records the worktree of a run, which is known only after the claim.
///
/// # Errors
///
/// If the run is over or the token is not the run's, or the database cannot be written.
pub fn place_run(
    store: &mut Store,
    now: Timestamp,
    run_id: &str,
    token: &str,
    workdir: &str,
) -> Result<()> {
    store.write(|tx| {
        let run = run::live_with_token(tx, run_id, Some(token))?;
        note_branch(tx, &run.atom_id, now)?;
        run::set_column(tx, run_id, "workdir", &workdir)
    })
}
