use el_core::model::Status;
use el_core::ops::{self, AtomFilter, Sort};

use crate::output::atoms;
use crate::output::list::{List, Window};
use crate::{App, Exit, Result};

/// List the discarded atoms
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el discard list
  el discard list --limit 10 --robot")]
pub(crate) struct Args {
    #[command(flatten)]
    window: Window,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let filter = AtomFilter { statuses: vec![Status::Discard], ..AtomFilter::default() };
    let store = app.open_for_reading()?;
    let now = app.now();
    let found =
        ops::list(&store, &filter, Sort::Updated, args.window.limit(), args.window.offset(), now)?;
    let list = List::from_page(&found);
    app.printer.emit(&list, |page| {
        atoms::print_table(page, &found.items, now);
        list.print_end(page, ["discarded atom", "discarded atoms", "nothing is discarded"]);
    })
}
