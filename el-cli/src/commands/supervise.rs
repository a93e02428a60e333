use el_agents::rundir::RunDir;

use crate::{App, CommandError, Exit, Result, backups};

/// The program of a session's pane; started by `el work`
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(value_name = "RUN")]
    run: String,

    /// Prepare the run's worktree; started by the run's supervisor
    #[arg(long)]
    pub(super) workplace: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let database = match app.db_flag() {
        // The project is on a server: there is no file.
        Some(place) if RunDir::of_run(place, &args.run).names_server() => place.to_owned(),
        _ => {
            let project = app.project()?;
            if !args.workplace {
                backups::watch_in_supervisor(project);
            }
            project.db.clone()
        }
    };
    let supervise =
        if args.workplace { el_agents::prepare_workplace } else { el_agents::supervise };
    supervise(&database, &args.run).map_err(|error| {
        let stale =
            matches!(&error, el_agents::SuperviseError::Store(el_core::Error::StaleRun { .. }));
        let exit = if stale { Exit::StaleRun } else { Exit::Internal };
        CommandError::new(exit, "supervise", format!("{} cannot be supervised", args.run))
            .with_source(error)
    })?;
    Ok(Exit::Done)
}
