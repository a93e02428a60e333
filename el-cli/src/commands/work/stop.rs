//! `el work --stop`.

use el_agents::tmux::{Tmux, socket_name};
use el_agents::worker;
use serde_json::json;

use super::{STOP_LIMIT, places};
use crate::app::App;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::style;
use crate::settings::{Settings, WorkSettings};

pub(super) fn run(app: &App) -> Result<Exit> {
    // Whom it ends, the tracker says.
    app.refuse_foreign()?;
    let work = work(app)?;
    let places = places(app, &work)?;
    let environment: Vec<_> = std::env::vars_os().collect();
    let tmux = Tmux::discover(&socket_name(&places.database), &environment)?;
    let mut store = app.writer()?;
    let (before, left) =
        worker::stop_all(&mut store, app.actor(), &tmux, &places, &work.rules, STOP_LIMIT)?;
    if !left.is_empty() {
        let ids: Vec<&str> = left.iter().map(|run| run.id.as_str()).collect();
        return Err(CommandError::new(
            Exit::TimedOut,
            "timed_out",
            format!("still running after {} s: {}", STOP_LIMIT.as_secs(), ids.join(", ")),
        )
        .with_retryable(true)
        .with_hint("el runs show RUN tells more; el doctor looks for what is wrong"));
    }
    let ended: Vec<_> =
        before.iter().map(|run| json!({ "run_id": run.id, "atom_id": run.atom_id })).collect();
    app.printer.emit(&json!({ "ended": ended }), |page| {
        for run in &before {
            page.line(format!(
                "Ended {} of {}; its atom is open again unless the agent had ended it",
                page.paint(style::ID, &run.id),
                page.paint(style::ID, &run.atom_id)
            ));
        }
        if before.is_empty() {
            page.line("Nothing was running");
        }
    })?;
    Ok(Exit::Done)
}

/// Workers can be stopped whatever is wrong in the settings.
fn work(app: &App) -> Result<WorkSettings> {
    let settings = app.settings_with_warnings()?;
    settings.work().or_else(|error| {
        app.printer.warn(&format!("{error}; going on with what holds where nothing is set"));
        Settings::defaults(&app.project()?.root).work()
    })
}
