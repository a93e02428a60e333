//! Delegated tasks: atoms that were handed over with `el run`.

use el_core::ops::Task;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{App, Exit, Result};

mod cancel;
mod list;
mod show;

/// List delegated tasks, show tasks, or cancel tasks
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  el tasks                     Running, waiting (in order) and ended tasks
  el tasks --status running,queued
  el tasks show q5e6           Everything about one, with its last lines of output
  el tasks cancel q5e6         A waiting or a running task

A task that was called off is held; el reopen puts it back."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List delegated tasks
    #[command(after_help = "\
Examples:
  el tasks list
  el tasks list --agent gendry --status queued")]
    List(list::ListArgs),
    Show(show::Args),
    Cancel(cancel::Args),
}

/// A task, and its place in the agent's queue.
#[derive(Serialize, JsonSchema)]
pub(super) struct Placed {
    #[serde(flatten)]
    task: Task,
    /// Counts from 1; `null` if the task is not queued.
    position: Option<usize>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    match &args.command {
        Some(Command::Cancel(args)) => cancel::run(args, app),
        Some(Command::Show(args)) => show::run(args, app),
        Some(Command::List(args)) => list::run(args, app),
        None => list::run(&args.list, app),
    }
}
