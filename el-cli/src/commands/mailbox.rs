//! The files of agents that know only files.

use crate::{App, Exit, Result};

pub(super) mod post;
mod sync;

/// Keep the files under .claude-orchestrator/ in step with the tracker
#[derive(Debug, clap::Subcommand)]
#[command(after_help = "\
Examples:
  el mailbox sync
  el mailbox sync --watch
  el mailbox post to-developer assignment.json

For agents and programs that know only the file-based protocol: to-developer.json,
to-team-lead.json, queue.json, status.json and log.md.")]
pub(crate) enum Command {
    Sync(Box<sync::Args>),
    Post(post::Args),
}

pub(super) fn run(command: &Command, app: &App) -> Result<Exit> {
    match command {
        Command::Sync(args) => sync::run(args, app),
        Command::Post(args) => post::run(args, app),
    }
}
