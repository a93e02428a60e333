use std::path::PathBuf;

use el_core::Store;
use el_core::model::Run;

use crate::{App, Result};

/// Returns the local folder of a run's files. The files of a run on another machine are fetched
/// from the server first.
pub(crate) fn bring_run_files(app: &App, store: &Store, run: &Run) -> Result<PathBuf> {
    let runs = app.project()?.state.join("runs");
    if el_agents::bring_run_files(store, &runs, run)? {
        let host = run.supervisor.as_ref().and_then(|stamp| stamp.host()).unwrap_or_default();
        app.printer.note(&format!(
            "{} MiB of each file are here; the whole is on {host}",
            el_agents::KEPT_MAX >> 20
        ));
    }
    Ok(runs.join(&run.id))
}
