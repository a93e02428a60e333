use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::Place;
use crate::app::App;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::sanitize;

/// Print where a configuration file is, or would be
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el config path
  $EDITOR \"$(el config path --user)\"")]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Found {
    path: PathBuf,
    exists: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let path = args.place.path(app)?;
    let found = Found { exists: path.is_file(), path };
    app.printer.emit(&found, |page| page.line(sanitize::path(&found.path)))?;
    Ok(Exit::Done)
}
