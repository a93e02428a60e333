use el_core::ops;

use crate::app::App;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::tasks;

pub(super) fn run(id: &str, app: &App) -> Result<Exit> {
    let store = app.reader()?;
    let task = ops::task(&store, id)?;
    let now = app.now();
    let position = ops::task_position(&store, &task, now)?;
    let mut data = serde_json::to_value(&task)
        .map_err(|source| crate::error::CommandError::internal("cannot write the task as JSON").with_source(source))?;
    data["position"] = position.into();
    app.printer.emit(&data, |page| tasks::view(page, &task, position, now))?;
    Ok(Exit::Done)
}
