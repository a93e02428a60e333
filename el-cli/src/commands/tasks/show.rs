use el_agents::worker::is_there;
use el_core::ops;

use super::Placed;
use crate::output::{OneOrMany, tasks};
use crate::{App, Exit, Result, complete};

/// Show all facts about tasks, with the last lines of output
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el tasks show q5e6
  el tasks show q5e6 x2
  el tasks show run-7kq2m9xd     The task of a run")]
pub(crate) struct Args {
    /// Tasks, or runs of tasks
    #[arg(required = true, value_name = "TASK|RUN", add = complete::complete_runs())]
    ids: Vec<String>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let store = app.open_for_reading()?;
    let now = app.now();
    let mut shown = Vec::new();
    for id in &args.ids {
        let task = ops::get_task(&store, id)?;
        let position = ops::task_position(&store, &task, now, &is_there)?;
        shown.push(Placed { task, position });
    }
    app.printer.emit(&OneOrMany::for_request(args.ids.len(), &shown), |page| {
        for (at, one) in shown.iter().enumerate() {
            if at > 0 && !page.is_quiet() {
                page.push_blank();
            }
            tasks::print_task(page, &one.task, one.position, now);
        }
    })
}
