use crate::store::{Store, run};
use crate::{Error, Result};

/// Makes `worker_id` the worker of a live run that lost its worker.
///
/// # Errors
///
/// If the run is over, or another worker took the run over first.
pub fn adopt(store: &mut Store, run_id: &str, from: Option<&str>, worker_id: &str) -> Result<()> {
    store.write(|tx| {
        let found = run::get(tx, run_id)?;
        if !found.is_live() || found.worker_id.as_deref() != from {
            return Err(Error::conflict(
                "claimed",
                format!("{run_id} is another worker's, or over"),
            ));
        }
        run::set_column(tx, run_id, "worker_id", &worker_id)
    })
}
