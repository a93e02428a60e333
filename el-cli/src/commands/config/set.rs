use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::{ConfigFileArgs, load_settings};
use crate::app::App;
use crate::complete;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::{sanitize, style};
use crate::settings::value::Value;
use crate::settings::write::{self, Name};

/// Change a setting in a file; comments stay
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el config set execution_timeout 90m
  el config set model opus --user
  el config set allowed_tools 'Bash(cargo *),Edit'
  el config set agents.gendry.executor command

The value is checked before anything is written. A list is separated by commas, or a TOML array.")]
pub(crate) struct Args {
    /// The setting, or agents.NAME.SETTING
    #[arg(value_name = "KEY", add = complete::complete_settings())]
    key: String,
    /// The new value
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    value: String,
    #[command(flatten)]
    place: ConfigFileArgs,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::commands) struct Set<'a> {
    key: &'a str,
    value: &'a Value,
    /// The file.
    path: &'a Path,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let name = Name::parse_name(&args.key)?;
    if !args.place.user {
        name.may_be_in_project()?;
    }
    let path = args.place.config_path(app)?;
    let value = write::set_value(&path, &name, &args.value, args.place.trust(&path).as_ref())?;
    let data = Set { key: &args.key, value: &value, path: &path };
    app.printer.emit(&data, |page| {
        if !page.is_quiet() {
            let done = page.paint(style::GOOD, "Set");
            page.push_line(format!(
                "{done} {} = {} in {}",
                sanitize::one_line(&args.key),
                sanitize::one_line(&value.to_text()),
                sanitize::path_line(&path)
            ));
        }
    })?;
    let settings = load_settings(app)?;
    if !args.place.user && settings.inert_settings().iter().any(|entry| entry.name() == args.key) {
        let sentence = settings.inert_sentence().unwrap_or_default();
        app.printer.warn(&sentence);
        return Ok(Exit::Done);
    }
    // Without the remark, a value that a nearer layer overrides would seem to have no effect.
    if let Ok(resolved) = settings.get(name.key, name.agent.as_deref())
        && resolved.value != value
    {
        app.printer.warn(&format!(
            "{} outranks it: {} stays {}",
            resolved.origin,
            args.key,
            resolved.value.to_text()
        ));
    }
    Ok(Exit::Done)
}
