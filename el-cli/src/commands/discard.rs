//! Discarding atoms, and restoring discarded atoms until the prune.

use el_core::ops;

use super::close::report_changed;
use super::freed::Waiting;
use crate::{App, CommandError, Exit, Result, complete};

mod list;
pub(super) mod prune;
mod restore;

/// Discard atoms; discarded atoms can be restored until the prune
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  el discard q5e6 --reason \"filed twice\"
  el discard list
  el discard restore q5e6
  el discard prune --days 30 --dry-run"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    atoms: Discard,
}

#[derive(Debug, clap::Args)]
struct Discard {
    /// Ids, or unique beginnings of their short parts
    #[arg(value_name = "ATOM", add = complete::complete_atoms())]
    ids: Vec<String>,
    /// Why
    #[arg(short, long, value_name = "TEXT")]
    reason: Option<String>,
    /// Also if somebody else claimed the atom
    #[arg(long)]
    force: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Restore(restore::Args),
    Prune(prune::Args),
}

impl Args {
    pub(super) fn is_prune(&self) -> bool {
        matches!(self.command, Some(Command::Prune(_)))
    }
}

pub(super) fn run(args: Args, app: &App) -> Result<Exit> {
    match args.command {
        Some(Command::List(args)) => list::run(&args, app),
        Some(Command::Restore(args)) => restore::run(&args, app),
        Some(Command::Prune(args)) => prune::run(&args, app),
        None => discard_atoms(&args.atoms, app),
    }
}

fn discard_atoms(args: &Discard, app: &App) -> Result<Exit> {
    if args.ids.is_empty() {
        return Err(CommandError::usage_error("an atom is missing")
            .with_hint("el discard ATOM..., or el discard list, restore, prune"));
    }
    let mut store = app.open_for_writing()?;
    let waiting = Waiting::find_waiting(app, &store, &args.ids);
    let discarded =
        ops::discard(&mut store, &app.ctx(), &args.ids, args.reason.as_deref(), args.force)?;
    report_changed(app, args.ids.len(), "Discarded", &discarded)?;
    waiting.report_freed(app, &store, &discarded)?;
    Ok(Exit::Done)
}
