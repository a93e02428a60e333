//! Bonds between atoms.

use crate::{App, Exit, Result};

mod add;
pub(super) mod check;
pub(super) mod list;
mod remove;
pub(super) mod tree;

/// Bind atoms to each other: show and change dependencies
#[derive(Debug, clap::Subcommand)]
#[command(after_help = "\
Examples:
  el dep add q5e6 x2            x2 waits until q5e6 is over
  el dep list x2
  el dep tree q5e6 --blocking-only

Bonds go from a source to a target, and the source acts on the target: blocks and waits_for hold
the target until the source is over (waits_for also what is below it), conditional_blocks lets
the target go only if the source failed, parent_child contains. related, duplicates,
discovered_from and replies_to hold nothing.")]
pub(crate) enum Command {
    Add(add::Args),
    #[command(visible_alias = "rm")]
    Remove(remove::Args),
    List(list::Args),
    Tree(tree::Args),
    Check(check::Args),
}

pub(super) fn run(command: Command, app: &App) -> Result<Exit> {
    match command {
        Command::Add(args) => add::run(&args, app),
        Command::Remove(args) => remove::run(&args, app),
        Command::List(args) => list::run(&args, app),
        Command::Tree(args) => tree::run(&args, app),
        Command::Check(args) => check::run(&args, app),
    }
}
