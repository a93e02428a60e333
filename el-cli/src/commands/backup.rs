//! Backups: made by themselves, listed and made here.

use el_core::inspect_copy;
use el_core::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::backups::{Backup, Backups, Reason};
use crate::output::{Cell, Column, List, Page, Table, artifacts, sanitize, style, time};
use crate::{App, Exit, Result};

/// List the tracker's backups, or make one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el backup                  List them, newest first
  el backup now              Make one

el makes backups by itself: hourly while something changes, and before an import, a prune, a
migration and --force on many atoms. They are in your own state folder, outside of the project.
el restore brings one back.")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the backups, newest first
    #[command(after_help = "\
Examples:
  el backup list
  el backup list --robot")]
    List,
    Now(Now),
}

/// Make a backup
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el backup now
  el backup now --robot      Where it is")]
struct Now {
    /// The hourly backup: only if something has changed since the newest one
    #[arg(long, hide = true)]
    if_changed: bool,
}

/// A backup in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Row {
    /// For `el restore`: 1 is the newest.
    number: usize,
    #[serde(flatten)]
    backup: Backup,
    /// `null` if it cannot be read.
    atoms: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Made {
    /// `null` if nothing has changed since the newest backup.
    backup: Option<Backup>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    match &args.command {
        Some(Command::Now(args)) => run_now(args, app),
        Some(Command::List) | None => list(app),
    }
}

fn list(app: &App) -> Result<Exit> {
    let backups = Backups::locate(app)?;
    let rows: Vec<Row> = (1..)
        .zip(backups.list())
        .map(|(number, backup)| {
            let atoms = inspect_copy(&backup.path).ok().map(|facts| facts.atoms);
            Row { number, backup, atoms }
        })
        .collect();
    let data = List::complete(&rows);
    app.printer.emit(&data, |page| {
        print_backups(page, &rows, app.now());
        data.print_footer(page, "backup", "backups");
    })
}

fn print_backups(page: &mut Page, rows: &[Row], now: Timestamp) {
    if rows.is_empty() {
        if !page.is_quiet() {
            page.push_line("There is no backup yet; el backup now makes one");
        }
        return;
    }
    let mut table = Table::new([
        Column::new("NO").align_right(),
        Column::new("WHEN"),
        Column::new("AGE"),
        Column::new("ATOMS").align_right(),
        Column::new("SIZE").align_right(),
        Column::new("WHY").flexible(),
    ]);
    for row in rows {
        let size = i64::try_from(row.backup.size).unwrap_or(i64::MAX);
        table.push_row([
            Cell::styled(style::ID, row.number.to_string()),
            Cell::new(time::local_time(row.backup.at)),
            Cell::new(time::relative_time(now, row.backup.at)),
            Cell::new(row.atoms.map_or_else(|| "?".to_owned(), |atoms| atoms.to_string())),
            Cell::new(artifacts::format_size(size)),
            Cell::new(row.backup.reason.reason_text()),
        ]);
    }
    table.print_table(page);
}

fn run_now(args: &Now, app: &App) -> Result<Exit> {
    let backups = Backups::locate(app)?;
    if args.if_changed {
        // This output has no reader.
        let backup = backups.make_hourly(&app.project()?.state, app.now())?;
        return app.printer.emit(&Made { backup }, |_| {});
    }
    let backup = backups.make_backup(Reason::Manual, app.now())?;
    app.printer.emit(&Made { backup: Some(backup.clone()) }, |page| {
        let path = sanitize::path_line(&backup.path);
        match page.is_quiet() {
            true => page.push_line(path),
            false => page.push_done("Backed up", &format!("to {path}")),
        }
    })
}
