use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::output::style;
use crate::{App, CommandError, Exit, Result};

mod answers;

use answers::{NOT_DESCRIBED, command_names};

/// Print the JSON schema of a command's robot output
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el schema show
  el schema dep add > bond.schema.json
  el schema                  The commands that have one

The schema is of the whole document: success and failure. It is of draft 2020-12.")]
pub(crate) struct Args {
    /// The command, such as show, or dep add
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Answer<'a> {
    Commands {
        commands: &'a [&'static str],
        without: &'a [&'static str],
    },
    /// The schema of a command's documents.
    Schema(#[schemars(with = "Map<String, Value>", extend("required" = ["$schema"]))] &'a Value),
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let name = args.words.join(" ");
    if name.is_empty() {
        let names: Vec<&str> = command_names().collect();
        return app.printer.emit(
            &Answer::Commands { commands: &names, without: NOT_DESCRIBED },
            |page| {
                names.iter().for_each(|name| page.push_line(name));
                if !page.is_quiet() && page.width().is_some() {
                    let without = NOT_DESCRIBED.join(", ");
                    page.push_blank();
                    page.push_painted(
                        style::DIM,
                        &format!("el schema COMMAND prints it; {without} have none: they stream"),
                    );
                }
            },
        );
    }
    let document = answers::document_schema(&name).ok_or_else(|| {
        let why = if NOT_DESCRIBED.contains(&name.as_str()) {
            "has no schema: it streams"
        } else {
            "is no command with a schema"
        };
        CommandError::not_found(format!("'{name}' {why}"))
            .with_hint("el schema lists the commands that have one")
    })?;
    app.printer.emit(&Answer::Schema(&document), |page| {
        page.push_line(serde_json::to_string_pretty(&document).unwrap_or_default())
    })
}
