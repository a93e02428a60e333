//! The configuration: the current values and their origins.

use std::path::{Path, PathBuf};

use crate::project::Project;
use crate::settings::{self, Settings};
use crate::trust::Trust;
use crate::{App, CommandError, Exit, Result};

pub(super) mod agents;
pub(super) mod edit;
pub(super) mod get;
pub(super) mod path;
pub(super) mod set;
pub(super) mod show;
pub(super) mod unset;

/// Show and change the configuration
#[derive(Debug, clap::Subcommand)]
#[command(after_help = "\
Examples:
  el config show
  el config get execution_timeout
  el config set model opus --user
  el config set agents.gendry.max_turns 40

The nearest value wins: flags, EL_* variables, the project's .eluent/config.toml, the user's
~/.config/el/config.toml, defaults. A table [agents.NAME] outranks the settings above the
tables, for that agent.")]
pub(crate) enum Command {
    Show(show::Args),
    Get(get::Args),
    Set(set::Args),
    Unset(unset::Args),
    Edit(edit::Args),
    Path(path::Args),
    /// List the agents that the configuration knows
    #[command(after_help = "\
Examples:
  el config agents
  el config show --agent gendry")]
    Agents,
}

pub(super) fn run(command: Command, app: &App) -> Result<Exit> {
    match command {
        Command::Show(args) => show::run(&args, app),
        Command::Get(args) => get::run(&args, app),
        Command::Set(args) => set::run(&args, app),
        Command::Unset(args) => unset::run(&args, app),
        Command::Edit(args) => edit::run(&args, app),
        Command::Path(args) => path::run(&args, app),
        Command::Agents => agents::run(app),
    }
}

/// The file to change.
#[derive(Debug, Clone, clap::Args)]
struct ConfigFileArgs {
    /// In the user's file
    #[arg(long)]
    user: bool,
    /// In the project's file (the default)
    #[arg(long, conflicts_with = "user")]
    project: bool,
}

impl ConfigFileArgs {
    fn config_path(&self, app: &App) -> Result<PathBuf> {
        if self.user {
            return settings::user_config_path().ok_or_else(|| {
                CommandError::config_error(
                    "user",
                    "there is no home folder for the user's configuration",
                )
                .with_hint("set HOME or XDG_CONFIG_HOME")
            });
        }
        app.project()
            .map(Project::config_path)
            .map_err(|error| error.with_hint("--user changes the user's file, from anywhere"))
    }

    /// The trust that a change of this file keeps. `None` for the user's own file, which needs no
    /// trust.
    fn trust(&self, path: &Path) -> Option<Trust> {
        (!self.user).then(|| Trust::for_project(path))
    }
}

/// The settings of the project, or of the user alone where there is no project.
fn load_settings(app: &App) -> Result<Settings> {
    match app.settings_with_warnings() {
        Err(error) if error.code() == "no_database" => App::user_settings(),
        other => other,
    }
}
