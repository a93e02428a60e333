use el_core::ops::{self, RunFilter};

use crate::output::{List, runs};
use crate::{App, Exit, Result};

pub(super) fn run(app: &App) -> Result<Exit> {
    let mut found = ops::runs(&app.open_for_reading()?, &RunFilter::default())?.items;
    found.retain(|run| run.summary.is_some());
    let list = List::complete(&found);
    app.printer.emit(&list, |page| {
        runs::print_table(page, &found, app.now());
        list.print_end(page, ["run", "runs", "no run has handed anything back"]);
    })
}
