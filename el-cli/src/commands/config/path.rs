use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::ConfigFileArgs;
use crate::output::sanitize;
use crate::{App, Exit, Result};

/// Print where a configuration file is, or would be
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el config path
  $EDITOR \"$(el config path --user)\"")]
pub(crate) struct Args {
    #[command(flatten)]
    place: ConfigFileArgs,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Found {
    path: PathBuf,
    exists: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let path = args.place.config_path(app)?;
    let found = Found { exists: path.is_file(), path };
    app.printer.emit(&found, |page| page.push_line(sanitize::path_line(&found.path)))
}
