//! Pull requests of atoms' branches.

use crate::{App, CommandError, Exit, Result};

mod adopt;
mod answer;
mod list;
mod merge;
mod open;
mod place;
mod watch;

pub(super) use answer::{Listing, Opening};
pub(super) use merge::Merging;

/// Open pull requests for the branches of finished atoms, or update them; list and watch them
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  el pr q5e6
  el pr --all --dry-run
  el pr --all --ready
  el pr q5e6 --base release
  el pr list
  el pr watch --once
  el pr merge q5e6 --when-ready
  el pr adopt q5e6 12

Pushes the branch and nothing else, to the remote pr_remote, and opens the pull request by your
own gh, or the merge request by glab, in the repository pr_repo. It refuses what el land
refuses, before anything is pushed: a run at work, uncommitted files, a conflict with the base,
a failing land_check. A branch that builds on work that is not merged waits for it. Nothing is
forced over another's commit; commits that somebody pushed on top are taken into the worktree.
Only the part of the body between el's marks is ever replaced. It can be ended at any moment,
and done again: there is one pull request. Exit code 4 if something could not be opened, 6 if it
is not clear where to, or gh or glab cannot be used."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    open: open::Open,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Watch(watch::Args),
    Merge(merge::Args),
    Adopt(adopt::Args),
}

impl Args {
    /// Returns true if the command sends nothing to the forge.
    pub(super) fn only_looks(&self) -> bool {
        matches!(self.command, Some(Command::List(_)))
    }
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    match &args.command {
        Some(Command::List(args)) => list::run(args, app),
        Some(Command::Watch(args)) => watch::run(args, app),
        Some(Command::Merge(args)) => merge::run(args, app),
        Some(Command::Adopt(args)) => adopt::run(args, app),
        None => open::run(&args.open, app),
    }
}

/// Opens pull requests, as `el land --pr` does.
pub(super) fn open_for_landing(
    app: &App,
    atoms: Vec<String>,
    all: bool,
    dry_run: bool,
) -> Result<Exit> {
    open::run(&open::Open::new(atoms, all, dry_run), app)
}

/// The ids of the atoms that were named; `None`: all.
fn wanted_atoms(app: &App, atoms: &[String], all: bool) -> Result<Option<Vec<String>>> {
    if all {
        return Ok(None);
    }
    if atoms.is_empty() {
        return Err(CommandError::usage_error("an atom is missing")
            .with_hint("el pr ATOM..., el pr --all, or el pr list"));
    }
    app.resolve_ids(atoms).map(Some)
}
