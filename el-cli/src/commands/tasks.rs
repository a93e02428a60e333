//! Delegated tasks: atoms that somebody handed over with `el run`.

use el_core::ops::Task;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::complete;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::list::List;

mod cancel;
mod list;
mod show;

/// List delegated tasks, show one, or call one off
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  el tasks                     What runs, what waits in which order, what has ended
  el tasks --status running,queued
  el tasks q5e6                Everything about one, with its last lines of output
  el tasks cancel q5e6         Whether it waits or runs

A task that was called off is held; el retry puts it back."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// A task, or one of its runs
    #[arg(value_name = "TASK|RUN", add = complete::runs(), conflicts_with_all = ["agent", "status", "limit"])]
    id: Option<String>,
    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Cancel(cancel::Args),
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Answer<'a> {
    Listed(&'a List<'a, Task>),
    Shown(Placed<'a>),
}

/// A task, and its place in its agent's queue.
#[derive(Serialize, JsonSchema)]
pub(super) struct Placed<'a> {
    #[serde(flatten)]
    task: &'a Task,
    /// Counts from 1; `null` if it does not wait for its turn.
    position: Option<usize>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    match (&args.command, &args.id) {
        (Some(Command::Cancel(args)), _) => cancel::run(args, app),
        (None, Some(id)) => show::run(id, app),
        (None, None) => list::run(&args.list, app),
    }
}
