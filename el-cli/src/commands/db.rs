//! The tracker's database: the place and the tables.

use std::path::Path;

use el_core::{DatabaseState, Durability, Error, Store};

use crate::output::{Page, sanitize, style};
use crate::{App, CommandError, Exit, Result};

pub(super) mod dump;
pub(super) mod grant;
pub(super) mod move_to;

/// Show where the tracker's database is, bring its tables up, or move it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el db                      Which file or server it is, and the version of its tables
  el db migrate              Bring the tables on a server to the version of this el
  el db move --to URL        Move the tracker to a server; --to FILE moves it back
  el db grant member NAME    Let a role of the server work with the tracker
  el db dump copy.db         Copy all of it into a file")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show where the database is, and the version of its tables
    #[command(after_help = "\
Examples:
  el db status
  el db status --robot")]
    Status,
    /// Bring the tables on a server to the version of this el
    #[command(after_help = "\
Examples:
  pg_dump shop > shop.sql && el db migrate

Whoever owns the tables does this once, with the newest el; an older el refuses them from then
on. The tables of a file need no such call: el brings them up when it opens the file, after a
backup.")]
    Migrate,
    Grant(grant::Args),
    Move(move_to::Args),
    Dump(dump::Args),
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    match &args.command {
        Some(Command::Move(args)) => return move_to::run(args, app),
        Some(Command::Grant(args)) => return grant::run(args, app),
        Some(Command::Dump(args)) => return dump::run(args, app),
        _ => {}
    }
    let project = app.project()?;
    let server = project.server_address()?;
    if let Some(Command::Migrate) = args.command {
        match server {
            Some(server) => Store::migrate_server(server)?,
            None => drop(project.open_store(Durability::Normal)?),
        }
    }
    let state = Store::database_state(&project.db, server)?;
    app.printer.emit(&state, |page| print_state(page, &state))
}

/// Refuses an existing path that can be no database: a pipe, a device.
fn ensure_file_or_nothing(path: &Path) -> Result<()> {
    if path.is_file() || !path.exists() {
        return Ok(());
    }
    Err(unusable("not_a_file", format!("{} is not a file", path.display()), path))
}

fn unusable(code: &'static str, message: String, path: &Path) -> CommandError {
    CommandError::new(Exit::Configuration, code, message)
        .with_path(path)
        .with_hint("name a file that is not there yet, in a folder that you may write")
}

/// Turns a failure to make a copy at `path` into an error that says what to do.
fn target_error(error: Error, path: &Path) -> CommandError {
    let (code, message) = (error.code(), error.to_string());
    match error {
        Error::Disk { source, .. } => {
            let folder = path.parent().unwrap_or(path).display();
            CommandError::new(Exit::Configuration, code, message)
                .with_hint(format!("make room on the disk of {folder} (df -h), then try again"))
                .with_source(source)
        }
        Error::NotADatabase { .. } => unusable(code, message, path),
        Error::ReadOnly { source } | Error::Sqlite { source, .. } => {
            let message = format!("{} cannot be made or written", path.display());
            unusable(code, message, path).with_source(source)
        }
        Error::NoDatabase { .. } | Error::Io { .. } => {
            unusable(code, format!("{} cannot be made or written", path.display()), path)
        }
        error => error.into(),
    }
}

fn print_state(page: &mut Page, state: &DatabaseState) {
    let engine = match &state.server_version {
        Some(version) => format!("PostgreSQL {}", sanitize::one_line(version)),
        None => "SQLite".to_owned(),
    };
    page.push_line(format!("{engine}: {}", sanitize::one_line(&state.place)));
    let known = state.known;
    let tables = match state.tables {
        None => "There are no tables of el; el init makes them.".to_owned(),
        Some(found) if found == known => format!("Its tables are of version {found}, as needed."),
        Some(found) if found < known => {
            format!("Its tables are of version {found}; el db migrate brings them to {known}.")
        }
        Some(found) => {
            format!("Its tables are of version {found}; this el knows those up to {known}.")
        }
    };
    page.push_painted(style::DIM, &tables);
    if let Some(sentence) = &state.closed {
        let mark = page.paint(style::WARNING, "!");
        page.push_line(format!("{mark} {}", sanitize::one_line(sentence)));
    }
}
