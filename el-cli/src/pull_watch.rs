//! The watcher of pull requests, for `el pr watch` and `el work`.

use std::path::PathBuf;

use el_agents::forge::ForgeWaits;
use el_agents::pull_requests::{PullWatch, WatchSettings};
use el_core::ops;

use crate::own_state::own_folder;
use crate::project::environment_for_programs;
use crate::settings::Settings;
use crate::{App, Result};

/// The watch of a worker; `None`: the settings want none. `el`: this program.
pub(crate) fn watch_for_work(app: &App, el: PathBuf) -> Result<Option<PullWatch>> {
    let settings = app.settings_for_agents()?;
    if !settings.watches_pull_requests()? {
        return Ok(None);
    }
    // Without pull requests, nothing is pushed here; `el pr` refuses to open one meanwhile.
    let is_unguarded = settings.ensure_trusted(&["land_check"], None).is_err();
    if is_unguarded && ops::pull_requests(&app.open_for_reading()?, true)?.is_empty() {
        return Ok(None);
    }
    pull_watch(app, &settings, el).map(Some)
}

pub(crate) fn pull_watch(app: &App, settings: &Settings, el: PathBuf) -> Result<PullWatch> {
    settings.ensure_trusted(&["land_check"], None)?;
    let work = settings.work_settings()?;
    let pull = settings.pull_settings()?;
    let project = app.project()?;
    Ok(PullWatch::new(WatchSettings {
        folder: settings.agent_settings(&work.agents[0])?.working_directory,
        server: project.server_address()?.cloned(),
        database: std::path::absolute(&project.db).unwrap_or_else(|_| project.db.clone()),
        state: project.state.clone(),
        actor: app.actor().to_owned(),
        el,
        environment: environment_for_programs(project),
        forges: pull.forges,
        waits: ForgeWaits::new(own_folder("forges")),
        feedback: settings.feedback_rules()?,
        place: pull.place,
        texts: pull.texts,
        options: pull.options,
        land: settings.land_settings()?,
    }))
}
