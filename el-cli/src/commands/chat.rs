//! What agents and people tell each other.

use crate::app::App;
use crate::error::Result;
use crate::exit::Exit;

mod list;
mod post;
pub(super) mod view;

/// Read and write the channels in which agents and people tell each other things
#[derive(Debug, clap::Subcommand)]
#[command(after_help = "\
Examples:
  el chat list
  el chat view claude-code-gendry
  el chat post general \"@gendry the parser is next\"

The end of every run that is not tried again is told in claude-code-<who asked for it>. Whoever
a message names by @name finds it with el inbox.")]
pub(crate) enum Command {
    List(list::Args),
    View(view::Args),
    Post(post::Args),
}

pub(super) fn run(command: &Command, app: &App) -> Result<Exit> {
    match command {
        Command::List(args) => list::run(args, app),
        Command::View(args) => view::run(args, app),
        Command::Post(args) => post::run(args, app),
    }
}
