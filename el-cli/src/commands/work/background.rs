//! `el work --background`.

use std::ffi::OsString;

use el_agents::worker::{self, Detached, WorkOptions};

use super::{preflight, start_worker, tell_of_others};
use crate::output::{sanitize, style};
use crate::{App, Exit, Result};

/// Starts this very command again, without `--background` and without a terminal.
pub(super) fn run(app: &App, options: &WorkOptions) -> Result<Exit> {
    tell_of_others(app, options)?;
    worker::preflight(options)?;
    preflight::print_preflight(app, options);
    let log = app.project()?.state.join("worker.log");
    let is_ours = |word: &OsString| word != "--background" && word != "--robot" && word != "--json";
    let arguments: Vec<OsString> = std::env::args_os().skip(1).filter(is_ours).collect();
    let detached = Detached {
        places: &options.places,
        arguments: &arguments,
        // Relative folders of flags are relative to the caller's folder.
        folder: &crate::project::current_folder()?,
        log: &log,
        // Where its tables are is for the worker to know, and not for its agents.
        environment: &std::env::vars_os().collect::<Vec<_>>(),
    };
    let store = app.open_for_reading()?;
    let (started, _) = start_worker(&store, &detached, "cannot start a worker")?;
    app.printer.emit(&started, |page| {
        if page.is_quiet() {
            return page.push_line(started.pid.to_string());
        }
        let place = format!("(pid {}), log {}", started.pid, sanitize::path_line(&started.log));
        page.push_done("Working in the background", &place);
        let next = "el work --status says what it does; el work --stop ends it";
        page.push_painted(style::DIM, next);
    })
}
