//! Registers `el` with other programs' agents, and removes the registration.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{sanitize, style};
use crate::{App, CommandError, Exit, Result, project};

mod agents;
mod claude;
mod file;

use file::{Change, Plan};

/// Make el known to agents: hooks, MCP server, slash commands, skill
#[derive(Debug, clap::Args)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "\
Examples:
  el setup claude
  el setup claude --user --print
  el setup agents
  el setup claude --remove

Nothing is changed that others wrote; again changes nothing; --remove gives the files back as
they were."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Claude(claude::Args),
    Agents(agents::Args),
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    match &args.command {
        Command::Claude(args) => claude::run(args, app),
        Command::Agents(args) => agents::run(args, app),
    }
}

/// The scope of the installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Scope {
    Project,
    User,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer<'a> {
    scope: Scope,
    removed: bool,
    printed: bool,
    files: Vec<Row<'a>>,
    notes: &'a [String],
}

#[derive(Debug, Serialize, JsonSchema)]
struct Row<'a> {
    path: &'a Path,
    change: Change,
    /// The new content, with `--print`; `null` if the file is removed or unchanged.
    content: Option<&'a str>,
    backup: Option<PathBuf>,
}

/// Writes the planned files, or only shows them with `print`, and reports the changes.
fn carry_out(
    app: &App,
    scope: Scope,
    remove: bool,
    print: bool,
    plans: &[Plan],
    notes: &[String],
) -> Result<Exit> {
    if !print {
        // All can be written, or none is.
        plans.iter().try_for_each(Plan::ensure_writable)?;
        let trusted = app.settings().ok().filter(|settings| settings.inert_files().is_empty());
        plans.iter().try_for_each(Plan::write_file)?;
        // The person has just said it: what was trusted stays so.
        if let Some(settings) = trusted.filter(|settings| !settings.inert_files().is_empty()) {
            settings.trust_files(app.now())?;
        }
    }
    let files = plans.iter().map(|plan| Row {
        path: &plan.path,
        change: plan.change,
        content: if print { plan.after.as_deref().filter(|_| plan.is_change()) } else { None },
        backup: plan.backup_path().filter(|_| !print),
    });
    let answer = Answer { scope, removed: remove, printed: print, files: files.collect(), notes };
    app.printer.emit_sentence(&answer, |page| {
        for row in &answer.files {
            let path = sanitize::path_line(row.path);
            if print {
                page.push_painted(
                    style::TITLE,
                    &format!("# {path}: {}", row.change.change_words(true)),
                );
                row.content
                    .into_iter()
                    .flat_map(str::lines)
                    .for_each(|line| page.push_line(sanitize::one_line(line)));
                page.push_blank();
                continue;
            }
            let done = page.paint(
                if row.change == Change::Unchanged { style::DIM } else { style::GOOD },
                row.change.change_words(false),
            );
            page.push_line(format!("{done} {path}"));
            if let Some(backup) = &row.backup {
                let text = format!("  as it was: {}", sanitize::path_line(backup));
                page.push_painted(style::DIM, &text);
            }
        }
        for note in notes {
            page.push_painted(style::DIM, note);
        }
    })
}

/// The project's folder, or the current one where there is no project.
fn project_folder(app: &App) -> Result<PathBuf> {
    app.project().map_or_else(|_| project::current_folder(), |project| Ok(project.root.clone()))
}

fn setup_error(path: &Path, why: impl std::fmt::Display) -> CommandError {
    CommandError::config_error("setup", format!("{}: {why}", path.display()))
        .with_hint("nothing was changed; put that right, and run it again")
}
