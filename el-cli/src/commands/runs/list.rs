use el_core::model::Outcome;
use el_core::ops::{self, RunFilter};

use crate::app::App;
use crate::complete;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::list::{List, stream_list};
use crate::output::{runs, style};
use crate::values::word_parser;
use crate::watch::WatchArgs;

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Only attempts at this atom
    #[arg(long, value_name = "ATOM", add = complete::all_atoms())]
    atom: Option<String>,
    /// Only live runs
    #[arg(long)]
    live: bool,
    /// Only runs with this outcome
    #[arg(long, value_parser = word_parser::<Outcome>(), value_name = "OUTCOME",
        conflicts_with = "live")]
    outcome: Option<Outcome>,
    /// At most this many; 0 means all [default: all]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    #[command(flatten)]
    watch: WatchArgs,
}

pub(super) fn run(args: &ListArgs, app: &App) -> Result<Exit> {
    args.watch.follow(app, || look(args, app))
}

fn look(args: &ListArgs, app: &App) -> Result<Exit> {
    let filter = RunFilter {
        atom: args.atom.clone(),
        live_only: args.live,
        outcome: args.outcome,
        limit: args.limit.filter(|limit| *limit > 0).map(i64::from),
    };
    let store = app.open_for_reading()?;
    if app.printer.is_robot() && filter.limit.is_none() {
        return stream_list(&app.printer, |visit| ops::runs_each(&store, &filter, visit));
    }
    let found = ops::runs(&store, &filter)?;
    let list = List::from_page(&found);
    app.printer.emit(&list, |page| {
        runs::print_table(page, &found.items, app.now());
        if found.items.is_empty() && !page.is_quiet() {
            let text = page.paint(style::DIM, "no runs");
            page.push_line(text);
        } else {
            list.print_footer(page, "run", "runs");
        }
    })?;
    Ok(Exit::Done)
}
