use el_core::model::TaskStatus;
use el_core::ops::{self, CancelledTask};

use crate::output::{OneOrMany, sanitize, style};
use crate::{App, Exit, Result, complete};

/// Cancel tasks, queued or running
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el tasks cancel q5e6
  el tasks cancel q5e6 --reason \"done by hand\"

One that waits never begins; of one that runs, the agent is ended cleanly. It is held then,
until el reopen. Calling it off again is no error.")]
pub(crate) struct Args {
    /// A task, or a run of a task
    #[arg(required = true, value_name = "TASK|RUN", add = complete::complete_runs())]
    ids: Vec<String>,
    /// Why; becomes a comment
    #[arg(short, long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let mut store = app.open_for_writing()?;
    // All are there, or none is called off.
    for id in &args.ids {
        ops::get_task(&store, id)?;
    }
    let ctx = app.ctx();
    let ids = args.ids.iter();
    let cancelled: Vec<CancelledTask> = ids
        .map(|id| ops::cancel_task(&mut store, &ctx, id, args.reason.as_deref()))
        .collect::<el_core::Result<_>>()?;
    app.printer.emit_sentence(&OneOrMany::for_request(args.ids.len(), &cancelled), |page| {
        for cancelled in &cancelled {
            let id = page.paint(style::ID, &cancelled.task.id);
            let title = sanitize::one_line(&cancelled.task.title).into_owned();
            let (done, then) = match cancelled.was {
                TaskStatus::Running => {
                    ("Asked to end:", "; its agent is ended, and it is held then")
                }
                _ => ("Called off", "; it is held"),
            };
            page.push_done(done, &format!("{id} {title}{then}, until el reopen"));
        }
    })
}
