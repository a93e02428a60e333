use el_core::model::Atom;
use el_core::ops;
use schemars::JsonSchema;
use serde::Serialize;

use super::list::FilterArgs;
use crate::output::atoms;
use crate::output::list::{List, Window};
use crate::values::SortArg;
use crate::{App, Exit, Result};

/// List the atoms that can be worked on now, best first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el ready
  el ready --type bug --limit 5
  el ready --sort oldest --robot

Ready is what is open, or deferred until a time that has come, with no live blocker, no parent
that holds it back, no attempt running and no back-off. Epics and formulas hold work and are
never ready themselves.")]
pub(crate) struct Args {
    #[command(flatten)]
    filter: FilterArgs,
    /// The order; hybrid lists atoms older than two days by age, then the rest by priority
    #[arg(long, value_enum, value_name = "ORDER", default_value = "priority")]
    sort: SortArg,
    #[command(flatten)]
    window: Window,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Ready<'a> {
    #[serde(flatten)]
    list: List<'a, Atom>,
    /// Counting stopped at `total`: there may be more. The items themselves are never cut for that.
    capped: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let filter = args.filter.atom_filter(app)?;
    let store = app.open_for_reading()?;
    let now = app.now();
    let found = ops::ready(
        &store,
        &filter,
        args.sort.into(),
        args.window.limit(),
        args.window.offset(),
        now,
    )?;
    let list = List::from_page(&found);
    let data = Ready { capped: list.is_capped(), list };
    app.printer.emit(&data, |page| {
        atoms::print_ready(page, &found.items, now);
        data.list.print_end(
            page,
            [
                "ready atom",
                "ready atoms",
                "nothing is ready; el list shows what is there, el why ATOM what holds it",
            ],
        );
    })
}
