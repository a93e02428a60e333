use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::ConfigFileArgs;
use crate::output::sanitize;
use crate::settings::write::{self, Name};
use crate::{App, Exit, Result, complete};

/// Remove a setting from a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el config unset model
  el config unset agents.gendry.model --user

Removing what is not there is no error.")]
pub(crate) struct Args {
    /// The setting, or agents.NAME.SETTING
    #[arg(value_name = "KEY", add = complete::complete_settings())]
    key: String,
    #[command(flatten)]
    place: ConfigFileArgs,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::commands) struct Unset<'a> {
    key: &'a str,
    /// True if the setting was there.
    removed: bool,
    /// The file.
    path: &'a Path,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let name = Name::parse_name(&args.key)?;
    let path = args.place.config_path(app)?;
    let removed = write::unset_value(&path, &name, args.place.trust(&path).as_ref())?;
    app.printer.emit_sentence(&Unset { key: &args.key, removed, path: &path }, |page| {
        let done = if removed { "Removed" } else { "Unchanged" };
        let (key, path) = (sanitize::one_line(&args.key), sanitize::path_line(&path));
        page.push_done(done, &format!("{key} in {path}"));
    })
}
