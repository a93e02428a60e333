use el_core::ops::{self, RunFilter};

use crate::app::App;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::list::List;
use crate::output::{runs, style};

pub(super) fn run(app: &App) -> Result<Exit> {
    let mut found = ops::runs(&app.reader()?, &RunFilter::default())?.items;
    found.retain(|run| run.summary.is_some());
    let list = List::all(&found);
    app.printer.emit(&list, |page| {
        runs::table(page, &found, app.now());
        if found.is_empty() && !page.quiet() {
            let text = page.paint(style::DIM, "no run has handed anything back");
            page.line(text);
        } else {
            list.footer(page, "run", "runs");
        }
    })?;
    Ok(Exit::Done)
}
