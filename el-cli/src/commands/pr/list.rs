use el_agents::pull_requests::find_uncommitted;
use el_core::ops;

use super::answer::Listing;
use crate::commands::worktrees::find_repository;
use crate::{App, Exit, Result};

/// List the pull requests that el knows, without asking the forge
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el pr list
  el pr list --live --robot")]
pub(super) struct Args {
    /// Only those that can still be merged
    #[arg(long)]
    live: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let store = app.open_for_reading()?;
    let found = ops::pull_requests(&store, args.live)?;
    // The list is there without git, too.
    let uncommitted = find_repository(app).and_then(|repository| {
        let put = app.settings()?.land_settings()?.put_into_worktrees;
        Ok(find_uncommitted(&store, &repository, &found, &put)?)
    });
    let listing = Listing::new(found).with_uncommitted(uncommitted.unwrap_or_default());
    let now = app.now();
    app.printer.emit(&listing, |page| listing.print(page, now))
}
