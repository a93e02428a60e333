//! The options that every worker starts with.

use std::path::PathBuf;

use el_agents::settings::Places;
use el_agents::worker::{Served, WorkOptions};
use el_core::ops::AtomFilter;

use crate::project::environment_for_programs;
use crate::settings::{Settings, WorkSettings};
use crate::{App, CommandError, Result};

/// A worker for all that is there, which leaves when nothing is left.
pub(in crate::commands) fn draining_worker(
    app: &App,
    settings: &Settings,
    work: &WorkSettings,
    agents: Vec<Served>,
) -> Result<WorkOptions> {
    Ok(WorkOptions {
        name: None,
        agents,
        rules: work.rules,
        places: project_places(app, work)?,
        durability: settings.durability()?,
        filter: AtomFilter::default(),
        offers: settings.worker_offers()?,
        concurrency: usize::try_from(work.concurrency).unwrap_or(1),
        max_claims: None,
        drain: true,
        waits: false,
        environment: environment_for_programs(app.project()?),
        preamble: None,
        resources: work.resources,
        drive: None,
        pulls: None,
    })
}

/// The folders of the project, and the path of this `el`.
pub(in crate::commands) fn project_places(app: &App, work: &WorkSettings) -> Result<Places> {
    let project = app.project()?.clone();
    let el = this_program()?;
    Ok(Places {
        server: project.server_address()?.cloned(),
        database: std::path::absolute(&project.db).unwrap_or(project.db),
        runs: project.state.join("runs"),
        contexts: work.context_directory.clone(),
        summaries: work.summaries_directory.clone(),
        el,
    })
}

/// The path of this `el`, or of the replacement. A long-lived process such as `el mcp` may outlive
/// an upgrade; the system then reports the file as deleted.
pub(in crate::commands) fn this_program() -> Result<PathBuf> {
    let el = std::env::current_exe().map_err(|source| {
        CommandError::internal_error("cannot tell where this program is").with_source(source)
    })?;
    let instead = el.to_str().and_then(|path| path.strip_suffix(" (deleted)")).map(PathBuf::from);
    Ok(instead.filter(|path| path.is_file() && !el.exists()).unwrap_or(el))
}
