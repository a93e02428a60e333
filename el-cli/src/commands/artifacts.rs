//! Files that runs handed over.

use std::path::Path;

use crate::{App, Exit, Result};

pub(super) mod get;
mod list;
pub(super) mod show;

/// Show the summaries and key files that runs handed over
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  el artifacts                   Runs that handed anything back, newest first
  el artifacts show q5e6         The atom's last run that handed anything back
  el artifacts show run-7kq2m9xd --robot
  el artifacts get q5e6 summary
  el artifacts get q5e6 2 -o Button.tsx

Texts are copied when the run ends, so that later edits do not change what was handed back; what
is binary or very large stays where it is, with its hash."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the runs that handed files over, newest first
    #[command(after_help = "\
Examples:
  el artifacts list
  el artifacts list --robot | jq -r '.data.items[].id'")]
    List,
    Show(show::Args),
    Get(get::Args),
}

impl Args {
    pub(super) fn output_file(&self) -> Option<&Path> {
        let Some(Command::Get(args)) = &self.command else { return None };
        args.output.as_deref()
    }
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    match &args.command {
        Some(Command::Get(args)) => get::run(args, app),
        Some(Command::Show(args)) => show::run(args, app),
        Some(Command::List) | None => list::run(app),
    }
}
