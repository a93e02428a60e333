use el_core::model::{Outcome, Run};
use el_core::ops::{self, RunFilter};

use crate::output::list::{stream_list, stream_table};
use crate::output::{Cell, Column, Table, runs};
use crate::values::word_parser;
use crate::watch::WatchArgs;
use crate::{App, Exit, Result, complete};

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
    let printer = &app.printer;
    if printer.is_robot() {
        return stream_list(printer, "", filter.limit, |visit| {
            ops::runs_each(&store, &filter, 1, visit)
        });
    }
    let (now, is_quiet) = (app.now(), printer.new_page().is_quiet());
    let table = match is_quiet {
        true => Table::new([Column::new("RUN")]).without_heading(0),
        false => runs::new_table(),
    };
    let row_cells = |run: &Run| match is_quiet {
        true => vec![Cell::new(&run.id)],
        false => runs::row_cells(run, now).into(),
    };
    stream_table(printer, table, ["run", "runs", "no runs"], row_cells, |visit| {
        ops::runs_each(&store, &filter, 2, visit)
    })?;
    Ok(Exit::Done)
}
