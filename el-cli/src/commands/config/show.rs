use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::load_settings;
use crate::output::{Cell, Column, Page, Table, style};
use crate::settings::keys::{self, Key, Scope};
use crate::settings::{self, Origin, Resolved, Settings};
use crate::{App, CommandError, Exit, Result};

/// Show every setting with its value and origin
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el config show
  el config show --agent gendry
  el config show --changed   Only what differs from the defaults
  el config show -v          With what each setting means
  el config show --robot")]
pub(crate) struct Args {
    /// The values for this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only values that differ from the defaults
    #[arg(long)]
    changed: bool,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::commands) struct Shown {
    /// The project's file.
    path: Option<std::path::PathBuf>,
    user_path: Option<std::path::PathBuf>,
    agent: Option<String>,
    /// Setting → value; also `null` for an unusable value, which `problems` explains.
    config: Map<String, Json>,
    /// Setting → origin of the value.
    origins: Map<String, Json>,
    agents: Vec<String>,
    /// Settings of the project's file that have no effect before `el trust`.
    inert: Vec<Inert>,
    /// The project's instructions for Claude Code that no person has trusted.
    inert_files: Vec<String>,
    problems: Vec<String>,
}

/// An untrusted setting.
#[derive(Serialize, JsonSchema)]
struct Inert {
    key: String,
    value: Json,
    /// In the project's file.
    line: usize,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let settings = load_settings(app)?;
    let agent = args.agent.as_deref();
    let values: Vec<(&Key, Result<Resolved>)> = keys::all_keys()
        .map(|key| (key, settings.get(key, agent)))
        .filter(|(_, resolved)| !args.changed || is_changed(resolved))
        .collect();
    let data = shown_settings(app, args, &settings, &values);
    app.printer.emit(&data, |page| print_settings(page, app, &values))?;
    if let Some(sentence) = settings.inert_sentence() {
        app.printer.warn(&sentence);
    }
    // An unusable value must not hide the others.
    if !app.printer.is_robot() {
        for error in settings.bad_values() {
            app.printer.warn(error.message());
        }
    }
    Ok(Exit::Done)
}

/// Returns true if the value was set, usable or not.
fn is_changed(resolved: &Result<Resolved>) -> bool {
    resolved.as_ref().map_or(true, |resolved| resolved.origin != Origin::Default)
}

fn shown_settings(
    app: &App,
    args: &Args,
    settings: &Settings,
    values: &[(&Key, Result<Resolved>)],
) -> Shown {
    let by_key = |pick: &dyn Fn(&Resolved) -> Json| -> Map<String, Json> {
        let value = |resolved: &Result<Resolved>| resolved.as_ref().map_or(Json::Null, pick);
        values.iter().map(|(key, resolved)| (key.name.to_owned(), value(resolved))).collect()
    };
    let problems = settings.problems().map(ToString::to_string);
    let bad = settings
        .bad_values()
        .iter()
        .map(|error: &CommandError| error.message().to_owned())
        .collect::<Vec<_>>();
    Shown {
        path: app.project().ok().map(crate::project::Project::config_path),
        user_path: settings::user_config_path(),
        agent: args.agent.clone(),
        config: by_key(&|resolved| json!(resolved.value)),
        origins: by_key(&|resolved| json!(resolved.origin)),
        inert: settings
            .inert_settings()
            .iter()
            .map(|entry| Inert {
                key: entry.name(),
                value: entry.value.as_ref().map_or(Json::Null, |value| json!(value)),
                line: entry.line,
            })
            .collect(),
        inert_files: settings.inert_files(),
        agents: settings.agents().into_iter().map(str::to_owned).collect(),
        problems: problems.chain(bad).collect(),
    }
}

fn print_settings(page: &mut Page, app: &App, values: &[(&Key, Result<Resolved>)]) {
    let mut is_first = true;
    for (scope, heading) in [
        (Scope::Worker, "The worker"),
        (Scope::Agent, "Its agents"),
        (Scope::Project, "The project"),
        (Scope::User, "You"),
    ] {
        if values.iter().all(|(key, _)| key.scope != scope) {
            continue;
        }
        if !std::mem::take(&mut is_first) {
            page.push_blank();
        }
        page.push_heading(heading);
        let mut table = Table::new([
            Column::new("KEY"),
            Column::new("VALUE").flexible(),
            Column::new("FROM").hide_when_narrow(1),
            Column::new("MEANING").hide_when_narrow(2),
        ])
        .without_heading(2);
        for (key, resolved) in values.iter().filter(|(key, _)| key.scope == scope) {
            table.push_row(setting_row(key, resolved, app.verbosity() > 0));
        }
        table.print_table(page);
    }
}

fn setting_row(key: &Key, resolved: &Result<Resolved>, verbose: bool) -> [Cell; 4] {
    let (value, from) = match resolved {
        Err(_) => (Cell::styled(style::ERROR, "cannot be used"), Cell::empty()),
        Ok(resolved) => {
            let text = resolved.value.to_text();
            let is_default = resolved.origin == Origin::Default;
            let style = if is_default { style::DIM } else { style::PLAIN };
            let text = if text.is_empty() { "unset".to_owned() } else { text };
            (
                Cell::styled(style, text),
                Cell::styled(
                    style::DIM,
                    if is_default { String::new() } else { resolved.origin.to_string() },
                ),
            )
        }
    };
    let meaning = if verbose { Cell::styled(style::DIM, key.help) } else { Cell::empty() };
    [Cell::styled(style::ID, key.name), value, from, meaning]
}
