//! The attempts at atoms.

use crate::{App, Exit, Result};

mod files;
mod list;
pub(super) mod show;

pub(crate) use self::files::bring_run_files;

/// List runs, newest first, or show runs
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  el runs
  el runs --live
  el runs --atom q5e6 --robot
  el runs show run-7kq2m9xd"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List runs, newest first
    #[command(after_help = "\
Examples:
  el runs list --live
  el runs list --outcome failed --limit 20")]
    List(list::ListArgs),
    Show(show::Args),
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    match &args.command {
        Some(Command::Show(args)) => show::run(args, app),
        Some(Command::List(args)) => list::run(args, app),
        None => list::run(&args.list, app),
    }
}
