//! Comments on atoms.

use crate::{App, Exit, Result};

mod add;
pub(super) mod list;

/// Add a comment to an atom, or read the comments
#[derive(Debug, clap::Subcommand)]
#[command(after_help = "\
Examples:
  el comment add q5e6 \"The offset is lost in parse_zone\"
  el comment list q5e6")]
pub(crate) enum Command {
    Add(add::Args),
    List(list::Args),
}

pub(super) fn run(command: Command, app: &App) -> Result<Exit> {
    match command {
        Command::Add(args) => add::run(&args, app),
        Command::List(args) => list::run(&args, app),
    }
}
