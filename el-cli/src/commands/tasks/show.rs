use el_core::ops;

use super::{Answer, Placed};
use crate::app::App;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::tasks;

pub(super) fn run(id: &str, app: &App) -> Result<Exit> {
    let store = app.reader()?;
    let task = ops::task(&store, id)?;
    let now = app.now();
    let position = ops::task_position(&store, &task, now)?;
    app.printer.emit(&Answer::Shown(Placed { task: &task, position }), |page| {
        tasks::view(page, &task, position, now)
    })?;
    Ok(Exit::Done)
}
