use serde_json::json;

use crate::model::{EventKind, Verify};
use crate::store::{Store, event, run};
use crate::{Ctx, Result};

/// Records the result of the check of a live run's work.
///
/// # Errors
///
/// If the run is over or the token is not the run's, or the database cannot be written.
pub fn record_verify(
    store: &mut Store,
    ctx: &Ctx<'_>,
    run_id: &str,
    token: &str,
    verify: &Verify,
) -> Result<()> {
    store.write(|tx| {
        let live = run::live_with_token(tx, run_id, Some(token))?;
        run::set_verify(tx, &live.id, verify)?;
        let data = json!({
            "status": verify.status, "exit_code": verify.exit_code, "took_ms": verify.took_ms,
        });
        event::insert(tx, ctx, EventKind::Verified, Some(&live.atom_id), Some(&live.id), &data)
    })
}
