//! Copies a tracker, wherever it is, into a file.

use std::path::PathBuf;

use el_core::{Durability, TableCopy, count_noun};
use schemars::JsonSchema;
use serde::Serialize;

use super::move_to::{as_count, place_of};
use super::{ensure_file_or_nothing, target_error};
use crate::output::{Progress, sanitize};
use crate::{App, CommandError, Exit, Result};

/// Copy all of the tracker into a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el db dump shop.db                       All tables, as they are at one moment
  el --db shop.db list --all               Look into it
  el --db shop.db db move --to URL         Bring it to another server

The copy is whole, with runs and events, unlike that of el export. Runs may go on meanwhile.")]
pub(crate) struct Args {
    /// The file to make
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Answer {
    from: String,
    path: PathBuf,
    rows: u64,
    tables: Vec<TableCopy>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let project = app.project()?;
    let from = place_of(project)?;
    let path = std::path::absolute(&args.file)
        .map_err(|source| CommandError::file_error("find", &args.file, source))?;
    ensure_file_or_nothing(&path)?;
    if path.exists() {
        let message = format!("{} exists already", path.display());
        return Err(CommandError::conflict("exists", message)
            .with_hint("name a file that is not there yet"));
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) {
        let message = format!("there is no folder {}", folder.display());
        return Err(CommandError::not_found(message));
    }
    let store = project.open_store(Durability::Normal)?;
    let progress = Progress::new(&app.printer, "copying");
    let copied = store.dump_to(&path, &from, &mut |done, all| {
        progress.show_counts(as_count(done), as_count(all));
        Ok(())
    });
    let tables = copied.map_err(|error| target_error(error, &path))?;
    drop(progress);
    let answer = Answer { from, path, rows: tables.iter().map(|table| table.rows).sum(), tables };
    app.printer.emit(&answer, |page| {
        let rows = count_noun(as_count(answer.rows), "row");
        page.push_done("Copied", &format!("{rows} to {}", sanitize::path_line(&answer.path)));
    })
}
