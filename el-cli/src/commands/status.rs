use el_agents::worker;
use el_core::Store;
use el_core::ops::{self, Board};

use crate::backup_hooks::has_backup;
use crate::looked::{last_look, note_look};
use crate::output::{Page, board, sanitize, style, terminal};
use crate::watch::WatchArgs;
use crate::{App, Exit, Result};

mod in_git;
mod overlaps;

pub(crate) use in_git::InGit;

/// Show the board in one screen: what needs you, what runs, what is next
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "\
Examples:
  el                     The same, in a project
  el status
  el status --watch      Draw it again when something changes
  el status --robot | jq '.data.needs.items[] | {kind, atom_id, why}'

The entries that need you are in the order of what your decision frees. Each entry has its
cause, and the command that settles it. A change by others since you looked, here or on another
board, is marked as new. el top is the same board with keys.")]
pub(crate) struct Args {
    /// At most this many rows of each part
    #[arg(long, value_name = "N", default_value_t = ROWS)]
    limit: usize,
    #[command(flatten)]
    watch: WatchArgs,
}

const ROWS: usize = 50;

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    // While a person watches, what is new stays marked.
    let looked = last_look(app);
    args.watch.follow(app, || show_board(args, app, looked))
}

fn show_board(args: &Args, app: &App, looked: Option<i64>) -> Result<Exit> {
    let board = read_board(app, &app.open_for_reading()?, args.limit, looked)?;
    let name = sanitize::path_line(std::path::Path::new(
        app.project()?.root.file_name().unwrap_or_default(),
    ));
    let rows = terminal::stdout_size().map(|(_, rows)| rows);
    app.printer.emit(&board, |page| board::print_board(page, &name, &board, rows))?;
    if rows.is_some() && !app.printer.is_robot() {
        note_look(app, board.seq);
    }
    Ok(Exit::Done)
}

/// The board, with git's facts and with the news for the person.
pub(crate) fn read_board(
    app: &App,
    store: &Store,
    most: usize,
    looked: Option<i64>,
) -> Result<Board> {
    let mut board = ops::board(store, most, app.now(), &worker::is_there)?;
    // An agent lands nothing, and el starts no git for it.
    if app.session().is_none() {
        InGit::ask_about(app, store, &board).add_to(&mut board);
        ops::mark_fresh(store, &mut board, looked, app.actor())?;
    }
    Ok(board)
}

/// `el` without a command: the board, or how to begin.
pub(super) fn run_bare(app: &App) -> Result<Exit> {
    match app.project() {
        // Where a tracker was lost, the error offers its backup.
        Err(error)
            if error.code() == "no_database" && !app.printer.is_robot() && !has_backup(app) =>
        {
            app.printer.write_page(print_beginning)?;
            Ok(Exit::Done)
        }
        Err(error) => Err(error),
        Ok(_) => run(&Args { limit: ROWS, ..Args::default() }, app),
    }
}

fn print_beginning(page: &mut Page) {
    page.push_line("el tracks work for coding agents, and runs agents on it.");
    page.push_line("There is no tracker in this folder or above it.");
    page.push_blank();
    for (command, what) in [
        ("el init", "start a tracker here"),
        ("el create \"Fix the parser of dates\"", "file what is to be done"),
        ("el work", "run an agent on each ready atom"),
        ("el", "see what needs you, what runs, and what is next"),
    ] {
        let command = page.paint(style::ID, &format!("{command:<40}"));
        page.push_line(format!("  {command} {what}"));
    }
    page.push_blank();
    page.push_line("el --help lists all commands.");
}
