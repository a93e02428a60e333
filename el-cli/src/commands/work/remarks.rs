//! Remarks before a worker begins: waiting atoms, other workers, untrusted settings, folders.

use el_agents::worker::{self, WorkOptions};
use el_core::ops;

use super::folders;
use crate::app::App;
use crate::error::Result;
use crate::output::time;

/// Names the requested atoms that cannot begin now.
pub(super) fn tell_what_waits(app: &App, options: &WorkOptions) -> Result<()> {
    let store = app.open_for_reading()?;
    for id in &options.filter.ids {
        if !ops::explain(&store, id, app.now())?.ready {
            app.printer.note(&format!("{id} is not ready: el why {id} says what holds it"));
        }
    }
    Ok(())
}

/// Tells the caller of other workers. Beside another worker, a worker may idle while an agent is
/// busy there.
pub(super) fn tell_of_others(app: &App, options: &WorkOptions) -> Result<()> {
    for other in
        ops::list_workers(&app.open_for_reading()?)?.iter().filter(|other| worker::is_there(other))
    {
        let since = time::relative_time(app.now(), other.started_at);
        app.printer.note(&format!(
            "another worker is at it: pid {}, for {}, started {since}; el work --stop ends it",
            other.process.pid,
            other.agents.join(", ")
        ));
        for served in
            options.agents.iter().filter(|served| other.agents.contains(&served.agent.name))
        {
            let name = &served.agent.name;
            let most = match served.at_most {
                1 => "one thing".to_owned(),
                most => format!("{most} things"),
            };
            app.printer.note(&format!(
                "  {name} does {most} at a time, over all workers: this one waits while {name} \
                 is busy, and takes what comes after"
            ));
        }
    }
    Ok(())
}

/// Reports settings that have no effect before `el trust`, for programs that read the events.
pub(in crate::commands) fn tell_of_inert(app: &App) -> Result<()> {
    let settings = app.settings()?;
    let keys = settings.inert_names();
    let Some(message) = settings.inert_sentence().filter(|_| app.printer.is_robot()) else {
        return Ok(());
    };
    app.printer.json_line(&serde_json::json!({
        "at": app.now(), "event": "untrusted_settings", "keys": keys,
        "files": settings.inert_files(), "message": message,
    }))
}

/// Warns, before agents start, of shared folders and uncommitted files.
pub(in crate::commands) fn tell_of_folders(app: &App, options: &WorkOptions) {
    for remark in folders::folder_remarks(&options.agents, options.concurrency) {
        app.printer.note(&remark);
    }
}
