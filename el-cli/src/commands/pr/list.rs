use el_core::ops;

use super::answer::Listing;
use crate::app::App;
use crate::error::Result;
use crate::exit::Exit;

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
    let found = ops::pull_requests(&app.open_for_reading()?, args.live)?;
    let listing = Listing::new(found);
    let now = app.now();
    app.printer.emit(&listing, |page| listing.print(page, now))?;
    Ok(Exit::Done)
}
