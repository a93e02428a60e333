use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::{ConfigFileArgs, load_settings};
use crate::commands::init::make_folder;
use crate::output::sanitize;
use crate::settings::keys::DATABASE_URL;
use crate::settings::value::Value;
use crate::settings::write::{self, Name};
use crate::{App, CommandError, Exit, Result, complete, locate, shared_remote};

/// Change a setting in a file; comments stay
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el config set execution_timeout 90m
  el config set model opus --user
  el config set allowed_tools 'Bash(cargo *),Edit'
  el config set agents.gendry.executor command
  el config set --add sandbox_write '~/.local/share/tool' --user

The value is checked before anything is written. A list is separated by commas, or a TOML array.")]
pub(crate) struct Args {
    /// The setting, or agents.NAME.SETTING
    #[arg(value_name = "KEY", add = complete::complete_settings())]
    key: String,
    /// The new value
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    value: String,
    /// Add to the list that holds now, instead of replacing it
    #[arg(long)]
    add: bool,
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
    let path = match args.place.config_path(app) {
        // The first line of a project whose tables are on a server.
        Err(error) if error.code() == "no_database" && args.key == DATABASE_URL => begin_folder()?,
        path => path?,
    };
    let text = if args.add { longer_list(args, &name, app)? } else { args.value.clone() };
    let value = write::set_value(&path, &name, &text, args.place.trust(&path).as_ref())?;
    let data = Set { key: &args.key, value: &value, path: &path };
    app.printer.emit_sentence(&data, |page| {
        let (key, text) = (sanitize::one_line(&args.key), value.to_text());
        let (text, path) = (sanitize::one_line(&text), sanitize::path_line(&path));
        page.push_done("Set", &format!("{key} = {text} in {path}"));
    })?;
    let settings = load_settings(app)?;
    if args.key == "remote"
        && let Some((message, hint)) = shared_remote::find_fault(&settings)
    {
        app.printer.warn(&format!("{message}: {hint}"));
    }
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

/// Makes the folder of a project on a server. Returns the path of its configuration.
fn begin_folder() -> Result<PathBuf> {
    let project = locate::place_for_server()?;
    make_folder(&project)?;
    Ok(project.config_path())
}

/// The list that holds now with the new items, as a TOML array.
fn longer_list(args: &Args, name: &Name, app: &App) -> Result<String> {
    let no_list = || CommandError::invalid_value("add", format!("{} is no list", args.key));
    let settings = load_settings(app)?;
    let Value::List(mut items) = settings.get(name.key, name.agent.as_deref())?.value else {
        return Err(no_list());
    };
    let Ok(Value::List(new)) = Value::from_text(name.key, &args.value) else {
        return Err(no_list());
    };
    for item in new {
        if !items.contains(&item) {
            items.push(item);
        }
    }
    Ok(toml::Value::from(items).to_string())
}
