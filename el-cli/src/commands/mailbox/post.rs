use std::path::PathBuf;

use clap::ValueEnum;
use el_agents::mailbox::{Mailbox, MailboxError};
use el_core::protocol::mailbox::{MailboxFile, read_assignment, type_of};
use el_core::protocol::report::{CompletionReport, FieldProblem};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::{App, CommandError, Exit, Result, input};

/// Append a message to a mailbox file, under the file's lock
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el mailbox post to-developer assignment.json
  el mailbox post to-team-lead - < report.json

Assignments and completion reports are checked field by field first; other messages need only be
JSON objects. el mailbox sync takes in what was appended.")]
pub(crate) struct Args {
    /// The mailbox file
    #[arg(value_enum, value_name = "FILE")]
    file: Which,
    /// A file with the message as JSON; `-` reads stdin
    #[arg(value_name = "MESSAGE", default_value = "-", value_hint = clap::ValueHint::FilePath)]
    message: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    ToDeveloper,
    ToTeamLead,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::commands) struct Appended {
    /// Where the message is now, in the project.
    file: &'static str,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let text = input::read_file(app, "message", &args.message)?;
    let message: Value = serde_json::from_str(&text).map_err(|error| {
        CommandError::invalid_value("message", format!("message: it is not JSON: {error}"))
    })?;
    ensure_message(&message)?;
    let file = match args.file {
        Which::ToDeveloper => MailboxFile::ToDeveloper,
        Which::ToTeamLead => MailboxFile::ToTeamLead,
    };
    Mailbox::new(&app.project()?.root).post_message(file, message).map_err(mailbox_failure)?;
    let data = Appended { file: file.relative_path() };
    app.printer.emit_sentence(&data, |page| {
        page.push_done("Appended to", file.relative_path());
    })
}

fn ensure_message(message: &Value) -> Result<()> {
    let problems: Vec<FieldProblem> = match type_of(message) {
        _ if !message.is_object() => {
            return Err(CommandError::invalid_value(
                "message",
                "message: a message is a JSON object",
            ));
        }
        "task_assignment" => read_assignment(message)
            .map_or_else(|problem| vec![problem], |assignment| assignment.problems),
        "completion_report" => CompletionReport::from_value(message).err().unwrap_or_default(),
        _ => Vec::new(),
    };
    if problems.is_empty() { Ok(()) } else { Err(el_core::Error::Report { problems }.into()) }
}

fn mailbox_failure(error: MailboxError) -> CommandError {
    match error {
        MailboxError::Store(error) => error.into(),
        MailboxError::NotADocument { .. } => {
            CommandError::conflict("not_a_mailbox", error.to_string())
                .with_hint("el mailbox sync sets a file aside that is not JSON")
        }
        other => {
            CommandError::internal_error("the mailbox could not be written").with_source(other)
        }
    }
}
