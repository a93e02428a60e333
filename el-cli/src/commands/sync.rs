//! Other trackers that are reached by a person's own programs.

use crate::{App, Exit, Result};

mod accept;
mod batch;
pub(super) mod github;
mod push;
mod repository;

/// Take over the issues of another tracker, again and again
#[derive(Debug, clap::Subcommand)]
#[command(after_help = "\
Examples:
  el sync github --dry-run
  el sync github
  el sync github --push q5e6

Writes nothing there without --push.")]
pub(crate) enum Command {
    Github(Box<github::Args>),
}

pub(super) fn run(command: &Command, app: &App) -> Result<Exit> {
    match command {
        Command::Github(args) => github::run(args, app),
    }
}
