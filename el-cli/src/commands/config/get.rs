use schemars::JsonSchema;
use serde::Serialize;

use super::load_settings;
use crate::settings::Resolved;
use crate::settings::write::Name;
use crate::{App, Exit, Result, complete};

/// Print the value of a setting
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el config get model
  el config get agents.gendry.model --robot")]
pub(crate) struct Args {
    /// The setting, or agents.NAME.SETTING
    #[arg(value_name = "KEY", add = complete::complete_settings())]
    key: String,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::commands) struct Setting<'a> {
    key: &'a str,
    #[serde(flatten)]
    resolved: &'a Resolved,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let name = Name::parse_name(&args.key)?;
    let settings = load_settings(app)?;
    let resolved = settings.get(name.key, name.agent.as_deref())?;
    if settings.inert_settings().iter().any(|entry| entry.key.name == name.key.name)
        && let Some(sentence) = settings.inert_sentence()
    {
        app.printer.warn(&sentence);
    }
    let data = Setting { key: &args.key, resolved: &resolved };
    app.printer.emit(&data, |page| {
        page.push_line(crate::output::sanitize::one_line(&resolved.value.to_text()))
    })
}
