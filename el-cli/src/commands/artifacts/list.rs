use el_core::ops::{self, RunFilter};

use crate::app::App;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::list::List;
use crate::output::{runs, style};

pub(super) fn run(app: &App) -> Result<Exit> {
    let mut found = ops::runs(&app.open_for_reading()?, &RunFilter::default())?.items;
    found.retain(|run| run.summary.is_some());
    let list = List::complete(&found);
    app.printer.emit(&list, |page| {
        runs::print_table(page, &found, app.now());
        if found.is_empty() && !page.is_quiet() {
            let text = page.paint(style::DIM, "no run has handed anything back");
            page.push_line(text);
        } else {
            list.print_footer(page, "run", "runs");
        }
    })?;
    Ok(Exit::Done)
}
