use crate::store::{Store, run};
use crate::{Error, Result};

/// A worker takes a live run over from one that is gone: it counts among its own from now on.
/// Refused if another was faster.
pub fn adopt(store: &mut Store, run_id: &str, from: Option<&str>, worker_id: &str) -> Result<()> {
    store.write(|tx| {
        let found = run::get(tx, run_id)?;
        if !found.is_live() || found.worker_id.as_deref() != from {
            return Err(Error::conflict(
                "claimed",
                format!("{run_id} is another worker's, or over"),
            ));
        }
        run::set(tx, run_id, "worker_id", &worker_id)
    })
}
