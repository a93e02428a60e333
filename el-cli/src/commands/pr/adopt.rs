use el_agents::pull_requests::adopt;
use el_core::ops;

use super::answer::Listing;
use super::place::find_or_ask;
use crate::commands::worktrees::find_repository;
use crate::{App, Exit, Result, complete};

/// Take a pull request of an atom's branch, which somebody else opened, for the atom's own
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el pr adopt q5e6 12")]
pub(super) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::all_atoms())]
    atom: String,
    /// The number of the pull request
    #[arg(value_name = "NUMBER")]
    number: u64,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let repository = find_repository(app)?;
    let settings = app.settings_for_agents()?.pull_settings()?;
    let mut store = app.open_for_writing()?;
    let atom = ops::resolve_id(&store, &args.atom)?;
    let place = find_or_ask(app, &repository, &settings.forges, &settings.place)?;
    let key = (atom.as_str(), args.number);
    let one = adopt(&mut store, &app.ctx(), &repository, &settings.forges, &place, key)?;
    let listing = Listing::new(vec![one]);
    let now = app.now();
    app.printer.emit(&listing, |page| listing.print(page, now))
}
