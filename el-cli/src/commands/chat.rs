//! Messages between agents and people.

use crate::{App, Exit, Result};

mod list;
mod post;
pub(super) mod show;

/// Read and write the channels of agents and people
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el chat
  el chat show claude-code-gendry
  el chat post general \"@gendry the parser is next\"

The end of every run that is not tried again is told in claude-code-<who asked for it>. Whoever
a message names by @name finds it with el inbox.")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Post(post::Args),
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    match &args.command {
        Some(Command::Show(args)) => show::run(args, app),
        Some(Command::Post(args)) => post::run(args, app),
        Some(Command::List(_)) | None => list::run(app),
    }
}
