use clap::builder::NonEmptyStringValueParser;
use el_core::model::TaskStatus;
use el_core::ops::{self, TaskFilter};

use crate::output::{List, tasks};
use crate::values::word_parser;
use crate::watch::WatchArgs;
use crate::{App, Exit, Result};

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Only tasks of this agent
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    agent: Option<String>,
    /// Only tasks with this status
    #[arg(short, long, value_parser = word_parser::<TaskStatus>(),
        value_delimiter = ',', value_name = "STATUS")]
    status: Vec<TaskStatus>,
    /// At most this many; 0 means all [default: all]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    watch: WatchArgs,
}

pub(super) fn run(args: &ListArgs, app: &App) -> Result<Exit> {
    args.watch.follow(app, || look(args, app))
}

fn look(args: &ListArgs, app: &App) -> Result<Exit> {
    let filter = TaskFilter {
        agent: args.agent.clone(),
        statuses: args.status.clone(),
        limit: args.limit.filter(|limit| *limit > 0),
    };
    let found = ops::list_tasks(&app.open_for_reading()?, &filter)?;
    let list = List::from_page(&found);
    app.printer.emit(&list, |page| {
        tasks::print_table(page, &found.items, app.now());
        list.print_end(page, ["task", "tasks", "no tasks; el run hands one over"]);
    })
}
