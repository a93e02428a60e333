use el_core::ops::{self, RunFilter};

use crate::output::{List, runs, style};
use crate::{App, Exit, Result};

pub(super) fn run(app: &App) -> Result<Exit> {
    let mut found = ops::runs(&app.open_for_reading()?, &RunFilter::default())?.items;
    found.retain(|run| run.summary.is_some());
    let list = List::complete(&found);
    app.printer.emit(&list, |page| {
        runs::print_table(page, &found, app.now());
        if found.is_empty() && !page.is_quiet() {
            page.push_painted(style::DIM, "no run has handed anything back");
        } else {
            list.print_footer(page, "run", "runs");
        }
    })
}
